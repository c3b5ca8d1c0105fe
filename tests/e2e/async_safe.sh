#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Functions that a signal handler or a forked child may call take no lock of the loader, of malloc or of stdio, whatever
# is recorded. SAFE_ROUNDS (1) multiplies the signals and forks; scripts/test-nightly sets
# it.
. "$(dirname -- "$0")/lib.sh"

program=$targets/async_safe
rounds=${SAFE_ROUNDS:-1}
ranges=(--pytorch=autograd-nvtx --jax=true --python-calls=all --python-import-time=true --memory=all
	--memory-sampling=0)

# Where _dl_find_object is missing, stacks and annotations search the loader's list.
has_dl_find_object() {
	nm -D --defined-only "$(ldd "$program" | awk '$1 == "libc.so.6" { print $3 }')" | grep -q ' _dl_find_object@'
}

# runs TEXT OPTION... -- ARG...: async_safe ends as without pillion.
runs() {
	local text=$1 options=()
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	rm -rf safe.pillion
	pillion -o safe "${options[@]}" "$program" "$@" >out 2>err
	is "$? $(cat out err | grep -v "^$capture_line ")" '0 done' "$text: $*"
}

everywhere() { # TEXT OPTION...
	if has_dl_find_object; then
		runs "$@" -- held
	else
		skip "$1: held" 'glibc before 2.35'
	fi
	runs "$@" -- handler 1000 $((300 * rounds))
	runs "$@" -- handler 10000 $((1000 * rounds))
	runs "$@" -- alone 1000 $((500 * rounds))
	runs "$@" -- forks $((20 * rounds))
}

everywhere 'by default'
everywhere 'all calls with their stacks' --osrt-threshold=0 --osrt-backtrace-threshold=0
everywhere 'ranges, allocations, Python' "${ranges[@]}"
everywhere 'all of it and samples' "${ranges[@]}" -s cpu --sampling-frequency=1000 --osrt-threshold=0 \
	--osrt-backtrace-threshold=0
done_testing
