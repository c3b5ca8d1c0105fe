/* SPDX-License-Identifier: Apache-2.0 */
/* The waits of mpi_wait.h by kind, function, source line, and the rank and line waited for. */
#pragma once

#include "report/causes/mpi/mpi_wait.h"
#include "report/events/scan.h"

/* The fields of a key, after that of --by. */
enum mpi_wait_field {
	MPI_WAIT_KIND,
	MPI_WAIT_NAME,
	MPI_WAIT_LINE,
	MPI_WAIT_RANK,
	MPI_WAIT_LATE_NAME,
	MPI_WAIT_LATE_LINE
};

/* Lines are "function (file:line)", or "?" of calls without a stack. Row numbers are in order of appearance; `more`
 * (may be NULL) is called for each wait with its row. */
void mpi_wait_sum(const struct report_context *c, struct aggregate *ret, struct mpi_wait_counts *ret_counts,
		  void *context, void (*more)(void *context, const struct mpi_wait *wait, uint32_t row));
