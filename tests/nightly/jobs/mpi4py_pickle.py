#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mpi4py_pickle.py planted|clean: power iteration on a matrix whose rows are divided among the ranks.

Planted: the vector is gathered as lists of Python numbers, which mpi4py pickles. Clean: as a buffer of doubles."""
import sys

import numpy as np
from mpi4py import MPI

SIZE, STEPS = 1600, 400
VECTORS = 32


def gather_lists(comm, part):
    parts = comm.allgather(part.tolist())  # PLANT
    return np.array([row for rows in parts for row in rows])


def gather_buffers(comm, part):
    whole = np.empty((SIZE, VECTORS))
    comm.Allgather(np.ascontiguousarray(part), whole)
    return whole


def main():
    comm = MPI.COMM_WORLD
    rows = SIZE // comm.size
    first = comm.rank * rows
    index = np.arange(first, first + rows)[:, None] + np.arange(SIZE)[None, :]
    matrix = 1.0 / (1 + index % 97)
    gather = gather_lists if sys.argv[1] == "planted" else gather_buffers
    block = np.ones((SIZE, VECTORS)) + np.arange(VECTORS)
    for step in range(STEPS):
        block = gather(comm, matrix @ block)
        norm = np.linalg.norm(block)
        block /= norm
    if comm.rank == 0:
        print("norm %.6f" % norm)


main()
