#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# CPU samples do not change the stacks of the program, nor its alternate signal stacks.
. "$(dirname -- "$0")/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip_all 'CPU samples need x86-64'

# same TEXT PROGRAM ARG...: output and status are the same with and without -s cpu; the capture is own.
same() {
	text=$1
	program=$targets/$2
	shift 2
	timeout "$patience" "$program" "$@" >plain 2>/dev/null
	plain_status=$?
	pillion -s cpu --sampling-frequency=10000 -f true -o own "$program" "$@" >own 2>own_err
	own_status=$?
	is "$own_status $(cat own) $(grep -v '^pillion: capture' own_err)" "$plain_status $(cat plain) " "$text"
}

sampled() {
	like "$(report stats -r ledger -f csv own.pillion)" 'CPU samples,[0-9]{2,}' "$1"
}

same 'memory below a stack without room for a signal frame is unchanged' altstack small 2048
is "$(cat own)" 'below the stack: 0 bytes changed' 'no byte below the stack has changed'
sampled 'while samples were taken'
same 'handlers on an alternate stack of 64 KiB' altstack handled 65536
same 'handlers on an alternate stack of 8 KiB' altstack handled 8192
sampled 'samples were taken in handlers'
same 'handlers on an alternate stack of 16 KiB' altstack handled 16384
same 'handlers on an alternate stack of MINSIGSTKSZ' altstack handled 2048
same 'threads with and without an alternate stack, and a forked child' altstack threads 16384
same 'a stack overflow, left by siglongjmp' altstack overflow 16384
same 'a stack overflow without an alternate stack ends the program' altstack overflow 0
same 'results of sigaltstack and sigaction, also by syscall()' altstack view
same 'handlers of Go, which sets the alternate stack by system calls' altstack_go
sampled 'while samples were taken'
done_testing
