#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Failing calls of every kind are recorded with their error, and calls that create descriptors with their flags, both by
# name, as strace sees them; the program gets the same results and the same errno.
. "$(dirname -- "$0")/lib.sh"

"$targets/errors" >bare
pillion -s none -t osrt --osrt-threshold=0 -o errors "$targets/errors" >recorded 2>err
is "$? $(grep -vc "^$capture_line" err)" '0 0' 'status and stderr'
is "$(cat recorded)" "$(cat bare)" 'each call returns what it returned without pillion, with the same errno'
report stats -q -r osrt_error_sum -f csv errors.pillion >errors.csv
ok 'each failed call is in osrt_error_sum, with its error' \
	python3 "$tests_dir/errors_account.py" printed bare errors.csv
is "$(awk -F, '$9 ~ /^(mount|nanosleep|clock_nanosleep|pthread_join)$/ { print $9, $10, $3 }' errors.csv | sort |
	paste -sd,)" \
	'clock_nanosleep EINVAL 1,mount ENOENT 1,nanosleep EINVAL 1,pthread_join EDEADLK 1' \
	'by errno, and by the error number that a function returned'
report stats -q -r osrt_sum -f csv errors.pillion >sum.csv
missed=
for name in timerfd_create timerfd_settime timerfd_gettime inotify_init inotify_init1 inotify_add_watch \
	inotify_rm_watch eventfd eventfd_read eventfd_write getrandom getentropy signalfd epoll_create epoll_create1; do
	[ "$(num_calls errors $name)" = "$(grep -cE "(^|= )$name\(" bare)" ] || missed="$missed $name"
done
is "$missed" '' 'each call that creates or uses such a descriptor is in osrt_sum'

report export -t chrome -o errors.json errors.pillion >/dev/null
if strace -f -o strace.log "$targets/errors" >traced 2>/dev/null && [ -s strace.log ]; then
	is "$(cat traced)" "$(cat bare)" 'strace: the same results'
	ok 'errors and flags are those that strace sees' \
		python3 "$tests_dir/errors_account.py" strace strace.log errors.json
else
	skip 'errors and flags are those that strace sees' 'no strace'
fi
is "$(report query errors.pillion -f csv "select returnValue from OSRT_API join StringIds on nameId = id where value in
	('mount', 'clock_nanosleep', 'ppoll') order by value" | tail -n +2 | paste -sd' ')" '-22 -2 -22' \
	"nsys's tables have -errno as the value that the call returned"
report export -t html -o errors.html errors.pillion >/dev/null
is "$?" 0 'the page of failed calls'
done_testing
