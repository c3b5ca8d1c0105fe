#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fsync_record.py planted|clean: imports orders into an append-only journal.

Planted: fsync after each record. Clean: fsync once per 500 records."""
import hashlib
import json
import os
import sys

ORDERS = 2000


def order(number):
    lines = [{"sku": "A%05d" % (number * 7 % 9999 + i), "count": i % 5 + 1, "price": i * 1.25} for i in range(40)]
    return {"number": number, "customer": number * 31 % 1009, "lines": lines}


def checksum(text):
    return hashlib.pbkdf2_hmac("sha256", text, b"journal", 4000).hex()


class Journal:
    def __init__(self, path, every):
        self.file = open(path, "wb")
        self.every = every
        self.count = 0

    def append(self, record):
        text = json.dumps(record).encode()
        self.file.write(text + checksum(text).encode() + b"\n")
        self.count += 1
        if self.count % self.every == 0:
            self.file.flush()
            os.fsync(self.file.fileno())  # PLANT

    def close(self):
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()


def main():
    journal = Journal("orders.journal", 1 if sys.argv[1] == "planted" else 500)
    for number in range(ORDERS):
        journal.append(order(number))
    journal.close()
    print(ORDERS, "orders,", os.path.getsize("orders.journal"), "bytes")


main()
