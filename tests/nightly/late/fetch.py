# SPDX-License-Identifier: Apache-2.0
# Rank 2 fetches its input of each step from a server that answers late.
import socket
import sys
import threading
import time

import numpy
from mpi4py import MPI

comm = MPI.COMM_WORLD


def serve(listener):
    connection, _ = listener.accept()
    while connection.recv(1):
        time.sleep(0.04)
        connection.sendall(bytes(1000))


class Source:
    def __init__(self):
        listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        self.connection = socket.create_connection(listener.getsockname())

    def fetch(self):
        self.connection.sendall(b"?")
        data = b""
        while len(data) < 1000:
            data += self.connection.recv(1000)  # late
        return numpy.frombuffer(data, dtype=numpy.uint8)


source = Source() if comm.rank == 2 else None
total = numpy.zeros(1)
for step in range(int(sys.argv[1])):
    values = source.fetch() if source else numpy.zeros(1000)
    comm.Allreduce(numpy.array([float(values.sum())]), total)
