#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Waits for locks, conditions, semaphores, barriers and futexes have the address, the owner of a mutex, and with --wakes
# the thread that ended them: each link of planted chains has the right one.
set -u
. "$(dirname "$0")/lib.sh"

cat >check.py <<'END'
"""check.py EXPORT OUTPUT WAKERS: compares the longest wait of each thread with what the program printed of it."""
import json, sys

waits = ('pthread_mutex_lock', 'pthread_rwlock_', 'pthread_cond_', 'sem_', 'futex', 'pthread_barrier_wait')
longest = {}
with open(sys.argv[1]) as f:
    for e in json.load(f)['traceEvents']:
        if e.get('ph') == 'X' and e['name'].startswith(waits) and e['dur'] > longest.get(e['tid'], {'dur': 0})['dur']:
            longest[e['tid']] = e
chains = {}
for line in open(sys.argv[2]):
    kind, waiter, waker = line.split()
    args = longest.get(int(waiter), {'args': {}})['args']
    wanted = int(waker) if sys.argv[3] == 'wakers' else None
    right = 'lock' in args and args.get('waker') == wanted
    if kind == 'mutex':
        right = right and args.get('holder') == int(waker)
    if wanted:
        right = right and args['woken (ns before the end)'] < longest[int(waiter)]['dur'] * 1000
    chains.setdefault(kind, []).append(right)
    if not right:
        print('#', line.strip(), longest.get(int(waiter)))
for kind, links in chains.items():
    print('ok' if links and all(links) else 'not ok', '-', sys.argv[4] + ':', kind, sys.argv[3])
END

# chains NAME TEXT WAKERS COMMAND...: records COMMAND and checks what it printed. WAKERS: wakers, none (without
# --wakes), or shared (--wakes, but no waker is expected).
chains() {
	local name=$1 text=$2 wakers=$3 wakes
	shift 3
	[ "$wakers" = none ] && wakes=false || wakes=true
	pillion -o "$name" --wakes=$wakes --osrt-threshold=0 "$@" >"$name.out" 2>err
	is "$?" 0 "$text: the program"
	report export -q -t chrome -o "$name.json" "$name.pillion" 2>err
	is "$?" 0 "$text: the export"
	adopt python3 check.py "$name.json" "$name.out" "$wakers" "$text"
}

chains threads 'C' wakers "$targets/wakes"
chains child 'a forked child' wakers "$targets/wakes" child
chains shared 'processes may share it' shared "$targets/wakes" shared
chains without 'without --wakes' none "$targets/wakes"
is "$(report stats -q -r osrt_sum -f csv threads.pillion | grep -c unlock)" 0 'releases are not recorded'
if python=$(command -v python3) && "$python" -c 'import sys; sys.exit(sys.version_info < (3, 8))'; then
	chains python 'Python' wakers "$python" "$tests_dir/../targets/python/wakes.py"
else
	skip 'Python' 'no python3 of version 3.8 or newer'
fi

is "$(report stats -q -r ledger -f csv threads.pillion | grep -c 'events lost,[1-9]')" 0 'nothing is lost'
done_testing
