#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Batch jobs of a real Slurm with two nodes, both on this machine: requeue, array, steps with one fixed -o.
set -u
for daemon in slurmctld slurmd; do
	command -v "$daemon" >/dev/null || PATH=$PATH:/usr/sbin:/usr/local/sbin
done
. "$(dirname "$0")/../e2e/lib.sh"
command -v slurmctld slurmd sbatch srun >/dev/null || skip_all 'no Slurm'

# A private cluster: loopback, no munge, everything in the scratch directory.
daemons=()
stop() {
	if [ ${#daemons[@]} -gt 0 ]; then
		scancel --quiet --user="$(id -un)"
		kill "${daemons[@]}"
		wait "${daemons[@]}"
	fi 2>/dev/null
	rm -rf "$work"
}
trap stop EXIT
cluster=$work/cluster
mkdir -p "$cluster/state" "$cluster/spool.node1" "$cluster/spool.node2"
# shellcheck disable=SC2207
ports=($(python3 -c 'import socket
s = [socket.socket() for _ in range(3)]
for one in s: one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in s))'))
cat >"$cluster/slurm.conf" <<-END
	ClusterName=pillion
	SlurmctldHost=$(hostname -s)(127.0.0.1)
	SlurmUser=$(id -un)
	SlurmdUser=$(id -un)
	AuthType=auth/none
	CredType=cred/none
	SlurmctldPort=${ports[0]}
	SlurmctldPidFile=$cluster/slurmctld.pid
	SlurmdPidFile=$cluster/%n.pid
	StateSaveLocation=$cluster/state
	SlurmdSpoolDir=$cluster/spool.%n
	ProctrackType=proctrack/linuxproc
	TaskPlugin=task/none
	JobAcctGatherType=jobacct_gather/none
	MpiDefault=none
	MailProg=/bin/true
	SelectType=select/cons_tres
	SelectTypeParameters=CR_CPU
	SchedulerParameters=bf_interval=1,sched_interval=1
	SlurmdParameters=config_overrides
	ReturnToService=2
	KillWait=2
	NodeName=node1 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=${ports[1]} CPUs=8
	NodeName=node2 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=${ports[2]} CPUs=8
	PartitionName=all Nodes=node1,node2 Default=YES MaxTime=60 State=UP
END
export SLURM_CONF=$cluster/slurm.conf
unset "${!SLURM_JOB@}" "${!SLURM_STEP@}" "${!SBATCH_@}"
slurmctld -D -i >"$cluster/slurmctld.log" 2>&1 &
daemons=($!)
for node in node1 node2; do
	slurmd -D -N $node >"$cluster/$node.log" 2>&1 &
	daemons+=($!)
done

both_idle() { [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 2 ]; }
if ! eventually both_idle; then
	diag "$(tail -n 5 "$cluster"/*.log)"
	skip_all 'Slurm does not start here'
fi

# submit [OPTION...] <SCRIPT: its job id is in $job
submit() {
	job=$(PILLION_STATS=false sbatch --parsable -o '%x.out' --open-mode=append "$@")
}
is_over() { [ -z "$(squeue -h -j "$job" 2>/dev/null)" ]; }
launches() { cat "$1"/*.index | grep -c '^launch	'; }
keys() { cat "$1"/*.index | sed -n 's/^launch.*	key=\([^	]*\).*/\1/p' | sort -u | wc -l; }

submit -J steps -N 2 -n 4 <<-END
	#!/bin/bash
	srun '$PILLION' -o steps sh -c 'echo first \$SLURM_PROCID'
	srun '$PILLION' -o steps sh -c 'echo second \$SLURM_PROCID'
	'$PILLION' -o steps echo third
	exit 3
END
ok 'a job of two steps and a run of its own' eventually is_over
is "$(grep -E '^(first|second|third)' steps.out | sort | tr '\n' ';')" \
	'first 0;first 1;first 2;first 3;second 0;second 1;second 2;second 3;third;' 'all of it ran'
is "$(for c in steps steps.1 steps.2; do launches $c.pillion; done | tr '\n' ' ')" '4 4 1 ' \
	'each step has a capture with its ranks, over both nodes'
told='exists already: this run of the batch job is recorded in'
is "$(grep -c "steps.pillion $told .*steps\.[12].pillion$" steps.out)" 2 'one message for each step'
diag "$(cat steps.out)"
is "$(report stats -q -r jobs -f csv steps.1.pillion | cut -d, -f1,2,4,6 | tail -n +2 | sort | tr '\n' ' ')" \
	"slurm,$job,1,node1 slurm,$job,1,node2 " 'the report jobs names job, step and nodes'

submit -J requeue -N 2 -n 4 --requeue <<-END
	#!/bin/bash
	srun '$PILLION' -o requeue sh -c 'echo run; touch "started.\$SLURM_RESTART_COUNT.\$SLURM_PROCID"
		[ -n "\$SLURM_RESTART_COUNT" ] || sleep 300'
END
first_runs() { [ "$(ls started..? 2>/dev/null | wc -l)" = 4 ]; }
ok 'a job runs' eventually first_runs
scontrol requeue "$job"
is_pending() { [ "$(squeue -h -j "$job" -o %T 2>/dev/null)" = PENDING ]; }
ok 'the job is requeued' eventually is_pending
# By default Slurm delays it by two minutes. Within a second of the requeue it would fail, since the nodes still
# consider its credential revoked.
ok 'the requeued job may start soon' eventually scontrol update JobId="$job" StartTime=now+3seconds
ran_again() { [ -e started.1.0 ] && is_over; }
ok 'the requeued job runs again' eventually ran_again
[ "$failed" -eq 0 ] || diag "$(scontrol show job "$job")" "$(tail -n 30 "$cluster/slurmctld.log")"
is "$(ls -d requeue*.pillion | tr '\n' ' ')" 'requeue.1.pillion requeue.pillion ' \
	'the second attempt has a capture of its own'
is "$(launches requeue.1.pillion) $(keys requeue.1.pillion)" '4 1' 'the requeued job: all ranks are in the new capture'
is "$(report stats -q -r jobs -f csv requeue.1.pillion | cut -d, -f2,5 | tail -n +2 | sort -u)" "$job,1" \
	'which names the attempt'
diag "$(cat requeue.out)"

submit -J array --array=1-6 -n 2 <<-END
	#!/bin/bash
	srun '$PILLION' -o array sh -c 'echo task \$SLURM_ARRAY_TASK_ID'
END
ok 'an array of six tasks' eventually is_over
is "$(grep '^task' array.out | sort | tr '\n' ';')" \
	"$(for i in 1 2 3 4 5 6; do printf 'task %d;task %d;' $i $i; done)" 'each task ran'
is "$(for c in array*.pillion; do echo "$(launches "$c") $(keys "$c")"; done | sort -u)" '2 1' \
	'and has a capture with its two ranks'
is "$(ls -d array*.pillion | wc -l)" 6 'six captures of six tasks'
is "$(report stats -q -r jobs -f csv array*.pillion | cut -d, -f3 | tail -n +2 | sort | tr '\n' ' ')" '1 2 3 4 5 6 ' \
	'which the report jobs tells apart'
done_testing
