#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# CPU samples leave the stacks of the program alone, and its alternate signal stacks are as without them.
. "$(dirname -- "$0")/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip_all 'CPU samples need x86-64'

# same TEXT ARG...: altstack ARG... prints and ends with -s cpu as without; the capture is own.
same() {
	text=$1
	shift
	timeout "$patience" "$targets/altstack" "$@" >plain 2>/dev/null
	plain_status=$?
	pillion -s cpu --sampling-frequency=10000 -f true -o own "$targets/altstack" "$@" >own 2>own_err
	own_status=$?
	is "$own_status $(cat own) $(grep -v '^pillion: capture' own_err)" "$plain_status $(cat plain) " "$text"
}

sampled() {
	like "$(report stats -r ledger -f csv own.pillion)" 'CPU samples,[0-9]{2,}' "$1"
}

same 'a stack without room for a signal frame keeps what lies below it' small 2048
is "$(cat own)" 'below the stack: 0 bytes changed' 'of which nothing has changed'
sampled 'while samples were taken'
same 'handlers on an alternate stack of 64 KiB' handled 65536
same 'handlers on one of 8 KiB' handled 8192
sampled 'and samples while they ran'
same 'handlers on one of 16 KiB' handled 16384
same 'one of MINSIGSTKSZ' handled 2048
same 'threads with and without one, and a forked child' threads 16384
same 'a stack overflow, left by siglongjmp' overflow 16384
same 'a stack overflow without an alternate stack ends the program' overflow 0
same 'what sigaltstack and sigaction tell, also by syscall()' view
done_testing
