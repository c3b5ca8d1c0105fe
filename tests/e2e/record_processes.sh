#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Threads, forks, raw clones, spawns and execs: exact counts, no crash, each process recorded separately.
set -u
. "$(dirname "$0")/lib.sh"

US=100 pillion -f -o threads "$targets/calls" 300 kill 64 >out 2>err
is $? 137 '64 threads, killed at the end: status'
is "$(num_calls threads usleep)" 19200 '64 threads: exact count'

# HOW PROCESSES: 100 children of 10 calls each, while 4 threads record.
children() {
	local made
	pillion -f -o children "$targets/forks" "$1" 100 10 4 >out 2>err
	is $? 0 "$1: no child failed"
	made=$(awk '{ print $2 }' out)
	is "$(num_calls children usleep)" $((made + 1000)) "$1: the threads' calls and the children's, exactly"
	is "$(report stats -r processes -f csv children.pillion | grep -c 'forks')" 101 "$1: 101 processes"
	is "$(report stats -r processes -f csv children.pillion | grep -c 'exit 0')" 101 \
		"$1: all are reported to have ended with 0"
}
for how in fork rawclone clone vfork spawn cleanenv; do
	children $how
done

pillion -f -o env --follow-clean-env=false "$targets/forks" cleanenv 3 10 0 >out 2>err
is "$(num_calls env usleep)" '' '--follow-clean-env=false: children without our variables are not recorded'

pillion -f -o reexec "$targets/reexec" 50 20 >out 2>err
is $? 0 'execve to itself 50 times: status'
is "$(num_calls reexec usleep)" 1020 'execve to itself 50 times: exact count'

pillion -f -o execs sh -c 'sleep 0; exec sleep 0.1' >out 2>err
is "$(report stats -q -r time_sum -f csv execs.pillion | awk -F, 'NR == 2 { print $3 }')" sleep \
	'a thread has its name from after exec'

# A sample has a stack, and so a trace file, however short the process is.
pillion -f -s none -o small sh -c 'for i in 1 2 3 4 5; do /bin/true; done' >out 2>err
is "$(report stats -r processes -f csv small.pillion | grep -c ',/bin/true,')" 5 \
	'processes that record nothing are listed'
is "$(find small.pillion -name '*.trace' | wc -l)" 0 'processes that record little leave no file'

# A signal handler that records while its thread is recording.
PILLION_OSRT_THRESHOLD=0 pillion -f -o signals "$targets/hostile" signals >out 2>err
is "$(cat out)" 'signals done' 'handlers that record: same output'
handled=$(num_calls signals write)
ok "handlers that record: at least the program's own 500000 calls ($handled)" test "$handled" -ge 500000
is "$(report stats -r ledger -f csv signals.pillion |
	awk -F, '$3 == "lost" || $3 == "torn" { n += $4 } END { print n + 0 }')" 0 \
	'handlers that record: no lost or torn events'
done_testing
