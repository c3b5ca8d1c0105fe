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
# Slurm chooses which component gets which node.
columns ./*.pillion | tr ' ' '\n' >columns
is "$(cut -d, -f1-3 columns | tr '\n' ' ')" "$(printf "${job[traced]},,%s " 0 0 1 2)" \
	'a heterogeneous job: job and steps'
nodes_of() { awk -F, -v steps="$1" 'index(steps, $3) && $5 != "" { print $5 }' columns | sort | tr '\n' ' '; }
is "$(nodes_of 0) $(nodes_of 0 | wc -w)" "$(nodes_of 12) 2" \
	'a heterogeneous job: the steps of the components are on the nodes of the step over both'
