/* SPDX-License-Identifier: Apache-2.0 */
/* What a function of MPI does and where its arguments are, for calls whose arguments alone are known. */
#pragma once

#include "report/read/reader.h"

/* PROBE: waits for a message and leaves it. FOR_SOME: a collective in which a rank need not wait for all others.
 * CONFUSES: takes a message of which the traces do not say enough. */
enum mpi_call_kind {
	NO_CALL, SEND, RECEIVE, BOTH, PROBE, FOR_ALL, FOR_SOME, WAIT, START, FINALIZE, BEGINS, CONFUSES,
	CALL_KINDS = 16
};
/* LATER: not blocking. INIT: of a persistent request. RETURNS_EARLY: it may be over before its receiver comes. */
enum { LATER = CALL_KINDS, INIT = 32, RETURNS_EARLY = 64, KIND = CALL_KINDS - 1 };

/* The positions of the arguments, from 1: the peer or root, the tag, the communicator; of BOTH the source and its
 * tag. Of a WAIT the first is that of the requests, and RETURNS_EARLY: it waits for any of them. */
struct mpi_form {
	const char *name; /* without MPI_, the I of nonblocking ones and _init */
	uint8_t kind, peer, tag, communicator, source, source_tag;
};

/* For functions_classes(): which form a function has. 0: it says nothing of messages and collectives. */
uint8_t mpi_form_place(const struct function *f);
/* The form, and in *ret_how its kind with LATER, INIT and RETURNS_EARLY. */
const struct mpi_form *mpi_form_at(uint8_t place, unsigned *ret_how);
