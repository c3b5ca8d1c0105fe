# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# Array tasks that all have the same -o.
submit --array=1-4 -n 2 <<-'END'
	#!/bin/bash
	srun record sh -c 'echo task $SLURM_ARRAY_TASK_ID; exit $SLURM_ARRAY_TASK_ID'
END
compare 'an array'
captured 'an array' 'job.1.pillion job.2.pillion job.3.pillion job.pillion '
for capture in ./*.pillion; do
	is "$(ranks_of "$capture")" '0 1 ' "an array: ranks of a capture"
done
is "$(columns ./*.pillion | tr -s ' ' '\n' | cut -d, -f2,3 | tr '\n' ' ')" \
	'1,0 2,0 3,0 4,0 '  'an array: each task has a capture'
