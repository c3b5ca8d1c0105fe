#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""option_pairs.py PILLION PROGRAM...: every pair of two options' values is in one of a few command lines, and each
program writes and ends under each line as it does without pillion. A line that fails is reduced to the options that it
takes. PROGRAM: its name, '=', and a command of the shell.

The options are those of `pillion --help=table`. One whose values are not listed there needs an example below, and the
test fails without it."""
import itertools
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

# Not combined: what is meant to change COMMAND or the place of its capture, what prints at the end, what is no option
# of a run.
ALONE = {'output', 'stats', 'duration', 'kill', 'slow-down', 'env-var', 'inherit-environment', 'show-output',
         'command-file', 'help', 'version'}
# By the name of the value; None: the option is not given.
NUMBERS = {'NS': ['0', '1000000'], 'HZ': ['50', '999'], 'MS': ['10', '1000'], 'N': ['1', '1000'],
           'FRAMES': ['1', '256'], 'BYTES': ['0', '65536'], 'SECONDS': ['0', '0.05']}
EXAMPLES = {
    'spool': [None, os.path.abspath('spools')],
    'export': [None, 'sqlite'],
    'trace': [None, 'none', 'openmp,osrt', 'EVERY'],
    'nvtx-domain-include': [None, 'domain'],
    'nvtx-domain-exclude': [None, 'domain'],
    'nvtx-capture': [None, 'range@*'],
    'capture-range-end': ['none', 'stop', 'repeat:2'],
    'ring': [None, '100ms', '16MB'],
    'on': [None, 'slow-step,oom,signal,exit!=0,hang:60s'],
    'on-signal': [None, 'USR2'],
    'cudabacktrace': ['none', 'all', 'kernel:0,sync'],
    'counters': ['none', 'gpu,host,net'],
    'python-functions-trace': [None, 'functions.json'],
    'python-calls': [None, 'all', 'threading', 'all,no-c'],
    'lines-of': [None, '__main__:*', '@profile'],
}
# Pairs that the launcher refuses, each of which is tried.
REFUSED = [
    (('force-overwrite', 'true'), ('append', 'true')),
    (('nvtx-domain-include', 'domain'), ('nvtx-domain-exclude', 'domain')),
    (('mode', 'profile'), ('ring', '100ms')),
    (('mode', 'profile'), ('ring', '16MB')),
    (('sampling-source', 'perf'), ('ring', '100ms')),
    (('sampling-source', 'perf'), ('ring', '16MB')),
    (('spool', EXAMPLES['spool'][1]), ('ring', '100ms')),
    (('spool', EXAMPLES['spool'][1]), ('ring', '16MB')),
    (('on', EXAMPLES['on'][1]), ('ring', None)),
]


def check(is_true, text, *why):
    print('%s - %s' % ('ok' if is_true else 'not ok', text), flush=True)
    for line in why if not is_true else ():
        print('# ' + line, flush=True)


def read_options(table):
    """Name -> values."""
    options = {}
    for row in table.splitlines():
        verb, name, letter, takes, value, words = row.split('\t')[:6]
        if verb != 'profile' or name in ALONE:
            continue
        if name in EXAMPLES:
            values = [v if v != 'EVERY' else words.replace('|', ',') for v in EXAMPLES[name] if v] + [
                None] * (None in EXAMPLES[name])
        elif words:
            values = words.split('|')
        elif value in NUMBERS:
            values = NUMBERS[value]
        else:
            values = value.split('|') if re.fullmatch(r'[a-z-]+(\|[a-z-]+)+', value) else None
        check(values, '--%s has words, a number or an example' % name, 'give examples of ' + value)
        if values:
            options[name] = values
    return options


# ---- the lines ----

def all_pairs(options):
    for one, other in itertools.combinations(sorted(options), 2):
        for a in options[one]:
            for b in options[other]:
                yield (one, a), (other, b)


class Lines:
    """Each line is made from the pairs that no earlier line has: of several that are made in a random order of the
    options, the one with most of them."""
    TRIES = 6

    def __init__(self, options):
        self.options = options
        self.refused = set()
        for a, b in REFUSED:
            self.refused |= {(a, b), (b, a)}
        self.random = random.Random(1)
        self.lines, self.impossible = [], []
        self.open = {}
        for a, b in all_pairs(options):
            if (a, b) not in self.refused:
                self.open.setdefault(a, {})[b] = True
                self.open.setdefault(b, {})[a] = True
        while True:
            first = next(((a, b) for a in self.open for b in self.open[a]), None)
            if not first:
                break
            tries = [line for line in (self.make(first) for _ in range(self.TRIES)) if line]
            if tries:
                self.add(max(tries, key=self.news))
            else:
                self.impossible.append(first)
                self.close(*first)

    def close(self, a, b):
        self.open.get(a, {}).pop(b, None)
        self.open.get(b, {}).pop(a, None)

    def news(self, line):
        items = list(line.items())
        return sum(b in self.open.get(a, ()) for a, b in itertools.combinations(items, 2))

    def fits(self, item, line):
        return all((item, other) not in self.refused for other in line.items())

    def make(self, first):
        line = dict(first)
        rest = [name for name in self.options if name not in line]
        self.random.shuffle(rest)
        rest.sort(key=lambda name: name not in self.bound)
        for name in rest:
            values = [(name, v) for v in self.options[name] if self.fits((name, v), line)]
            if not values:
                return None
            self.random.shuffle(values)
            item = max(values, key=lambda i: sum(other in self.open.get(i, ()) for other in line.items()))
            line[name] = item[1]
        return line

    bound = {name for refused in REFUSED for name, _ in refused} # chosen first

    def add(self, line):
        self.lines.append(line)
        for a, b in itertools.combinations(line.items(), 2):
            self.close(a, b)


# ---- runs ----

def words_of(line):
    return ['--%s=%s' % (name, value) for name, value in line if value is not None]


class Program:
    """Words of the form NAME=VALUE before the command are variables."""

    def __init__(self, text):
        self.name, command = text.split('=', 1)
        words = shlex.split(command)
        self.environment = dict(os.environ, PILLION_STATS='false')
        while '=' in words[0]:
            self.environment.update([words.pop(0).split('=', 1)])
        self.words = words
        self.bare = self.run([], None)

    def run(self, before, capture):
        """Status, stdout and what is on stderr without the lines of pillion, which a dump's path is, too."""
        p = subprocess.run(before + self.words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, env=self.environment)
        lines = p.stderr.decode(errors='replace').splitlines()
        self.said = [line for line in lines if re.match(r'pillion( export)?: ', line) or capture and capture in line]
        return p.returncode, p.stdout, [line for line in lines if line not in self.said]

    def under(self, words):
        """How it differs from what it does without pillion; '': not at all."""
        folder = tempfile.mkdtemp(dir='.')
        capture = os.path.basename(folder) + '/run'
        got = self.run([PILLION, '--output=' + capture, *words], capture)
        shutil.rmtree(folder)
        if got[0] == 2 and not got[1] and self.said:
            return 'refused: ' + ' '.join(self.said)
        return '' if got == self.bare else 'got %r, not %r' % (got, self.bare)


