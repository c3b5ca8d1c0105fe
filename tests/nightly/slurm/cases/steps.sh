# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# Steps on three nodes, one after the other and at once, each with a capture of its own or joined by --append.
submit -N 3 -n 6 <<-'END'
	#!/bin/bash
	srun record sh -c 'echo first $SLURM_PROCID'
	srun record sh -c 'echo second $SLURM_PROCID; exit $SLURM_PROCID'
	echo "status $?"
	record echo third
	exit 3
END
compare 'two steps and a run of their own'
captured 'two steps and a run of their own' 'job.1.pillion job.2.pillion job.pillion '
is "$(ranks_of job.1.pillion)" '0 1 2 3 4 5 ' 'two steps: the ranks of a capture'
is "$(columns job.1.pillion)" "$(printf "${job[traced]},,1,,%s " node1 node2 node3)" 'two steps: job, step and nodes'

part append
export RECORD=--append
submit -N 2 -n 4 <<-'END'
	#!/bin/bash
	srun record sh -c 'echo first $SLURM_PROCID'
	srun record sh -c 'echo second $SLURM_PROCID'
	srun --exact -n 2 record sh -c 'echo third $SLURM_PROCID' &
	srun --exact -n 2 record sh -c 'echo fourth $SLURM_PROCID' &
	wait
END
unset RECORD
compare 'steps with --append'
captured 'steps with --append' 'job.pillion '
id=${job[traced]}
is "$(ranks_of job.pillion)" \
	"$(printf "%s@$id.%d " 0 0 0 1 0 2 0 3 1 0 1 1 1 2 1 3 2 0 2 1 3 0 3 1)" \
	'steps with --append: the ranks are kept apart'
