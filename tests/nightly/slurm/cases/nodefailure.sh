# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# A slurmstepd that is killed, whose programs go on as orphans; a node that fails, whose job starts again on others.
file waits <<'END'
echo "started $SLURM_PROCID ${SLURM_RESTART_COUNT:-0}"
touch "started.$SLURM_PROCID.${SLURM_RESTART_COUNT:-0}"
[ -n "${SLURM_RESTART_COUNT:-}" ] || exec sleep 1000
END
both_started() { both_have started.0.0 && both_have started.1.0; }
# tasks_of NODE: process ids of the tasks of both jobs on a node.
tasks_of() {
	local pid
	for pid in $(members); do
		tr '\0' '\n' <"/proc/$pid/environ" | grep -qx "SLURMD_NODENAME=$1" && echo "$pid"
	done 2>/dev/null
}
# stepds_of NODE: process ids of the slurmstepds that started them.
stepds_of() {
	local pid
	for pid in $(tasks_of "$1"); do
		ps -o ppid= -p "$pid"
	done | sort -un | while read -r pid; do
		case $(ps -o args= -p "$pid") in slurmstepd:*) echo "$pid" ;; esac
	done
}

submit -N 2 -n 2 --no-requeue <<-'END'
	#!/bin/bash
	srun record sh waits
	echo "status $?"
END
ok 'a killed slurmstepd: the jobs run' eventually both_started
mapfile -t orphans < <(tasks_of node2)
mapfile -t stepds < <(stepds_of node2)
kill -KILL "${stepds[@]}"
scancel "${job[@]}"
compare 'a killed slurmstepd'
captured 'a killed slurmstepd' 'job.pillion '
is "$(ranks_of job.pillion)" '0 1 ' 'a killed slurmstepd: the ranks'
for pid in "${orphans[@]}"; do
	[ "$(cat "/proc/$pid/comm")" != sleep ] || kill -TERM "$pid"
done
no_orphans() {
	local pid
	for pid in "${orphans[@]}"; do
		! kill -0 "$pid" 2>/dev/null || return
	done
}
ok 'a killed slurmstepd: launchers end after their orphans' eventually no_orphans
is "$(ends_of job.pillion)" 'exit 0 killed by signal 15 (SIGTERM) ' 'a killed slurmstepd: the ends are recorded'

part down
submit -N 2 -n 2 --requeue <<-'END'
	#!/bin/bash
	srun record sh waits
	echo "status $?"
END
ok 'a node that fails: the jobs run' eventually both_started
mapfile -t stepds < <(stepds_of node2)
mapfile -t tasks < <(tasks_of node2)
kill -KILL "${daemon[node2]}" "${stepds[@]}" "${tasks[@]}"
wait "${daemon[node2]}" 2>/dev/null
scontrol update NodeName=node2 State=DOWN Reason=failed
for how in bare traced; do
	restart_soon "${job[$how]}"
done
compare 'a node that fails'
captured 'a node that fails' 'job.1.pillion job.pillion '
is "$(ranks_of job.pillion)" '0 1 ' 'a node that fails: the ranks of the first attempt'
is "$(ranks_of job.1.pillion)" '0 1 ' 'a node that fails: the ranks of the second attempt'
is "$(columns job.1.pillion)" "$(printf "${job[traced]},,0,1,%s " node1 node3)" 'a node that fails: the other nodes'
start_node node2
scontrol update NodeName=node2 State=RESUME
ok 'the node is back' eventually all_idle
