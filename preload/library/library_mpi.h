/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of MPI's handles, which are pointers in Open MPI and ints in MPICH and its derivatives. Any thread. */
#ifndef PILLION_LIBRARY_MPI_H
#define PILLION_LIBRARY_MPI_H

#include "preload/library/library.h"

/* A communicator without the unused upper half of its register. MPI_COMM_WORLD and MPI_COMM_SELF have MPICH's numbers
 * in both implementations. */
uintptr_t library_mpi_communicator(uintptr_t word);

/* The size of a datatype in bytes; 0: unknown. Does not call MPI, which ends the program if a handle is invalid. */
int64_t library_mpi_bytes(uintptr_t type);

/* After MPI_Type_commit: stores the size of a derived type. */
extern const struct library_body library_set_mpi_type HIDDEN;

/* Increases when the note of a handle or the size of a datatype changes, which invalidates cached operations. */
extern uint64_t library_epoch;
static inline void library_forget(void)
{
	__atomic_fetch_add(&library_epoch, 1, __ATOMIC_RELEASE);
}

#endif
