#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Threads, forks, signals, cancellation and interpreter shutdown with all calls recorded: no crash, no hang and the same
# results.
#   STRESS_ROUNDS   10
set -u
. "$(dirname "$0")/lib.sh"

rounds=${STRESS_ROUNDS:-10}
cat >end.py <<'END'
# Daemon threads are in the middle of calls when the interpreter ends; a pool's workers are forked while they run.
import multiprocessing, os, signal, socket, sys, tempfile, threading, time

def busy():
    a, b = socket.socketpair()
    while True:
        with tempfile.TemporaryFile() as f:
            f.write(b'x' * 1000)
        a.send(b'y')
        b.recv(1)
        time.sleep(0.0001)

def square(n):
    with open('/dev/null', 'w') as f:
        print(n, file=f)
    return n * n

signal.signal(signal.SIGALRM, lambda *_: os.stat('/'))
signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
for _ in range(8):
    threading.Thread(target=busy, daemon=True).start()
with multiprocessing.get_context('fork').Pool(3) as pool:
    print(sum(pool.map(square, range(100))))
signal.setitimer(signal.ITIMER_REAL, 0) # the handlers go before the process does
END
python=$(command -v /usr/bin/python3 || command -v python3)
[ -z "$python" ] || python=$("$python" -c 'import sys; print(sys.executable)')

# TEXT WANTED COMMAND...: every round prints WANTED, prints nothing on stderr, ends with status 0 and leaves a complete
# capture.
round_after_round() {
	local text=$1 wanted=$2 i output status bad=
	shift 2
	for ((i = 1; i <= rounds && ${#bad} < 1000; i++)); do
		output=$(pillion -f true -t osrt --osrt-threshold=0 --osrt-backtrace-threshold=2000 \
			-o stress "$@" 2>errors)
		status=$?
		[ $status -eq 0 ] && [ "$output" = "$wanted" ] && ! grep -v "^$capture_line" errors ||
			bad="$bad round $i: status $status, output $output, $(tail -n 2 errors);"
		report stats -r osrt_sum -f csv stress.pillion >sum.csv 2>errors && [ "$(wc -l <sum.csv)" -gt 20 ] &&
			! [ -s errors ] ||
			bad="$bad round $i: report: $(head -n 2 errors);"
		report stats -r files,sockets stress.pillion >/dev/null 2>errors ||
			bad="$bad round $i: files: $(head -n 2 errors);"
	done
	is "$bad" '' "$text, $rounds rounds"
}

is "$("$targets/stress" 10)" 'done 320, wrong 0, signals yes' 'results without pillion'
# Without room for the stacks of all threads, pthread_create fails with EAGAIN.
said=$(ulimit -v 120000 && timeout "$patience" "$targets/stress" 10 2>&1)
is "$? $said" '3 stress: pthread_create: Resource temporarily unavailable' 'too few threads: it ends with the reason'
round_after_round 'threads, forks, signals' 'done 320, wrong 0, signals yes' "$targets/stress" 10
if [ -n "$python" ]; then
	round_after_round 'an interpreter that ends' 328350 "$python" end.py
else
	skip 'an interpreter that ends' 'no python3'
fi
done_testing
