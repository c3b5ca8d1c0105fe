#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --ring: what was recorded last is whole after any kill and in a dump, and the files do not grow.
. "$(dirname -- "$0")/lib.sh"

kills=20 kept=500
[ -z "${PILLION_TESTS_LONG:-}" ] || kills=100 kept=3000
options=(--stats=false --osrt-threshold=0 --osrt-backtrace-threshold=0 -s none)

# whole NAME KEPT_MS [alive]: whether NAME.pillion has the calls of each thread of ring_calls without a gap, from at
# least KEPT_MS before its last one on, up to the number in NAME.counts, or one more that was in progress.
whole() {
	report export -q -t sqlite -f true -o "$1.sqlite" "$1.pillion" >"$1.export" 2>&1
	python3 - "$@" <<'END'
import collections, sqlite3, struct, sys
name, kept_ms = sys.argv[1], int(sys.argv[2])
LAST = 60000
threads = collections.defaultdict(list)
db = sqlite3.connect(name + ".sqlite")
for thread, end, length in db.execute(
        "SELECT globalTid, end, returnValue FROM OSRT_API JOIN StringIds ON nameId = id WHERE value = 'write' "
        "ORDER BY globalTid, start"):
    threads[thread].append((end, length))
threads = [calls for calls in threads.values() if len(calls) > 100]  # the others are those of the churn
bytes = open(name + ".counts", "rb").read()
counts = struct.unpack("%dQ" % (len(bytes) // 8), bytes)
problems = []
if len(threads) != len(counts):
    problems.append("%d threads of %d" % (len(threads), len(counts)))
last = max((calls[-1][0] for calls in threads), default=0)
for calls in threads:
    problems += ["%d after %d" % (b, a) for (_, a), (_, b) in zip(calls, calls[1:]) if b != a % LAST + 1]
    if calls[0][0] > last - kept_ms * 1000000:
        problems.append("begins %.3f s before the end" % ((last - calls[0][0]) / 1e9))
# The count is stored after the call: the recorded calls may have one more.
recorded = collections.Counter(calls[-1][1] for calls in threads)
for count in sorted(counts) if len(sys.argv) < 4 else []:
    found = next((n for n in ((count - 1) % LAST + 1, count % LAST + 1) if recorded[n]), None)
    if found is None:
        problems.append("counted %d, recorded %s" % (count, sorted(recorded)))
    else:
        recorded[found] -= 1
if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'NVTX_EVENTS'").fetchone():
    for nameless, in db.execute("SELECT count(*) FROM NVTX_EVENTS WHERE text IS NULL AND textId IS NULL"):
        problems += ["%d ranges without a name" % nameless] if nameless else []
print("; ".join(problems[:4]) or "whole")
END
}

# begin NAME OPTION... : ring_calls for an hour, with names, stacks, forks and threads that are new all the time, in a
# process group of its own, whose number is in $group.
begin() {
	local name=$1
	shift
	setsid "$PILLION" -o "$name" "${options[@]}" "$@" "$targets/ring_calls" 4 "$name.counts" 3600000 churn \
		>"$name.out" 2>"$name.err" </dev/null &
	group=$!
	disown
	eventually has_calls "$name"
}

# Enough for a ring of half a second to be used again.
has_calls() {
	[ -s "$1.counts" ] && [ "$(od -An -tu8 "$1.counts" | awk '{ sum += $1 + $2 } END { print sum }')" -gt 40000 ]
}

end_group() {
	kill -KILL -- "-$group"
	eventually group_is_gone
}

group_is_gone() {
	! kill -0 -- "-$group" 2>/dev/null
}

# The bytes of chunks that were used again: ring_bytes in the heads of the trace files.
overwritten() {
	local file
	for file in "$1.pillion"/*.trace; do
		od -An -tu8 -j 3392 -N 8 "$file" 2>/dev/null
	done | awk '{ sum += $1 } END { print sum + 0 }'
}

has_overwritten() {
	[ "$(overwritten "$1")" -gt "${2:-0}" ]
}

kilobytes() { # NAME
	du -sk "$1.pillion" 2>/dev/null | cut -f 1 # files are removed meanwhile
}

# ---- any end ----

for i in $(seq "$kills"); do
	begin "kill$i" --ring=${kept}ms
	sleep "$((kept / 750)).$((RANDOM % 10))" # of 3 s, a part has been overwritten after 4
	[ "$i" != 1 ] || eventually has_overwritten kill1
	end_group
	is "$(whole "kill$i" $kept)" whole "kill $i: the last $kept ms are whole"
	[ "$i" = 1 ] || rm -rf "kill$i".*
done
ok 'and what was before it is overwritten' has_overwritten kill1

begin size --ring=16MB
end_group
is "$(whole size 1)" whole 'a size: what is kept is whole'
ok 'and no file is larger' [ "$(find size.pillion -name '*.trace' -printf '%k\n' | sort -n | tail -1)" -lt 17000 ]

# ---- a dump, and the disk ----

begin live --ring=500ms
eventually has_overwritten live
size=$(kilobytes live)
is "$(report dump live)" "$(readlink -f .)/live.dump1.pillion" 'dump makes a capture'
eventually has_overwritten live $((3 * 1024 * size))
cp live.counts live.dump1.counts
is "$(whole live.dump1 400 dump)" whole 'and it has the last half of a second whole'
report stats -q -r osrt_sum,nvtx_sum,stacks_sum -f csv live.dump1.pillion >out 2>err
is "$? $(cat err)" '0 ' 'it can be read, and nothing in it is damaged'
ok 'three times as much as there was has been overwritten since' [ "$(kilobytes live)" -lt $((2 * size)) ]
ok 'processes that have ended are removed' [ "$(find live.pillion -name '*.trace' | wc -l)" -lt 300 ]
end_group

# ---- an end by itself ----

PILLION_STATS=summary "$PILLION" -o ended --ring=100ms --osrt-threshold=0 -s none "$targets/ring_calls" 16 \
	ended.counts 3000 >out 2>err
is $? 7 'the command has noticed nothing'
like "$(cat err)" '\(kept by --ring: [0-9.]+ m?s, of which all shares are\)' 'the summary says of what time it is'

# ---- calls that are only counted ----

# Four times as much was overwritten as is kept.
is_mostly_overwritten() {
	local bytes
	bytes=$(find "$1.pillion" -name '*.trace' -size +200k -printf '%s\n' | awk '{ n += $1 } END { print 4 * n }')
	has_overwritten "$1" "$bytes"
}

begin counted --ring=300ms --osrt-threshold=1000000000
eventually is_mostly_overwritten counted
report dump counted >out
all=$(od -An -tu8 counted.counts | awk '{ for (i = 1; i <= NF; i++) sum += $i } END { print sum }')
end_group
short=$(report stats -q -r osrt_short_sum -f csv counted.dump1.pillion | awk -F, '$NF == "write" { print $3 }')
ok 'short calls are in the capture' [ "${short:-0}" -gt 0 ]
ok "but only those of the time that is kept: $short of $all" [ "${short:-0}" -lt $((all / 2)) ]

# ---- the ledger ----

# fact NAME FACT: its count in the ledger.
fact() {
	report stats -q -r ledger -f csv "$1.pillion" 2>/dev/null |
		awk -F, -v fact="$2" '$3 == fact { sum += $4 } END { print sum + 0 }'
}
counted() {
	od -An -tu8 -v -w64 counters | awk '{ sum += $1 } END { print sum + 0 }'
}
has_counted() { [ -s counters ] && [ "$(counted)" -ge "$1" ]; }

# What was recorded, what was only counted and what was overwritten is all that the threads have done, wherever the
# calls are: in the kept window, in older chunks that are not used again yet, in chunks that are.
for case in '--ring=100ms --osrt-threshold=0' '--ring=1s --osrt-threshold=0' '--ring=16MB --osrt-threshold=0' \
	'--ring=300ms' '--ring=300ms --osrt-threshold=1000000000'; do
	rm -f counters
	# shellcheck disable=SC2086
	setsid "$PILLION" -f --stats=false -s none -t osrt -o ledger $case "$targets/counted_calls" counters 1 2 \
		>out 2>err </dev/null &
	group=$!
	disown
	# A second of a fast machine has 3,000,000 of them.
	enough=4000000
	[[ $case == --ring=1s* ]] && enough=12000000
	eventually has_counted "$enough"
	end_group
	all=$(counted)
	sum=$(($(fact ledger recorded) + $(fact ledger 'below threshold') + $(fact ledger 'overwritten by the ring')))
	ok "$case: recorded and overwritten are all events: $sum of $all" \
		[ $((sum > all ? sum - all : all - sum)) -le $((all / 100)) ]
	# A turn of the ring begins when a thread needs a chunk, which calls that are only counted do not.
	[ "${case##*=}" != 0 ] || ok "$case: most of them were overwritten" \
		[ "$(fact ledger 'overwritten by the ring')" -gt $((all / 4)) ]
	is "$(report stats -q -r ledger -f csv ledger.pillion | grep -c 'not seen')" 0 \
		"$case: no bytes are said to be of no call"
done

# ---- the launcher's samples ----

# Their files were replaced by their newest parts.
inodes() {
	find "$1.pillion" '(' -name '*.usage' -o -name '*.energy' ')' -printf '%f %i\n' | sort
}

has_both() {
	[ "$(inodes "$1" | wc -l)" = 2 ]
}

are_replaced() {
	[ "$(comm -13 before <(inodes "$1") | wc -l)" = 2 ]
}

begin sampled --ring=1s --counters=host
eventually has_both sampled
inodes sampled >before
ok 'the files of the samples are replaced' eventually are_replaced sampled
end_group
report stats -q -r counter_sum -f csv sampled.pillion >out 2>err
is "$? $(cat err)" '0 ' 'what they have can be read'
ok 'counters have their names and values' [ "$(grep -c ',host,.*[1-9]' out)" -gt 10 ]
like "$(report stats -q -r processes -f csv sampled.pillion)" 'ring_calls' 'processes are known'

"$PILLION" --ring=30 -o bad true >out 2>err
is "$?" 2 'a number without a unit is refused'
like "$(cat err)" '--ring takes a time' 'with the forms that it takes'
mkdir spools
"$PILLION" --ring=30s --spool="$work/spools" -o bad true >out 2>err
is "$? $(find . -name 'bad.*' -o -path './spools/*')" '2 ' 'a spool is refused, and nothing is left'
like "$(cat err)" '--ring uses parts of mapped files again, so it does not work with --spool' 'with the reason'
done_testing
