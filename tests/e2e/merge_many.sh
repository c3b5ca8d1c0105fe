#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A capture of many trace files (each process records more than its place in the range file has room for): several
# threads give the same result as one, and no descriptor per file is needed.
set -u
. "$(dirname "$0")/lib.sh"

processes=400
one_cpu=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//') # the first CPU we may use
# shellcheck disable=SC2016
pillion -o many --osrt-threshold=0 sh -c 'i=0
	while [ $i -lt '$processes' ]; do i=$((i+1)); dd if=/dev/zero of=/dev/null bs=1 count=100; done' >out 2>err
is "$?" 0 'the job'
files=$(find many.pillion -name '*.trace' | wc -l)
ok "$files traces" test "$files" -ge "$processes"
for arguments in 'stats -r osrt_sum,processes,ledger' 'info' 'export -t folded --metric calls -o -'; do
	# shellcheck disable=SC2086
	report $arguments many.pillion >all 2>err
	is "$? $(cat err)" '0 ' "$arguments"
	# shellcheck disable=SC2086
	taskset -c "$one_cpu" "$PILLION_BUILD_DIR/report/pillion-report" $arguments many.pillion >one 2>err || true
	ok "$arguments: the same result with one thread" cmp all one
	# shellcheck disable=SC2086
	(ulimit -n 24 && report $arguments many.pillion >few 2>err)
	ok "$arguments: the same result with 24 descriptors" cmp all few
done
is "$(report stats -q -r processes -f csv many.pillion | grep -c 'exit 0')" "$((processes + 1))" \
	'each process is in the report'
if report pack -q many.pillion 2>err; then
	ok 'the packed capture has at most a tenth of the size' \
		test "$(($(stat -c %s many.pillpack) * 10))" -lt "$(du -sb many.pillion | cut -f1)"
	is "$(report stats -q -r osrt_sum,processes,ledger many.pillpack | sha1sum)" \
		"$(report stats -q -r osrt_sum,processes,ledger many.pillion | sha1sum)" \
		'the packed capture gives the same reports'
fi
done_testing
