#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --ld-audit: a library opened with RTLD_DEEPBIND resolves symbols in its own dependencies before ours; an auditor of
# the loader binds it to our wrappers nevertheless. Each of its calls is recorded once and reaches the same function as
# without pillion.
set -u
. "$(dirname "$0")/lib.sh"

on_doubles
export PILLION_GPU_ACTIVITY=none # host calls only
program=$targets/cuda_lookups
plugin=$targets/cuda_launches_plugin
auditor=${library%/*}/libpillion-audit.so
"$program" plugin "$targets/deep_plugin.so" 1 deep >out 2>err || skip_all "$(cat err)"
pillion --ld-audit -o probe "$program" plugin "$plugin.so" 1 deep >/dev/null 2>&1
! report info probe.pillion | grep -q 'ld-audit had no effect' || skip_all 'this loader is older than glibc 2.35'

seen() { # NAME ACCOUNT-OPTIONS PROGRAM ARGUMENT...: runs it with and without pillion; the account is in log
	local name=$1 options=$2 plain
	shift 2
	rm -rf log "$name.pillion"
	"$@" >wanted 2>wanted_err
	plain=$?
	PILLION_SIMGPU_LOG=log pillion --ld-audit -o "$name" "$@" >out 2>err
	is "$? $(cat out)" "$plain $(cat wanted)" "$name: status and output"
	is "$(grep -v '^pillion: ' err)" "$(cat wanted_err)" "$name: its stderr"
	report stats -q -r cuda_api_sum -f csv "$name.pillion" >api.csv
	report stats -q -r cuda_launch_sum -f csv "$name.pillion" >launch.csv
	report stats -q -r cuda_gpu_mem_size_sum -f csv "$name.pillion" >memory.csv
	# shellcheck disable=SC2086
	ok "$name: each operation is recorded once" account_says cuda_account.py log exported api.csv launch.csv \
		memory.csv $options
	unlike "$(report info "$name.pillion" 2>&1)" 'cannot be seen|has bound them directly|had no effect' \
		"$name: no calls are reported as missing"
}

# ---- a library's own runtime ----

for mode in deep deeplazy; do
	pillion -o without "$program" plugin "$plugin.so" 2 $mode >/dev/null
	is "$(report stats -q -r cuda_api_sum -f csv without.pillion 2>/dev/null | grep -c ',cuda[A-Z]')" 0 \
		"$mode: not seen without an auditor"
	rm -rf without.pillion
	seen $mode --captured "$program" plugin "$plugin.so" 2 $mode
	is "$(grep -c ',cu[A-Z]' api.csv)" 0 "$mode: one layer"
	like "$(cat launch.csv)" 'add\(float\*, int\)' "$mode: kernels have their names"
	seen static_$mode '--work --captured' "$program" plugin "${plugin}_static.so" 2 $mode
	is "$(grep -c ',cuda[A-Z]' api.csv)" 0 "$mode: a static runtime is recorded by its driver calls"
	seen two_$mode '--captured --captured' "$program" plugins_$mode 2 "$plugin.so" "${plugin}12.so"
done
LD_BIND_NOW=1 seen now --captured "$program" plugin "$plugin.so" 2 deeplazy
seen shallow --captured "$program" plugin "$plugin.so" 2
seen linked --captured "$doubles/cuda_launches" 2
seen driver --driver "$targets/cuda_driver" proc 3
like "$(report info deep.pillion 2>&1)" 'ld-audit +true|ld-audit=true' 'info shows the mode'

# Auditors do not see calls through a table that the loader fills eagerly: the ledger still names the library.
pillion --ld-audit -o table "$program" plugin "${plugin}_noplt.so" 2 deep >out
is "$? $(cat out)" "0 $("$program" plugin "${plugin}_noplt.so" 2 deep)" '-fno-plt: status and output'
like "$(report info table.pillion 2>&1)" \
	"are not recorded: the loader has bound them directly .* in ${plugin}_noplt.so" \
	'-fno-plt: the ledger names the library'

# ---- two runtimes, also where the return address does not identify the caller ----

a=$targets/cuda_plugin12.so
b=$targets/cuda_plugin13.so
for second in "$b" "$a"; do
	first=$([ "$second" = "$a" ] && echo "$b" || echo "$a")
	"$targets/cuda_two" deep 100 "$first" "$second" >wanted
	rm -rf each.pillion
	pillion --ld-audit -o each "$targets/cuda_two" deep 100 "$first" "$second" >out
	is "$(cat out)" "$(cat wanted)" 'two runtimes: each library calls its own'
	is "$(report stats -q -r cuda_api_sum -f csv each.pillion | awk -F, '$9 == "cudaMalloc" { print $3 }')" 210 \
		'two runtimes: all calls are recorded'
done

# ---- other traced libraries, and other namespaces ----

addresses='s/0x[0-9a-f]*/ADDRESS/g'
blas() { # NAME: recorded products and collectives
	for r in blas_sum nccl_sum; do
		report stats -q -r $r -f csv "$1.pillion"
	done | awk -F, '$3 ~ /^[0-9]+$/ { print $9, $3 }' | sort
}
pillion -t cublas,nccl -o plainly "$targets/library_local" "$targets/library_plugin.so" 3 >/dev/null 2>&1
pillion --ld-audit -t cublas,nccl -o deeply "$targets/library_local" \
	"$targets/library_plugin.so" 3 deep >out 2>/dev/null
is "$(sed "$addresses" out)" "$("$targets/library_local" "$targets/library_plugin.so" 3 deep | sed "$addresses")" \
	'cuBLAS, NCCL: every argument is the same as without pillion'
like "$(blas plainly)" 'cublasSgemm [1-9]' 'cuBLAS, NCCL: calls are recorded'
is "$(blas deeply)" "$(blas plainly)" 'cuBLAS, NCCL: each call is recorded once, as without RTLD_DEEPBIND'

"$program" plugin "$plugin.so" 2 space >wanted 2>wanted_err
pillion --ld-audit -o space "$program" plugin "$plugin.so" 2 space >out 2>err
is "$? $(cat out)$(grep -v '^pillion: ' err)" "0 $(cat wanted)$(cat wanted_err)" \
	'a separate namespace is not audited: status and output'

# ---- libc's functions, and private functions with the same names ----

"$program" plugin "$targets/deep_plugin.so" 20 deep >wanted
pillion -o past "$program" plugin "$targets/deep_plugin.so" 20 deep >out
is "$(num_calls past usleep)" '' "a library's libc calls are not recorded without an auditor"
pillion --ld-audit -o calls "$program" plugin "$targets/deep_plugin.so" 20 deep >out
is "$? $(cat out)" "0 $(cat wanted)" \
	'with an auditor: status and output; a private function of that name is called'
is "$(num_calls calls usleep) $(num_calls calls killpg)" '20 ' 'its libc calls are recorded once'
is "$(report stats -q -r processes -f csv calls.pillion | grep -c 'sh -c')" 1 'the child of the library is recorded'

# ---- other auditors, children ----

is "$(LD_AUDIT=/none.so pillion --ld-audit -o e sh -c 'echo "$LD_AUDIT"' 2>/dev/null)" "$auditor:/none.so" \
	"a user's LD_AUDIT comes after ours"
is "$(LD_AUDIT=$auditor pillion -o e2 sh -c 'echo "${LD_AUDIT-none}"' 2>/dev/null)" none \
	'without --ld-audit an inherited auditor of ours is removed'
for list in '' ':/none.so::' '/none.so:./none.so:/none.so'; do
	is "$(LD_AUDIT=$list pillion -f -o e2 env 2>/dev/null | grep ^LD_AUDIT=)" "LD_AUDIT=$list" \
		"without --ld-audit a user's list is unchanged: '$list'"
done
is "$(pillion --ld-audit -o e3 env -i /bin/sh -c 'echo "$LD_AUDIT"' 2>/dev/null)" "$auditor" \
	'a clean environment gets the auditor'
is "$(pillion --ld-audit -o e4 env LD_AUDIT=/none.so /bin/sh -c 'echo "$LD_AUDIT"' 2>/dev/null)" "$auditor:/none.so" \
	'an environment with another auditor gets ours, too'
is "$(pillion --ld-audit --follow-clean-env=false -o e5 env -i /bin/sh -c 'echo "${LD_AUDIT-none}"' 2>/dev/null)" none \
	'--follow-clean-env=false: a clean environment gets no auditor'
is "$(pillion --ld-audit=false -o e6 sh -c 'echo "${LD_AUDIT-none}"' 2>/dev/null)" none '--ld-audit=false: no auditor'
seen child --captured sh -c "\"$program\" plugin \"$plugin.so\" 2 deep; exit 3"
seen clean --captured sh \
	-c "exec env -i LD_LIBRARY_PATH='$LD_LIBRARY_PATH' \${PILLION_SIMGPU_LOG:+PILLION_SIMGPU_LOG=log} \
	'$program' plugin '$plugin.so' 2 deep"

# Programs that cannot be preloaded are not audited either.
cc=$(command -v cc || command -v gcc || command -v clang)
printf '#include <stdlib.h>\n#include <stdio.h>\n%s\n' \
	'int main(void) { puts(getenv("LD_AUDIT") ? "audit" : "none"); return 3; }' >small.c
kept_away() { # TEXT COMPILER...
	if "${@:2}" -o small small.c 2>/dev/null && ./small >/dev/null 2>&1; [ $? = 3 ]; then
		is "$(pillion --ld-audit -f -o small ./small 2>err; echo $?)$(grep -v '^pillion: ' err)" 'none
3' "$1 program runs without the auditor"
		is "$(pillion --ld-audit -f -o small sh -c './small; exit 4' 2>err
			echo $?)$(grep -v '^pillion: ' err)" 'none
4' "$1 program runs as a child without the auditor"
		is "$(pillion --ld-audit -f -o small env LD_AUDIT="/none.so:$auditor" \
			sh -c './small; exit 4' 2>/dev/null
			echo $?)" 'audit
