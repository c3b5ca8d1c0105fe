/* SPDX-License-Identifier: Apache-2.0 */
/* pop_sum: POP's efficiencies of a job of several ranks. */
#include <errno.h>

#include "report/derive/ranks/pop.h"
#include "report/stats/report.h"

int report_pop_sum(const struct report_context *c, struct table *table, struct err *err)
{
	struct pop p;
	bool has = pop_find(c, &p);

	table_has(table, COL_KIND, COL_RANKS, COL_DURATION_NS, COL_EFFICIENCY_PARALLEL_PERCENT,
		  COL_LOAD_BALANCE_PERCENT, COL_EFFICIENCY_COMMUNICATION_PERCENT,
		  COL_EFFICIENCY_SERIALISATION_PERCENT, COL_EFFICIENCY_TRANSFER_PERCENT);
	if (!has)
		return err_set(err, -ENODATA, "fewer than two ranks with calls of MPI or NCCL were recorded");
	table_text(table, !p.has_nccl ? "MPI" : !p.has_mpi ? "NCCL" : "MPI and NCCL");
	table_number(table, p.ranks);
	table_number(table, p.run_ns);
	table_real(table, 100 * p.parallel);
	table_real(table, 100 * p.balance);
	table_real(table, 100 * p.communication);
	table_real(table, 100 * p.serialisation);
	table_real(table, 100 * p.transfer);
	return 0;
}
