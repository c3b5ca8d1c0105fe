#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Real Python jobs end as without pillion, and every worker is in the report.
set -u
. "$(dirname "$0")/lib.sh"

# The interpreter itself, not a shim that executes it.
python=$("${PYTHON:-python3}" -c 'import sys; print(sys.executable)') || skip_all 'no python3'

# TEXT SCRIPT PROCESSES: same output and status; PROCESSES Python processes, each with its parent and its rows.
job() {
	local text=$1 script=$2 wanted=$3 bare
	timeout "$patience" "$python" "$script" >bare.out 2>bare.err
	bare=$?
	pillion -f -o job "$python" "$script" >out 2>err
	is "$? $(cat out)" "$bare $(cat bare.out)" "$text: status and output"
	is "$(grep -v '^pillion: ' err)" "$(cat bare.err)" "$text: errors"
	report stats -r processes -f csv job.pillion | grep -F "$script" >rows
	is "$(wc -l <rows)" "$wanted" "$text: $wanted processes"
	is "$(awk -F, 'NR == FNR { pid[$1]; next } !($2 in pid)' rows rows | wc -l)" 1 \
		"$text: all but the first have a parent in the table"
	is "$(report stats -r osrt_sum --by process -f csv job.pillion | awk -F, 'NR > 1 { print $1 }' | sort -u |
		grep -cFxf <(cut -d, -f1 rows))" "$wanted" "$text: each has its rows in osrt_sum"
}

for method in fork spawn forkserver; do
	cat >"$method.py" <<END
import multiprocessing, os, sys, time

def work(n):
    time.sleep(0.02)
    with open(os.devnull, "w") as f:
        f.write("x" * n)
    return n * n

if __name__ == "__main__":
    context = multiprocessing.get_context("$method")
    with context.Pool(4) as pool:
        print(sum(pool.map(work, range(40), chunksize=1)))
        pool.close()
        pool.join()
    sys.exit(3)
END
done
job 'multiprocessing by fork' fork.py 5

cat >mixed.py <<'END'
import warnings
warnings.simplefilter("ignore", DeprecationWarning)  # since 3.12, of fork among threads; it names the PID
import os, signal, subprocess, sys, threading, time

def child(sig):
    pid = os.fork()
    if pid == 0:
        time.sleep(0.01)
        if sig:
            os.kill(os.getpid(), sig)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

threads = [threading.Thread(target=time.sleep, args=(0.02,)) for _ in range(16)]
[t.start() for t in threads]
print(child(0), child(signal.SIGKILL), child(signal.SIGSEGV))
print(subprocess.run(["sh", "-c", "echo out; exit 4"], capture_output=True, close_fds=True).returncode)
print(subprocess.run("exit 5", shell=True, env={}).returncode)
[t.join() for t in threads]
print(sorted(os.listdir("/proc/self/fd")) == sorted(os.listdir("/proc/self/fd")))
os._exit(7)
END
job 'threads, forks, subprocesses' mixed.py 4
for method in spawn forkserver; do
	timeout "$patience" "$python" $method.py >bare.out 2>bare.err
	bare=$?
	pillion -f -o job "$python" $method.py >out 2>err
	is "$? $(cat out)" "$bare $(cat bare.out)" "multiprocessing by $method: status and output"
done

if "$python" -c 'import torch' 2>/dev/null; then
	job 'PyTorch with a DataLoader of four workers' "$tests_dir/../../examples/pytorch/train.py" 5
else
	skip 'PyTorch with a DataLoader of four workers' 'no torch for this python3'
fi
done_testing
