#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The composite actions: the steps of their files run as a runner runs them, with the inputs in variables.
. "$(dirname -- "$0")/lib.sh"
has_unwinder || skip_all 'built without the unwinder'

actions=${tests_dir%/tests/*}/packaging/actions
# step ACTION NAME=VALUE...: the only step of the action
step() {
	local action=$actions/$1 run
	shift
	run=$(sed -n "s/^ *run: '\(.*\)'\$/\1/p" "$action/action.yml")
	(env GITHUB_ACTION_PATH="$action" GITHUB_PATH="$work/path" GITHUB_STEP_SUMMARY="$work/summary" "$@" \
		timeout "$patience" bash -c "$run") >out 2>err
}

mkdir -p tree/bin bin
printf '#!/bin/sh\nexec "%s" "$@"\n' "$PILLION" >tree/bin/pillion
chmod +x tree/bin/pillion
tar -czf release.tar.gz tree
sum=$(sha256sum <release.tar.gz | cut -d ' ' -f 1)
step setup-pillion FILE=release.tar.gz SHA256="$sum" DIRECTORY="$work/a place"
is "$? $(cat path)" "0 $work/a place/bin" 'setup-pillion: the command is on PATH of later steps'
like "$(cat out)" '^pillion [0-9]' 'and runs'
rm path
step setup-pillion FILE=release.tar.gz SHA256="${sum#?}0" DIRECTORY="$work/a place"
is "$? $(ls path 2>/dev/null)" '1 ' 'another checksum is refused'
like "$(cat out)" '^::error::the checksum' 'and said'

PATH="$work/tree/bin:$PATH"
step gate COMMAND="$targets/locks convoy" RULES=lock_convoy OPTIONS='-s none' SARIF=found.sarif
is "$?" 1 'gate: a finding fails the job'
like "$(cat out)" '^::error::[0-9]+ waits for locks' 'and is said'
like "$(cat summary)" '\| lock.*convoy \| found ' 'its table is in the summary'
like "$(cat found.sarif)" '"ruleId": ?"lock_convoy"' 'SARIF has it'
step gate COMMAND="$targets/locks own" RULES=lock_convoy OPTIONS='-s none'
is "$? $(grep -c '^::error' out)" '0 0' 'gate: without a finding the job passes'
step gate COMMAND='exit 7' RULES=lock_convoy OPTIONS='-s none'
is "$?" 7 'gate: the status of a command that fails'
step gate COMMAND=true RULES=no_such_rule OPTIONS='-s none'
is "$?" 1 'gate: a rule that does not exist is an error'
done_testing
