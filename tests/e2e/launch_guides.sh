#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Command lines that public guides print for Nsight Systems and nvprof run as printed: output and status are those of
# COMMAND, there is a capture, and what pillion does not do of the line is in the ledger.
set -u
. "$(dirname "$0")/lib.sh"

lines=$tests_dir/../data/nsys_lines.txt
mkdir -p bin logs benchmarks fortran/build target/profiling reports nsys_reports profile profile_log
cat >bin/program <<'END'
#!/bin/sh
echo "ran ${0##*/} $*"
exit 3
END
chmod +x bin/program
for name in python python3 vllm torchrun mpirun cargo; do
	ln -s program bin/$name
done
for path in benchmarks/gptManagerBenchmark fortran/build/openacc cuda_concurrent myapp 6_mpi hw1 hw2 icon pinned5e.out \
	add_parallel app my_app matrixMul; do
	ln -s "$work/bin/program" $path
done
PATH=$work/bin:$PATH
export OMPI_COMM_WORLD_LOCAL_RANK=0 SLURM_JOBID=77 SLURM_PROCID=0 PMI_RANK=0

while read -r source; do
	case $source in '' | '#'*) continue ;; esac
	read -r missing
	line=
	while read -r words && [ -n "$words" ]; do
		line+=$words$'\n'
	done
	find . -name '*.pillion' -prune -exec rm -rf {} +
	words=${line#nsys }
	words=${words#nvprof }
	export OMPI_COMM_WORLD_RANK=0
	eval "pillion $words" >out 2>err
	is "$? $(cut -d' ' -f1 out)" '3 ran' "$source: ${line//$'\n'/}"
	capture=$(find . -name '*.pillion' | head -1)
	ledger=$(report stats -q -r ledger -f csv "$capture")
	unsaid=
	for word in $([ "$missing" = - ] || echo "${missing//,/ }"); do
		grep -Eq -- "$word(=[^ ]*)? (is ignored|is not recorded|needs)" <<<"$ledger" || unsaid+=" $word"
	done
	is "$unsaid" '' "what is not done is in the ledger: $missing"
	[ "$missing" = - ] || continue
	is "$(grep -c 'is ignored\|is not recorded by pillion' <<<"$ledger")" 0 'nothing else is said to be missing'
done <"$lines"

find . -name '*.pillion' -prune -exec rm -rf {} +
pillion -o exported --export=sqlite,parquetdir --export=arrow sh -c 'exit 0' 2>err
is "$(ls -d exported*)" 'exported.pillion
exported.sqlite
exported_arwdir
exported_pqtdir' '--export writes the exports next to the capture'
like "$(cat err)" 'exported to .*/exported.sqlite' 'and says where'
pillion -o exported2 --export=sqlite sh -c 'rm -rf exported2.sqlite; mkdir exported2.sqlite' 2>err
is $? 0 'an export that cannot be written leaves the status of COMMAND'
like "$(cat err)" 'exported2.sqlite' 'and is an error message'

pillion -o named.nsys-rep sh -c 'exit 0' 2>err
ok 'the name of the file that nsys would have written finds the capture' report info -q named.nsys-rep
ok 'as it does if -o had no .nsys-rep' report info -q exported.nsys-rep
report info -q absent.nsys-rep 2>err
is "$? $(cat err)" '2 pillion info: absent.nsys-rep: No such file or directory' 'a name without a capture is an error'
done_testing
