# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# Heterogeneous jobs: a step over both components has one capture; steps in one component each have their own.
submit -N 1 -n 1 : -N 1 -n 2 <<-'END'
	#!/bin/bash
	srun record sh -c 'echo first $SLURM_PROCID' : record sh -c 'echo second $SLURM_PROCID'
	srun --het-group=0 record sh -c 'echo third $SLURM_PROCID'
	srun --het-group=1 record sh -c 'echo fourth $SLURM_PROCID'
END
compare 'a heterogeneous job'
captured 'a heterogeneous job' 'job.1.pillion job.2.pillion job.pillion '
is "$(ranks_of job.pillion)" '0 1 2 ' 'a heterogeneous job: ranks over both components'
is "$(columns ./*.pillion)" "$(printf "${job[traced]},,%s " 0,,node1 0,,node2 1,,node1 2,,node2)" \
	'a heterogeneous job: job, steps and nodes'
