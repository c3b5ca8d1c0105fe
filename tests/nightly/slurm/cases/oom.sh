# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# A program that exceeds its memory: the kernel kills it in a memory cgroup of Slurm, else it kills itself the same way.
file grow.py <<'END'
import os, signal, sys
print("grows", flush=True)
if os.environ["SLURM_PROCID"] == "1":
    if sys.argv[1] == "cgroup":
        kept = []
        while True:
            kept.append(b"x" * (16 << 20))
    os.kill(os.getpid(), signal.SIGKILL)
END
if has_memory_cgroup; then by=cgroup; else by=self; fi
export by
submit -N 2 -n 2 --mem=200 <<-'END'
	#!/bin/bash
	srun record "$(python3 -c "import sys; print(sys.executable)")" grow.py $by
	echo "status $?"
END
compare 'out of memory'
captured 'out of memory' 'job.pillion '
is "$(ranks_of job.pillion)" '0 1 ' 'out of memory: each rank is in the capture'
like "$(report stats -q -r processes -f csv job.pillion | grep 'grow')" ',killed by signal 9 \(SIGKILL\),' \
	'out of memory: the killed process is named'
