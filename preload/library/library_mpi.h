/* SPDX-License-Identifier: Apache-2.0 */
/* What MPI's handles say. They are pointers in Open MPI and ints in MPICH and its kin. Any thread. */
#ifndef PILLION_LIBRARY_MPI_H
#define PILLION_LIBRARY_MPI_H

#include "preload/library/library.h"

/* A communicator without what lies beside it in its register; MPI_COMM_WORLD and _SELF as MPICH numbers them. */
uintptr_t library_mpi_communicator(uintptr_t word);

/* Bytes of a datatype; 0: not known. Nothing is asked of MPI: a handle that it would not take ends the program. */
int64_t library_mpi_bytes(uintptr_t type);

/* MPI_Type_commit: a derived type is known from here on. */
extern const struct library_body library_set_mpi_type HIDDEN;

/* Rises whenever what is noted of a handle or a datatype changes: what has been remembered of calls is then void. */
extern uint64_t library_epoch;
static inline void library_forget(void)
{
	__atomic_fetch_add(&library_epoch, 1, __ATOMIC_RELEASE);
}

#endif
