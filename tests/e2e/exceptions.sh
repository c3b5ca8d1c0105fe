#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The exception that ended a Python program, or one of its workers, is the first line of its log, with the program's own
# line. Exceptions that the program has caught and printed are none.
set -u
. "$(dirname "$0")/lib.sh"
unset "${!SLURM_@}" PMIX_NAMESPACE PMIX_RANK OMPI_COMM_WORLD_RANK RANK MASTER_ADDR MASTER_PORT
python=${PYTHON:-python3}
owned='import sys; sys.exit(sys.version_info < (3, 8))'
"$python" -c "$owned" 2>/dev/null || skip_all 'no python3'
export PILLION_STATS=summary

cat >raises.py <<'PROGRAM'
import os, sys, threading, time, traceback

def fn(text):
    raise RuntimeError("no " + text)  # raised

def caught():
    try:
        fn("harm")
    except RuntimeError:
        traceback.print_exc()

def lost(kind):
    if kind == "killed":
        os.kill(os.getpid(), 9)
    os._exit(7)

def follow(own, other):
    own.close()
    other.recv()

def hook(kind, value, trace):
    traceback.print_exception(kind, value, trace)
    os._exit(7)

kind = sys.argv[1]
if __name__ != "__main__":
    pass
elif kind == "plain":
    fn("password=hunter2 here")
elif kind == "redirected":
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    fn("output")
elif kind == "file":
    print("begins", flush=True)
    sys.stderr = open("own.txt", "w")
    fn("terminal")
elif kind == "hook":
    sys.excepthook = hook
    fn("hook")
elif kind == "prefix":
    def prefixed(*raised):
        lines = "".join(traceback.format_exception(*raised)).split("\n")[:-1]
        sys.stderr.write("".join(f"[rank0]: {line}\n" for line in lines))
    sys.excepthook = prefixed
    fn("prefix")
elif kind == "chain":
    try:
        fn("chain")
    except RuntimeError as e:
        raise KeyError("key") from e  # chained
elif kind == "thread":
    t = threading.Thread(target=fn, args=("thread",))
    t.start()
    t.join()
    sys.exit(3)
elif kind in ("fork", "spawn"):
    import multiprocessing
    context = multiprocessing.get_context(kind)
    p = context.Process(target=fn, args=("process",))
    p.start()
    p.join()
    sys.exit(p.exitcode)
elif kind == "pool":
    import multiprocessing
    with multiprocessing.get_context("fork").Pool(2) as p:
        p.map(fn, ["pool"])
elif kind == "futures":
    from concurrent.futures import ProcessPoolExecutor
    with ProcessPoolExecutor(2) as p:
        list(p.map(fn, ["futures"]))
elif kind in ("exits", "killed"):
    import subprocess
    from concurrent.futures import ProcessPoolExecutor
    subprocess.run(["false"])
    with ProcessPoolExecutor(1) as p:
        list(p.map(lost, [kind]))  # lost
elif kind == "server":
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("forkserver")) as p:
        list(p.map(lost, ["killed"]))  # served
elif kind in ("peer", "retried", "handled", "rows", "named"):
    import multiprocessing
    own, other = multiprocessing.Pipe()
    if kind == "retried":
        p = multiprocessing.Process(target=lost, args=("exits",))
        p.start()
        p.join()
    p = multiprocessing.Process(target=lost, args=("killed",))
    p.start()
    other.close()
    if kind not in ("peer", "retried"):
        p.join()
    if kind == "handled":
        fn("more")
    elif kind == "rows":
        fn("%d rows" % p.pid)
    elif kind == "named":
        fn("answer of workers 0, %d" % p.pid)
    own.recv()  # peer
elif kind in ("input", "awaited"):
    import multiprocessing, multiprocessing.connection
    p = multiprocessing.Process(target=lost, args=("exits",))
    p.start()
    multiprocessing.connection.wait([p.sentinel])
    if kind == "awaited":
        p.join()
    sys.stdin = open(os.devnull)
    input()  # input
elif kind == "survived":
    import atexit, multiprocessing
    own, other = multiprocessing.Pipe()
    far, near = multiprocessing.Pipe()
    near.close()
    p = multiprocessing.Process(target=follow, args=(own, other))
    p.start()
    atexit.register(own.close)
    far.recv()  # survived
