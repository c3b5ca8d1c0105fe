/* SPDX-License-Identifier: Apache-2.0 */
/* MPI calls as rows of nsys's tables: one for point-to-point messages, one for collectives, one for waits, one for
 * the rest. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "report/nsys/nsys_writer.h"
#include "report/read/operation.h"

static const struct {
	enum nsys_table table;
	const char *start; /* of the name, after "MPI_" and the I of a nonblocking call */
} kinds[] = {
	{NSYS_MPI_P2P, "Send"},           {NSYS_MPI_P2P, "Recv"},          {NSYS_MPI_P2P, "Bsend"},
	{NSYS_MPI_P2P, "Ssend"},          {NSYS_MPI_P2P, "Rsend"},         {NSYS_MPI_P2P, "Mrecv"},
	{NSYS_MPI_P2P, "Probe"},          {NSYS_MPI_P2P, "Mprobe"},        {NSYS_MPI_COLLECTIVE, "Barrier"},
	{NSYS_MPI_COLLECTIVE, "Bcast"},   {NSYS_MPI_COLLECTIVE, "Reduce"}, {NSYS_MPI_COLLECTIVE, "Allreduce"},
	{NSYS_MPI_COLLECTIVE, "Gather"},  {NSYS_MPI_COLLECTIVE, "Scatter"}, {NSYS_MPI_COLLECTIVE, "Allgather"},
	{NSYS_MPI_COLLECTIVE, "Alltoall"}, {NSYS_MPI_COLLECTIVE, "Scan"},  {NSYS_MPI_COLLECTIVE, "Exscan"},
	{NSYS_MPI_COLLECTIVE, "Neighbor_"}, {NSYS_MPI_WAIT, "Wait"},       {NSYS_MPI_WAIT, "Test"},
	{NSYS_MPI_WAIT, "Start"},
};

static enum nsys_table mpi_table_of(const char *function)
{
	const char *name = strncmp(function, "MPI_", 4) ? function : function + 4;

	name += *name == 'I';
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strncasecmp(name, kinds[i].start, strlen(kinds[i].start)))
			return kinds[i].table;
	return NSYS_MPI_OTHER;
}

static int64_t operation_field_or_zero(const struct tf_operation *op, unsigned int which)
{
	int64_t value;

	return operation_field(op, which, &value) ? value : NSYS_NULL;
}

/* Adds a row once for each calling thread; the table exists even if no rank is known. */
static void rank_row(struct nsys_writer *w)
{
	const char *rank = image_rank(w->image);
	char *end = NULL;
	long number = *rank ? strtol(rank, &end, 10) : 0;
	bool is_new;

	map_put(&w->mpi_threads, (uint64_t)w->global_tid, 0, &is_new);
	if (!is_new)
		return;
	nsys_begin(w, NSYS_MPI_RANKS);
	if (end && !*end)
		nsys_row(w, NSYS_MPI_RANKS, (int64_t[]){w->global_tid, number}, 2);
}

void nsys_mpi_call(struct nsys_writer *w, const struct event *e, const struct function *f, int64_t start,
		     int64_t end, int64_t name)
{
	enum nsys_table table = mpi_table_of(f->name);
	struct tf_operation op = {0};
	int64_t row[8] = {start, end, w->global_tid, name, NSYS_NULL, NSYS_NULL, NSYS_NULL, NSYS_NULL};
	bool has_operation = e->args_count && operation_of(w->image->trace, e, &op);
	double bytes = has_operation ? operation_bytes(f->name, f->group, &op) : 0;
	/* nothing was sent, or the size is not known */
	bool is_size = (bytes > 0 && bytes < 9e18) || (has_operation && !operation_field_or_zero(&op, TF_FIELD_COUNT));
	int64_t size = is_size ? (int64_t)bytes : NSYS_NULL;

	rank_row(w);
	if (has_operation && table == NSYS_MPI_P2P) {
		row[4] = operation_field_or_zero(&op, TF_FIELD_COMMUNICATOR);
		row[5] = operation_field_or_zero(&op, TF_FIELD_TAG);
		row[6] = operation_field_or_zero(&op, TF_FIELD_PEER);
		row[7] = size;
	} else if (has_operation && table == NSYS_MPI_COLLECTIVE) {
		row[4] = operation_field_or_zero(&op, TF_FIELD_COMMUNICATOR);
		row[5] = operation_field_or_zero(&op, TF_FIELD_PEER);
		row[6] = size;
	}
	nsys_row(w, table, row, table == NSYS_MPI_P2P || table == NSYS_MPI_COLLECTIVE ? 8 : 4);
}
