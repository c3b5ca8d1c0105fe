# SPDX-License-Identifier: Apache-2.0
"""Calls functions of MPI of each kind with mpi4py; the module is for the MPI library of $MPI4PY_MPIABI."""
import array
import sys

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, ranks = world.rank, world.size
following, previous = (rank + 1) % ranks, (rank - 1) % ranks
a, b = array.array("d", [1] * 256), array.array("d", [0] * 256)
counts, offsets = [2] * ranks, [2 * i for i in range(ranks)]
comm, half = world.Dup(), world.Split(rank // 2, rank)


def part(buffer, count, type_=MPI.DOUBLE):
    return [buffer, count, type_]


for _ in range(int(sys.argv[1])):
    pair = MPI.DOUBLE.Create_contiguous(2).Commit()
    if rank % 2:
        comm.Recv(part(b, 8), MPI.ANY_SOURCE, 1)
        comm.Send(part(a, 3, pair), rank - 1, 2)
    else:
        comm.Ssend(part(a, 5, MPI.INT), rank + 1, 1)
        comm.Recv(part(b, 3, pair), rank + 1, 2)
    comm.Sendrecv(part(a, 4), following, 3, part(b, 4), previous, 3)
    MPI.Request.Waitall([comm.Irecv(part(b, 8, MPI.FLOAT), previous, 4),
                         comm.Isend(part(a, 8, MPI.FLOAT), following, 4)])
    requests = [comm.Recv_init(part(b, 2), previous, 5), comm.Send_init(part(a, 2), following, 5)]
    MPI.Prequest.Startall(requests)
    MPI.Request.Waitall(requests)
    for request in requests:
        request.Free()
    comm.Barrier()
    comm.Bcast(part(a, 2, pair), 0)
    comm.Reduce(part(a, 6), part(b, 6), MPI.SUM, 0)
    comm.Allreduce(MPI.IN_PLACE, part(b, 7), MPI.MAX)
    comm.Iallreduce(part(a, 3), part(b, 3), MPI.SUM).Wait()
    comm.Scan(part(a, 2), part(b, 2), MPI.SUM)
    comm.Reduce_scatter(part(a, 2 * ranks), part(b, 2), counts, MPI.SUM)
    comm.Reduce_scatter_block(part(a, 2), part(b, 2), MPI.SUM)
    comm.Gather(part(a, 3), part(b, 3), 0)
    comm.Gatherv(part(a, 2), [b, counts, offsets, MPI.DOUBLE], 0)
    comm.Scatter(part(a, 2), part(b, 2), 0)
    comm.Scatterv([a, counts, offsets, MPI.DOUBLE], part(b, 2), 0)
    comm.Allgather(part(a, 2), part(b, 2))
    comm.Allgatherv(MPI.IN_PLACE, [b, counts, offsets, MPI.DOUBLE])
    comm.Alltoall(part(a, 1), part(b, 1))
    comm.Alltoallv([a, counts, offsets, MPI.DOUBLE], [b, counts, offsets, MPI.DOUBLE])
    pair.Free()
    half.Allreduce(part(a, 1), part(b, 1))
half.Free()
comm.Free()
if not rank:
    print(ranks, "ranks", int(b[0]))
