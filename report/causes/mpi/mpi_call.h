/* SPDX-License-Identifier: Apache-2.0 */
/* A call of MPI as nsys describes it: its class, and what is known of its message. */
#pragma once

#include "report/read/reader.h"

enum mpi_call_class { MPI_CLASS_P2P, MPI_CLASS_COLLECTIVE, MPI_CLASS_WAIT, MPI_CLASS_OTHER };
#define MPI_CALL_UNKNOWN INT64_MIN

struct mpi_call {
	enum mpi_call_class class;
	/* MPI_CALL_UNKNOWN: it has none, or it was not recorded. The peer of a message, the root of a collective. */
	int64_t communicator, tag, peer, root, bytes;
};

void mpi_call_of(const struct trace *t, const struct event *e, const struct function *f, struct mpi_call *ret);
