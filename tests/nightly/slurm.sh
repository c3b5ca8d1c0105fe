#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/nightly/slurm.sh [CASE...]: jobs of a real Slurm with three nodes, all on this machine. Without CASE all files
# of slurm/cases/; a case that failed can be run again alone.
#
# Each job is submitted twice, at once: bare, and with each of its programs under pillion. Both must print the same, and
# end in the same state with the same exit status. Each rank must be in a capture, and the summary in the job's log.
#   NIGHTLY_PYTHON  a Python that has PyTorch, for torchrun.sh
#   CONTAINER_ROOT  a root directory with python3, for container.sh; default: debootstrap makes one
#   KEEP_CLUSTER    not empty: print where jobs and logs are, and do not remove them
set -u
cases=${0%/*}/slurm/cases
chosen=("$@")
[ $# -gt 0 ] || for file in "$cases"/*.sh; do chosen+=("$(basename "$file" .sh)"); done
for name in "${chosen[@]}"; do
	[ -e "$cases/$name.sh" ] || { echo "usage: $0 [CASE...], of $cases" >&2 && exit 2; }
done
cases=$(realpath "$cases")
PATH=$PATH:/usr/sbin:/usr/local/sbin
. "$(dirname "$0")/../e2e/lib.sh"
for daemon_name in slurmctld slurmd sbatch srun; do
	command -v $daemon_name >/dev/null || skip_all "no $daemon_name"
done
. "$tests_dir/slurm/cluster.sh"

finish() {
	stop_cluster
	if [ -n "${KEEP_CLUSTER:-}" ]; then
		echo "# kept: $work"
	else
		rm -rf "$work"
	fi
}
trap finish EXIT

# Jobs call `record COMMAND`: it executes COMMAND alone, or under pillion. RECORD: options in addition to -o.
make_commands() {
	mkdir -p bare/bin traced/bin
	printf '#!/bin/sh\nexec "$@"\n' >bare/bin/record
	# shellcheck disable=SC2016
	printf '#!/bin/sh\nexec "%s" -o "${CAPTURE:-job}" $RECORD "$@"\n' "$PILLION" >traced/bin/record
	chmod +x bare/bin/record traced/bin/record
}

declare -A job

# submit [SBATCH-OPTION...] <SCRIPT: submits the job of this case, bare and traced, in bare/CASE and traced/CASE, which
# have the files `script`, `out` and `err`. Their ids are in ${job[bare]} and ${job[traced]}.
submit() {
	local how script
	script=$(cat)
	for how in bare traced; do
		mkdir -p "$work/$how/$case_name"
		cp -r "$work/files/." "$work/$how/$case_name"
		cd "$work/$how/$case_name" || exit
		printf '%s\n' "$script" >script
		job[$how]=$(PATH=$work/$how/bin:$PATH sbatch --parsable -J "$case_name" -o out -e err \
			--open-mode=append "$@" script)
		[ -n "${job[$how]}" ] || fail "$case_name: sbatch accepts the $how job"
	done
	cd "$work" || exit
}

# A file that both jobs find in their directories, for the next submit.
file() { # NAME <CONTENT
	cat >"$work/files/$1"
}

is_over() { # JOB
	[ -z "$(squeue -h -j "$1" -o %i 2>/dev/null)" ]
}

both_over() {
	is_over "${job[bare]}" && is_over "${job[traced]}"
}

# The file or pattern exists in both directories.
both_have() { # PATTERN
	compgen -G "$work/bare/$case_name/$1" >/dev/null && compgen -G "$work/traced/$case_name/$1" >/dev/null
}

# State, restarts and exit status of each task of a job.
states() { # JOB
	local state='JobState=([A-Z_]+) Reason=([A-Za-z_]+)' restarts='Restarts=([0-9]+)'
	local code='ExitCode=([0-9]+:[0-9]+)'

	scontrol -o show job "$1" | sed -E "s/.* $state .* $restarts .* $code .*/\\1 \\2 \\3 \\4/" | sort
}

