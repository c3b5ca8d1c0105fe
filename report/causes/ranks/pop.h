/* SPDX-License-Identifier: Apache-2.0 */
/* The efficiencies of the POP centre of excellence: how much of the ranks' time is useful, and by what the rest is
 * lost. A rank is useful outside of calls of MPI and outside of kernels of NCCL, from the end of MPI_Init to the start
 * of MPI_Finalize. Each is a part of 1; parallel = balance * communication, communication = serialisation * transfer.
 *
 * The run time on an ideal network, which divides communication into its two parts, is that of the critical path
 * without the time in which messages are on their way: what calls on it took after the late rank had arrived. */
#pragma once

#include "report/events/scan.h"

struct pop {
	size_t ranks;
	bool has_mpi, has_nccl;
	uint64_t from_ns, run_ns; /* CLOCK_REALTIME */
	double parallel, balance, communication, serialisation, transfer;
};

/* False: fewer than two ranks communicated. */
bool pop_find(const struct report_context *c, struct pop *ret);

/* Of `count` parts of the run, which begin at these times; the last one ends at borders[count]. Returns false likewise.
 * Parts in which no two ranks take part have ranks 0. */
bool pop_find_parts(const struct report_context *c, const uint64_t *borders, size_t count, struct pop *ret);
