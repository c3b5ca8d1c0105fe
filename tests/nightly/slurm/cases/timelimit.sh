# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# A time limit that is announced by a signal: to the batch script, which passes it on; to the program that replaced the
# batch script; to the steps. The job goes on until its limit, and SIGTERM.
# Slurm signals one process of a step after the other. If that takes it more than 0.1 seconds, on a machine with too
# many jobs, the launcher forwards its own signal, too; hence only the first is printed (launch_group.sh counts them).
file catches <<'END'
trap 'echo "caught USR1"; trap : USR1' USR1
trap 'echo "caught TERM"; exit 7' TERM
while :; do sleep 0.1; done
END
limits=(--time=1 --signal)
submit -N 1 "${limits[@]}" B:USR1@30 <<-'END'
	#!/bin/bash
	trap 'echo "the script caught USR1"; kill -USR1 $!' USR1
	trap : TERM
	record sh catches &
	while kill -0 $! 2>/dev/null; do
		wait $!
		status=$?
	done
	echo "status $status"
END
first=("${job[bare]}" "${job[traced]}")

part exec
submit -N 1 "${limits[@]}" B:USR1@30 <<-'END'
	#!/bin/bash
	exec record sh catches
END
second=("${job[bare]}" "${job[traced]}")

part steps
submit -N 2 -n 2 "${limits[@]}" USR1@30 <<-'END'
	#!/bin/bash
	trap : TERM
	srun record sh catches
	exit $?
END
compare 'a time limit with a signal to the steps'
captured 'a time limit with a signal to the steps' 'job.pillion '
is "$(ranks_of job.pillion)" '0 1 ' 'a time limit with a signal to the steps: ranks'

part exec
job=([bare]=${second[0]} [traced]=${second[1]})
compare 'a time limit with a signal to a program as batch script'
captured 'a time limit with a signal to a program as batch script' 'job.pillion '

part
job=([bare]=${first[0]} [traced]=${first[1]})
compare 'a time limit with a signal to the batch script'
captured 'a time limit with a signal to the batch script' 'job.pillion '
