/* SPDX-License-Identifier: Apache-2.0 */
#include "report/causes/mpi/mpi_call.h"

#include <string.h>
#include <strings.h>

#include "report/read/operation.h"

static const struct {
	enum mpi_call_class class;
	const char *start; /* of the name, after "MPI_" and the I of a nonblocking call */
} kinds[] = {
	{MPI_CLASS_P2P, "Send"},
	{MPI_CLASS_P2P, "Recv"},
	{MPI_CLASS_P2P, "Bsend"},
	{MPI_CLASS_P2P, "Ssend"},
	{MPI_CLASS_P2P, "Rsend"},
	{MPI_CLASS_P2P, "Mrecv"},
	{MPI_CLASS_P2P, "Probe"},
	{MPI_CLASS_P2P, "Mprobe"},
	{MPI_CLASS_COLLECTIVE, "Barrier"},
	{MPI_CLASS_COLLECTIVE, "Bcast"},
	{MPI_CLASS_COLLECTIVE, "Reduce"},
	{MPI_CLASS_COLLECTIVE, "Allreduce"},
	{MPI_CLASS_COLLECTIVE, "Gather"},
	{MPI_CLASS_COLLECTIVE, "Scatter"},
	{MPI_CLASS_COLLECTIVE, "Allgather"},
	{MPI_CLASS_COLLECTIVE, "Alltoall"},
	{MPI_CLASS_COLLECTIVE, "Scan"},
	{MPI_CLASS_COLLECTIVE, "Exscan"},
	{MPI_CLASS_COLLECTIVE, "Neighbor_"},
	{MPI_CLASS_WAIT, "Wait"},
	{MPI_CLASS_WAIT, "Test"},
	{MPI_CLASS_WAIT, "Start"},
};

static enum mpi_call_class class_of(const char *function)
{
	const char *name = strncmp(function, "MPI_", 4) ? function : function + 4;

	name += *name == 'I';
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strncasecmp(name, kinds[i].start, strlen(kinds[i].start)))
			return kinds[i].class;
	return MPI_CLASS_OTHER;
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
	double bytes = has_operation ? operation_bytes(f->name, f->group, &op) : 0;
	/* nothing was sent, or the size is not known */
	bool is_size = (bytes > 0 && bytes < 9e18) || (has_operation && !field_of(&op, TF_FIELD_COUNT));

	*ret = (struct mpi_call){class_of(f->name), MPI_CALL_UNKNOWN, MPI_CALL_UNKNOWN, MPI_CALL_UNKNOWN,
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
