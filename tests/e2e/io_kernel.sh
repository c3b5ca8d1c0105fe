#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Bytes that the kernel has counted beside those of recorded calls: programs that read and write known numbers of bytes,
# each byte of which is attributed to its file, or is in the row (not seen) and in the ledger.
set -u
. "$(dirname "$0")/lib.sh"

head -c 100000 /dev/zero >data
[ -r /proc/self/io ] || skip_all 'no /proc/self/io'

# column FILE REPORT TITLE PATTERN: the sum of that column over the rows that match
column() {
	python3 - "$@" <<-'END'
		import csv, re, subprocess, sys
		name, report, title, pattern = sys.argv[1:]
		with open(f"{name}.{report}.csv", newline="") as f:
		    rows = [r for r in csv.DictReader(f) if re.search(pattern, ",".join(r.values()))]
		print(sum(int(r[title] or 0) for r in rows))
	END
}
record() { # NAME COMMAND...
	local name=$1
	shift
	rm -rf out "$name.pillion"
	pillion -f -t osrt ${threshold:+--osrt-threshold=$threshold} -o "$name" "$@" >stdout 2>errors
	status=$?
	for r in files ledger processes; do
		report stats -q -r $r -f csv "$name.pillion" >"$name.$r.csv" 2>/dev/null
	done
}
not_seen() { # NAME: the bytes read and written that no recorded call has, in `files`
	echo "$(column "$1" files 'Read (bytes)' 'not seen') $(column "$1" files 'Written (bytes)' 'not seen')"
}
in_ledger() {
	echo "$(column "$1" ledger Count 'bytes read, not seen') $(column "$1" ledger Count 'bytes written, not seen')"
}
# check WAYS READ WRITTEN: what only the kernel has counted of io_known in these ways
check() {
	local ways=$1
	for threshold in 0 60000000000; do
		# shellcheck disable=SC2086
		record known "$targets/io_known" $ways
		is "$status $(not_seen known)" "0 $2 $3" "threshold $threshold: $ways: bytes that are not seen"
		is "$(in_ledger known) $(grep -c ', not counted' known.ledger.csv)" "$2 $3 0" \
			"threshold $threshold: $ways: the ledger has them"
	done
}

# Each byte of these is attributed.
check 'read write pread sendfile printf' 0 0
check 'splice map' 0 0
check 'thread thread read' 0 0
check 'child read' 0 0
check 'zombie read' 0 0
check 'read exec read write' 0 0
check 'child exec child' 0 0
check 'thread child read' 0 0
check 'aio aio_list' 0 0
# Of these, what is done without libc is not seen, whatever else there is.
check 'raw:read' 100000 0
check 'raw:write read' 0 100000
check 'raw:thread read' 100000 0
check 'raw:child raw:read' 100000 100000
check 'raw:zombie write' 0 100000
check 'raw:read exec raw:read raw:write' 200000 100000
check 'child raw:read exec raw:read child' 200000 0
check 'thread child raw:read' 100000 0

unset threshold
record mapped "$targets/io_known" map aio aio_list
is "$(column mapped files Maps '/out') $(column mapped files 'Mapped (bytes)' '/out')" '1 100000' \
	'a file that is mapped'
is "$(column mapped files Reads '/data') $(column mapped files 'Read (bytes)' '/data')" '2 200000' \
	'what POSIX aio requests'

record of_python python3 -c '
import os, subprocess, threading
data = open("data", "rb", 0)
t = threading.Thread(target=lambda: os.pread(data.fileno(), 50000, 0))
t.start(); t.join()
subprocess.run(["cat", "data"], stdout=open("out", "wb"), check=True)
data.readall()'
is "$(not_seen of_python) $(in_ledger of_python)" '0 0 0 0' 'Python with a thread and a child: nothing is missing'

record killed "$targets/io_known" raw:thread kill
is "$status $(not_seen killed) $(column killed ledger Count 'bytes not compared')" '137 0 0 1' \
	'of a process that was killed, the bytes are not known'
is "$(python3 -c '
import csv
for r in csv.DictReader(open("killed.processes.csv")):
    print(r["Page Faults"], r["Read (bytes)"], r["Written (bytes)"], sep="|")')" '||' '... nor its page faults'

record counted "$targets/io_known" read raw:read exec child
is "$(python3 -c '
import csv
rows = list(csv.DictReader(open("counted.processes.csv")))
print(len(rows), sum(int(r["Read (bytes)"]) for r in rows), sum(int(r["Written (bytes)"]) for r in rows),
      all(int(r["Page Faults"]) > 0 for r in rows), {r["Block I/O Delay (ns)"] for r in rows} - {""} == set()
      or open("/proc/sys/kernel/task_delayacct").read() == "1\n")')" '2 200000 100000 True True' \
	'processes: bytes, page faults, and no delay that the kernel does not account'
# As the launcher passes it on where the kernel accounts delays; here they are 0.
PILLION_BLOCK_DELAYS=1 PILLION_OUTPUT=$work/delays.pillion LD_PRELOAD=$library "$targets/io_known" thread read
report stats -q -r processes -f csv delays.pillion >delays.processes.csv
like "$(python3 -c '
import csv
print([r["Block I/O Delay (ns)"] for r in csv.DictReader(open("delays.processes.csv"))])')" "^\\['[0-9]+'\\]$" \
	'the delay by block devices, where it is accounted'
record by_process bash -c "'$targets/io_known' raw:read; '$targets/io_known' read"
report stats -r files --by process -f csv by_process.pillion >by_process.files.csv
is "$(not_seen by_process) $(grep -c 'not seen' by_process.files.csv)" '100000 0 1' 'by process: one of two'

done_testing
