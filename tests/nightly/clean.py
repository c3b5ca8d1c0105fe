#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clean.py [NAME]...: 60 programs that compute, or wait for their input, their user or their clients. Nothing may be
found in them but code that computes, and nothing in those that wait. Prints TAP.

What others do on the machine is left out. A program whose interpreter or compiler is missing is skipped."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PILLION = os.path.join(os.path.dirname(os.path.dirname(HERE)), "scripts", "pillion")
ENVIRONMENT = ("cpu_starved", "cpu_oversubscribed", "import_time")
SLOW_INPUT = "for i in 1 2 3 4 5 6 7 8; do sleep 0.2; echo $i; done"  # of the programs in WAITS

PYTHON = {
    "sums": "print(sum(i * i for i in range(6000000)))",
    "strings": "print(len(','.join(str(i) for i in range(3000000))))",
    "sort": "import random; print(sorted(random.random() for i in range(1500000))[0])",
    "dicts": "print(len({str(i): i for i in range(2000000)}))",
    "sieve": "n = 6000000; s = bytearray([1]) * n\nfor i in range(2, 2450):\n    s[i * i::i] = bytes(len(s[i * i::i]))",
    "fib": "f = lambda n: n if n < 2 else f(n - 1) + f(n - 2)\nprint(f(30))",
    "permutations": "import itertools; print(sum(1 for p in itertools.permutations(range(10))))",
    "fractions": "from fractions import Fraction as F; print(sum(F(1, i) for i in range(1, 2500)) > 8)",
    "decimals": "import decimal; decimal.getcontext().prec = 20000; print(len(str(decimal.Decimal(2).sqrt())))",
    "zlib": "import zlib; print(len(zlib.compress(bytes(range(256)) * 300000, 6)))",
    "sha": "import hashlib; print(hashlib.sha256(bytes(300000000)).hexdigest())",
    "json": "import json; print(len(json.dumps(list(range(4000000)))))",
    "regex": "import re; print(len(re.findall('[a-z]+[0-9]', 'abc1 de ' * 600000)))",
    "random": "import random; print(sum(random.gauss(0, 1) for i in range(1500000)))",
    "ast": "import ast; print(ast.parse('x = [1, 2, 3]\\n' * 60000))",
    "thread": "import threading\nt = threading.Thread(target=lambda: sum(range(40000000)))\nt.start(); t.join()",
    "pool": "import multiprocessing as m\nif __name__ == '__main__':\n"
        "    with m.Pool(2) as p: print(p.map(sum, [range(30000000)] * 2))",
    "asyncio": "import asyncio\nasync def f():\n    return sum(range(30000000))\nprint(asyncio.run(f()))",
    "sqlite": "import sqlite3; c = sqlite3.connect(':memory:'); c.execute('create table t (a)')\n"
        "c.executemany('insert into t values (?)', ((i,) for i in range(1000000)))\n"
        "print(c.execute('select sum(a) from t').fetchone())",
    "pickle": "import pickle; print(len(pickle.loads(pickle.dumps([str(i) for i in range(2500000)]))))",
}
OTHERS = {
    "bash count": "bash -c 'for ((i = 0; i < 400000; i++)); do :; done'",
    "bash text": "bash -c 'x=; for ((i = 0; i < 9000; i++)); do x=$x$i; done; echo ${#x}'",
    "bash arrays": "bash -c 'for ((i = 0; i < 150000; i++)); do a[i]=$((i * i % 7)); done; echo ${#a[@]}'",
    "sh count": "sh -c 'i=0; while [ $i -lt 900000 ]; do i=$((i + 1)); done'",
    "seq": "seq 1 20000000", "gzip": "gzip -9 -k -c numbers", "bzip2": "bzip2 -k -c numbers",
    "xz": "xz -3 -k -c numbers", "sort": "sort numbers", "sha512sum": "sha512sum zeros zeros zeros",
    "factor": "factor 1000000000000000000000000000057 170141183460469231731687303715884105727",
    "od": "od -An -tx1 zeros", "base64": "base64 zeros", "wc": "wc numbers numbers numbers", "tac": "tac numbers",
    "sed": "sed -E s/([0-9])([0-9])/\\2\\1/g numbers", "grep": "grep -cE (1.*2.*3|3.*2.*1).*9 numbers",
    "awk sums": "awk BEGIN{for(i=0;i<12000000;i++)s+=i;print(s)}",
    "awk fields": "awk {s+=$1;c[$1%7]++}END{print(s,length(c))} numbers",
    "awk text": "awk {n+=length($0\".\"$0)}END{print(n)} numbers",
    "perl sums": "perl -e $s+=$_*$_%7for(1..12000000);print$s",
    "perl hashes": "perl -e $h{$_}=$_*2for(1..1200000);print(scalar(keys(%h)))",
    "perl regex": "perl -ne $n++if/(\\d)\\d*\\1$/;END{print$n} numbers",
    "perl sort": "perl -e print((sort({$a<=>$b}map({rand}1..900000)))[0])",
    "node sums": "node -e let\ts=0;for(let\ti=0;i<1.5e9;i++)s+=i%7;console.log(s)",
    "node maps": "node -e const\tm=new\tMap();for(let\ti=0;i<2e6;i++)m.set(''+i,i);console.log(m.size)",
    "c sums": "./c sums", "c memory": "./c memory", "c calls": "./c calls", "gcc": "gcc -O2 -c -o many.o many.c",
}
WAITS = {
    "cat": "cat", "wc": "wc -l", "sort": "sort", "awk": "awk {print$1*2}", "perl": "perl -ne print$_*2",
    "bash": "bash -c while\tread\tx;do\techo\t$x;done", "python": "python3 -c print(len(list(iter(input,'8'))))",
    "node": "node -e process.stdin.on('data',d=>console.log(d.length))",
    "server": "timeout 2 python3 -m http.server 0",
    "server asyncio": "timeout 2 python3 -c import\tasyncio;l=asyncio.new_event_loop();"
        "l.run_until_complete(asyncio.start_server(print,'127.0.0.1',0));l.run_forever()",
}
C = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(int n, char **v)
{
	volatile double s = 0;
	if (!strcmp(v[1], "calls"))
		return fib(38) == n;
	for (int i = 1; i < 400000000 && !strcmp(v[1], "sums"); i++)
		s += 1.0 / i;
	for (int i = 0; i < 3000000 && !strcmp(v[1], "memory"); i++)
		free(memset(malloc(1000 + i % 1000), i, 1000));
	return 0;
}
"""


def prepare():
    with open("numbers", "w", encoding="utf-8") as file:
        file.writelines("%d %d\n" % (i * 7919 % 1000003, i) for i in range(900000))
    with open("zeros", "wb") as file:
        file.truncate(100000000)
    with open("many.c", "w", encoding="utf-8") as file:
        file.writelines("int f%d(int *a) { return a[0] * %d + a[1] / (a[2] | 1); }\n" % (i, i) for i in range(9000))
    with open("c.c", "w", encoding="utf-8") as file:
        file.write(C)
    if shutil.which("gcc"):
        subprocess.run(["gcc", "-g", "-O1", "-fno-omit-frame-pointer", "-o", "c", "c.c"], check=True)


def programs():
    """(name, command, whether it waits); \t stands for a space within a word."""
    for name, text in PYTHON.items():
        yield "python " + name, [sys.executable, "-c", text], False
    for kind, waits in ((OTHERS, False), (WAITS, True)):
        for name, text in kind.items():
            words = text.split(" ")
            if "'" in text and words[0] in ("bash", "sh"):
                words = [words[0], "-c", text.split("'")[1]]
            yield ("waits " if waits else "") + name, [word.replace("\t", " ") for word in words], waits


def wrong(command, waits):
    """What was found that should not be."""
    stdin = subprocess.Popen(["sh", "-c", SLOW_INPUT], stdout=subprocess.PIPE) if waits else None
    subprocess.run([PILLION, "-f", "true", "-o", "run", *command], stdin=stdin.stdout if waits else subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, timeout=900)
    if stdin:
        stdin.stdout.close()
        stdin.wait()
    answer = subprocess.run([PILLION, "analyze", "--json", "run.pillion"], stdout=subprocess.PIPE, check=True).stdout
    return [row["Text"] for row in json.loads(answer)["rows"] if row.get("table") == "findings" and
        row["Verdict"] == "found" and row["Rule"] not in ENVIRONMENT and
        (waits or row["Rule"] != "bound_by" or not (row["Frames"] or "comput" in row["Text"]))]


def main():
    number = failed = 0
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        prepare()
        for name, command, waits in programs():
            if sys.argv[1:] and name not in sys.argv[1:]:
                continue
            number += 1
            if not shutil.which(command[0]):
                print("ok %d - %s # SKIP no %s" % (number, name, command[0]), flush=True)
                continue
            found = wrong(command, waits)
            failed += bool(found)
            print("%sok %d - %s%s" % ("not " if found else "", number, name, "".join("\n# " + f for f in found)),
                  flush=True)
    print("1..%d" % number)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
