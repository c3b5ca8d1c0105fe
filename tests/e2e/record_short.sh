#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Short images, whose first events are in the range file of the run: exact counts, also after SIGKILL, when they get a
# trace file of their own, when the range file is full, when it is damaged.
set -u
. "$(dirname "$0")/lib.sh"

short=$targets/short
export PILLION_OSRT_THRESHOLD=0

traces() { # NAME: number of its trace files
	find "$1.pillion" -name '*.trace' | wc -l
}

processes() { # NAME REGEX: number of processes whose line matches
	report stats -r processes -f csv "$1.pillion" | grep -Ec "$2"
}

# ---- children that record little ----
# Without samples: one has a stack, and so a trace file, however short the process is.
pillion -f -s none -o forks "$targets/forks" fork 300 10 0 >out 2>err
is "$? $(cat out)" '0 threads 0 bad 0' '300 forked children: output and status'
is "$(num_calls forks usleep)" 3000 'exact count'
is "$(processes forks ',exit 0,.*forks fork 300')" 301 'each is listed with its command and its end'
ok "only their parent has a trace file ($(traces forks))" test "$(traces forks)" -le 1
bytes=$(cat forks.pillion/* | wc -c)
ok "at most 4 KB a process on disk ($bytes)" test "$bytes" -le $((4096 * 301 + 1048576 + 131072))
is "$(report stats -r ledger -f csv forks.pillion | awk -F, '$3 == "lost" { n += $4 } END { print n + 0 }')" 0 \
	'nothing is lost'
pillion -f -o spawn "$targets/forks" spawn 50 10 0 >out 2>err
is "$(num_calls spawn usleep) $(processes spawn ',exit 0,')" '500 51' 'posix_spawn: exact count, each is listed'
pillion -f -s none -o nest --osrt-backtrace-threshold=1000000000000 "$short" nest 60 >out 2>err
is "$? $(num_calls nest poll) $(processes nest ',exit 0,')" '0 61 61' 'children of children of children: exact count'
is "$(traces nest)" 0 'and no trace file'

# ---- an exec in a forked child ----
pillion -f -o exec "$short" exec 40 >out 2>err
is "$? $(num_calls exec poll)" '0 160' 'exec in a forked child: exact count'
is "$(processes exec ',exit 0,.*short calls 3')" 40 'the child and the program that it executes are one process'
is "$(processes exec ',exit 0,')" 41 'no other process'

# ---- an image that goes on ----
for functions in 0 10 40; do
	pillion -f -o grow "$short" grow 5000 $functions >out 2>err
	is "$? $(num_calls grow poll)" '0 5000' "an image that goes on, $functions other functions: exact count"
	like "$(traces grow)" '^[12]$' 'it has a trace file'
done

# ---- a trace file that is not there ----
files=$(traces grow)
rm grow.pillion/*.trace
report stats -q -r processes,ledger -f csv grow.pillion >out 2>err
is $? 1 'a missing trace file: status 1'
like "$(cat err)" 'grow.pillion/.*\.trace: missing, no report has the events of process [0-9]+$' 'its name'
like "$(cat out)" ',"status unknown, trace file missing",.*short grow 5000' 'the table of processes names it'
like "$(cat out)" '^[0-9]+,.*,missing files,1,' 'the ledger counts it'
like "$(report stats --summary grow.pillion 2>err)" "^missing +$files trace files? missing" 'so does the summary'
like "$(report stats --summary grow.pillion 2>err)" '^ended +short \([0-9]+\): status unknown, trace file missing' \
	'and its line of that process'

PILLION_OSRT_THRESHOLD=1000000000 pillion -f -o counted "$short" grow 5000 40 >out 2>err
is "$(report stats -r osrt_short_sum -f csv counted.pillion | awk -F, '$5 == "poll" { print $3 }')" 5000 \
	'short calls of more functions than a place has counters for: exact count'

# ---- SIGKILL at random moments ----
pillion -f -o killed "$short" kill 200 $RANDOM >out 2>err
is "$?" 0 'SIGKILL: status'
report stats -r osrt_sum --by process -f csv killed.pillion | awk -F, '$10 == "poll" { print $1, $4 }' >recorded
is "$(awk 'NR == FNR { recorded[$1] = $2; next }
	recorded[$1] + 0 < $2 || recorded[$1] + 0 > $2 + 1 { print $1, "made", $2, "recorded", recorded[$1] + 0 }' \
	recorded out)" '' '200 killed children: each has all calls that it made, and at most one more'
is "$(wc -l <out)" 200 'all of them were checked'
report stats -r processes -f csv killed.pillion >listed 2>err
is "$(cat err)" '' 'a trace file that was not finished is no damage'
is "$(awk -F, 'NR == FNR { killed[$1] = /killed by signal 9/ } NR != FNR && !killed[$1] { print $1 }' listed \
	FS=' ' <(awk '$2' out))" '' 'each that made a call is listed as killed'

# ---- the range file is full ----
# 128 images fit into its first block, which ends at 1408 KiB.
pillion -f -o limited sh -c "ulimit -f 1500; exec '$targets/forks' fork 300 10 0" >out 2>err
is "$? $(cat out)" '0 threads 0 bad 0' 'a range file that cannot grow: output and status'
is "$(num_calls limited usleep)" 3000 'exact count'
is "$(processes limited ',exit 0,')" 301 'each child is listed'
ok "the later children have trace files ($(traces limited))" test "$(traces limited)" -ge 170
pillion -f -o unlimited sh -c "ulimit -f 1024; exec '$short' nest 5" >out 2>err
is "$? $(num_calls unlimited poll) $(processes unlimited ',exit 0,')" '0 6 6' 'no room for a single image: as before'

# ---- packed, damaged ----
report pack -q -f true -o forks.pillpack forks.pillion
is "$(report stats -r osrt_sum,processes,ledger -f csv forks.pillpack 2>&1)" \
	"$(report stats -r osrt_sum,processes,ledger -f csv forks.pillion 2>&1)" 'packed: the same tables'
cp -r forks.pillion damaged.pillion
python3 - damaged.pillion/*.range <<'END'
import sys

with open(sys.argv[1], "r+b") as file:
    for number in (7, 9, 11):
        file.seek((1152 << 10) + number * 2048 + 200)
        file.write(b"\xa5" * 512)
    file.seek((1152 << 10) + 20 * 2048)
    file.write(b"\xa5" * 2048)
END
report stats -r osrt_sum -f csv damaged.pillion >out 2>err
is "$?" 1 'damaged: status 1'
like "$(cat err)" 'range: damaged' 'the file is named'
ok "the others are read ($(num_calls damaged usleep))" test "$(num_calls damaged usleep)" -ge 2950
cp -r forks.pillion headless.pillion
printf 'x%.0s' {1..64} | dd of="$(echo headless.pillion/*.range)" bs=1 seek=1048576 conv=notrunc 2>/dev/null
report stats -r processes -f csv headless.pillion >out 2>err
is "$?" 1 'its head is damaged: status 1'
like "$(cat err)" 'range: damaged, the images in it cannot be read' 'and a message'
done_testing
