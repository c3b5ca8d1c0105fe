#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Signals as batch systems send them: to each process of a rank, more than once, and before SIGKILL.
# tests/nightly/slurm.sh has a real one.
set -u
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip_all 'no python3'
unset "${!SLURM_@}" PMIX_NAMESPACE PMIX_RANK RANK MASTER_ADDR MASTER_PORT

# Writes the name of each signal to a file, until SIGTERM.
cat >count.py <<'END'
import os, signal, sys
seen = open("seen", "w", buffering=1)
names = "SIGUSR1", "SIGUSR2", "SIGTERM"
for name in names:
    signal.signal(getattr(signal, name), lambda n, f: None)
watched = {getattr(signal, name) for name in names}
signal.pthread_sigmask(signal.SIG_BLOCK, watched)
print("ready", file=seen)
while True:
    number = signal.sigwait(watched)
    print(signal.Signals(number).name, file=seen)
    if number == signal.SIGTERM:
        sys.exit(5)
END
lines() { [ "$(wc -l <seen)" -ge "$1" ]; }

# grouped LAUNCHER-COMMAND...: starts it as the leader of a process group, and sends SIGUSR1 three times to the group,
# then SIGUSR2 and SIGTERM to the launcher alone.
grouped() {
	rm -f seen
	set -m
	"$@" 2>err &
	launcher=$!
	set +m
	eventually lines 1 2>/dev/null
	for i in 1 2 3; do
		kill -USR1 -- -$launcher
		eventually lines $((i + 1))
	done
	kill -USR2 $launcher
	eventually grep -q USR2 seen
	kill -TERM $launcher
	wait $launcher
}
export PILLION_STATS=false
SLURM_JOB_ID=7 grouped "$PILLION" -o group python3 count.py
is "$? $(tr '\n' ' ' <seen)" '5 ready SIGUSR1 SIGUSR1 SIGUSR1 SIGUSR2 SIGTERM ' \
	'a signal to the group of a rank reaches COMMAND once, one to the launcher, too'
is "$(ps -o pid= --ppid $launcher; pgrep -g $launcher)" '' 'no process is left'

# Slurm sends SIGCONT and then SIGTERM to each process of one list. The launcher forwards SIGWINCH after that.
cat >list.py <<'END'
import signal
seen = open("seen", "w", buffering=1)
watched = {signal.SIGCONT, signal.SIGTERM, signal.SIGWINCH}
signal.pthread_sigmask(signal.SIG_BLOCK, watched)
print("ready", file=seen)
number = 0
while number != signal.SIGWINCH:
    number = signal.sigwait(watched)
    print(signal.Signals(number).name, file=seen)
