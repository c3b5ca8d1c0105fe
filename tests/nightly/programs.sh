#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs of many kinds behave as without pillion, with OS calls, NVTX and CPU samples on: make -j, pipelines of bash,
# node, java, a server of gunicorn and gevent, workers of PyTorch's DataLoader. The output, status and errors of each
# must be the same.
#   PROGRAMS          only those whose text matches this (extended regular expression)
#   GUNICORN_PYTHON   a Python that has gunicorn (and gevent), default: python3
#   PYTHON_TORCH      a Python that has PyTorch, default: python3
set -u
. "$(dirname "$0")/../e2e/lib.sh"

programs=$tests_dir/../nightly
python=${GUNICORN_PYTHON:-$(python3 -c 'import sys; print(sys.executable)')}
torch=${PYTHON_TORCH:-$python}

# TEXT PROCESSES COMMAND...: runs COMMAND in an empty directory; it behaves as without pillion, at least PROCESSES
# processes are in the capture, and nothing is lost.
same() {
	local text=$1 processes=$2 bare recorded
	shift 2
	[[ $text =~ ${PROGRAMS:-} ]] || return 0
	rm -rf bare recorded run.pillion
	mkdir bare recorded
	(cd bare && timeout 300 "$@" >../bare.out 2>../bare.err)
	bare=$?
	(cd recorded && PILLION_STATS=false timeout --foreground 600 "$PILLION" -t osrt,nvtx -s cpu -o "$work/run" \
		"$@" >../recorded.out 2>../recorded.err)
	recorded=$?
	sed -i '/^pillion: /d' recorded.err
	if [ $bare -eq 0 ] && [ $recorded -eq 0 ] && [ -s bare.out ] && cmp -s bare.out recorded.out &&
		cmp -s bare.err recorded.err &&
		diff -r bare recorded >differences; then
		pass "$text: behaves as without pillion"
	else
		fail "$text: behaves as without pillion" "status $bare and $recorded" \
			"$(diff bare.out recorded.out | head -5)" \
			"$(diff bare.err recorded.err | head -20)" \
			"$(head -5 differences)"
	fi
	report stats -q -f csv -r processes run.pillion >processes.csv
	ok "$text: at least $processes processes" test "$(($(wc -l <processes.csv) - 1))" -ge "$processes"
	is "$(report stats -q -f csv -r ledger run.pillion | awk -F, '$3 == "lost" { n += $4 } END { print n + 0 }')" \
		0 "$text: nothing is lost"
}

same 'make -j8' 100 bash "$programs/make.sh"
same 'pipelines' 60 bash "$programs/pipelines.sh"

if command -v node >/dev/null; then
	same 'node' 5 node "$programs/server.mjs"
else
	skip 'node' 'there is none'
fi

if command -v javac >/dev/null; then
	javac -d classes "$programs/Jobs.java"
	same 'java' 5 java -cp "$work/classes" Jobs
else
	skip 'java' 'there is no javac'
fi

if "$python" -c 'import gunicorn' 2>/dev/null; then
	declare -A workers_of=([gevent]=ggevent [gthread]=gthread [sync]=sync)
	for class in gevent gthread sync; do
		if ! "$python" -c "import gunicorn.workers.${workers_of[$class]}" 2>/dev/null; then
			skip "gunicorn, $class" "$python cannot"
			continue
		fi
		same "gunicorn, $class" 5 "$python" "$programs/serve.py" $class
	done
else
	skip 'gunicorn' "$python has none; GUNICORN_PYTHON names one"
fi

if "$torch" -c 'import torch' 2>/dev/null; then
	for method in fork spawn forkserver; do
		for workers in 0 2 4; do
			same "DataLoader, $method, $workers workers" $((workers + 1)) "$torch" \
				"$programs/loader.py" $method $workers
		done
	done
else
	skip 'DataLoader' "$torch has no PyTorch; PYTHON_TORCH names one"
fi
done_testing
