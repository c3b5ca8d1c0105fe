# SPDX-License-Identifier: Apache-2.0
# Ranks 0 and 3 start another program in each step and wait until it has ended.
import subprocess
import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD


def convert():
    subprocess.run(["sleep", "0.04"], check=True)  # late


for step in range(int(sys.argv[1])):
    if comm.rank in (0, 3):
        convert()
    comm.gather(step)
    comm.barrier()
