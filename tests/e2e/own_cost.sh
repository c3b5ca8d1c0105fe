#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The own cost that the ledger states: it follows from the counts of calls, what the launcher measured one to cost, and
# the slow paths. Whether it is what recording costs is measured by tests/nightly/own_cost.py.
set -u
. "$(dirname "$0")/lib.sh"

fact() { # NAME FACT COLUMN
	report stats -r ledger -f csv "$1.pillion" | awk -F, -v fact="$2" -v column="$3" '$3 == fact { print $column }'
}

detail() { # NAME: the detail of its own overhead, which has commas
	report stats -r ledger -f csv "$1.pillion" | sed -n 's/^[^,]*,[^,]*,own overhead,[0-9]*,//p' | tr -d '"'
}

# Whether the parts that the detail states make up the sum. The detail rounds to 0.1 ns of a call and to 1 us.
adds_up() { # NAME
	awk -v text="$(detail "$1")" -v sum="$(fact "$1" 'own overhead' 4)" 'BEGIN {
		count = split(text, words, /[ ,]+/)
		for (i = 1; i <= count; i++) {
			if (words[i] == "short" || words[i] == "events") {
				calls = words[i - 1]
				ns = words[i] == "short" ? words[i + 3] : words[i + 2]
				parts += calls * ns
				rounding += calls * 0.06
			}
			if (words[i] == "ms")
				parts += words[i - 1] * 1e6
		}
		exit !(sum > 0 && parts > sum - rounding - 2000 && parts < sum + rounding + 2000)
	}'
}

pillion -f -o recorded --osrt-threshold=0 dd if=/dev/zero of=/dev/null bs=1 count=1000 >out 2>err
is "$?" 0 'a program whose calls are recorded'
pillion -f -o short --osrt-threshold=1000000000000 dd if=/dev/zero of=/dev/null bs=1 count=400000 >out 2>err
is "$?" 0 'a program of many short calls'
like "$(detail short)" \
	'^ns of CPU time, \+-[0-9]+ %: [0-9]+ short calls of [0-9.]+ ns, .* ms in start, threads, files' \
	'the own cost states its parts and its error'
is "$(detail short | sed 's/.*: \([0-9]*\) short calls.*/\1/')" "$(fact short 'below threshold' 4)" \
	'its short calls are those of the ledger'
is "$(detail recorded | sed 's/.*[ :]\([0-9]*\) events of.*/\1/')" "$(fact recorded recorded 4)" \
	'its events are those of the ledger'
ok 'the parts add up' adds_up short
ok 'those of recorded calls, too' adds_up recorded
# No processor reads a clock twice in 2 ns.
ok "800000 calls cost at least 2 ns each ($(fact short 'own overhead' 4))" \
	test "$(fact short 'own overhead' 4)" -ge 1600000
ok 'the launcher has used CPU time' test "$(fact short 'own launcher' 4)" -gt 0
like "$(report stats -r ledger short.pillion | tail -n 1)" \
	' ms own overhead \(\+-[0-9]+ %\), [0-9.]+ ms of the launcher$' 'the line of the ledger has both'

# Of the summary: what recording cost is set beside the CPU time of the job's threads where it is more than 5 % of that,
# and that is at least 0.1 s and more than the launcher's.
pillion -f -o many --osrt-threshold=0 dd if=/dev/zero of=/dev/null bs=1 count=400000 >out 2>err
printf 'import time\nend = time.process_time() + 2\nwhile time.process_time() < end: pass\n' >computes.py
pillion -f -o little -s none /usr/bin/env python3 computes.py >out 2>err
pillion -f -o waits sleep 1.5 >out 2>err
for name in many little waits; do
	own=$(fact $name 'own overhead' 4) launcher=$(fact $name 'own launcher' 4)
	share=$(report stats -r time_sum -f csv $name.pillion |
		awk -F, -v own="$own" -v launcher="$launcher" '$2 + 0 { cpu += $5 }
		END { part = int(100 * (own + launcher) / cpu)
			print (part > 5 && cpu >= 1e8 && cpu > launcher ? ", " part " % of the job\047s" : "") }')
	is "$(report stats --summary $name.pillion | sed -n 's/.*recording cost [0-9.]* [mu]*s of CPU time//p')" \
		"$share" "$name: the summary's share is that of the ledger and of time_sum"
done
is "$share" '' 'a program that only waits: there is none'

# The loader maps the library in each image, and a fork copies what it has written to.
pillion -f -o images bash -c '(:); (:); /bin/true' >out 2>err
is "$(detail images | grep -c ' [0-9.]* ms of the loader and the kernel$')" \
	"$(report stats -r processes -f csv images.pillion | grep -c '^[0-9]')" \
	'each process has what the loader and the kernel have done for it'

# Without a launcher nothing has measured the calls.
LD_PRELOAD=$library PILLION_OUTPUT=$work/bare.pillion dd if=/dev/zero of=/dev/null bs=1 count=1000 2>err
is "$(detail bare)" "ns in the recorder's slow paths" 'without the launcher, only slow paths are known'
like "$(report stats -r ledger bare.pillion | tail -n 1)" ' ms own overhead in slow paths$' 'and the line says so'

done_testing
