/* SPDX-License-Identifier: Apache-2.0 */
/* Aligns the clocks of the hosts of a model by the meetings of its ranks, from all sources. */
#include "report/time/clocks/align.h"

void align_hosts(struct model *m)
{
	struct align *a = align_begin(m);
	void *mpi, *nccl;

	if (align_is_needed(a)) {
		mpi = align_mpi_join(a, m);
		nccl = align_nccl_join(a, m);
		align_choose_meetings(a);
		align_mpi_meet(a, m, mpi);
		align_nccl_meet(a, m, nccl);
		align_place(a);
	}
	align_end(a);
}
