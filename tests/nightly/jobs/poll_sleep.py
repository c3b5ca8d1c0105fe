#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""poll_sleep.py planted|clean: a pipeline whose stages run as programs, one after the other.

Planted: the end of a stage is awaited by looking for its result once every half second. Clean: by waiting for its
process."""
import os
import subprocess
import sys
import time

STAGES = 14
STAGE = """
import hashlib, sys
digest = hashlib.pbkdf2_hmac("sha256", sys.argv[1].encode(), b"stage", 440000).hex()
with open("result.new", "w") as file:
    file.write(digest)
import os
os.rename("result.new", sys.argv[2])
"""


def run_stage(number, text, planted):
    path = "result.%d" % number
    process = subprocess.Popen([sys.executable, "-S", "-c", STAGE, text, path])
    if planted:
        while not os.path.exists(path):
            time.sleep(0.5)  # PLANT
    process.wait()
    with open(path, encoding="ascii") as file:
        return file.read()


def main():
    text = "input"
    for number in range(STAGES):
        text = run_stage(number, text, sys.argv[1] == "planted")
    print(text[:16])


main()
