#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --ld-audit: a library that was opened with RTLD_DEEPBIND has its own dependencies before us, and an auditor of the
# loader gives it our wrappers all the same. What it did is in the trace once, and every call goes where it would go
# without us.
set -u
. "$(dirname "$0")/lib.sh"

on_doubles
export PILLION_GPU_ACTIVITY=none # the host's side alone
program=$targets/cuda_lookups
plugin=$targets/cuda_launches_plugin
auditor=${library%/*}/libpillion-audit.so
"$program" plugin "$targets/deep_plugin.so" 1 deep >out 2>err || skip_all "$(cat err)"
pillion --ld-audit -o probe "$program" plugin "$plugin.so" 1 deep >/dev/null 2>&1
! report info probe.pillion | grep -q 'ld-audit had no effect' || skip_all 'this loader is older than glibc 2.35'

seen() { # NAME ACCOUNT-OPTIONS PROGRAM ARGUMENT...: with and without us; the account is in log
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
	ok "$name: recorded is what was done, once" account_says cuda_account.py log exported api.csv launch.csv \
		memory.csv $options
	unlike "$(report info "$name.pillion" 2>&1)" 'cannot be seen|has bound them directly|had no effect' \
		"$name: and nothing is said to be missing"
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
	is "$(grep -c ',cuda[A-Z]' api.csv)" 0 "$mode: a static runtime is seen by what it asks of the driver"
	seen two_$mode '--captured --captured' "$program" plugins_$mode 2 "$plugin.so" "${plugin}12.so"
done
LD_BIND_NOW=1 seen now --captured "$program" plugin "$plugin.so" 2 deeplazy
seen shallow --captured "$program" plugin "$plugin.so" 2
seen linked --captured "$doubles/cuda_launches" 2
seen driver --driver "$targets/cuda_driver" proc 3
like "$(report info deep.pillion 2>&1)" 'ld-audit +true|ld-audit=true' 'info tells the mode'

# Calls by a table that the loader fills in at once are not shown to auditors: the ledger still has the library's name.
pillion --ld-audit -o table "$program" plugin "${plugin}_noplt.so" 2 deep >out
is "$? $(cat out)" "0 $("$program" plugin "${plugin}_noplt.so" 2 deep)" '-fno-plt: status and output'
like "$(report info table.pillion 2>&1)" \
	"are not recorded: the loader has bound them directly .* in ${plugin}_noplt.so" \
	'and the ledger names it'

# ---- each its own, also where the return address tells nothing ----

a=$targets/cuda_plugin12.so
b=$targets/cuda_plugin13.so
for second in "$b" "$a"; do
	first=$([ "$second" = "$a" ] && echo "$b" || echo "$a")
	"$targets/cuda_two" deep 100 "$first" "$second" >wanted
	rm -rf each.pillion
	pillion --ld-audit -o each "$targets/cuda_two" deep 100 "$first" "$second" >out
	is "$(cat out)" "$(cat wanted)" 'two runtimes: each library is answered by its own'
	is "$(report stats -q -r cuda_api_sum -f csv each.pillion | awk -F, '$9 == "cudaMalloc" { print $3 }')" 210 \
		'all calls recorded'
done

# ---- other libraries of ours, and other name spaces ----

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
	'cuBLAS, NCCL: every argument as without us'
like "$(blas plainly)" 'cublasSgemm [1-9]' 'their calls are many'
is "$(blas deeply)" "$(blas plainly)" 'and each is recorded once, as without RTLD_DEEPBIND'

"$program" plugin "$plugin.so" 2 space >wanted 2>wanted_err
pillion --ld-audit -o space "$program" plugin "$plugin.so" 2 space >out 2>err
is "$? $(cat out)$(grep -v '^pillion: ' err)" "0 $(cat wanted)$(cat wanted_err)" \
	'a name space of its own is left alone: status and output'

# ---- libc's functions, and what only bears their names ----

"$program" plugin "$targets/deep_plugin.so" 20 deep >wanted
pillion -o past "$program" plugin "$targets/deep_plugin.so" 20 deep >out
is "$(num_calls past usleep)" '' "a library's calls of libc are not seen without an auditor"
pillion --ld-audit -o calls "$program" plugin "$targets/deep_plugin.so" 20 deep >out
is "$? $(cat out)" "0 $(cat wanted)" \
	'with one: status and output, and a private function of that name is the one called'
is "$(num_calls calls usleep) $(num_calls calls killpg)" '20 ' 'its calls of libc are seen, once'
is "$(report stats -q -r processes -f csv calls.pillion | grep -c 'sh -c')" 1 'and its child'

# ---- other auditors, children ----

is "$(LD_AUDIT=/none.so pillion --ld-audit -o e sh -c 'echo "$LD_AUDIT"' 2>/dev/null)" "$auditor:/none.so" \
	"a user's LD_AUDIT comes after ours"
is "$(LD_AUDIT=$auditor pillion -o e2 sh -c 'echo "${LD_AUDIT-none}"' 2>/dev/null)" none \
	'without the option an outer one is taken out'
for list in '' ':/none.so::' '/none.so:./none.so:/none.so'; do
	is "$(LD_AUDIT=$list pillion -f -o e2 env 2>/dev/null | grep ^LD_AUDIT=)" "LD_AUDIT=$list" \
		"and a user's stays as it is: '$list'"
done
is "$(pillion --ld-audit -o e3 env -i /bin/sh -c 'echo "$LD_AUDIT"' 2>/dev/null)" "$auditor" \
	'a clean environment gets it'
is "$(pillion --ld-audit -o e4 env LD_AUDIT=/none.so /bin/sh -c 'echo "$LD_AUDIT"' 2>/dev/null)" "$auditor:/none.so" \
	'so does one with an auditor of its own'
is "$(pillion --ld-audit --follow-clean-env=false -o e5 env -i /bin/sh -c 'echo "${LD_AUDIT-none}"' 2>/dev/null)" none \
	'unless that is not wanted'
is "$(pillion --ld-audit=false -o e6 sh -c 'echo "${LD_AUDIT-none}"' 2>/dev/null)" none 'false is the default'
seen child --captured sh -c "\"$program\" plugin \"$plugin.so\" 2 deep; exit 3"
seen clean --captured sh \
	-c "exec env -i LD_LIBRARY_PATH='$LD_LIBRARY_PATH' \${PILLION_SIMGPU_LOG:+PILLION_SIMGPU_LOG=log} \
	'$program' plugin '$plugin.so' 2 deep"

# What cannot carry us is kept from the auditor, too.
cc=$(command -v cc || command -v gcc || command -v clang)
printf '#include <stdlib.h>\n#include <stdio.h>\n%s\n' \
	'int main(void) { puts(getenv("LD_AUDIT") ? "audit" : "none"); return 3; }' >small.c
kept_away() { # TEXT COMPILER...
	if "${@:2}" -o small small.c 2>/dev/null && ./small >/dev/null 2>&1; [ $? = 3 ]; then
		is "$(pillion --ld-audit -f -o small ./small 2>err; echo $?)$(grep -v '^pillion: ' err)" 'none
3' "$1 program runs without it"
		is "$(pillion --ld-audit -f -o small sh -c './small; exit 4' 2>err
			echo $?)$(grep -v '^pillion: ' err)" 'none
4' 'as a child, too'
		is "$(pillion --ld-audit -f -o small env LD_AUDIT="/none.so:$auditor" \
			sh -c './small; exit 4' 2>/dev/null
			echo $?)" 'audit
4' 'with an auditor of its own'
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
is "$(cat out)" "$("$program" plugin "$plugin.so" 2 deep)" 'by the variables alone, too: output'
like "$(report stats -q -r cuda_api_sum -f csv bare.pillion)" ',cudaMalloc$' 'and records'
is "$(LD_AUDIT=$auditor "$program" plugin "$plugin.so" 2 deep)" "$(cat out)" \
	'without libpillion.so the auditor does nothing'
PILLION_LD_AUDIT=true LD_PRELOAD=$library PILLION_OUTPUT=$work/alone.pillion "$program" plugin "$plugin.so" 2 deep >out
like "$(report info alone.pillion 2>&1)" 'ld-audit had no effect' 'asked for, but not there: the ledger says so'
done_testing
