#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Calls that copy inside the kernel have the bytes of both files, and calls of several messages those of all messages.
set -u
. "$(dirname "$0")/lib.sh"

mkdir bare recorded
head -c 1000000 /dev/zero >bare/source
cp bare/source recorded/
(cd bare && "$targets/copies")
for threshold in 0 60000000000; do
	(cd recorded && pillion -f -t osrt --osrt-threshold=$threshold -o "$work/t$threshold" "$targets/copies" \
		2>"$work/errors")
	is "$?" 0 "threshold $threshold: the status of a program that copies"
	ok "threshold $threshold: the copies are the same" diff -r bare recorded
	report stats -r files -f csv t$threshold.pillion >files.csv
	is "$(awk -F, -v w="$work" '$10 ~ "^" w "|not known|pipe" && $7 { n += $7 } END { print n }' files.csv)" \
		$((2000000 + 4 * $(wc -c <bare/by_splice) / 2)) \
		"threshold $threshold: bytes that were read from the source and from pipes"
done
report stats -r files -f csv t0.pillion >files.csv
report stats -r sockets -f csv t0.pillion >sockets.csv
is "$(awk -F, -v w="$work/recorded/by_" 'index($10, w) == 1 { print $9 }' files.csv | sort -n | paste -sd' ')" \
	"$(wc -c <bare/by_splice | tr -d ' ') 1000000 1000000" 'bytes that were written to the copies'
is "$(awk -F, 'NR > 1 { c += $6; r += $7; s += $8; w += $9 } END { print c, r, s, w }' sockets.csv)" '5 60 5 60' \
	'messages and their bytes'

traced() {
	command -v strace >/dev/null && (cd bare && strace -o ../strace.out -f -y "$targets/copies")
}
if ! traced; then
	skip 'reads and writes as strace sees them' 'no strace'
else
	sed "s|$work/bare|$work/recorded|g" strace.out >strace.log
	report stats -r files -f csv t0.pillion >files.csv
	is "$(python3 "$tests_dir/io_account.py" strace.log files.csv "$work/recorded/")" '' \
		'reads, writes and bytes of each file and of pipes are those that strace sees'
fi
done_testing
