# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# The batch scripts of examples/slurm as they are: in the bare job, `pillion` is a script that drops -o NAME.
scripts=$(dirname "$cases")/../../../examples/slurm
printf '#!/bin/sh\nshift 2\nexec "$@"\n' >bare/bin/pillion
printf '#!/bin/sh\nexec "%s" "$@"\n' "$PILLION" >traced/bin/pillion
chmod +x bare/bin/pillion traced/bin/pillion

# example NAME CAPTURES: {} stands for the id of the job. The jobs' names are those of this test.
example() {
	part "$1"
	file job.py <"$scripts/job.py"
	submit <"$scripts/$1.sbatch"
	compare "examples/slurm/$1.sbatch"
	captured "examples/slurm/$1.sbatch" "${2//\{\}/${job[traced]}}"
}

example single 'single-{}.pillion '
example nodes 'nodes-{}.pillion '
is "$(ranks_of nodes-*.pillion)" '0 1 ' 'examples/slurm/nodes.sbatch: both ranks in one capture'
example array 'array.1.pillion array.pillion '
example requeue 'requeue.pillion '
rm "$work"/{bare,traced}/bin/pillion