4' "$1 program runs with only its own auditor"
	else
		skip "$1 program" 'it cannot be made or run here'
	fi
}
kept_away 'a musl' musl-gcc
kept_away 'a 32-bit' "${cc:-false}" -m32
if ${cc:-false} -fsanitize=address -o small small.c 2>/dev/null; ASAN_OPTIONS=detect_leaks=0 ./small >/dev/null 2>&1; \
	[ $? = 3 ]; then
	is "$(ASAN_OPTIONS=detect_leaks=0 pillion --ld-audit -f -o asan ./small 2>err
		echo $?)$(grep -v '^pillion: ' err)" 'audit
3' 'an AddressSanitizer program runs'
fi

LD_PRELOAD=$library LD_AUDIT=$auditor PILLION_OUTPUT=$work/bare.pillion "$program" plugin "$plugin.so" 2 deep >out
is "$(cat out)" "$("$program" plugin "$plugin.so" 2 deep)" 'without the launcher: output'
like "$(report stats -q -r cuda_api_sum -f csv bare.pillion)" ',cudaMalloc$' 'without the launcher: calls are recorded'
is "$(LD_AUDIT=$auditor "$program" plugin "$plugin.so" 2 deep)" "$(cat out)" \
	'without libpillion.so the auditor does nothing'
PILLION_LD_AUDIT=true LD_PRELOAD=$library PILLION_OUTPUT=$work/alone.pillion "$program" plugin "$plugin.so" 2 deep >out
like "$(report info alone.pillion 2>&1)" 'ld-audit had no effect' 'the auditor is missing: the ledger says so'
done_testing
