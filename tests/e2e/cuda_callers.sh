#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each caller of CUDA gets the same runtime as without pillion: two runtimes in one process, runtimes that are unloaded
# and loaded again, or no runtime.
set -u
. "$(dirname "$0")/lib.sh"

[ -x "$targets/cuda_two" ] || skip_all 'built without CUDA headers'
a=$targets/cuda_plugin12.so
b=$targets/cuda_plugin13.so

both() { # NAME PLUGIN...
	local name=$1
	shift
	"$targets/cuda_two" 100 "$@" >wanted
	pillion -o "$name" "$targets/cuda_two" 100 "$@" >out
	is "$(cat out)" "$(cat wanted)" "$name: each plugin calls its own runtime"
	is "$(report stats -q -r cuda_api_sum -f csv "$name.pillion" | awk -F, '$9 == "cudaMalloc" { print $3 }')" \
		$((102 * $#)) "$name: all calls recorded"
}
both two "$a" "$b"
both opposite "$b" "$a"

# The same file name with another runtime, as when a plugin is replaced: addresses are reused.
cp "$a" plugin.so
cp "$b" other.so
export LD_LIBRARY_PATH=$targets
both copies "$work/plugin.so" "$work/other.so"

"$targets/cuda_weak" >wanted
is "$(cat wanted)" '-1 -1 -1 -1 1 1 42' 'no CUDA: weak references are null without pillion'
pillion -o weak "$targets/cuda_weak" >out 2>err
is "$? $(cat out)" '0 100 100 100 100 1 1 42' 'with pillion each call returns "no device" and changes nothing'
is "$(grep -v '^pillion: ' err | head -n 1)" '' 'no CUDA: nothing is printed'
pillion -o weak_range -c cudaProfilerApi "$targets/cuda_weak" >out 2>err
like "$(report info weak_range.pillion 2>&1)" 'cuda_weak' 'cudaProfilerStart moves the range without CUDA too'

# Every exported name exists in some CUDA runtime, so that look-ups find the same names as without pillion.
real=$(ls "${CUDA_HOME:-/usr/local/cuda}"/lib64/libcudart.so.13 2>/dev/null)
if [ -n "$real" ]; then
	nm -D --defined-only "$real" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort -u >theirs
	nm -D --defined-only "$library" | awk '{ sub(/@.*/, "", $3); print $3 }' | grep '^_*cuda' | sort -u >ours
	# Only in CUDA 12, or only since 13.2.
	is "$(comm -13 theirs ours | grep -v -e '_v2$' -e '_v2_ptsz$' -e cudaLaunchCooperativeKernelMultiDevice \
		-e cudaThreadSynchronize -e '^cudaExecutionCtxSynchronize$' -e 'WithAttributesAsync$' \
		-e 'WithAttributesAsync_ptsz$')" '' \
		'every exported name exists in a CUDA runtime'
else
	skip 'names of the real runtime' 'no CUDA toolkit here'
fi
done_testing
