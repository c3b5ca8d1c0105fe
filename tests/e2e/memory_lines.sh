#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --memory: a planted leak is named by its line with its size, for malloc and for Python's objects; what is freed is
# not; the program notices nothing; without the option it calls libc's malloc. Against memory_profiler on one script.
set -u
. "$(dirname "$0")/lib.sh"

has_unwinder || skip_all 'built without the unwinder'
python3=$("${PYTHON:-python3}" -c 'import sys; print(sys.executable)') || skip_all 'no python3'
sources=$(CDPATH='' cd -P -- "$tests_dir/../targets" && pwd)
memory=${library%/*}/libpillion-memory.so

# planted FILE WHAT: FILE:LINE of the line with that mark.
planted() {
	printf '%s:%s' "$1" "$(grep -n "PLANTED $2\\b" "$sources/${1##*/}" | cut -d: -f1)"
}

# cell NAME REPORT FILE WHAT TITLE: the sum of a column over the rows of the planted line, in bytes where it is in MB.
cell() {
	report stats -q -r "$2" -f json "$1.pillion" 2>/dev/null | "$python3" -c 'import json, sys
line, title = sys.argv[1].rsplit("/", 1)[1], sys.argv[2]
unit = 1e6 if title.endswith("(MB)") else 1
print(round(unit * sum(row[title] or 0 for row in json.load(sys.stdin) if row["Line"].endswith(line))))' \
		"$(planted "$3" "$4")" "$5"
}

near() { # GOT WANTED PERCENT TEXT
	local got=${1:-0} most=$(($2 * $3 / 100))
	! inverted || got=-1
	if [ $((got - $2)) -le $most ] && [ $(($2 - got)) -le $most ]; then
		pass "$4"
	else
		fail "$4" "got: $1" "wanted: $2, within $3 %"
	fi
}

# ---- malloc ----
leak=$sources/memory_leak.c
"$targets/memory_leak" >out
[ $? -ne 77 ] || skip_all "built without NVTX's headers"
is "$(cat out)" 'done' 'the program runs by itself'
pillion -f -o native --memory=native --memory-sampling=4096 "$targets/memory_leak" >out 2>err
is "$? $(cat out) $(grep -v '^pillion: capture' err)" '0 done ' 'malloc: status and output'
is "$(cell native mem_leaks "$leak" kept 'Growth (MB)')" 5000000 'malloc: the line that keeps a block in each step'
is "$(cell native mem_leaks "$leak" kept Steps) $(cell native mem_leaks "$leak" kept 'Per Step (MB)')" '10 500000' \
	'malloc: the steps are the ranges'
is "$(report stats -q -r mem_leaks -f csv native.pillion | grep -c memory_leak.c)" 1 'malloc: no other line grows'
is "$(cell native mem_alloc_sum "$leak" kept 'Not Freed (MB)')" 0 'malloc: it is freed at the end'
is "$(cell native mem_alloc_sum "$leak" cleared 'Allocated (MB)')" 15000000 'calloc: exact, because it is large'
near "$(cell native mem_alloc_sum "$leak" small 'Allocated (MB)')" 20000000 5 'malloc: small ones are estimated'
near "$(cell native mem_alloc_sum "$leak" small Allocations)" 200000 5 'malloc: and their number'
is "$(cell native lines "$leak" kept 'Host Growth (MB)') $(cell native lines "$leak" kept 'Host Allocated (MB)')" \
	'5000000 5000000' 'lines has the columns'
like "$(report analyze -r memory_leak native.pillion)" 'grows steadily by 5.0 MB over 10 ranges "step"' 'memory_leak'
like "$(report analyze -r memory_leak native.pillion)" "memory_leak +found .*/$(planted memory_leak.c kept)" \
	'and its line'
pillion -f -o all --memory=native --memory-sampling=0 "$targets/memory_leak" >out 2>err
is "$? $(cat out)" '0 done' 'malloc: all of them: status and output'
is "$(cell all mem_alloc_sum "$leak" small Allocations) $(cell all mem_alloc_sum "$leak" small 'Allocated (MB)')" \
	'200000 20000000' 'malloc: all of them are recorded'
LD_PRELOAD=$(preloadable "$targets/memory_allocator.so") pillion -f -o allocator --memory=native \
	"$targets/memory_leak" >out 2>err
is "$? $(cat out) $(cell allocator mem_leaks "$leak" kept 'Growth (MB)')" '0 done 5000000' \
	"the malloc of another library is used"
like "$(report info allocator.pillion)" "has C..'s operator new, too, whose calls are not recorded" \
	'and its operator new is stated'

