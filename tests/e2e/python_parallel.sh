#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Threads that compute at the same time, where there is no GIL (PILLION_PYTHONS names such a Python), and with one: each
# sample's stack is one that its thread can have, line by line, and results are those without pillion.
set -u
. "$(dirname "$0")/lib.sh"

has_unwinder || skip_all 'no native stacks in this build'
script=$(cd "$tests_dir/../targets" && pwd)/python_parallel.py
account=$tests_dir/python_parallel_account.py
all_pythons "${PYTHON:-/usr/bin/python3}"
[ "${#pythons[@]}" -gt 0 ] || skip_all 'no CPython'

for python in "${pythons[@]}"; do
	version=$("$python" -c 'import sys, sysconfig
print("%d.%d" % sys.version_info[:2] + ("t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""))')
	timeout "$patience" "$python" "$script" 0 2 >bare
	like "$(cat bare)" "'coroutines', .*'generators', " "$version: it computes without pillion"

	pillion -f -o busy -s cpu --sampling-frequency=2000 --osrt-threshold=0 --osrt-backtrace-threshold=0 \
		"$python" "$script" 2 2 >out 2>err
	is "$? $(cat out) $(grep -vc '^pillion: ' err)" "0 $(cat bare) 0" "$version, samples: the same result"
	report export -q -t folded --metric cpu -o - busy.pillion >busy.folded 2>err
	adopt /usr/bin/python3 "$account" "$version" "$script" busy.folded
	is "$(report stats -q -r stacks_sum -f csv busy.pillion | grep -E ',clock_nanosleep,|,select,' |
		grep -o 'work ([^)]*)' | sort -u)" \
		"work ($script:$(grep -n '# work sleeps$' "$script" | cut -d: -f1))" \
		"$version: a call that all threads make is at its line"
	is "$(ledger busy 'lost events') $(report stats -q -r ledger -f csv busy.pillion | grep -c ',note,')" '0 0' \
		"$version, samples: the ledger has no losses and no notes"

	pillion -f -o all -s cpu --sampling-frequency=2000 --memory=all --memory-sampling=4096 --python-calls=all \
		--python-import-time=true -t osrt,nvtx "$python" "$script" 0 20 >out 2>err
	is "$? $(cat out) $(grep -vc '^pillion: ' err)" "0 $(cat bare) 0" \
		"$version, samples, allocations, calls: the same result"
done
done_testing
