#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# stats --partial: processes that each read a part of the trace files print together the tables of one process. Under
# mpirun and srun, stats behaves as without.
set -u
. "$(dirname "$0")/lib.sh"

writer=$PILLION_BUILD_DIR/tests/trace-writer
parts=$tests_dir/../../report/recipes/parts.py
reports=osrt_sum,nvtx_sum,cuda_api_sum,cuda_gpu_kern_sum,cuda_gpu_mem_size_sum,mpi_sum,mpi_peer_sum,stacks_sum,time_sum
export PILLION_REPORT=$PILLION_BUILD_DIR/report/pillion-report

"$writer" large large.pillion 300000 2 9
"$writer" example example.pillion
"$writer" mpi mpi.pillion 3000
"$writer" launches launches.pillion 3000
"$writer" ranks ranks.pillion 30 4 100
for capture in large example mpi launches ranks; do
	for options in '' "-r $reports -f json" '-r osrt_sum,mpi_sum --by process' '-f column --filter-time=1ms/'; do
		# shellcheck disable=SC2086
		report stats -f csv $options "$capture.pillion" >one 2>one.err
		wanted=$?
		# shellcheck disable=SC2086
		python3 "$parts" 3 -f csv $options "$capture.pillion" >several 2>several.err
		is "$?" "$wanted" "$capture $options: status"
		ok "$capture $options: the tables of one process" cmp one several
		ok "$capture $options: its messages" cmp one.err several.err
	done
done
report pack -q large.pillion
report stats -r osrt_sum -f json large.pillpack >one
python3 "$parts" 4 -r osrt_sum -f json large.pillpack >several
ok 'a packed capture' cmp one several
python3 "$parts" 1 -r osrt_sum -f json large.pillpack >several
ok 'one part' cmp one several

# A part whose input ends, because another one is gone, ends too and prints nothing.
for part in 0/2 1/2; do
	report stats --partial="$part" -r osrt_sum large.pillion </dev/null >out 2>err
	is "$?" 2 "part $part without the other: status"
	is "$(tr -d '\0\1\2' <out | grep -c nanosleep)" 0 "part $part without the other: no table"
	is "$(cat err)" 'pillion stats: --partial: another part has ended' "part $part without the other: it says so"
done
cat >lost.py <<-'END'
	import sys
	sys.path.insert(0, sys.argv[1])
	from parts import CaptureError, Part, run_parts
	parts = [Part(i, 3, ["-r", "osrt_sum", "large.pillion"]) for i in range(3)]
	parts[2].process.kill()
	try:
	    run_parts(parts)
	except CaptureError as error:
	    print(error)
END
is "$(python3 lost.py "$(dirname "$parts")")" 'part 2 of 3: it ended with status -9' 'a part is killed: the message'
report stats --partial=2/2 -r osrt_sum large.pillion >out 2>err
is "$? $(cat out)" '2 ' 'a part that does not exist: status'
like "$(cat err)" "--partial takes the number of a part from 0, and of all parts, such as 0/4, not '2/2'" \
	'a part that does not exist: the message'
report stats --partial=0/2 --summary large.pillion </dev/null >out 2>err
is "$? $(cat err)" '2 pillion stats: --partial is for tables of captures' 'a summary has no parts'

report stats -r osrt_sum -f csv large.pillion >one
for rank in 0 1; do
	PMIX_NAMESPACE=test.$$ OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=$rank \
		"$PILLION_REPORT" stats -r osrt_sum -f csv large.pillion >"out.$rank" 2>"err.$rank"
	is "$? $(cat "err.$rank")" '0 ' "rank $rank of mpirun: status"
	ok "rank $rank of mpirun: it prints everything" cmp one "out.$rank"
done
done_testing