def reduced(items, fails):
    """The fewest of `items` with which it fails, where leaving out any one of them mends it."""
    parts = 2
    while len(items) > 1:
        size = -(-len(items) // parts)
        fewer = next((f for f in (items[:i] + items[i + size:] for i in range(0, len(items), size)) if fails(f)), None)
        if fewer is not None:
            items, parts = fewer, max(parts - 1, 2)
        elif size == 1:
            break
        else:
            parts = min(len(items), 2 * parts)
    return items


def run_lines(program, lines):
    for number, line in enumerate(lines):
        why = program.under(words_of(line))
        if not why:
            continue

        def fails(fewer):
            return program.under(words_of(fewer)).split(' ')[0] == why.split(' ')[0]
        least = reduced(line, fails)
        return check(False, '%s: %s' % (program.name, ' '.join(words_of(least))), why,
                     'the whole line %d: %s' % (number, ' '.join(words_of(line))))
    check(lines, '%s: as without pillion under each of %d lines' % (program.name, len(lines)))


def main():
    table = subprocess.run([PILLION, '--help=table'], stdout=subprocess.PIPE, check=True).stdout.decode()
    options = read_options(table)
    check(reduced(list('abcdefgh'), lambda some: 'c' in some and 'g' in some) == ['c', 'g'],
          'a line is reduced to what it takes to fail')
    lines = Lines(options)
    for refused in REFUSED + lines.impossible:
        why = Program('refused=true').under(words_of(refused))
        check(why.startswith('refused'), 'refused: ' + ' '.join(words_of(refused)), why or 'it runs')
    open_pairs = {(a, b) for a, b in all_pairs(options)}
    for line in lines.lines:
        open_pairs -= set(itertools.combinations(sorted(line.items(), key=lambda item: item[0]), 2))
    left = [p for p in open_pairs if p not in lines.refused and p not in lines.impossible]
    count = sum(1 for _ in all_pairs(options))
    check(not left, '%d lines have each of %d pairs' % (len(lines.lines), count), str(left))
    for text in sys.argv[2:]:
        run_lines(Program(text), [list(line.items()) for line in lines.lines])


PILLION = sys.argv[1]
main()
