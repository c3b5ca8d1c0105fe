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
assert row['Delay (ns)'] >= 0.999 * 10e6 * calls, row  # the recorder and the report differ in the rate of the clock
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

# ---- at a line, of a lock, of Python, whose start takes too long for a narrow slope here ----
source=$tests_dir/../targets/delays.c
line=delays.c:$(grep -n 'poll(NULL, 0, 0)' "$source" | cut -d: -f1)
lock=delays.c:$(grep -n 'pthread_mutex_lock(' "$source" | cut -d: -f1)
cat >job.py <<'END'
import os

for _ in range(20):
    os.close(os.open("out", os.O_CREAT | os.O_WRONLY))
END
while read -r what low high calls command; do
	# shellcheck disable=SC2086
	delay --json -n 3 --delay "$what=10ms" $command >out.json 2>err
	is "$? $(cat err)" '0 ' "$what $command: the status"
	ok "$what $command: the slope" python3 check.py "$low" "$high" "$calls"
done <<-END
	line~$line 0.5 1.5 20 $targets/delays serial
	line~targets/$line -0.5 0.5 20 $targets/delays slack
	lock~$lock 0.5 1.5 20 $targets/delays outside_lock
	line~job.py:4 -9 9 40 python3 job.py
END
pillion -o lines --slow-down=line~0123456789abcdef=1s "$targets/delays" serial >out 2>err
is "$? $(num_calls lines poll)" '0 20' 'a key that no frame has: nothing is delayed, all calls are recorded'
delay -n 3 --delay "line~delays.c:1=1ms" "$targets/delays" serial >out 2>err
is "$? $(cat err)" '1 pillion whatif: cannot tell: no call of delays.c:1 was recorded' 'a line without calls: status 1'
delay -n 3 --delay "line~delays.c=1ms" "$targets/delays" serial >out 2>err
like "$? $(cat err)" '^2 .*--delay takes call~NAME, line~FILE:N' 'a line without number: status 2'

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
