#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The end of a rank as its mpirun sees it: a signal ends its launcher as it has ended COMMAND, what Open MPI's mpirun
# sends a second before SIGTERM has the reason printed, and the launcher ends with COMMAND.
set -u
. "$(dirname "$0")/lib.sh"
unset "${!SLURM_@}" PMIX_NAMESPACE PMIX_RANK OMPI_COMM_WORLD_RANK RANK MASTER_ADDR MASTER_PORT
export PILLION PILLION_STATS=summary targets

# The state that wait() returns to a parent: Hydra combines those of its ranks.
mkdir bin
if command -v perl >/dev/null && cp "$(command -v perl)" bin/hydra_pmi_proxy; then
	export PMI_RANK=0 PMI_FD=9
	state='print system @ARGV'
	for signal in KILL TERM SEGV ABRT; do
		end="kill -$signal \$\$"
		bare=$(perl -e "$state" sh -c "$end")
		is "$(bin/hydra_pmi_proxy -e "$state" "$PILLION" -f -o status sh -c "$end" 2>err)" "$bare" \
			"SIG$signal: Hydra is told as without pillion"
		# shellcheck disable=SC2016
		task='SLURM_TASK_PID=$$ exec "$@"'
		is "$(perl -e "$state" sh -c "$task" - "$PILLION" -f -o status sh -c "$end" 2>err)" "$bare" \
			"SIG$signal: Slurm is told as without pillion"
		is "$(perl -e "$state" "$PILLION" -f -o status sh -c "$end" 2>err)" $(((128 + (bare & 127)) << 8)) \
			"SIG$signal: others are told a status"
	done
	is "$(bin/hydra_pmi_proxy -e "$state" "$PILLION" -f -o status sh -c 'exit 143' 2>err)" $((143 << 8)) \
		'a status is no signal'
	unset PMI_RANK PMI_FD
else
	skip 'what a parent is told' 'no perl'
fi

# A shell that has the name of Open MPI's mpirun starts a rank that hangs, and ends it as mpirun does, when told to.
cp "$(command -v bash)" bin/orterun
cat >start <<'END'
PMIX_NAMESPACE=job PMIX_RANK=0 "$PILLION" -o hung "$targets/deadlock" mutexes >out 2>err &
rank=$!
echo $rank >rank
for signal in CONT TERM; do
	until [ -e $signal ]; do sleep 0.1; done
	kill -$signal $rank
done
wait $rank
echo $? >status
END
bin/orterun start &
mpirun=$!
ok 'the reason is known before' eventually test -s hung.pillion/.hang
not_ok 'and not printed' grep -q '^DEADLOCK' err
touch CONT
ok 'the announcement of the end: the reason' eventually grep -q '^DEADLOCK' err
ok 'and the summary so far, while COMMAND runs' eventually grep -q '^recording ' err
ok 'with the reason for it' grep -q '^pillion: mpirun is about to end COMMAND; recorded so far' err
touch TERM
wait $mpirun
is "$(cat status)" 143 'the status of the rank'
is "$(grep -c '^DEADLOCK' err) $(grep -c "^$capture_line" err) $(grep -c '^recording ' err)" '1 1 1' \
	'reason, path and summary are there once: the launcher has ended with COMMAND'

# mpirun passes on the signals of a terminal: what it stops and continues has not been told to end.
cat >stopped <<'END'
PMIX_NAMESPACE=other PMIX_RANK=0 "$PILLION" -o stopped sh -c 'echo $$ >command; until [ -e go ]; do sleep 0.1; done' \
	>out 2>err &
rank=$!
until [ -s command ]; do sleep 0.1; done
kill -STOP $(cat command)
until grep -q '^State:.*T' /proc/$(cat command)/status; do sleep 0.1; done
kill -CONT $rank
until grep -q '^State:.*[RS]' /proc/$(cat command)/status; do sleep 0.1; done
touch go
wait $rank
echo $? >status
END
bin/orterun stopped
is "$(cat status) $(grep -c "^$capture_line" err) $(grep -c '^recording ' err)" '0 1 1' \
	'a rank that was stopped and continued: path and summary at its end'
not_ok 'and nobody says that it is being ended' grep -q 'recorded so far' err

# COMMAND may take such a signal for something else, as to read its configuration again.
cat >reload <<'END'
PMIX_NAMESPACE=third PMIX_RANK=0 "$PILLION" -o reload \
	sh -c 'trap "date +%s >>read" HUP; echo $$ >ready; until [ -e ended ]; do sleep 0.1; done' >out 2>err &
rank=$!
until [ -s ready ]; do sleep 0.1; done
kill -HUP $rank
until [ -s read ] && [ $(date +%s) -gt $(($(cat read) + 6)) ]; do sleep 0.2; done
touch ended
wait $rank
echo $? >status
END
bin/orterun reload
is "$(cat status) $(grep -c "^$capture_line" err) $(grep -c '^recording ' err)" '0 1 1' \
	'a rank that goes on after SIGHUP: path and summary at its end'

# A step of Slurm that hangs and is cancelled: the others wait for the launcher.
SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=0 "$PILLION" -o step "$targets/deadlock" mutexes >out 2>err &
launcher=$!
ok 'a step: the reason is known before' eventually test -s step.pillion/.hang
kill -TERM $launcher
wait $launcher
is "$? $(grep -c '^DEADLOCK' err) $(grep -c "^$capture_line" err) $(grep -c '^recording ' err)" '143 1 1 0' \
	'a step: the reason and the path, and the end of COMMAND is that of the launcher'

# Without a step there is a summary, if it is fast.
"$PILLION" -o alone "$targets/deadlock" mutexes >out 2>err &
launcher=$!
ok 'a job of one process: the reason is known before' eventually test -s alone.pillion/.hang
kill -TERM $launcher
wait $launcher
is "$? $(grep -c '^DEADLOCK' err) $(grep -c "^$capture_line" err)" '143 1 1' 'its reason and its path'
is "$(grep -Ec '^recording |^pillion: the job ends before its summary: pillion stats --summary alone.pillion$' err)" 1 \
	'its summary, or how to get it'

# Whoever presses Ctrl-C waits for the summary, or presses it again.
set -m # a background job of its own takes SIGINT
"$PILLION" -o pressed "$targets/deadlock" mutexes >out 2>err &
launcher=$!
set +m
ok 'at Ctrl-C: the reason is known before' eventually test -s pressed.pillion/.hang
kill -INT $launcher
wait $launcher
is "$? $(grep -c '^DEADLOCK' err) $(grep -c "^$capture_line" err) $(grep -c '^recording ' err)" '130 1 1 1' \
	'its reason, its path and its summary'
done_testing