# What srun says about the end of each task, which may be on another node.
verdicts() { # DIRECTORY
	sed -nE 's/^srun: error: [^:]*: tasks? ([0-9,-]+): (.*)/\1 \2/p' "$1"/err | awk '{
		n = split($1, parts, ",")
		$1 = ""
		for (i = 1; i <= n; i++) {
			split(parts[i], ends, "-")
			for (task = ends[1]; task <= (ends[2] == "" ? ends[1] : ends[2]); task++)
				print task ":" $0
		}
	}' | sort
}

printed() { # DIRECTORY
	sort "$1/out"
}

# compare TEXT: waits for the job's end, and compares what is seen of it without and with pillion.
compare() {
	local bare=$work/bare/$case_name traced=$work/traced/$case_name
	ok "$1: both jobs end" eventually both_over
	is "$(states "${job[traced]}" | tr '\n' ';')" "$(states "${job[bare]}" | tr '\n' ';')" \
		"$1: state and exit status"
	is "$(printed "$traced")" "$(printed "$bare")" "$1: output"
	is "$(verdicts "$traced")" "$(verdicts "$bare")" "$1: what srun says"
	cd "$traced" || exit
}

# captured TEXT CAPTURES: the traced job left these captures, and said where each of them is, with a summary.
captured() {
	is "$(ls -d ./*.pillion | cut -c3- | LC_ALL=C sort | tr '\n' ' ')" "$2" "$1: captures"
	is "$(sed -n "s|^pillion: capture: open it with pillion view ||p" err | LC_ALL=C sort -u | tr '\n' ' ')" "$2" \
		"$1: each is named in the log"
	is "$(grep -c '^recording ' err)" "$(wc -w <<<"$2")" "$1: each has a summary in the log"
}

# columns CAPTURE...: job, array task, step, attempt and node of each row of the report jobs.
columns() {
	report stats -q -r jobs -f csv "$@" | tail -n +2 | cut -d, -f2-6 | sort | tr '\n' ' '
}

# ends_of CAPTURE: how its processes ended, each way once.
ends_of() {
	report stats -q -r processes -f csv "$1" | cut -d, -f7 | tail -n +2 | sort -u | tr '\n' ' '
}

# part [NAME]: what follows is about another pair of jobs of this case; without NAME, the first one.
part() {
	case_name=$name${1:+-$1}
	cd "$work" || exit
}

# By default Slurm delays a requeued job by two minutes. Within a second of the requeue it would fail, since the nodes
# still consider its credential revoked.
restart_soon() { # JOB
	is_pending() { [ "$(squeue -h -j "$1" -o %T 2>/dev/null)" = PENDING ]; }
	ok 'requeue: the job is pending' eventually is_pending "$1"
	ok 'requeue: it may start soon' eventually scontrol update JobId="$1" StartTime=now+3seconds
}

# ranks_of CAPTURE: the ranks of its processes, whose commands must be single lines.
ranks_of() {
	report stats -q -r processes -f csv "$1" | cut -d, -f4 | tail -n +2 | sort -u | tr '\n' ' '
}

case_begin() {
	case_name=$1
	rm -rf "$work/files"
	mkdir "$work/files"
	cd "$work" || exit
	diag "case $case_name"
	# shellcheck disable=SC1090
	. "$cases/$case_name.sh"
	cd "$work" || exit
}

make_commands
if ! start_cluster; then
	diag "$(tail -n 5 "$cluster"/*.log)"
	skip_all 'Slurm does not start here'
fi
export PILLION_STATS=summary
for name in "${chosen[@]}"; do
	before=$failed
	case_begin "$name"
	[ "$failed" -eq "$before" ] || diag "$(tail -n 40 {bare,traced}/"$name"*/{script,out,err} "$cluster"/*.log)"
done
done_testing
