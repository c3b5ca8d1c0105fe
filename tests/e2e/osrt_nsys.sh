#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# osrt_sum against the real Nsight Systems on the same program: the same names and counts, the shortest waits within 5 %
# of its shortest: on a crowded machine the other ones are longer than what was waited for.
set -u
. "$(dirname "$0")/lib.sh"

rounds=5
mkdir theirs
cd theirs || exit 99
nsys_records theirs -t osrt --osrt-threshold=1 --osrt-backtrace-threshold=1000000000 "$targets/osrt" $rounds ||
	skip_all "$why"
cd ..
timeout "$patience" "$NSYS" stats -q -r osrtsum -f csv --force-export=true theirs.nsys-rep >theirs.csv 2>>nsys.log
ok 'nsys has rows' test "$(wc -l <theirs.csv)" -gt 50

mkdir ours
(cd ours && pillion -t osrt --osrt-threshold=0 --osrt-backtrace-threshold=1000000000 -o "$work/ours" "$targets/osrt" \
	$rounds >/dev/null 2>&1)
report stats -r osrt_sum -f csv ours.pillion >ours.csv

# Not compared: getline, which compiles to __getdelim, unknown to nsys; times of calls that wait for a disk, another
# thread or another program, which vary between runs.
compare() { # WHAT
	awk -F, -v what="$1" '
		FNR == 1 || $9 == "" { next }
		NR == FNR { count[$9] = $3; least[$9] = $6; next }
		$9 ~ /^(getline|getdelim)$/ { next }
		what == "counts" && count[$9] != $3 { print $9, "nsys", $3, "ours", count[$9] + 0 }
		what == "times" && $9 ~ ("^(usleep|nanosleep|clock_nanosleep|poll|ppoll|select|epoll_p?wait|futex|" \
				"sigtimedwait|semtimedop|mq_timedreceive|pthread_cond_timedwait)$") {
			seen++
			if (least[$9] < 0.95 * $6 || least[$9] > 1.05 * $6)
				print $9, "nsys", $6, "ours", least[$9]
		}
		END { if (what == "times" && seen < 10) print "only", seen, "waits" }' ours.csv theirs.csv
}
is "$(compare counts)" '' 'the same names and counts as nsys'
is "$(compare times)" '' 'the shortest waits within 5 %'
done_testing
