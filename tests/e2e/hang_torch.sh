#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ranks of PyTorch's c10d, which wait for each other in functions of C++ that are not recorded: who has not come, and
# where it is; and which rank died first, if others have lost it or a signal has ended them.
set -u
. "$(dirname "$0")/lib.sh"
unset "${!SLURM_@}" PMIX_NAMESPACE PMIX_RANK OMPI_COMM_WORLD_RANK RANK MASTER_ADDR MASTER_PORT
command -v g++ >/dev/null || skip_all 'no g++'
python=${PYTHON:-python3}
"$python" -c 'import sys, ctypes; sys.exit(sys.version_info < (3, 8))' 2>/dev/null || skip_all 'no python3'

cat >c10d.cpp <<'END'
#include <condition_variable>
static std::mutex mutex;
static std::condition_variable condition;
static void forever()
{
	std::unique_lock<std::mutex> lock(mutex);
	for (volatile bool is_over = false; !is_over;)
		condition.wait(lock);
}
namespace c10d {
struct Work { bool wait(long ms); };
struct Reducer { void finalize_backward(); };
__attribute__((noinline)) bool Work::wait(long ms) { forever(); return ms; }
__attribute__((noinline)) void Reducer::finalize_backward() { forever(); }
}
extern "C" bool work_wait(void) { return !c10d::Work().wait(0); }
extern "C" int backward(void) { c10d::Reducer().finalize_backward(); return 1; }
END
ok 'a library with the names of c10d' g++ -g -O1 -shared -fPIC -o libc10d.so c10d.cpp -lpthread
mkdir -p torch/distributed
touch torch/__init__.py torch/distributed/__init__.py
cat >torch/distributed/distributed_c10d.py <<'END'
import ctypes, os
lib = ctypes.CDLL(os.path.abspath("libc10d.so"))
def all_reduce():
    lib.work_wait()
def broadcast():
    lib.work_wait()
END
cat >job.py <<'END'
import os, sys, time
from torch.distributed.distributed_c10d import all_reduce, broadcast, lib
how, rank = sys.argv[1], int(os.environ["RANK"])
def late():
    while True:
        time.sleep(0.1)  # late
if how == "peer":
    if rank == 1:
        time.sleep(1)
        os._exit(3)
    time.sleep(0.5)
    raise RuntimeError("[pair.cc:544] Connection closed by peer [127.0.0.1]:26213.")  # peer
if rank == 1 and how in ("late", "backward", "direct"):
    late()
if rank == 1 and how == "mismatch":
    broadcast()  # broadcasts
if how == "backward":
    lib.backward()  # backward
if how == "direct":
    lib.work_wait()  # direct
all_reduce()  # reduces
END
cat >starter.py <<'END'
import os, signal, subprocess, sys
class SignalException(Exception):
    pass
def ended(number, frame):
    for worker in workers:
        worker.terminate()
    raise SignalException(f"got signal: {number}")
signal.signal(signal.SIGTERM, ended)
workers = [subprocess.Popen([sys.executable, "job.py", sys.argv[1]], env=dict(os.environ, RANK=str(rank)))
           for rank in range(3)]
sys.exit(max(worker.wait() != 0 for worker in workers))
END

line() { # TEXT
	grep -n -m 1 -- "# $1\$" job.py | cut -d: -f1
}

named() { # HOW REGEX: it is said while the job hangs, and is the first line of its log when SIGTERM ends it
	rm -rf run.pillion
	PILLION_STATS=summary "$PILLION" --hang=2 -o run "$python" starter.py "$1" >log 2>&1 &
	job=$!
	ok "$1: it is said while it lasts" eventually grep -Eq "^pillion: $2" log
	: >log # which was opened for writing at an offset
	kill -TERM "$job"
	wait "$job"
	is $? 1 "$1: the status"
	like "$(tr -d '\0' <log | grep -Eo -m 1 '^(DIED FIRST|CRASH|DEADLOCK|COLLECTIVE|STALLED) .*')" "^$2" \
		"$1: the first verdict after SIGTERM"
	report stats --summary run.pillion >summary 2>err
	like "$(sed -n 2p summary)" "^$2" "$1: the summary"
}

late="rank 1, PID [0-9]+, has not come for [0-9.]+ s: .*sleep.* late \\(.*job.py:$(line late)\\)"
named late "STALLED +2 of 3 ranks are in all_reduce; $late"
named backward "STALLED +2 of 3 ranks are in c10d::Reducer::finalize_backward; $late"
named direct "STALLED +2 of 3 ranks are in c10d::Work::wait; $late"
named mismatch "STALLED +every rank is in a call, .*: rank 0, PID [0-9]+: all_reduce for .*job.py:$(line reduces)\\)"
like "$(sed -n 3p summary)" "rank 1, PID [0-9]+: broadcast for .*job.py:$(line broadcasts)\\)" \
	'mismatch: the other call'

rm -rf run.pillion
PILLION_STATS=summary "$PILLION" -o run "$python" starter.py peer >log 2>&1
is $? 1 'peer: the status'
like "$(grep -m 1 '^DIED FIRST' log)" '^DIED FIRST rank 1 on .*: exit 3 at job.py:10 <module>; ' \
	'who is gone, not those who have lost it'

done_testing
