# SPDX-License-Identifier: Apache-2.0
"""A service that answers requests and never forgets one: leak.py [fixed]"""
import collections
import sys
import time

REQUESTS = 100
history = collections.deque(maxlen=5 if sys.argv[1:] == ["fixed"] else None)


def answer(number):
    body = bytes(400000)
    history.append(body)
    return len(body)


def main():
    start = time.monotonic()
    for number in range(REQUESTS):
        answer(number)
        time.sleep(max(0, start + number * 0.02 - time.monotonic()))
    print(f"{REQUESTS} requests")


if __name__ == "__main__":
    main()
