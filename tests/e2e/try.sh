#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pillion try: runs two commands in turn and judges which one is slower. The rates of errors are those of
# tests/unit/test_trial.c; here the differences are so large that no load hides them.
set -u
. "$(dirname "$0")/lib.sh"

try() {
	timeout "$patience" "$PILLION" try "$@" </dev/null
}

try -n 5 'sleep 0.02' 'sleep 0.4' >out 2>err
is "$?" 1 'B is slower: status 1'
like "$(cat out)" '^ *B takes [0-9.]+ times as long \([0-9.]+ to [0-9.]+\): B is slower$' 'and why'
try -n 5 'sleep 0.4' 'sleep 0.02' >out 2>err
is "$? $(cat err)" '0 ' 'B is faster: status 0'
like "$(cat out)" '^ *B is [0-9.]+ times as fast \([0-9.]+ to [0-9.]+\): B is faster$' 'and why'

# ---- what runs, and how often ----
try -n 3 'echo A >>order; echo shown >&2; echo hidden' 'read x; echo "B$x" >>order' >out 2>err
is "$(tr -d '\n' <order)" 'ABBAABBA' 'both run in turn after a run that does not count, without input'
is "$(grep -c shown err) $(grep -c '^hidden' out)" '4 0' 'standard error is shown, standard output is not'

# ---- JSON ----
try --json -n 3 'sleep 0.4' 'sleep 0.02' >out.json 2>err
is "$?" 0 'the status with --json'
cat >check.py <<'END'
import json
answer = json.load(open('out.json'))
a, b = answer['rows']
assert (answer['verb'], answer['verdict'], answer['capture']) == ('try', 'clean', []), answer
assert (a['Name'], a['Runs'], a['Command'], a['Ratio']) == ('A', 3, 'sleep 0.4', None), a
assert b['Ratio Low'] <= b['Ratio'] <= b['Ratio High'] and b['Ratio'] < 0.9, b
assert 4e8 <= a['Min (ns)'] <= a['Med (ns)'] <= a['Max (ns)'], a
END
ok 'JSON has the ratio, its interval and both commands' python3 check.py

# ---- what cannot be judged ----
try -n 3 'true' 'echo because >&2; exit 7' >out 2>err
is "$?" 2 'a command that fails: status 2'
like "$(cat err)" 'cannot judge: B ended with status 7: echo because' 'it is named, with its status'
try -n 3 'kill -TERM $$' 'true' >out 2>err
like "$? $(cat err)" '^2 .*cannot judge: A was ended by signal 15' 'likewise with a signal'
try true >out 2>err
is "$?" 2 'one command: status 2'
try -n 2 true true >out 2>err
is "$? $(cat err)" "2 pillion try: --runs takes a number of at least 3 runs, not '2'" 'two runs are too few'

# ---- signals ----
"$PILLION" try 'echo $$ >pid; exec sleep 600' true </dev/null >out 2>err &
launcher=$!
eventually test -s pid
kill -TERM $launcher
wait $launcher
is "$?" 143 'a signal ends it'
not_ok 'and the command' kill -0 "$(cat pid)"
done_testing
