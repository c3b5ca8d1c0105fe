#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""blas_threads.py planted|clean: fits a ridge regression for each of many groups, by two worker processes.

Planted: each worker lets BLAS use as many threads as there are CPUs. Clean: one."""
import multiprocessing
import os
import sys

os.environ["OPENBLAS_NUM_THREADS"] = str(os.cpu_count()) if sys.argv[1] == "planted" else "1"  # PLANT

import numpy as np  # noqa: E402, after the variable that it reads

GROUPS, ROWS, WIDTH = 700, 400, 160


def fit(group):
    generator = np.random.default_rng(group)
    x = generator.standard_normal((ROWS, WIDTH))
    y = x @ np.arange(WIDTH) + generator.standard_normal(ROWS)
    best = None
    for penalty in (0.1, 1.0, 10.0, 100.0):
        weights = np.linalg.solve(x.T @ x + penalty * np.eye(WIDTH), x.T @ y)  # PLANT
        error = ((x @ weights - y) ** 2).mean()
        best = error if best is None else min(best, error)
    return best


def main():
    with multiprocessing.Pool(2) as pool:
        errors = pool.map(fit, range(GROUPS), chunksize=10)
    print("error %.4f" % (sum(errors) / GROUPS))


if __name__ == "__main__":
    main()
