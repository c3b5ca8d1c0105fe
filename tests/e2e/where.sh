#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pillion where: hung programs are located, and notice nothing of it.
. "$(dirname -- "$0")/lib.sh"

hang=$targets/where_hang
here=$(readlink -f -- "${tests_dir%/e2e}/targets")

# started NAME COMMAND...: starts it under pillion as NAME.pillion and waits for its line "ready".
started() {
	local name=$1
	shift
	rm -rf "$name.pillion"
	PILLION_STATS=false "${under[@]}" "$PILLION" "${options[@]}" -o "$name" "$@" >"$name.out" 2>"$name.err" &
	launcher=$!
	eventually grep -q ready "$name.out"
}

# killed: ends the program of the last `started`.
killed() {
	kill -KILL "$(child_of "$launcher")"
	wait "$launcher" 2>/dev/null
}

looked() { # NAME
	timeout "$patience" "${under[@]}" "$PILLION" where "$1" >seen 2>said
}

# shows NAME REGEX: a look has that line. A thread may not wait yet, or have no CPU.
shows() {
	looked "$1" && grep -Eq -- "$2" seen
}

# line FILE TEXT: the number of the line with that text.
line() {
	grep -n -m 1 -- "$2" "$1" | cut -d: -f1
}

# each_owns_the_other NAME: two threads wait for each other.
each_owns_the_other() {
	looked "$1" && report where -q -f tsv "$1.pillion" >table.tsv && [ "$(awk -F'\t' '
		NR > 1 && $10 != "" { owner[$2] = $9 }
		END { for (tid in owner) if (owner[owner[tid]] == tid) n++; print n }' table.tsv)" = 2 ]
}

options=()
under=()
c=$here/where_hang.c
python=$here/where_hang.py

# ---- two mutexes in opposite order ----

started mutexes "$hang" mutexes
ok 'two mutexes in opposite order: a deadlock' eventually shows mutexes '^DEADLOCK '
mutex='waits for the mutex 0x[0-9a-f]+, held by thread [0-9]+ .*'
like "$(cat seen)" "^DEADLOCK .* $mutex at forward \\(.*:$(line "$c" 'forward waits')\\)" 'the line of the one thread'
like "$(cat seen)" "^ +thread [0-9]+ $mutex at backward \\(.*:$(line "$c" 'backward waits')\\)" 'the line of the other'
is "$(grep -c '^DEADLOCK ' seen)" 1 'it is one deadlock'
like "$(cat seen)" "^  [0-9]+ where_hang  pthread_join for .*waits for the end of a thread: " \
	'pthread_join names the thread'
ok 'tsv: each of the two is the owner of what the other waits for' each_owns_the_other mutexes
ok 'the PID of the process instead of the capture' "$PILLION" where "$(child_of "$launcher")"
ok 'the PID of the launcher' "$PILLION" where "$launcher"
# Others of this user may run, too.
like "$("$PILLION" where 2>&1)" '( at forward |^pillion where: several runs are live, .*/mutexes\.pillion)' \
	'no operand: the only live run, or those that there are'
is "$(find mutexes.pillion -name '.where*')" '' 'no request is left'
answers=$(find mutexes.pillion -name '*.where')
mv "$answers" kept
ln -s nothing "$answers" # it cannot be opened, as where the disk is full
looked mutexes &
question=$!
eventually test -e mutexes.pillion/.where
sleep 2 # the launcher looks for requests every second
rm "$answers"
mv kept "$answers"
wait "$question"
is "$(cat said)" '' 'an answer that could not be written is written later'
like "$(cat seen)" '^DEADLOCK ' 'and is complete'
killed
looked mutexes
like "$(cat said)" 'the run has ended; this is the last look into it' 'after the end: the last look'
like "$(cat seen)" '^DEADLOCK ' 'which still names the deadlock'
report stats -q -r processes mutexes.pillion >out 2>err
is "$? $(cat err)" '0 ' 'other verbs read the capture'
report pack -q mutexes.pillion -o packed.pillpack
ok 'a packed capture' shows packed.pillpack '^DEADLOCK '

cp "$hang" replaced
started changed ./replaced mutexes
ok 'a copy of the program' eventually shows changed ' at forward \('
killed
touch -d tomorrow replaced
looked changed
like "$(cat said)" '/replaced: changed after the look, its functions have no names' 'a rebuilt program: a message'
unlike "$(cat seen)" ' at (forward|backward|main|_start)' 'and no wrong names'

# ---- other waits ----

started waits "$hang" waits
ok 'a relocked mutex' eventually shows waits 'waits for the mutex 0x[0-9a-f]+, which this thread itself holds'
waits_are_all_there() {
	looked waits && [ "$(grep -cE ' (read|recv|accept|futex|epoll_wait|waitpid) for ' seen)" -eq 6 ]
}
ok 'every thread waits' eventually waits_are_all_there
child=$(child_of "$(child_of "$launcher")")
writer="PID $child \\(where_hang\\) has open for writing"
like "$(cat seen)" " read for .*waits for descriptor [0-9]+, a pipe that $writer" \
	'a pipe: who has its other end'
like "$(cat seen)" " recv for .* tcp 127\\.0\\.0\\.1:[0-9]+ .*whose other end is in PID $child \\(where_hang\\)" \
	'a connection: its peer, and who has the other end'
like "$(cat seen)" ' accept for .*a connection to the port 127\.0\.0\.1:' 'a listening socket'
like "$(cat seen)" ' futex for .*waits for the futex 0x[0-9a-f]+, owner unknown' 'a futex'
like "$(cat seen)" " epoll_wait for .*waits for descriptor [0-9]+, a pipe that PID $child " 'epoll: what it watches'
like "$(cat seen)" " waitpid for .*waits for the end of its child PID $child \\(where_hang\\)" 'a child'
for function in reader receiver accepter waiter watcher relocker hang_waits; do
	like "$(cat seen)" "^         at $function \\(.*where_hang.c:[0-9]+\\)" "the line: $function"
done
like "$(cat seen)" '^  [0-9]+ where_hang  runs' 'a thread that computes'
if [ "$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null || echo 9)" -le 2 ] || [ "$(id -u)" -eq 0 ]; then
	ok 'its line' eventually shows waits '^         at computer \(.*where_hang.c:[0-9]+\)'
else
	skip 'its line' 'perf_event_open is not permitted'
fi
kill -KILL "$child"
wait "$launcher" 2>/dev/null

# ---- forked workers, which are in the range file alone ----

# pid_at FUNCTION: the process that has it in its stack.
pid_at() {
	awk -v function_name="$1" '/^PID / { pid = $2 } index($0, "at " function_name " ") { print pid; exit }' seen
}

# Without these capabilities root may not read a protected process either.
[ "$(id -u)" -ne 0 ] || under=(setpriv '--bounding-set=-sys_ptrace,-perfmon,-sys_admin')
"${under[@]}" true 2>/dev/null || under=()
started workers "$hang" workers
ok 'a forked worker that made two calls: its line' eventually shows workers \
	'^         at worker_two_calls \(.*where_hang.c:[0-9]+\)'
ok 'what it waits for' eventually shows workers ' read for .*waits for descriptor [0-9]+, a pipe that PID'
ok 'one that made none: its line' eventually shows workers '^         at worker_no_call \(.*where_hang.c:[0-9]+\)'
is "$(grep -c '^process' workers.pillion/*.index)" 1 'neither has a line in the index'
worker=$(pid_at worker_no_call)
ok 'the PID of a worker that has overwritten its variables' looked "$worker"
is "$(grep -c '^PID ' seen) $(pid_at worker_no_call)" "1 $worker" 'it alone is shown'
if [ "$(id -u)" -ne 0 ] || [ ${#under[@]} -gt 0 ]; then
	not_permitted='^PID [0-9]+ .*: cannot be read by its launcher: .*protects its memory'
	ok 'a process that protects its memory' eventually shows workers "$not_permitted"
	protected=$(grep -E "$not_permitted" seen | awk '{ print $2 }')
	looked "$protected"
	like "$? $(cat said)" "^2 .*PID $protected: .*protects its memory; name its capture instead" 'its PID'
else
	skip 'a process that protects its memory' 'setpriv is missing'
fi
kill -STOP "$worker"
ok 'a process that is stopped' eventually shows "$worker" 'stopped by a signal'
read -ra workers <<<"$(cat "/proc/$(child_of "$launcher")/task/"*/children)"
kill -KILL "${workers[@]}"
wait "$launcher" 2>/dev/null
under=()

# ---- Python ----

if command -v python3 >/dev/null; then
	started python python3 "$python"
	forward="at forward \\(.*where_hang.py:$(line "$python" 'forward waits')\\)"
	backward="at backward \\(.*where_hang.py:$(line "$python" 'backward waits')\\)"
	if python3 -c 'import sys, sysconfig
sys.exit(sys.version_info >= (3, 14) or bool(sysconfig.get_config_var("Py_GIL_DISABLED")))'; then
		ok 'Python: a deadlock of a Lock and an RLock' eventually shows python '^DEADLOCK '
		held='.* held by thread [0-9]+ .*'
		like "$(cat seen)" "waits for the threading\\.RLock $held $forward" 'Python: the owner of an RLock'
		like "$(cat seen)" "waits for the threading\\.Lock $held $backward" \
			'Python: who is inside of a with statement of a Lock'
	else
		skip 'Python: a deadlock of a Lock and an RLock' 'the locks of this Python have no owner'
		ok 'Python: where a thread waits for a lock' eventually shows python "$forward"
		like "$(cat seen)" "$backward" 'Python: where another one waits'
	fi
	like "$(cat seen)" 'waits for descriptor [0-9]+, a pipe that only this process itself has open for writing' \
		'a pipe whose other end nobody else has'
	ok 'Python: a thread that computes' eventually shows python "at computer \\(.*where_hang.py:"
	killed
	all_pythons python3
	for each in "${pythons[@]}"; do
		if "$each" -c 'import sys; sys.exit(not (3, 8) <= sys.version_info < (3, 14))'; then
			started nested "$each" "$python" nested
			ok "$each: nested with statements: each waits for the other" \
				eventually each_owns_the_other nested
			unlike "$(cat seen)" 'which this thread itself holds' "$each: no thread waits for itself"
			killed
		fi
	done
else
	skip 'Python' 'no python3'
fi

# ---- MPI ----

if [ -x "$targets/mpi_hang" ] && command -v mpirun >/dev/null && ranks 1 true >out 2>err; then
	rm -rf ranks.pillion
	flags=(--oversubscribe)
	[ "$(id -u)" -ne 0 ] || flags+=(--allow-run-as-root)
	PILLION_STATS=false "$PILLION" -o ranks mpirun -n 3 "${flags[@]}" "$targets/mpi_hang" >out 2>err &
	launcher=$!
	ok 'MPI: a rank that does not arrive' eventually shows ranks \
		'^STALLED +2 of 3 ranks are in MPI_Barrier; rank 1, .* has not come for .* at late \(.*mpi_hang.c:'
	ok 'MPI: ranks that do the same are one entry' eventually shows ranks \
		'^PID .*, rank [02], [0-9]+ threads?; the same in rank [02]$'
	ok 'MPI: threads of its library are one line' eventually shows ranks \
		'^  [0-9]+ threads? of the MPI library waits? for messages: [0-9]+'
	kill -TERM "$(child_of "$launcher")"
	wait "$launcher" 2>/dev/null
else
	skip 'MPI' 'no MPI'
fi

# ---- nothing is noticed ----

# Each call that blocks, of a process that is looked at meanwhile. The output is that of a run without pillion.
mkfifo input
"$targets/where_calls" <input >bare.out 2>bare.err &
bare=$!
exec 4>input
eventually grep -q ready bare.out
echo >&4
wait $bare
exec 4>&-
is "$(grep -c ' ended$' bare.out)" "$(($(wc -l <bare.out) - 1))" 'each call ends by itself without pillion'
for round in 1 2 3 4 5 6 7 8 9 10; do
	rm -rf calls.pillion
	PILLION_STATS=false "$PILLION" -o calls "$targets/where_calls" <input >calls.out 2>calls.err &
	launcher=$!
	exec 4>input
	eventually grep -q ready calls.out
	looks=0
	: >refused
	for _ in 1 2 3 4 5 6; do
		if looked calls; then
			looks=$((looks + 1))
		else
			cat said >>refused
		fi
		sleep 0.1
	done
	echo >&4
	wait $launcher
	code=$?
	exec 4>&-
	is "$code $looks $(cat refused)$(diff bare.out calls.out)" '0 6 ' \
		"round $round: calls are looked at and end as before"
done
like "$(cat seen)" 'where_calls  epoll_wait ' 'they were seen in their calls'

# Calls that a handler never restarts, with timeouts, over and over.
PILLION_STATS=false "$PILLION" -o never "$targets/never_restarted" 3 >never.out 2>never.err &
launcher=$!
while kill -0 $launcher 2>/dev/null; do
	looked never
	sleep 0.1
done
wait $launcher
is $? 0 'calls that are never restarted: status'
unlike "$(cat never.out never.err)" 'EINTR' 'calls that are never restarted: none ended early'
like "$(cat never.out)" '^0 interrupted' 'calls that are never restarted: the program itself counts none'

# ---- requests ----

started requests "$hang" mutexes
printf 'request=%016x\nrealtime_ns=%s\n' 77 1000000000 >requests.pillion/.where
touch -d '2 minutes ago' requests.pillion/.where
ok 'a request that was left behind is ignored' eventually shows requests '^DEADLOCK '
is "$(find requests.pillion -name '*.where' | wc -l)" 1 'one file has the looks of a run'
kill -TERM $launcher
wait $launcher 2>/dev/null
is $? 143 'the launcher forwards SIGTERM'
looked requests
like "$(cat seen)" 'when its launcher received signal 15' 'before that it looks'
like "$(cat seen)" '^DEADLOCK ' 'and the deadlock is in the capture'

# ---- what cannot be looked into ----

sleep 1000 &
other=$!
eventually grep -qx sleep /proc/$other/comm
"$PILLION" where $other >out 2>err
is "$? $(cat err)" '0 ' 'a process outside of pillion: status'
like "$(cat out)" "^  $other sleep  clock_nanosleep: sleeps" 'a process outside of pillion: what it does'
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	setpriv --reuid=65534 --clear-groups "$PILLION_BUILD_DIR/report/pillion-report" where $other >out 2>err
	like "$? $(cat err)" "^2 .*PID $other: .*(another user's|ptrace_scope)" 'a process that may not be read: why'
else
	skip 'a process that may not be read: why' 'needs root'
fi
kill $other
"$PILLION" where 4194305 >out 2>err
like "$? $(cat err)" '^2 .*no such process' 'no such process'
"$PILLION" where $((other + (1 << 32))) >out 2>err
like "$? $(cat err)" '^2 .*no such process' 'a number that is no PID'
"$PILLION" where $other $other >out 2>err
like "$? $(cat err)" '^2 .*give one CAPTURE or PID' 'two operands'
"$PILLION" where >out 2>err
like "$(cat out err)" 'no live run|several runs|^PID ' 'no operand, and nothing of this user runs'

started dead "$hang" mutexes
kill -KILL $launcher
wait $launcher 2>/dev/null
looked dead
is $? 1 'the launcher was killed: status'
like "$(cat said)" 'nobody asked before' 'the launcher was killed: a message'
like "$(cat seen)" 'pthread_mutex_lock' 'the launcher was killed: calls in progress are known'
kill -KILL "$(awk -F'\t' '/^process/ { sub("pid=", "", $3); print $3 }' dead.pillion/*.index | head -1)"

done_testing
