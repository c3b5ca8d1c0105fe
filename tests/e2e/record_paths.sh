#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Calls on paths are attributed to their directory, however the path is given, with those that fail.
set -u
. "$(dirname "$0")/lib.sh"

row() { # DIRECTORY: stats, failed ones, changes, failed ones
	awk -F, -v d="$work/$1" '$10 == d { print $6, $7, $8, $9 }' table
}
for threshold in 0 1000; do
	name=t$threshold
	mkdir $name
	(cd $name &&
		pillion -t osrt --osrt-threshold=$threshold -o "$work/$name" "$targets/paths" 2000 2>"$work/errors")
	is "$?" 0 "threshold $threshold: the status of a program that uses paths"
	report stats -r files_meta_sum -f csv $name.pillion >table
	is "$(row $name/two)" '0 0 5 1' \
		"threshold $threshold: changes, relative, absolute, to a descriptor, and a failure"
	is "$(row $name/three)" '0 0 1 0' "threshold $threshold: a change by a relative path after chdir"
	is "$(row $name | cut -d' ' -f3-)" '3 0' "threshold $threshold: changes of the working directory"
	report stats -r files -f csv $name.pillion >files.csv
	is "$(awk -F, '$10 ~ "/$"' files.csv)" '' "threshold $threshold: directories of paths are no files"
done
report stats -r files_meta_sum -f csv t0.pillion >table
# An image has directories of calls that ask once it has a trace file, when its first 70 slots are full.
is "$(awk -F, -v d="$work/t0/one" '$10 == d || $10 == "(not known)" { n += $6; failed += $7 } END { print n, failed }' \
	table) $(row t0/one | cut -d' ' -f3-)" '2000 7 0 0' 'calls that ask, and those that fail'
is "$(row t0/one | awk '{ print ($1 >= 1930) }')" 1 'calls that ask: nearly all are attributed to their directory'
report stats -r files_meta_sum -f csv t1000.pillion >table
is "$(awk -F, -v d="$work/t1000/one" '$10 == d || $10 == "(not known)" { n += $6 } END { print n }' table)" 2000 \
	'short calls: none is missing'
# An image counts by directory once it has a trace file, at the latest after 256 calls of a function.
is "$(row t1000/one | awk '{ print ($1 >= 1700) }')" 1 'short calls: most are attributed to their directory'
done_testing
