# SPDX-License-Identifier: Apache-2.0
# All ranks do the same work, in Python.
import sys

import numpy
from mpi4py import MPI

comm = MPI.COMM_WORLD
matrix = numpy.full((120, 120), 0.5)
for step in range(int(sys.argv[1])):
    words = [str(i * step) for i in range(10000)]
    matrix = matrix @ matrix / 60
    comm.allgather(len("".join(words)))
    comm.Allreduce(matrix.copy(), matrix)
    matrix /= comm.size
