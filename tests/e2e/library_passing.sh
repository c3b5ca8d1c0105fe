#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The entry of the library wrappers, recorded and not, for first and later calls, by name and by a looked-up pointer:
# arguments and results of every kind, exceptions, longjmp, cancellation, stack walks and errno.
set -u
. "$(dirname "$0")/lib.sh"

program=$targets/library_passing
passing=$targets/libpassing.so
groups=cublas,cudnn,cusparse

calls() { # CAPTURE: "count name" of each function
	for r in blas_sum cudnn_sum cusparse_sum; do
		report stats -q -r $r -f csv "$1"
	done | awk -F, '$3 ~ /^[0-9]+$/ { count[$9] += $3 } END { for (name in count) print count[name], name }' |
		sort | tr '\n' ' '
}

check() { # WAY CALLS: the results are unchanged, and CALLS are recorded
	"$program" "$1" 3 >wanted 2>&1
	is "$? $(grep -c . wanted | sed 's/^[1-9].*/some/')" '0 some' "$1: results without pillion"
	for library in '' "$passing"; do
		for trace in $groups osrt; do
			pillion -f true -o passing -t "$trace" "$program" "$1" 3 ${library:+"$library"} >out 2>err
			status=$?
			how="$1, -t $trace${library:+, looked up}"
			is "$status $(cat out)" "0 $(cat wanted)" "$how: the results are unchanged"
			is "$(grep -v '^pillion: ' err)" '' "$how: nothing is printed"
			[ "$trace" = osrt ] ||
				is "$(calls passing.pillion)" "$2" "$how: calls that returned are recorded"
		done
	done
}

check results '3 cublasCgemm 3 cublasDgemm 3 cublasHgemm 3 cublasSgemm 3 cublasSrot 3 cudnnNormalizationBackward '
check throw ''
check jump ''
check cancel ''
check trace '3 cusparseSpMM '
like "$(cat wanted)" ' whole$' 'a walk from the real function finds all callers'
unlike "$(cat wanted)" ' cut$' 'no walk is truncated'
check nested '3 cusparseSpMM 9 cublasSgemm '
check errno '3 cusparseSpMM '

if has_unwinder; then
	pillion -f true -o stacks -t cusparse --cudabacktrace=all:0 "$program" trace 2 >out 2>err
	report stats -q -r stacks_sum -f csv stacks.pillion >stacks
	is "$(awk -F, '$9 ~ /cusparseSpMM/ { n += $3 } END { print n + 0 }' stacks)" 2 \
		'every recorded call has its stack'
	like "$(cat stacks)" 'cusparseSpMM,"call_back.* <- trace.* <- main ' 'a stack begins at the caller'
	pillion -f true -o samples -t none -s cpu "$program" burn 1 >out 2>err
	if ! report info samples.pillion | grep -q 'CPU samples: '; then
		whole=';main .*;call_back.*;cusparseSpMM .*;use_cpu'
		like "$(report export -t folded --metric cpu -o - samples.pillion)" "$whole" \
			'samples in a function behind a wrapper that does not record'
		pillion -f true -o samples -t cusparse -s cpu "$program" burn 1 >out 2>err
		like "$(report export -t folded --metric cpu -o - samples.pillion)" "$whole" \
			'samples in a function behind a wrapper that records'
	else
		skip 'samples behind a wrapper' 'no CPU samples here'
	fi
else
	skip 'stacks of library calls' 'built without an unwinder'
fi
done_testing
