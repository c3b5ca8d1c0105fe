#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# mpirun and srun divide the files of a capture among the ranks: the tables are those of one process.
set -u
. "$(dirname "$0")/lib.sh"

writer=$PILLION_BUILD_DIR/tests/trace-writer
reports=osrt_sum,nvtx_sum,cuda_api_sum,cuda_gpu_kern_sum,cuda_gpu_mem_size_sum,mpi_sum,mpi_peer_sum,stacks_sum,time_sum
export PILLION_RANKS_TIMEOUT=200 # a loaded machine may take long to start all ranks

# divided RANKS ARGUMENT...: the output of all ranks, in files out.RANK and err.RANK; status of the first.
divided() {
	local count=$1 pids=() i status=0
	shift
	rm -f out.* err.*
	for ((i = count - 1; i >= 0; i--)); do
		PMIX_NAMESPACE=test.$$ OMPI_COMM_WORLD_SIZE=$count OMPI_COMM_WORLD_RANK=$i \
			"$PILLION_BUILD_DIR/report/pillion-report" "$@" >"out.$i" 2>"err.$i" &
		pids[i]=$!
	done
	for ((i = count - 1; i >= 0; i--)); do
		wait "${pids[i]}"
		status=$?
	done
	return "$status"
}

"$writer" large large.pillion 300000 2 9
"$writer" example example.pillion
"$writer" mpi mpi.pillion 3000
"$writer" launches launches.pillion 3000
for capture in large example mpi launches; do
	for options in '' "-r $reports" '-r osrt_sum,mpi_sum --by process' '-r cuda_gpu_kern_sum --by device'; do
		# shellcheck disable=SC2086
		report stats $options -f csv "$capture.pillion" >one 2>one.err
		wanted=$?
		# shellcheck disable=SC2086
		divided 3 stats $options -f csv "$capture.pillion"
		is "$?" "$wanted" "$capture $options: status"
		ok "$capture $options: the tables of one process" cmp one out.0
		ok "$capture $options: its messages" cmp one.err err.0
		is "$(cat out.1 out.2 err.1 err.2)" '' "$capture $options: the others print nothing"
	done
done
is "$(find . -name '.ranks*')" '' 'no file remains'
report pack -q large.pillion
report stats -r osrt_sum -f json large.pillpack >one
divided 2 stats -r osrt_sum -f json -o table.json large.pillpack
ok 'a packed capture, into a file' cmp one table.json

# The first rank is killed while it waits for a reader of its output: the others end, and remove the files.
mkfifo held
export OMPI_COMM_WORLD_SIZE=3 PMIX_NAMESPACE=killed.$$
pids=()
for i in 0 1 2; do
	OMPI_COMM_WORLD_RANK=$i "$PILLION_BUILD_DIR/report/pillion-report" stats -r osrt_sum -o held large.pillion \
		>"out.$i" 2>"err.$i" &
	pids[i]=$!
done
have_met() {
	grep -qs '^[.]$' large.pillion/.ranks*/members
}
eventually have_met
kill -KILL "${pids[0]}"
wait "${pids[0]}"
for i in 1 2; do
	wait "${pids[i]}"
	is "$?" 2 "the first rank was killed: status of $i"
done
like "$(cat err.1 err.2)" '^pillion stats: rank 0 \(PID [0-9]+ on .*\) has ended before its part was read$' \
	'another one says so'
is "$(find . -name '.ranks*')" '' 'no file remains'
unset OMPI_COMM_WORLD_SIZE

PILLION_RANKS_TIMEOUT=1 divided 1 stats -r osrt_sum -f csv large.pillion
report stats -r osrt_sum -f csv large.pillion >one
ok 'one rank is alone' cmp one out.0
export OMPI_COMM_WORLD_SIZE=3 PMIX_NAMESPACE=alone.$$ PILLION_RANKS_TIMEOUT=1
OMPI_COMM_WORLD_RANK=0 report stats -r osrt_sum -f csv large.pillion >two 2>err
is "$?" 0 'the others never come: status'
ok 'the others never come: the first one reads everything' cmp one two
like "$(cat err)" '^pillion stats: 1 of 3 ranks came within 1 s: this process reads everything$' 'it says so'
OMPI_COMM_WORLD_RANK=2 report stats -r osrt_sum -f csv large.pillion >two 2>err
ok 'the first one never comes: the third one reads everything' cmp one two
unset OMPI_COMM_WORLD_SIZE

is "$(find . -name '.ranks*')" '' 'no file remains'
done_testing
