#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""numpy_append.py planted|clean: simulates an oscillator in blocks and analyses the whole series.

Planted: each block is appended with numpy.append, which copies all that came before. Clean: the blocks are collected
in a list and joined once."""
import sys

import numpy as np

BLOCKS, BLOCK = 1200, 4096


def block_of(number):
    time = np.arange(number * BLOCK, (number + 1) * BLOCK) * 1e-4
    return np.sin(time) * np.exp(-time * 1e-3) + 0.1 * np.cos(time * 17)


def series_appended():
    series = np.empty(0)
    for number in range(BLOCKS):
        series = np.append(series, block_of(number))  # PLANT
    return series


def series_joined():
    return np.concatenate([block_of(number) for number in range(BLOCKS)])


def main():
    series = series_appended() if sys.argv[1] == "planted" else series_joined()
    power = 0.0
    for shift in range(60):
        power += (np.abs(np.fft.rfft(series[shift:shift + (1 << 20)])) ** 2)[1:200].sum()
        power += np.sort(series[shift * 1000:shift * 1000 + (1 << 19)])[1000]
    print("power %.6e" % power)


main()