# ---- without the option ----
pillion -f -o none "$targets/memory_leak" >out 2>err
is "$(report stats -r mem_alloc_sum none.pillion 2>&1 >out)" \
	'pillion stats: mem_alloc_sum: no allocations were recorded: record with --memory=all, python or native
pillion stats: mem_alloc_sum: no rows' 'without --memory, the report says so'
is "$(nm -D --defined-only "$library" | grep -cE ' (malloc|free)$')" 0 'libpillion.so has no malloc'
is "$(comm -13 <(nm -D --defined-only "${library%.so}-openmp.so" | awk '{ print $3 }' | sort) \
	<(nm -D --defined-only "$memory" | awk '{ print $3 }' | sort) | grep -v '^_ZN3c10' | tr '\n' ' ')" \
	'aligned_alloc calloc free malloc memalign posix_memalign pvalloc realloc valloc ' \
	'libpillion-memory.so exports malloc and its relatives beside what libpillion-openmp.so does'
is "$(nm -D --defined-only "$memory" | awk '{ print $3 }' | grep '^_ZN3c10' | c++filt | tr '\n' ';')" \
	'c10::ProfiledCPUMemoryReporter::New(void*, unsigned long);c10::ProfiledCPUMemoryReporter::Delete(void*);'\
'c10::reportMemoryUsageToProfiler(void*, long, unsigned long, unsigned long, c10::Device);' \
	'and where the allocators of PyTorch report'
# shellcheck disable=SC2016 # the inner shell expands them
is "$(pillion -f -o outer --memory=native sh -c 'echo "${LD_PRELOAD##*/}"; exec "$0" -f -o inner \
	--memory=none sh -c "echo \${LD_PRELOAD##*/}"' "$PILLION" 2>err | tr '\n' ' ')" \
	'libpillion-memory.so libpillion.so ' \
	'an inner run without native allocations replaces the library'
PILLION_OUTPUT=bare.pillion PILLION_MEMORY=native LD_PRELOAD=$library "$targets/memory_leak" >out 2>err
like "$(report info bare.pillion)" 'no native allocations: --memory requires libpillion-memory.so' \
	'the wrong library is stated'

# ---- Python ----
job=$sources/memory_job.py
pillion -f -o python --memory=all --memory-sampling=8192 "$python3" "$job" >out 2>err
is "$? $(cat out) $(grep -v '^pillion: capture' err)" '0 done 240 ' 'Python: status and output'
near "$(cell python mem_alloc_sum "$job" block 'Growth (MB)')" 120000000 1 'Python: the size of the blocks'
is "$(cell python mem_leaks "$job" temporary 'Growth (MB)')" 0 'Python: what is freed does not grow'
like "$(report analyze -r memory_leak python.pillion)" "memory_leak +found .*/$(planted memory_job.py block)" \
	'Python: memory_leak names the line'
report export -t chrome -f true -o python.json python.pillion
like "$(cat python.json)" '"recorded allocations in use","pid":' 'a counter of what is in use'
pillion -f -o slow --memory=python "$python3" "$job" sampled >out 2>err
is "$? $(cat out)" '0 sampled' 'Python waits for samples'
like "$(report stats -q -r mem_usage_sum -f csv slow.pillion)" "^[0-9]+,[^,]+,[0-9]+,.*,python" \
	'the resident memory is sampled'
like "$(report stats -q -r mem_usage_trace -f csv slow.pillion)" ',(5|6|7|8)[0-9]\.[0-9]+,python' 'and its course'
report export -t chrome -f true -o slow.json slow.pillion
like "$(cat slow.json)" '"resident memory","pid":' 'a counter of resident memory'
pillion -f -o objects --memory=python --memory-sampling=8192 "$python3" "$job" >out 2>err
is "$? $(cat out)" '0 done 240' 'Python alone: status and output'
near "$(cell objects mem_alloc_sum "$job" block 'Growth (MB)')" 120000000 1 'Python alone: the same size'

# ---- memory_profiler ----
if from_pypi MEMORY_PROFILER_PYTHON memory_profiler memory_profiler; then
	"$python" -m memory_profiler "$job" >profiled 2>err
	for what in block small; do
		wanted=$(awk -v line="$(planted "$job" $what | sed 's/.*://')" \
			'$1 == line { printf "%d", $4 * 1048576 }' profiled)
		near "$(cell python mem_alloc_sum "$job" $what 'Growth (MB)')" "${wanted:-0}" 5 \
			"the growth of line \"$what\" is that of memory_profiler"
	done
else
	skip 'memory_profiler' "$why"
fi
done_testing
