! SPDX-License-Identifier: Apache-2.0
! Calls functions of MPI of each kind. The binding is that of -DMPIF_H (mpif.h), -DMPI_F08 (mpi_f08) or neither (mpi).
#ifdef MPI_F08
#define HANDLE(kind) type(kind)
#else
#define HANDLE(kind) integer
#endif
program mpi_functions
#ifdef MPI_F08
  use mpi_f08
  implicit none
#elif defined MPIF_H
  implicit none
  include 'mpif.h'
#else
  use mpi
  implicit none
#endif
  integer, parameter :: rounds = 5
  integer :: ierr, rank, ranks, next, previous, i
  integer :: twos(16), offsets(16)
  double precision :: a(256), b(256)
  HANDLE(MPI_Comm) :: copy, half
  HANDLE(MPI_Datatype) :: pair
  HANDLE(MPI_Request) :: requests(2)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  next = mod(rank + 1, ranks)
  previous = mod(rank + ranks - 1, ranks)
  a = 1
  twos = 2
  offsets = [(2 * i, i = 0, 15)]
  call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierr)
  call MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, half, ierr)
  do i = 1, rounds
    call MPI_Type_contiguous(2, MPI_DOUBLE_PRECISION, pair, ierr)
    call MPI_Type_commit(pair, ierr)
    call messages()
    call collectives()
    call MPI_Type_free(pair, ierr)
    call MPI_Allreduce(a, b, 1, MPI_DOUBLE_PRECISION, MPI_SUM, half, ierr)
  end do
  call MPI_Comm_free(half, ierr)
  call MPI_Comm_free(copy, ierr)
  if (rank == 0) print '(i0, a, i0)', ranks, ' ranks ', nint(b(1))
  call MPI_Finalize(ierr)

contains

  subroutine messages()
    if (mod(rank, 2) == 1) then
      call MPI_Recv(b, 8, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 1, copy, MPI_STATUS_IGNORE, ierr)
      call MPI_Send(a, 3, pair, rank - 1, 2, copy, ierr)
    else
      call MPI_Ssend(a, 5, MPI_REAL, rank + 1, 1, copy, ierr)
      call MPI_Recv(b, 3, pair, rank + 1, 2, copy, MPI_STATUS_IGNORE, ierr)
    end if
    call MPI_Sendrecv(a, 4, MPI_DOUBLE_PRECISION, next, 3, b, 4, MPI_DOUBLE_PRECISION, previous, 3, copy, &
      MPI_STATUS_IGNORE, ierr)
    call MPI_Irecv(b, 8, MPI_REAL, previous, 4, copy, requests(1), ierr)
    call MPI_Isend(a, 8, MPI_REAL, next, 4, copy, requests(2), ierr)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
    call MPI_Recv_init(b, 2, MPI_DOUBLE_PRECISION, previous, 5, copy, requests(1), ierr)
    call MPI_Send_init(a, 2, MPI_DOUBLE_PRECISION, next, 5, copy, requests(2), ierr)
    call MPI_Startall(2, requests, ierr)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
    call MPI_Request_free(requests(1), ierr)
    call MPI_Request_free(requests(2), ierr)
  end subroutine

  subroutine collectives()
    call MPI_Barrier(copy, ierr)
    call MPI_Bcast(a, 2, pair, 0, copy, ierr)
    call MPI_Reduce(a, b, 6, MPI_DOUBLE_PRECISION, MPI_SUM, 0, copy, ierr)
    call MPI_Allreduce(MPI_IN_PLACE, b, 7, MPI_DOUBLE_PRECISION, MPI_MAX, copy, ierr)
    call MPI_Iallreduce(a, b, 3, MPI_DOUBLE_PRECISION, MPI_SUM, copy, requests(1), ierr)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
    call MPI_Scan(a, b, 2, MPI_DOUBLE_PRECISION, MPI_SUM, copy, ierr)
    call MPI_Reduce_scatter(a, b, twos, MPI_DOUBLE_PRECISION, MPI_SUM, copy, ierr)
    call MPI_Reduce_scatter_block(a, b, 2, MPI_DOUBLE_PRECISION, MPI_SUM, copy, ierr)
    call MPI_Gather(a, 3, MPI_DOUBLE_PRECISION, b, 3, MPI_DOUBLE_PRECISION, 0, copy, ierr)
    call MPI_Gatherv(a, 2, MPI_DOUBLE_PRECISION, b, twos, offsets, MPI_DOUBLE_PRECISION, 0, copy, ierr)
    call MPI_Scatter(a, 2, MPI_DOUBLE_PRECISION, b, 2, MPI_DOUBLE_PRECISION, 0, copy, ierr)
    call MPI_Scatterv(a, twos, offsets, MPI_DOUBLE_PRECISION, b, 2, MPI_DOUBLE_PRECISION, 0, copy, ierr)
    call MPI_Allgather(a, 2, MPI_DOUBLE_PRECISION, b, 1, pair, copy, ierr)
    call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DOUBLE_PRECISION, b, twos, offsets, MPI_DOUBLE_PRECISION, copy, ierr)
    call MPI_Alltoall(a, 1, MPI_DOUBLE_PRECISION, b, 1, MPI_DOUBLE_PRECISION, copy, ierr)
    call MPI_Alltoallv(a, twos, offsets, MPI_DOUBLE_PRECISION, b, twos, offsets, MPI_DOUBLE_PRECISION, copy, ierr)
  end subroutine
end program
