#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What stdio reads and writes inside libc, by file: the same reads, writes and bytes as strace sees.
set -u
. "$(dirname "$0")/lib.sh"

mkdir bare recorded
bare=$(cd bare && "$targets/stdio_files")

# row NAME: reads, bytes, writes, bytes of that file in files.csv
row() {
	awk -F, -v name="$work/recorded/$1" '$10 == name { print $6, $7, $8, $9 }' files.csv
}
size() {
	wc -c <"recorded/$1" | tr -d ' '
}

for threshold in 1000 0 60000000000; do
	name=t$threshold
	rm -rf recorded/*
	is "$(cd recorded && pillion -t osrt --osrt-threshold=$threshold -o "$work/$name" \
		"$targets/stdio_files" 2>"$work/errors")" "$bare" "threshold $threshold: the output is the same"
	is "$(grep -v "^$capture_line" errors)" '' "threshold $threshold: stderr is empty"
	ok "threshold $threshold: the files are the same" diff -r bare recorded
	report stats -r files -f csv $name.pillion >files.csv
	bad=
	for file in fortified characters blocks by_lines all_flushed at_exit lines; do
		[ "$(row $file | cut -d' ' -f4)" = "$(size $file)" ] || bad="$bad $file: $(row $file)"
	done
	is "$bad" '' "threshold $threshold: all bytes of stdio's output are attributed to their files"
	is "$(row reopened | cut -d' ' -f4) $(row unbuffered | cut -d' ' -f4)" "10 $(size unbuffered)" \
		"threshold $threshold: output that freopen writes, and dprintf"
	is "$(row lines | cut -d' ' -f1-2)" "$((($(size lines) + 4095) / 4096 + 1)) $(size lines)" \
		"threshold $threshold: scanf's input, and a read at the end of the file"
	is "$(report stats -r ledger -f csv $name.pillion | grep -c 'without a file')" 0 \
		"threshold $threshold: no call is missing"
done

# A program that ends by exit() with output in the buffer of stdout only
pillion -f -t osrt -o exits "$targets/stdio_files" >out 2>errors
report stats -r files -f csv exits.pillion >files.csv
is "$(awk -F, -v name="$work/out" '$10 == name { print $9 }' files.csv)" "$(wc -c <out | tr -d ' ')" \
	'what exit() writes is attributed to the file'

traced() {
	command -v strace >/dev/null &&
		(cd bare && strace -o ../strace.out -f -y "$targets/stdio_files" 2>&1 | cat >../out)
}
if ! traced; then
	skip 'reads and writes as strace sees them' 'no strace'
else
	sed "s|$work/bare|$work/recorded|g" strace.out >strace.log
	for threshold in 1000 0 60000000000; do
		report stats -r files -f csv t$threshold.pillion >files.csv
		is "$(python3 "$tests_dir/io_account.py" strace.log files.csv "$work/recorded/")" '' \
			"threshold $threshold: reads, writes and bytes of each file are those that strace sees"
	done
fi
done_testing
