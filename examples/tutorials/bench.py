# SPDX-License-Identifier: Apache-2.0
"""What a test of performance runs: reads a configuration and answers requests. VERSION=2 reads it for each request."""
import os
import time

VERSION = os.environ.get("VERSION", "1")


def read_configuration():
    time.sleep(0.03)  # a file on another machine
    return {"size": 10}


def serve(configuration):
    if VERSION == "2":
        configuration = read_configuration()
    time.sleep(0.005)
    return configuration["size"]


def main():
    configuration = read_configuration()
    print(sum(serve(configuration) for _ in range(60)))


if __name__ == "__main__":
    main()
