/* SPDX-License-Identifier: Apache-2.0 */
/* MPI calls as rows of nsys's tables: one for point-to-point messages, one for collectives, one for waits, one for
 * the rest. */
#include <string.h>

#include "report/causes/mpi/mpi_call.h"
#include "report/tables/nsys/nsys_writer.h"

#if NSYS_NULL != MPI_CALL_UNKNOWN
#error "what is not known of a call is NULL in a table"
#endif

/* Adds a row once for each calling thread; the table exists even if no rank is known. */
static void rank_row(struct nsys_writer *w)
{
	uint32_t number = rank_number(image_rank(w->image), NULL);
	bool is_new;

	map_put(&w->mpi_threads, (uint64_t)w->global_tid, 0, &is_new);
	if (!is_new)
		return;
	nsys_begin(w, NSYS_MPI_RANKS);
	if (number != RANK_NONE)
		nsys_row(w, NSYS_MPI_RANKS, (int64_t[]){w->global_tid, number}, 2);
}

void nsys_mpi_call(struct nsys_writer *w, const struct timeline_event *e)
{
	static const enum nsys_table tables[] = {
		[MPI_CLASS_P2P] = NSYS_MPI_P2P,
		[MPI_CLASS_COLLECTIVE] = NSYS_MPI_COLLECTIVE,
		[MPI_CLASS_WAIT] = NSYS_MPI_WAIT,
		[MPI_CLASS_OTHER] = NSYS_MPI_OTHER,
	};
	int64_t end = nsys_time(w, e->end_ns);
	int64_t row[8] = {end - (int64_t)e->duration_ns, end, w->global_tid, nsys_text_id(w, TEXT_FUNCTION, e->name),
			  NSYS_NULL, NSYS_NULL, NSYS_NULL, NSYS_NULL};
	struct mpi_call call;

	rank_row(w);
	mpi_call_of(w->image->trace, e->event, e->function, &call);
	if (call.class == MPI_CLASS_P2P)
		memcpy(&row[4], (int64_t[]){call.communicator, call.tag, call.peer, call.bytes}, 4 * sizeof(*row));
	else if (call.class == MPI_CLASS_COLLECTIVE)
		memcpy(&row[4], (int64_t[]){call.communicator, call.root, call.bytes}, 3 * sizeof(*row));
	nsys_row(w, tables[call.class], row, call.class <= MPI_CLASS_COLLECTIVE ? 8 : 4);
}
