#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pillion whatif --delay: by how much a run becomes longer if calls do. Programs whose slack is known: calls on the
# critical path, and calls that have time. PILLION_TESTS_LONG: all programs of targets/delays.c, within 0.1.
set -u
. "$(dirname "$0")/lib.sh"

delay() {
	timeout "$((patience * 2))" "$PILLION" whatif "$@" </dev/null
}

cat >check.py <<'END'
"""check.py LOW HIGH CALLS: the slope is between LOW and HIGH."""
import json, sys
low, high, calls = map(float, sys.argv[1:])
answer = json.load(open('out.json'))
row = answer['rows'][0]
print(row)
assert answer['capture'] == [] and row['Num Calls'] == calls, answer
assert row['Slope Low'] <= row['Slope'] <= row['Slope High'], row
assert low <= row['Slope'] <= high, row
END

for case in 'serial 0.5 1.5' 'slack -0.5 0.5'; do
	read -r program low high <<<"$case"
	delay --json -n 3 --delay 'call~poll=10ms' "$targets/delays" "$program" >out.json 2>err
	is "$?" 0 "$program: the status"
	ok "$program: the slope" python3 check.py "$low" "$high" 20
done
while [ -n "${PILLION_TESTS_LONG:-}" ] && read -r program slope; do
	delay --json -n 10 --delay 'call~poll=5ms' "$targets/delays" "$program" >out.json 2>err
	ok "$program: the slope is $slope" python3 check.py "$(echo "$slope - 0.1" | bc)" \
		"$(echo "$slope + 0.1" | bc)" 20
done < <("$targets/delays")

delay -n 3 --delay 'call~poll=20ms' "$targets/delays" serial >out 2>err
like "$(cat out)" \
	'each second of delay makes the run [0-9.]+ s longer \([-0-9.]+ to [0-9.]+ with 95 % probability\): ' \
	'the answer as a sentence'
is "$(cat err)" '' 'and nothing else'

# ---- a run of its own: each call is followed by the delay, which counts as the recorder's time ----
start=$(date +%s%N)
pillion -o slow --slow-down=call~poll=100ms "$targets/delays" serial >out 2>err
is "$?" 0 'the status of a run with --slow-down'
ok 'it lasts for at least the delays' test $(($(date +%s%N) - start)) -ge 2000000000
is "$(num_calls slow poll)" 20 'all calls are recorded'
like "$(pillion --slow-down=call~poll=1x true 2>&1)" \
	"^pillion: --slow-down takes a function and a time with its unit .* not 'call~poll=1x'" \
	'what is no time is refused'
mkdir there
pillion -o errno --slow-down=call~open=1ms cat nosuch there >out 2>err
like "$(cat err)" '^cat: nosuch: No such file or directory$' 'errno is that of the call'
like "$(cat err)" '^cat: there: Is a directory$' 'likewise of the next one'

# ---- what cannot be told ----
delay -n 3 --delay 'call~mkfifo=1ms' "$targets/delays" serial >out 2>err
is "$? $(cat err)" '1 pillion whatif: cannot tell: no call of mkfifo was recorded' 'a function without calls: status 1'
delay -n 3 --delay 'call~poll=1ms' sh -c 'exit 7' >out 2>err
is "$? $(cat err)" '1 pillion whatif: cannot tell: COMMAND ended with status 7' 'a command that fails: status 1'
delay --delay 'call~poll' true >out 2>err
is "$?" 2 'no time: status 2'
delay --delay 'call~poll=1ms' >out 2>err
like "$? $(cat err)" '^2 .*a command is missing' 'no command: status 2'
mkdir temporary
TMPDIR=$work/temporary delay -n 3 --delay 'call~poll=1ms' "$targets/delays" serial >out 2>err
is "$? $(ls temporary)" '0 ' 'no capture is left'
done_testing
