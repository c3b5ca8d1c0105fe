#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed.py OUTPUT SOURCE...: writes Python files for C, indented by one space, without comments and docstrings, packed:
each byte that they do not use stands for two bytes, of which the first ones come most often. Every process has
libpillion.so in its address space, few of them run Python."""
import collections
import sys


def lines(path):
    """All lines except comments, empty lines and docstrings."""
    is_text = False
    with open(path, encoding='ascii') as file:
        for line in file.read().splitlines():
            bare = line.strip()
            begins = not is_text and bare.startswith('"""')
            if is_text or begins:
                is_text = not bare.endswith('"""') or begins and len(bare) == 3
            elif bare and not bare.startswith('#'):
                yield ' ' * ((len(line) - len(line.lstrip())) // 4) + bare


def replaced(data, pair, code):
    result, i = [], 0
    while i < len(data):
        is_pair = tuple(data[i:i + 2]) == pair
        result.append(code if is_pair else data[i])
        i += 2 if is_pair else 1
    return result


def packed(data):
    """The bytes, and what each byte stands for: (0, 0) is itself."""
    pairs, data = [(0, 0)] * 256, list(data)
    for code in sorted(set(range(1, 256)) - set(data)):
        counts = collections.Counter(zip(data, data[1:]))
        pairs[code] = max(counts, key=lambda p: (counts[p], p))
        data = replaced(data, pairs[code], code)
    return data, pairs


def array(numbers):
    return '\n'.join('\t' + ' '.join('%d,' % n for n in numbers[i:i + 20]) for i in range(0, len(numbers), 20))


text = ''.join(line + '\n' for path in sys.argv[2:] for line in lines(path)).encode('ascii')
data, pairs = packed(text)
with open(sys.argv[1], 'w', encoding='ascii') as output:
    output.write('/* Made by embed.py. */\n#include "preload/python/annotate.h"\n\n'
                 'const unsigned annotate_text_size = %d, annotate_packed_size = %d;\n'
                 'const unsigned char annotate_pairs[][2] = {\n%s\n};\n'
                 'const unsigned char annotate_packed[] = {\n%s\n};\n'
                 % (len(text), len(data), ',\n'.join('\t{%d, %d}' % pair for pair in pairs), array(data)))
