# SPDX-License-Identifier: Apache-2.0
# Rank 1 keeps many objects, and collects the garbage among them in each step.
import gc
import sys

from mpi4py import MPI


class Node:
    def __init__(self):
        self.me = self


comm = MPI.COMM_WORLD
kept = [Node() for i in range(200000)] if comm.rank == 1 else []


def step(number):
    nodes = [Node() for i in range(100)]
    if comm.rank == 1:
        gc.collect()  # late
    return comm.allreduce(len(nodes) * number)


for number in range(int(sys.argv[1])):
    step(number)