elif kind in ("crashed", "master"):
    import ctypes, multiprocessing
    q = multiprocessing.get_context("fork").Queue()
    p = multiprocessing.get_context("fork").Process(target=ctypes.string_at if kind == "crashed" else lost,
                                                    args=(0 if kind == "crashed" else "killed",))
    p.start()
    if kind == "crashed":
        q.get(timeout=1)
    p.join()
    sys.exit(2)
elif kind == "threads":
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(2) as p:
        list(p.map(fn, ["threads"]))
elif kind == "caught":
    caught()
    sys.exit(1)
elif kind == "logged":
    import logging
    try:
        fn("log")
    except RuntimeError:
        logging.exception("it goes on")
    sys.exit(2)
elif kind == "harmless":
    t = threading.Thread(target=fn, args=("thread",))
    t.start()
    t.join()
elif kind == "interrupted":
    raise KeyboardInterrupt
elif kind == "ignored":
    class Owner:
        def __del__(self):
            fn("owner")
    owner = Owner()  # until the interpreter ends
    sys.exit(3)
elif kind == "announced":
    print("Exception ignored for now: <Owner at 0x1>", file=sys.stderr)
    fn("announced")
elif kind == "continued":
    print("Exception ignored in: <Owner at 0x1>\nit goes on", file=sys.stderr)
    fn("continued")
elif kind == "started":
    import _thread
    begun = threading.Event()
    _thread.start_new_thread(lambda: begun.set() or fn("thread"), ())
    begun.wait()
    while _thread._count():
        time.sleep(0.01)
    sys.exit(2)
elif kind == "cancelled":
    try:
        fn("end")
    except RuntimeError:
        raise KeyboardInterrupt
PROGRAM
raised=$(grep -n '# raised' raises.py | cut -d: -f1)
chained=$(grep -n '# chained' raises.py | cut -d: -f1)

