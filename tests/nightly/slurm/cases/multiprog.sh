# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# Ranks with programs of their own.
file programs <<'END'
0 record sh -c 'echo "master %t of $SLURM_NTASKS"'
1-2 record sh -c 'echo "worker %o"; exit %o'
3 sh -c 'echo "without pillion"'
END
submit -N 2 -n 4 <<-'END'
	#!/bin/bash
	srun --multi-prog programs
	echo "status $?"
END
compare 'multiple programs'
captured 'multiple programs' 'job.pillion '
is "$(ranks_of job.pillion)" '0 1 2 ' 'multiple programs: the ranks that were recorded'
