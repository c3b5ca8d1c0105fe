#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# analyze on real programs that use no GPU: each planted problem is found at its source line, and its clean twin has
# no such finding. Verdicts depend on shares of the time, never on the machine's speed.
set -u
. "$(dirname "$0")/lib.sh"
has_unwinder || skip_all 'built without the unwinder'

verdict() { # CAPTURE RULE: found, clean, could not check: why
	report analyze -q -r "$2" -f csv "$1.pillion" 2>/dev/null |
		python3 -c 'import csv, sys; print(list(csv.DictReader(sys.stdin))[0]["Verdict"])'
}

pair() { # RULE PLANTED CLEAN
	is "$(verdict "$2" "$1")" found "$1: planted"
	is "$(verdict "$3" "$1")" clean "$1: its clean twin"
}

# ---- locks ----

for kind in convoy own; do
	pillion -o "$kind" "$targets/locks" "$kind" >out 2>err
	is "$? $(cat out)" "0 $kind" "$kind: its status and output"
done
pair lock_convoy convoy own
! has_unwinder || like "$(report analyze -q -r lock_convoy -f csv convoy.pillion)" \
	",pthread_mutex_lock,work \\(.*locks\\.c:$(grep -n 'mutex_lock(lock)' "$tests_dir/../targets/locks.c" |
		sed 's/:.*//')\\)" 'lock_convoy: its line'
like "$(verdict own import_heavy)" '^could not check: no Python' 'import_heavy without Python'

# ---- small reads ----

head -c 1000000 /dev/zero >data
cat >reads.py <<'END'
import os, sys
size = int(sys.argv[1])
fd = os.open('data', os.O_RDONLY)
for i in range(int(sys.argv[2])):
    os.pread(fd, size, i)
END
pillion -o small python3 reads.py 16 400000 >out 2>err
pillion -o large python3 reads.py 65536 400 >out 2>err
pair small_io small large

# ---- imports ----

mkdir modules
for i in 1 2 3 4 5; do
	printf 'import time\ntime.sleep(0.4)\n' >modules/slow$i.py
done
cat >imports.py <<'END'
import importlib, sys, time
sys.path.insert(0, 'modules')
for i in range(1, 6):
    if sys.argv[1] == 'import':
        importlib.import_module('slow%d' % i)
    else:
        time.sleep(0.4)
END
for kind in import sleep; do
	pillion -o "$kind" python3 imports.py "$kind" >out 2>err
done
pair import_heavy import sleep
like "$(report analyze -q -r import_heavy -f csv import.pillion)" ',import,<module> \(.*slow[1-5]\.py:2\)' \
	'import_heavy: its line'

# ---- a loader ----
# A package with the file of PyTorch's loader, which waits for a worker as that one does.
mkdir -p site-packages/torch/utils/data
touch site-packages/torch/{,utils/,utils/data/}__init__.py # so that it precedes an installed PyTorch
cat >site-packages/torch/utils/data/dataloader.py <<'END'
import os, select

def batches(count, work):
    ends = os.pipe()
    if not os.fork():
        for i in range(count):
            work()
            os.write(ends[1], b'x')
        os._exit(0)
    for i in range(count):
        ready = select.poll()
        ready.register(ends[0], select.POLLIN)
        ready.poll()
        yield os.read(ends[0], 1)
END
cat >train.py <<'END'
import os, sys, time
sys.path.insert(0, 'site-packages')
from torch.utils.data import dataloader

def work():
    time.sleep(0.1 if sys.argv[1] == 'slow' else 0)

for batch in dataloader.batches(10, work):
    time.sleep(0.01 if sys.argv[1] == 'slow' else 0.1)
os.wait()
END
for kind in slow quick; do
	pillion -o "$kind" python3 train.py "$kind" >out 2>err
	is $? 0 "$kind: its status"
done
pair slow_loader slow quick
like "$(report analyze -q -r slow_loader -f csv slow.pillion)" ',poll,<module> \(.*train\.py:8\)' \
	'slow_loader: its line'
done_testing
