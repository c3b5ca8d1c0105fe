#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""list_membership.py planted|clean: merges the addresses of several mailing lists and writes one sorted list.

Planted: the addresses seen so far are kept in a list, which is searched for each new one. Clean: in a set."""
import hashlib
import sys

LISTS, LENGTH = 12, 3000


def addresses(number):
    for i in range(LENGTH):
        name = hashlib.md5(b"%d" % ((i * (number + 3)) % 16381)).hexdigest()[:10]
        yield " %s@Example.ORG " % name.upper()


def clean_up(address):
    name, _, host = address.strip().lower().partition("@")
    return "".join(letter for letter in name if letter.isalnum()) + "@" + host


def merge(planted):
    seen = [] if planted else set()
    result = []
    for number in range(LISTS):
        for address in addresses(number):
            address = clean_up(address)
            if address not in seen:  # PLANT
                seen.append(address) if planted else seen.add(address)
                result.append(address)
    return result


def main():
    merged = merge(sys.argv[1] == "planted")
    digest = hashlib.sha256()
    for address in sorted(merged):
        digest.update(hashlib.pbkdf2_hmac("sha256", address.encode(), b"list", 500))
    print(len(merged), digest.hexdigest()[:16])


main()
