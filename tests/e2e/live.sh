#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Live runs: status and captures see them from another shell, without a terminal.
. "$(dirname -- "$0")/lib.sh"

# started NAME [OPTION...] COMMAND...: starts it under pillion as NAME.pillion, and waits until it is live with two
# processes, of which COMMAND, a shell, is one.
started() {
	local name=$1
	shift
	PILLION_STATS=false "$PILLION" -o "$name" "$@" >"$name.out" 2>"$name.err" </dev/null &
	launcher=$!
	eventually has_processes "$name" 2
}

# cell NAME COLUMN: of the row of `status`.
cell() {
	report status --json "$1" 2>/dev/null | python3 -c 'import json, sys
answer = json.load(sys.stdin)
rows = answer.get("rows", [])
print(rows[0][sys.argv[1]] if len(rows) == 1 else len(rows))' "$2"
}

has_processes() { # NAME COUNT
	[ "$(cell "$1" Processes)" = "$2" ]
}

ended() { # NAME: lets the command of `started` end
	touch "$1.end"
	wait "$launcher"
}

# For as long as there is no file NAME.end; `sleep` is the second process.
loop() { # NAME
	printf 'while [ ! -e %s.end ]; do sleep 0.1; done; exit 7' "$1"
}

# ---- status ----

report status nosuch >out 2>err
is "$? $(cat out)" '2 ' 'status of something that is not live: status 2'
like "$(cat err)" '^pillion status: nosuch: no live run' 'and a message'
started one sh -c "$(loop one)" && pass 'a live run is found by its capture'
is "$(cell one Capture)" "$(readlink -f .)/one.pillion" 'Capture is its path'
is "$(cell one PID)" "$launcher" 'PID is that of its launcher'
like "$(cell one Command)" '^sh -c ' 'Command is that of its first process'
is "$(cell one Recording)" yes 'it records'
is "$(cell one Range)" None 'and has no ranges'
ok 'Size is that of its files' [ "$(cell one 'Size (bytes)')" -gt 4096 ]
is "$(cell "$launcher" PID)" "$launcher" 'it is found by the PID of its launcher'
is "$(cell "$(child_of "$launcher")" PID)" "$launcher" 'and by that of a process'
like "$(report status -f csv)" ',sh -c ' 'without a target: all live runs of this user'
like "$(cd / && report status -f csv "$work/one.pillion")" ',sh -c ' 'from another working directory'

# ---- captures ----

like "$(report captures -f csv)" '^one.pillion,.*,live,' 'captures lists it as live'
touch -d '3 days ago' one.pillion/*
report captures --remove-older=1d --yes >out 2>err </dev/null
ok 'a live run is never removed' [ -e one.pillion/capture ]
ended one
is $? 7 'the command has noticed nothing'
report status one >out 2>err
is $? 2 'an ended run is not live'
like "$(report captures -f csv)" '^one.pillion,.*,ended,' 'captures lists it as ended'
report captures --remove-older=1d --yes >out 2>err </dev/null
ok 'a capture of today is kept' [ -e one.pillion/capture ]
find one.pillion -exec touch -d '3 days ago' {} +
mkdir other.pillion && touch -d '3 days ago' other.pillion
report captures --remove-older=1d >out 2>err </dev/null
is $? 2 'without a terminal nothing is removed'
ok 'and it is still there' [ -e one.pillion/capture ]
cp -a one.pillion kept.pillion
touch -d '3 days ago' kept.pillion/results.txt
report captures --remove-older=1d --yes >out 2>err </dev/null
is "$?" 1 'with --yes old captures are removed; status 1 where one has files of others'
ok 'the old capture is removed' [ ! -e one.pillion ]
ok 'files that are not of a capture are kept' [ -e kept.pillion/results.txt ]
ok 'a directory that is no capture is kept' [ -e other.pillion ]
report captures --remove-older=week >out 2>err
is $? 2 'an age without a unit is refused'

done_testing
