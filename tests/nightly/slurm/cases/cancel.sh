# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# scancel: SIGTERM, and SIGKILL after KillWait.
catches='
	trap "echo caught; exit 7" TERM
	touch started.$SLURM_PROCID
	while :; do sleep 0.1; done'
ignores='
	trap "" TERM
	touch started.$SLURM_PROCID
	while :; do sleep 0.1; done'
cancel() { # TEXT STARTED...
	local text=$1 file
	for file in "${@:2}"; do
		ok "$text: the jobs run" eventually both_have "$file"
	done
	scancel "${job[@]}"
	compare "$text"
}
file catches <<<"$catches"
file ignores <<<"$ignores"

submit -N 2 -n 2 <<-'END'
	#!/bin/bash
	trap : TERM
	srun record sh catches
	exit $?
END
cancel 'scancel of a step' started.0 started.1
captured 'scancel of a step' 'job.pillion '

part script
submit -N 1 <<-'END'
	#!/bin/bash
	exec record sh catches
END
cancel 'scancel of a batch script' started.*
captured 'scancel of a batch script' 'job.pillion '

# SIGKILL may end srun before it has said how the tasks ended, and the script before or after srun. That of a step comes
# to its tasks alone.
part ignored
submit -N 2 -n 2 <<-'END'
	#!/bin/bash
	trap : TERM
	srun record sh ignores 2>said
	sleep 1000
END
cancel 'scancel that is ignored' started.0 started.1

part step
submit -N 2 -n 2 <<-'END'
	#!/bin/bash
	srun record sh ignores
	exit $?
END
for which in started.0 started.1; do
	ok 'scancel of a step that ignores it: the jobs run' eventually both_have "$which"
done
scancel -s TERM "${job[@]/%/.0}"
sleep 1
is "$(squeue -h -s -o %i | grep -c '\.0$')" 2 'scancel of a step that ignores it: it runs'
scancel "${job[@]/%/.0}"
compare 'scancel of a step that ignores it'
