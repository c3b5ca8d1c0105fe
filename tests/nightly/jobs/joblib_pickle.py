#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""joblib_pickle.py planted|clean: scores the customers of each region with joblib.

Planted: each task is sent the whole table of customers, of which it needs a part. Clean: its part alone."""
import hashlib
import sys

from joblib import Parallel, delayed

CUSTOMERS, REGIONS = 60000, 48


def customer(number):
    return {"id": number, "region": number % REGIONS, "name": "customer %d" % number, "orders": list(range(number % 9))}


def score_region(table, region):
    digest = hashlib.sha256()
    for row in table:
        if row["region"] == region:
            digest.update(hashlib.pbkdf2_hmac("sha256", row["name"].encode(), b"score", 150))
    return digest.hexdigest()


def main():
    table = [customer(number) for number in range(CUSTOMERS)]
    pool = Parallel(n_jobs=2)
    if sys.argv[1] == "planted":
        scores = pool(delayed(score_region)(table, region) for region in range(REGIONS))  # PLANT
    else:
        parts = [[] for region in range(REGIONS)]
        for row in table:
            parts[row["region"]].append(row)
        scores = pool(delayed(score_region)(parts[region], region) for region in range(REGIONS))
    print(hashlib.sha256("".join(scores).encode()).hexdigest()[:16])


main()
