/* SPDX-License-Identifier: Apache-2.0 */
#include "report/causes/mpi/mpi_call.h"

#include "report/read/operation.h"

static enum mpi_call_class class_of(const struct function *f)
{
	return f->kind.parallel & PARALLEL_MESSAGE	? MPI_CLASS_P2P
	       : f->kind.parallel & PARALLEL_COLLECTIVE ? MPI_CLASS_COLLECTIVE
	       : f->kind.parallel & PARALLEL_REQUESTS	? MPI_CLASS_WAIT
							: MPI_CLASS_OTHER;
}

static int64_t field_of(const struct tf_operation *op, unsigned int which)
{
	int64_t value;

	return operation_field(op, which, &value) ? value : MPI_CALL_UNKNOWN;
}

void mpi_call_of(const struct trace *t, const struct event *e, const struct function *f, struct mpi_call *ret)
{
	struct tf_operation op = {0};
	bool has_operation = e->args_count && operation_of(t, e, &op);
	double bytes = has_operation ? operation_bytes(f, &op) : 0;
	/* nothing was sent, or the size is not known */
	bool is_size = (bytes > 0 && bytes < 9e18) || (has_operation && !field_of(&op, TF_FIELD_COUNT));

	*ret = (struct mpi_call){class_of(f), MPI_CALL_UNKNOWN, MPI_CALL_UNKNOWN, MPI_CALL_UNKNOWN,
				 MPI_CALL_UNKNOWN, MPI_CALL_UNKNOWN};
	if (!has_operation || (ret->class != MPI_CLASS_P2P && ret->class != MPI_CLASS_COLLECTIVE))
		return;
	ret->communicator = field_of(&op, TF_FIELD_COMMUNICATOR);
	ret->bytes = is_size ? (int64_t)bytes : MPI_CALL_UNKNOWN;
	if (ret->class == MPI_CLASS_COLLECTIVE) {
		ret->root = field_of(&op, TF_FIELD_PEER);
		return;
	}
	ret->tag = field_of(&op, TF_FIELD_TAG);
	ret->peer = field_of(&op, TF_FIELD_PEER);
}
