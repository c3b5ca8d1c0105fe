# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# A private Slurm cluster: a controller and three nodes, all on the loopback interface of this machine, with ports and
# directories of their own. Sourced by ../slurm.sh, which has $work.
nodes=(node1 node2 node3)
cluster=$work/cluster
declare -A daemon # process ids by name

# Slurm limits memory only by cgroups, here those of version 1.
has_memory_cgroup() {
	[ "$(id -u)" -eq 0 ] && [ -e /sys/fs/cgroup/memory/memory.limit_in_bytes ] && [ -w /sys/fs/cgroup/memory ]
}

free_ports() { # COUNT
	python3 -c 'import socket, sys
s = [socket.socket() for _ in range(int(sys.argv[1]))]
for one in s: one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in s))' "$1"
}

# Authentication by munge, as on a real cluster, where it is installed. --force: /tmp is writable for others.
start_munge() {
	command -v munged >/dev/null || return
	mkdir -m 711 "$cluster/munge"
	head -c 1024 /dev/urandom >"$cluster/munge/key"
	chmod 400 "$cluster/munge/key"
	munged --foreground --force --key-file="$cluster/munge/key" --log-file="$cluster/munge/log" \
		--pid-file="$cluster/munge/pid" --seed-file="$cluster/munge/seed" \
		--socket="$cluster/munge/socket" >"$cluster/munge.log" 2>&1 &
	daemon[munge]=$!
	eventually test -S "$cluster/munge/socket"
}

configure() {
	local ports host i
	host=$(hostname -s)
	read -ra ports < <(free_ports $((${#nodes[@]} + 1)))
	cat >"$cluster/slurm.conf" <<-END
		ClusterName=pillion
		SlurmctldHost=$host(127.0.0.1)
		SlurmUser=$(id -un)
		SlurmdUser=$(id -un)
		SlurmctldPort=${ports[0]}
		SlurmctldPidFile=$cluster/slurmctld.pid
		SlurmdPidFile=$cluster/%n.pid
		StateSaveLocation=$cluster/state
		SlurmdSpoolDir=$cluster/spool.%n
		ProctrackType=proctrack/linuxproc
		JobAcctGatherType=jobacct_gather/none
		MpiDefault=none
		MailProg=/bin/true
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU_Memory
		DefMemPerCPU=500
		SchedulerParameters=bf_interval=1,sched_interval=1,batch_sched_delay=0
		SlurmdParameters=config_overrides
		SlurmdTimeout=300
		MessageTimeout=100
		ReturnToService=2
		KillWait=30
		MinJobAge=3600
		FirstJobId=$((RANDOM + 10000))
		PlugStackConfig=$cluster/plugstack.conf
	END
	# For cases/spank.sh; other jobs do not ask for it.
	[ ! -e "$PILLION_BUILD_DIR/packaging/slurm/pillion_spank.so" ] ||
		echo "optional $PILLION_BUILD_DIR/packaging/slurm/pillion_spank.so library=$library command=$PILLION" \
			>"$cluster/plugstack.conf"
	{
		if [ -n "${daemon[munge]:-}" ]; then
			echo "AuthInfo=socket=$cluster/munge/socket"
		else
			printf '%s\n' AuthType=auth/none CredType=cred/none
		fi
		if has_memory_cgroup; then
			echo TaskPlugin=task/cgroup
		else
			echo TaskPlugin=task/none
		fi
		for i in "${!nodes[@]}"; do
			echo "NodeName=${nodes[i]} NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[i + 1]} CPUs=8" \
				"RealMemory=16000"
		done
		echo "PartitionName=all Nodes=$(IFS=,; echo "${nodes[*]}") Default=YES MaxTime=60 State=UP"
	} >>"$cluster/slurm.conf"
	mkdir "${nodes[@]/#/$cluster/spool.}"
	! has_memory_cgroup || printf '%s\n' CgroupPlugin=cgroup/v1 ConstrainRAMSpace=yes AllowedSwapSpace=0 \
		ConstrainSwapSpace=no >"$cluster/cgroup.conf"
}

start_node() { # NODE
	slurmd -D -N "$1" >>"$cluster/$1.log" 2>&1 &
	daemon[$1]=$!
}

# Processes of the cluster's jobs and its slurmstepds, by the configuration in their environment.
members() {
	grep -lsza "^SLURM_CONF=$cluster/slurm.conf\$" /proc/[0-9]*/environ | tr -dc '0-9\n'
}

all_idle() { [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = ${#nodes[@]} ]; }

# False where Slurm does not start here; its logs are in $cluster.
start_cluster() {
	local node
	mkdir -p "$cluster/state"
	start_munge
	configure
	export SLURM_CONF=$cluster/slurm.conf
	unset "${!SLURM_JOB@}" "${!SLURM_STEP@}" "${!SBATCH_@}" SLURM_PROCID SLURM_RESTART_COUNT SLURMD_NODENAME
	slurmctld -D -i >"$cluster/slurmctld.log" 2>&1 &
	daemon[slurmctld]=$!
	for node in "${nodes[@]}"; do
		start_node "$node"
	done
	eventually all_idle
}

none_queued() { [ -z "$(squeue -h 2>/dev/null)" ]; }

stop_cluster() {
	local pid
	[ ${#daemon[@]} -gt 0 ] || return
	scancel --quiet --user="$(id -un)"
	patience=10 eventually none_queued
	kill "${daemon[@]}"
	wait "${daemon[@]}"
	daemon=()
	for pid in $(members); do
		[ "$pid" = $$ ] || [ "$pid" = "$BASHPID" ] || kill -KILL "$pid"
	done
	! has_memory_cgroup || find "${nodes[@]/#//sys/fs/cgroup/memory/slurm_}" -depth -type d -exec rmdir {} +
} 2>/dev/null
