# SPDX-License-Identifier: Apache-2.0
"""plant_host.py CAPTURE VARIABLE AHEAD_NS: the one process that was started with VARIABLE (NAME=value) becomes one of
another host, `elsewhere`, whose time of day is ahead."""
import glob
import struct
import sys

PAIRS, REALTIME, HOST, BOOT = (72, 104, 136), 16, 208, 272  # struct tf_header, struct tf_clock_pair

planted = 0
for path in glob.glob(sys.argv[1] + '/*.trace'):
    with open(path, 'r+b') as f:
        head = bytearray(f.read(4096))
        if b'\0' + sys.argv[2].encode() + b'\0' not in head:
            continue
        for pair in PAIRS:
            real, = struct.unpack_from('<Q', head, pair + REALTIME)
            if real:
                struct.pack_into('<Q', head, pair + REALTIME, real + int(sys.argv[3]))
        head[HOST:HOST + 64] = b'elsewhere'.ljust(64, b'\0')
        head[BOOT:BOOT + 40] = b'another-boot'.ljust(40, b'\0')
        f.seek(0)
        f.write(head)
        planted += 1
sys.exit(f'{planted} of {sys.argv[2]}' if planted != 1 else 0)