# A future that has ended is read at another line of concurrent.futures than one that is waited for.
changes='s/0x[0-9a-f]+//; s/Process-[0-9]+/Process/; s/(no|0,) [0-9]+/\1 PID/
	s/(futures\/_base\.py", line )[0-9]+, in result$/\1N, in result/'

# ended KIND: its exit status alone is that under pillion, and so is what it prints; err has our lines.
ended() {
	local status
	rm -rf run.pillion
	"$python" raises.py "$1" >alone.out 2>alone.err
	status=$?
	"$PILLION" -o run "$python" raises.py "$1" >out 2>both
	is "$?" "$status" "$1: the status"
	grep -nE '^(pillion: |CRASH|DIED FIRST)' both | head -n 1 >first
	head -n "$(($(cut -d: -f1 first) - 1))" both | sed -E "$changes" >err
	sed -E "$changes" alone.err >alone
	is "$(cat out)" "$(cat alone.out)" "$1: its output"
	[ "$1" = pool ] || [ "$1" = futures ] || [ "$1" = server ] || is "$(cat err)" "$(cat alone)" "$1: its errors"
	sed -i 's/^[0-9]*://' first
}

for kind in redirected file hook prefix threads pool futures thread announced continued started; do
	ended "$kind"
	like "$(cat first)" "^CRASH +RuntimeError: no [a-z]+ at raises.py:$raised fn; process [0-9]+ " \
		"$kind: the first line"
done
ended plain
like "$(cat first)" "^CRASH +RuntimeError: no password=\[masked\] here at raises.py:$raised fn; " 'secrets are masked'
report stats --summary --show-secrets run.pillion >summary
like "$(cat summary)" '^CRASH +RuntimeError: no password=hunter2 here at' '--show-secrets'
report analyze -f csv -r crash run.pillion >rows
like "$(cat rows)" ",fn \(.*raises.py:$raised\)," 'a row of the rule'
report pack --redact -o told.pillion run.pillion >packed 2>&1
is "$(grep -c hunter2 packed)$(report stats --summary --show-secrets told.pillion | grep -c hunter2)" 00 \
	'pack --redact has no message'
ended chain
like "$(cat first)" "^CRASH +KeyError: 'key' at raises.py:$chained; " 'the last one of a chain'
for kind in fork spawn; do
	ended "$kind"
	like "$(cat first)" "^DIED FIRST +RuntimeError: no process at raises.py:$raised fn; process [0-9]+ " \
		"$kind: a worker's"
done
# With what it has recorded last, if anything.
worker='worker [0-9]+([;,].*)?'
lost=$(grep -n '# lost' raises.py | cut -d: -f1)
broken='; then concurrent\.futures\.process\.BrokenProcessPool: '
ended exits
like "$(cat first)" "^DIED FIRST +exit 7 of $worker$broken.* at raises.py:$lost; process [0-9]+ " \
	'a worker that exits: before what its pool raises'
ended killed
like "$(cat first)" "^DIED FIRST +signal 9 \(SIGKILL\) of $worker$broken.* at raises.py:$lost; " \
	'a worker that was killed: before what its pool raises'
served=$(grep -n '# served' raises.py | cut -d: -f1)
ended server
like "$(cat first)" "^DIED FIRST +signal 9 \\(SIGKILL\\) of $worker$broken.* at raises.py:$served; " \
	'a worker of a server of forks'
peer=$(grep -n '# peer' raises.py | cut -d: -f1)
ended peer
like "$(cat first)" "^DIED FIRST +signal 9 \\(SIGKILL\\) of $worker; then EOFError at raises.py:$peer; " \
	'a worker whose pipe is at its end'
ended retried
like "$(cat first)" "^DIED FIRST +signal 9 \\(SIGKILL\\) of $worker; then EOFError at raises.py:$peer; " \
	'a worker whose pipe is at its end, after one that was awaited'
ended named
like "$(cat first)" "^DIED FIRST +signal 9 \\(SIGKILL\\) of worker .*; then RuntimeError: no .* at raises.py:$raised " \
	'a worker that the exception names'
ended rows
like "$(cat first)" "^CRASH +RuntimeError: no [0-9]+ rows at raises.py:$raised fn; " 'a number that is no PID'
for kind in input awaited; do
	ended $kind
	like "$(cat first)" "^CRASH +EOFError: .* at raises.py:$(grep -n '# input' raises.py | cut -d: -f1); " \
		"$kind: the end of a file, which no worker wrote"
done
ended survived
like "$(cat first)" "^CRASH +EOFError at raises.py:$(grep -n '# survived' raises.py | cut -d: -f1); " \
	'a worker that ends because of the exception'
ended crashed
like "$(cat first)" '^DIED FIRST +signal 11 \(SIGSEGV' 'a crash before the time limit of who waits for it'
ended master
like "$(cat first)" "^DIED FIRST +signal 9 \\(SIGKILL\\) of $worker; then exit 2; process " \
	'a killed worker, before the status of the master'
ended handled
like "$(cat first)" "^CRASH +RuntimeError: no more at raises.py:$raised fn; " 'a worker whose end had no consequence'
for kind in caught logged harmless interrupted cancelled ignored; do
	ended "$kind"
	unlike "$(cat both)" '^(CRASH|DIED FIRST)' "$kind: none"
done

printf 'print("a")\nx = = 3\n' >syntax.py
rm -rf run.pillion
"$PILLION" -o run "$python" syntax.py >out 2>err
like "$(cat err)" '^CRASH +SyntaxError: .* at syntax.py:2; ' 'a syntax error'
rm -rf run.pillion
PYTHONUNBUFFERED=1 "$PILLION" -o run "$python" -c 'def f():
    raise OSError(2, "No such file", "x.bin")
f()' >out 2>err
like "$(cat err)" "^CRASH +FileNotFoundError: .*'x.bin' at <string>:2 f; " 'python -c, unbuffered'

# Ranks: the first of them that raises.
cat >rank.py <<'PROGRAM'
import sys, time
if sys.argv[1] == "1":
    time.sleep(0.3)
    raise ValueError("bad batch")  # rank 1
time.sleep(0.8)
sys.exit(1)
PROGRAM
rm -rf run.pillion
for rank in 0 1; do
	RANK=$rank WORLD_SIZE=2 MASTER_ADDR=localhost MASTER_PORT=1 "$PILLION" -o run "$python" rank.py $rank \
		>out.$rank 2>err.$rank &
done
wait
report stats --summary run.pillion >summary
like "$(cat summary)" '^DIED FIRST rank 1 on [^:]*: ValueError: bad batch at rank.py:4; ' 'ranks'

# A program that passes what cannot be read has the kernel's error.
cat >fault.c <<'PROGRAM'
#include <errno.h>
#include <unistd.h>
int main(void)
{
	return write(2, (void *)16, 64) == -1 && errno == EFAULT ? 0 : 1;
}
PROGRAM
if command -v gcc >/dev/null && gcc -o fault fault.c; then
	rm -rf run.pillion
	"$PILLION" -o run ./fault >out 2>err
	is $? 0 'a write of an address that cannot be read'
else
	skip 'a write of an address that cannot be read' 'no gcc'
fi
done_testing
