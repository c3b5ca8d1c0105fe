#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every form of NVTX is recorded with its text and returns what NVTX specifies.
set -u
. "$(dirname "$0")/lib.sh"

# NAME TEXT: number of instances in NAME.pillion, of both styles.
instances() {
	report stats -q -r nvtx_sum -f csv "$1.pillion" 2>/dev/null |
		awk -F, -v text="$2" '$10 == text || $10 == "\"" text "\"" { n += $3 } END { print n }'
}

"$targets/nvtx_forms" >out 2>err
if [ $? -eq 77 ]; then
	skip 'all forms' 'built without the headers of NVTX'
else
	pillion -o forms "$targets/nvtx_forms" fork >out 2>err
	is "$? $(grep line err)" '0 ' 'depths, ids and handles are those that NVTX specifies'
	for line in 'push a=10' 'push w é世😀=10' 'push ex=10' 'start a=1' 'start w=1' 'start ex=1' \
		'forms:registered=12' \
		'forms:wide in domain=10' 'forms ü:wide in domain=10' 'outside=2' 'in a thread=1'; do
		is "$(instances forms "${line%=*}")" "${line##*=}" "$line"
	done
	like "$(report stats -q -r nvtx_sum -f csv forms.pillion)" ',x{8192}$' \
		'a text of 10000 characters is cut to 8192'
	like "$(report stats -q -r ledger -f csv forms.pillion)" 'unmatched pop,1' \
		'a pop without a push is in the ledger'
	like "$(report stats -q -r ledger -f csv forms.pillion)" 'texts truncated,[1-9]' \
		'a text that was cut is in the ledger'
	is "$(report stats -q -r nvtx_sum --by process -f csv forms.pillion | grep -c 'forms:registered')" 4 \
		"a forked child's ranges have the names given by its parent"

	# If NVTX is deselected, the program still gets depths; if nothing is recorded, NVTX finds no tool.
	pillion -o osrt -t osrt "$targets/nvtx_forms" >out 2>err
	is "$? $(grep line err)" '0 ' '-t osrt: depths are correct'
	is "$(report stats -q -r nvtx_sum -f csv osrt.pillion 2>/dev/null | grep -c push)" 0 '-t osrt: nothing recorded'
	pillion -o closed -c cudaProfilerApi "$targets/nvtx_forms" >out 2>err
	is "$? $(grep line err)" '0 ' 'outside of the capture range: depths are correct'
	LD_PRELOAD=$library PILLION_OUTPUT=$work/alone "$targets/nvtx_forms" >out 2>err
	is "$? $(report stats -q -r nvtx_sum -f csv alone | grep -c ',push')" '0 3' 'LD_PRELOAD alone'
	NVTX_INJECTION64_PATH=$library PILLION_OUTPUT=$work/injected "$targets/nvtx_forms" >out 2>err
	is "$? $(report stats -q -r nvtx_sum -f csv injected | grep -c ',push')" '0 3' 'NVTX_INJECTION64_PATH alone'
fi

# Older copies of NVTX have fewer slots; each copy in a process is initialized.
pillion -o old "$targets/nvtx_old" >out 2>err
is "$(awk '/^copy/ { printf "%s %s %s ", $1, $2, $3 }' out)" 'copy 0: 1, copy 1: 1, ' \
	'two copies of NVTX 2 are initialized'
is "$(instances old old)" 6 'two copies of NVTX 2 are recorded'
pillion -o few "$targets/nvtx_old" 3 12 >out 2>err
is "$(cat out)" "$(printf 'copy %s: 1, 0.1 0.2 1.1 1.2 1.3 1.4 1.5 1.6 1.7 1.8 1.9 1.10 1.11\n' 0 1; echo)" \
	'small tables: only existing slots are set'
is "$(LD_PRELOAD=$library NVTX_INJECTION64_PATH=$library "$targets/nvtx_old" | head -n 1)" 'copy 0: 0,' \
	'if nothing is recorded, NVTX finds no tool'
done_testing
