#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# -t openmp: the constructs of a program built by GCC (libgomp) and by clang (libomp) are recorded with their lines, as
# often as the program and an independent counter counted them; the program's result is unchanged.
. "$(dirname -- "$0")/lib.sh"

source=${tests_dir%/*}/targets/openmp_regions.c
rounds=6 threads=3
compilers=
for compiler in gcc clang; do
	command -v $compiler >/dev/null && $compiler -O1 -g -fopenmp -o "regions_$compiler" "$source" 2>err &&
		compilers="$compilers $compiler"
done
[ -n "$compilers" ] || skip_all 'no compiler with OpenMP'
"${compilers##* }" -shared -fPIC -o count.so "${source%regions.c}count.c" -ldl 2>err ||
	skip_all 'no compiler of shared objects'

line_of() { # TEXT: the number of the first line of the source with it.
	grep -n "$1" "$source" | head -1 | cut -d: -f1
}

# sum CAPTURE NAME [LINE]: how often, and for how long.
sum() {
	report stats -q -r openmp_sum -f csv "$1.pillion" | awk -F, -v name="$2" -v line="regions.c:${3-}" \
		'$9 == name && index($10, line) { count += $3; ns += $2 } END { print count + 0, ns + 0 }'
}

value_of() { # FILE NAME
	awk -v name="$2" '$1 == name { print $2 }' "$1"
}

equal() { # CAPTURE NAME LINE FILE NAME: the count is the one that the file has.
	is "$(sum "$1" "$2" "$3" | cut -d' ' -f1)" "$(value_of "$4" "$5")" "$1: $2 as often as $4 has $5"
}

for compiler in $compilers; do
	program=./regions_$compiler capture=$compiler
	"$program" "$rounds" "$threads" bare.txt >expected
	pillion -t openmp -o "$capture" "$program" "$rounds" "$threads" "$compiler.txt" >out 2>err
	is "$? $(cat out)" "3 $(cat expected)" "$compiler: status and output"
	equal "$capture" omp_parallel '' "$compiler.txt" regions
	equal "$capture" omp_part '' "$compiler.txt" parts
	equal "$capture" omp_critical "$(line_of 'omp critical')" "$compiler.txt" criticals
	equal "$capture" omp_barrier "$(line_of 'omp barrier')" "$compiler.txt" barriers
	equal "$capture" omp_loop '' "$compiler.txt" loops
	equal "$capture" omp_task '' "$compiler.txt" tasks
	line="regions.c:$(line_of 'reduction.*sum'))"
	like "$(report stats -q -r openmp_sum -f csv "$capture.pillion")" "omp_implicit_barrier,constructs.*$line" \
		"$compiler: the barrier at the end of a region has the region's line"
	pillion -t openmp -o "$capture.plain" -e OMP_NUM_THREADS=1 "$program" 1 1 plain.txt >out 2>err
	is "$? $(cut -d' ' -f1 < <(sum "$capture.plain" omp_parallel))" "3 $(value_of plain.txt regions)" \
		"$compiler: teams of one thread"
done

# ---- times, beside those of the program and of a counter ----

# Regions within others are in the times of the outer ones: only those that main's functions begin are compared.
outer() { # CAPTURE
	for pattern in 'num_threads(threads) reduction' 'num_threads(2)' 'num_threads(threads)$'; do
		sum "$1" omp_parallel "$(line_of "$pattern")"
	done | awk '{ n += $2 } END { print n }'
}

within() { # LEAST VALUE MOST
	[ "$1" -le "$2" ] && [ "$2" -le "$3" ]
}

for compiler in $compilers; do
	outer=$(outer "$compiler")
	least=$(value_of "$compiler.txt" inside_ns) most=$(value_of "$compiler.txt" outside_ns)
	ok "$compiler: the regions' time is between those of the program ($least $outer $most)" \
		within "$least" "$outer" "$most"
done
case $compilers in
*gcc*)
	export LD_PRELOAD=$work/count.so OPENMP_COUNTS=counted.txt
	pillion -t openmp -o counted ./regions_gcc "$rounds" "$threads" gcc.txt >out 2>err
	unset LD_PRELOAD OPENMP_COUNTS
	equal counted omp_parallel '' counted.txt regions
	equal counted omp_part '' counted.txt parts
	counted=$(value_of counted.txt region_ns) ours=$(sum counted omp_parallel '' | cut -d' ' -f2)
	ok "the counter's time of the regions is within ours ($counted $ours)" test "$counted" -le "$ours"
	;;
esac
case $compilers in
*clang*)
	export OMP_TOOL_LIBRARIES=$work/count.so OPENMP_COUNTS=bare_tool.txt
	./regions_clang "$rounds" "$threads" bare.txt >expected
	equal clang omp_parallel '' bare_tool.txt regions
	equal clang omp_part '' bare_tool.txt parts
	equal clang omp_task '' bare_tool.txt tasks
	OPENMP_COUNTS=tool.txt pillion -t openmp -o tool ./regions_clang "$rounds" "$threads" clang.txt >out 2>err
	unset OMP_TOOL_LIBRARIES OPENMP_COUNTS
	grep -v _ns bare_tool.txt >>expected
	is "$(cat out; grep -v _ns tool.txt)" "$(cat expected)" 'a tool of the program remains in use'
	;;
esac

# ---- imbalance ----

imbalance=${source%regions.c}imbalance.c
export OMP_WAIT_POLICY=passive # what spins would take the CPUs of what works
for compiler in $compilers; do
	$compiler -O1 -g -fopenmp -o "imbalance_$compiler" "$imbalance"
	while read -r kind text; do
		pillion -t openmp -s none -o "$compiler.$kind" "./imbalance_$compiler" "$kind" >out 2>err
		is "$? $(cat out)" "0 $kind" "$compiler: $kind: status and output"
		report analyze -q -r openmp_imbalance -f csv "$compiler.$kind.pillion" >found.csv 2>err
		if [ "$kind" = even ]; then
			like "$(sed -n 2p found.csv)" '^openmp_imbalance,(clean|could not check: threads waited)' \
				"$compiler: no imbalance in an even program"
			continue
		fi
		line=$(grep -n "$text" "$imbalance" | head -1 | cut -d: -f1)
		like "$(report stats -q -r openmp_wait_sum -f csv "$compiler.$kind.pillion")" "imbalance.c:$line\\)" \
			"$compiler: $kind: threads wait at the line"
		if grep -q 'could not check: threads waited' found.csv; then
			skip "$compiler: $kind: the imbalance is found" 'threads waited for CPUs'
			continue
		fi
		like "$(sed -n 2p found.csv)" "^openmp_imbalance,found,.*imbalance.c:$line\\),.*[0-9]" \
			"$compiler: $kind: the imbalance is found at its line, with the late thread"
	done <<-END
		region omp parallel
		barrier omp barrier
		even -
	END
done
unset OMP_WAIT_POLICY

# ---- other objects ----

env LD_PRELOAD="$library" PILLION_OUTPUT="$work/other.pillion" PILLION_TRACE=openmp "./regions_${compilers##* }" \
	1 2 other.txt >out
is "$?" 3 'libpillion.so alone: status'
like "$(report info other.pillion)" 'no OpenMP: -t openmp requires libpillion-openmp.so' \
	'libpillion.so alone: the ledger says what is missing'
pillion -t openmp --memory=native -o memory "./regions_${compilers##* }" 1 2 memory.txt >out 2>err
equal memory omp_parallel '' memory.txt regions
pillion -t osrt --memory=native -o without "./regions_${compilers##* }" 1 2 without.txt >out 2>err
is "$? $(sum without omp_parallel 2>/dev/null)" '3 0 0' 'with --memory alone no construct is recorded'
done_testing
