# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# A job that is requeued while it runs; a job that requeues itself.
file attempt <<-'END'
	echo "attempt $SLURM_RESTART_COUNT of $SLURM_PROCID"
	touch "started.$SLURM_RESTART_COUNT.$SLURM_PROCID"
	[ -n "$SLURM_RESTART_COUNT" ] || exec sleep 300
END
submit -N 2 -n 4 --requeue <<-'END'
	#!/bin/bash
	srun record sh attempt
END
all_started() { both_have started..0 && both_have started..1 && both_have started..2 && both_have started..3; }
ok 'requeue: the jobs run' eventually all_started
for how in bare traced; do
	scontrol requeue "${job[$how]}"
	restart_soon "${job[$how]}"
done
compare 'requeue'
captured 'requeue' 'job.1.pillion job.pillion '
is "$(ranks_of job.1.pillion)" '0 1 2 3 ' 'requeue: ranks of the second attempt'
is "$(columns job.1.pillion)" "$(printf "${job[traced]},,0,1,%s " node1 node2)" 'requeue: the attempt is named'
