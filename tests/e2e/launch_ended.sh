#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The end of a rank as its mpirun sees it: a signal ends the launcher as it has ended COMMAND, what Open MPI's mpirun
# sends a second before SIGTERM has the reason printed, and the launcher ends with COMMAND.
set -u
. "$(dirname "$0")/lib.sh"
unset "${!SLURM_@}" PMIX_NAMESPACE PMIX_RANK OMPI_COMM_WORLD_RANK RANK MASTER_ADDR MASTER_PORT
export PILLION PILLION_STATS=summary targets

# What a parent other than a shell is told.
cat >status.py <<'END'
import subprocess, sys
print(subprocess.run(sys.argv[1:]).returncode)
END
if command -v python3 >/dev/null; then
	for signal in KILL TERM SEGV ABRT; do
		is "$(python3 status.py "$PILLION" -f -o status sh -c "kill -$signal \$\$" 2>err)" \
			"$(python3 status.py sh -c "kill -$signal \$\$")" \
			"SIG$signal: the parent is told as without pillion"
	done
	is "$(python3 status.py "$PILLION" -f -o status sh -c 'exit 143' 2>err)" 143 'a status is no signal'
else
	skip 'what a parent is told' 'no python3'
fi

# A shell that has the name of Open MPI's mpirun starts a rank that hangs, and ends it as mpirun does, when told to.
mkdir bin
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
touch TERM
wait $mpirun
is "$(cat status)" 143 'the status of the rank'
is "$(grep -c '^DEADLOCK' err) $(grep -c "^$capture_line" err) $(grep -c '^recording ' err)" '1 1 1' \
	'reason, path and summary are there once: the launcher has ended with COMMAND'

# A step of Slurm that hangs and is cancelled: the others wait for the launcher.
SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=0 "$PILLION" -o step "$targets/deadlock" mutexes >out 2>err &
launcher=$!
ok 'a step: the reason is known before' eventually test -s step.pillion/.hang
kill -TERM $launcher
wait $launcher
is "$? $(grep -c '^DEADLOCK' err) $(grep -c "^$capture_line" err) $(grep -c '^recording ' err)" '143 1 1 0' \
	'a step: the reason and the path, and the end of COMMAND is that of the launcher'
done_testing
