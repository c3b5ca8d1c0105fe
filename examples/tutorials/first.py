# SPDX-License-Identifier: Apache-2.0
"""Asks a server 40 questions and counts the words of the answers. `first.py together` asks eight at a time."""
import concurrent.futures
import sys
import time


def ask(number):
    time.sleep(0.04)  # the server takes so long to answer
    return f"answer {number} has some words" * 100


def count(answer):
    return len(answer.split())


def main():
    threads = 8 if sys.argv[1:] == ["together"] else 1
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        answers = pool.map(ask, range(40))
        print(sum(count(answer) for answer in answers), "words")


if __name__ == "__main__":
    main()