END
rm -f seen
SLURM_JOB_ID=7 "$PILLION" -o list python3 list.py 2>err &
launcher=$!
eventually lines 1 2>/dev/null
mapfile -t children < <(cat /proc/$launcher/task/*/children | tr ' ' '\n' | grep .)
for signal in CONT TERM; do
	for pid in $launcher "${children[@]}"; do
		kill -$signal "$pid" 2>/dev/null
	done
	eventually grep -q $signal seen
	sleep 0.1
done
kill -WINCH $launcher
wait $launcher
is "$(tr '\n' ' ' <seen)" 'ready SIGCONT SIGTERM SIGWINCH ' 'SIGCONT and SIGTERM to a list of processes come once'

# A launcher that is killed leaves nothing but COMMAND.
rm -f seen
SLURM_JOB_ID=7 "$PILLION" -o killed python3 count.py 2>err &
launcher=$!
eventually lines 1 2>/dev/null
mapfile -t children < <(cat /proc/$launcher/task/*/children | tr ' ' '\n' | grep .)
is ${#children[@]} 2 'the launcher of a rank has a witness'
kill -KILL $launcher
one_left() {
	local left=0 child
	for child in "${children[@]}"; do
		! kill -0 "$child" 2>/dev/null || left=$((left + 1))
	done
	[ "$left" = 1 ]
}
ok 'a killed launcher: its witness ends' eventually one_left
kill "${children[@]}" 2>/dev/null

# SIGTERM that COMMAND ignores: SIGKILL may follow, so the summary so far is printed.
SLURM_JOB_ID=7 PILLION_STATS=summary "$PILLION" -o ignored sh -c 'trap "" TERM; echo >ready; exec sleep 1000' 2>err &
launcher=$!
eventually test -e ready
kill -TERM $launcher
ok 'a COMMAND that ignores SIGTERM: a summary so far' eventually grep -q '^recording ' err
like "$(cat err)" \
	"^pillion: COMMAND has not ended after SIGTERM; recorded so far; open it with pillion view ignored.pillion$" \
	'a COMMAND that ignores SIGTERM: the message'
kill -KILL "$(pgrep -P $launcher -x sleep)"
wait $launcher
is $? 137 'a COMMAND that ignores SIGTERM: the status at its end'
is "$(grep -c '^recording ' err) $(grep -c "^$capture_line" err)" '2 1' 'and the summary of the whole run'

# The same if COMMAND has sent it to its group.
SLURM_JOB_ID=7 PILLION_STATS=summary setsid "$PILLION" -o own sh -c \
	'trap "" TERM; kill -TERM 0; exec sleep 1000' 2>err &
eventually test -d own.pillion
ok 'SIGTERM of COMMAND itself, which ignores it: a summary so far' eventually grep -q '^recording ' err
like "$(cat err)" '^pillion: COMMAND has not ended after SIGTERM; recorded so far' 'and nobody else is said to end it'
kill -KILL "$(pgrep -g "$!" -x sleep)"
wait $!

# The rank that created the capture, and would print the summary, is killed; then the batch system ends the others.
rank() { # NUMBER
	(export SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=$1 PILLION_STATS=summary &&
		exec "$PILLION" -o ranks sh -c 'echo >started.$SLURM_PROCID; exec sleep 1000') 2>"err.$1" &
	pids[$1]=$!
	eventually test -e "started.$1"
}
pids=()
rank 0
rank 1
rank 2
mapfile -t children < <(pgrep -P "${pids[0]}")
kill -KILL "${pids[0]}" "${children[@]}"
wait "${pids[0]}" 2>/dev/null
kill -TERM "${pids[1]}" "${pids[2]}"
wait "${pids[1]}"
is $? 143 'a rank that SIGTERM ends: status'
wait "${pids[2]}"
is "$(cat err.? | grep -c "^$capture_line ranks.pillion$") $(cat err.? | grep -c '^recording ')" '1 1' \
	'one of the other ranks prints the summary of a rank that was killed'

# Ranks that exit by a handler of SIGTERM, or because they have lost a peer by it, which their launchers, stopped for a
# while, handle later: no rank has died first.
cat >late.py <<'END'
import os, signal, sys, time
def state(pid):
    with open(f"/proc/{pid}/stat") as f:
        return f.read().rsplit(")", 1)[1].split()[0]
for launcher in map(int, sys.argv[1:]):
    with open(f"/proc/{launcher}/task/{launcher}/children") as f:
        children = [int(pid) for pid in f.read().split()]
    os.kill(launcher, signal.SIGSTOP)
    while state(launcher) != "T":
        pass
    for pid in (launcher, *children):
        os.kill(pid, signal.SIGTERM)
    while all(state(pid) != "Z" for pid in children):
        pass
    time.sleep(0.5)
    os.kill(launcher, signal.SIGCONT)
END
cat >handler.py <<'END'
import os, signal, sys
def ended(*_):
    if sys.argv[1] == "lost":
        raise RuntimeError("Connection closed by peer")
    os._exit(7)
signal.signal(signal.SIGTERM, ended)
open("handles." + os.environ["SLURM_PROCID"], "w").close()
while True:
    signal.pause()
END
for how in exit lost; do
	pids=()
	rm -rf handles.* handled.pillion
	for rank in 0 1; do
		SLURM_JOB_ID=7 SLURM_STEP_ID=2 SLURM_PROCID=$rank PILLION_STATS=summary "$PILLION" -o handled \
			python3 handler.py $how 2>"err.$rank" &
		pids[rank]=$!
		eventually test -e handles.$rank
	done
	python3 late.py "${pids[@]}"
	wait "${pids[0]}"
	is "$?" "$([ $how = exit ] && echo 7 || echo 1)" "ranks that end by their handlers of SIGTERM, $how: status"
	wait "${pids[1]}"
	is "$(cat err.0 err.1 | grep -Ec '^(DIED FIRST|CRASH)') $(cat err.0 err.1 | grep -c '^recording ')" '0 1' \
		"$how: nothing has died first, and there is a summary"
done

# The rank that created the capture fails: whoever started the ranks may wait for it to end the others.
SLURM_JOB_ID=7 SLURM_STEP_ID=1 SLURM_PROCID=0 PILLION_STATS=summary "$PILLION" -o left sh -c \
	'until [ -e second ]; do sleep 0.1; done; kill -SEGV $$' 2>err.0 &
first=$!
eventually test -d left.pillion
SLURM_JOB_ID=7 SLURM_STEP_ID=1 SLURM_PROCID=1 PILLION_STATS=summary "$PILLION" -o left sh -c \
	'echo >second; until [ -e over ]; do sleep 0.1; done' 2>err.1 &
second=$!
wait $first
is "$? $(grep -c '^DIED FIRST' err.0) $(grep -c "^$capture_line" err.0) $(grep -c '^recording ' err.0)" '139 1 1 0' \
	'a rank that fails before the others says why, and ends without a summary'
echo >over
wait $second
is "$? $(grep -c "^$capture_line" err.1) $(grep -c '^recording ' err.1)" '0 0 1' 'which another one prints at its end'

# SIGTERM while the summary is printed: by a report that waits for it.
mkdir -p prefix/libexec/pillion prefix/lib/pillion prefix/bin
cp "$PILLION_BUILD_DIR/runtime/pillion-launch" prefix/libexec/pillion
cp "$PILLION_BUILD_DIR"/preload/libpillion*.so prefix/lib/pillion
cat >prefix/bin/pillion-report <<'END'
#!/bin/sh
echo >printing
until [ -e printed ]; do sleep 0.1; done
echo 'the summary'
END
chmod +x prefix/bin/pillion-report
export PILLION_STATS=summary
set -m
prefix/libexec/pillion/pillion-launch -o late sh -c 'exit 3' 2>err &
launcher=$!
set +m
eventually test -e printing
kill -TERM -- -$launcher
kill -HUP -- -$launcher
touch printed
wait $launcher
is "$? $(grep -c '^the summary$' err)" '3 1' 'SIGTERM and SIGHUP do not end the summary'
rm -f printing printed
set -m
prefix/libexec/pillion/pillion-launch -o late2 sh -c 'exit 3' 2>err &
launcher=$!
set +m
eventually test -e printing
kill -INT -- -$launcher
wait $launcher
is "$? $(grep -c '^the summary$' err)" '3 0' 'SIGINT ends the summary'
done_testing
