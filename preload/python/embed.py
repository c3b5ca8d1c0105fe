#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed.py OUTPUT SOURCE: writes a Python file as a C string, indented by one space, without comments, docstrings."""
import sys


def lines(path):
    """All lines except comments, empty lines and docstrings of one line."""
    with open(path, encoding='ascii') as file:
        for line in file.read().splitlines():
            bare = line.strip()
            if bare and not bare.startswith('#') and not (bare.startswith('"""') and bare.endswith('"""')):
                yield ' ' * ((len(line) - len(line.lstrip())) // 4) + bare


with open(sys.argv[1], 'w', encoding='ascii') as output:
    output.write('/* Made by embed.py. */\n#include "preload/python/annotate.h"\n\nconst char annotate_source[] =\n')
    for line in lines(sys.argv[2]):
        output.write('\t"' + line.replace('\\', '\\\\').replace('"', '\\"') + '\\n"\n')
    output.write('\t;\n')
