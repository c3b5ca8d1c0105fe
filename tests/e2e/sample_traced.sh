#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Processes that are traced or run under valgrind have no CPU samples: the tracer sees no signals of samples, and the
# ledger says so.
. "$(dirname -- "$0")/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip_all 'CPU samples need x86-64'
altstack=$targets/altstack

# none TEXT NOTE COMMAND...: output and status are the same with and without -s cpu; the ledger has NOTE.
none() {
	text=$1
	note=$2
	shift 2
	timeout "$patience" "$@" >plain 2>plain_err
	plain_status=$?
	pillion -s cpu --sampling-source=signal --sampling-frequency=10000 -f true -o own "$@" >own 2>own_err
	own_status=$?
	sed -i 's/process [0-9]*/process/' plain own
	is "$own_status $(cat own)" "$plain_status $(cat plain)" "$text"
	like "$(report stats -r ledger -f csv own.pillion)" "CPU samples: none$note" "$text: the ledger says so"
}

none 'a child that calls PTRACE_TRACEME' ' from here on, the process lets itself be traced' "$targets/traced" traceme
none 'a program that is started traced' ', the process is traced' "$targets/traced" traceme "$altstack" small 4096
none 'a tracer that attaches before the program starts' ', the process is traced' \
	"$targets/traced" seize "$altstack" small 4096
like "$(report stats -r ledger own.pillion | tail -n 1)" 'traced is traced .*: no CPU samples of it' \
	'the last line of the ledger has the reason'
pillion -s cpu --sampling-source=signal -f true -o own sh -c '"$@"; "$@"' sh \
	"$targets/traced" seize "$altstack" small 4096 >out 2>err
like "$(report stats -r ledger -f csv own.pillion)" \
	'^,,samples not taken,2,"processes: the process is traced \(debugger, strace\), the tracer would see' \
	'the ledger counts the processes by reason'
like "$(report stats -r ledger own.pillion | tail -n 1)" 'no CPU samples of traced \(2 processes\): ' \
	'so does its last line'
for tool in gdb strace valgrind; do
	if ! command -v $tool >/dev/null 2>&1; then
		skip "$tool" "no $tool"
		continue
	fi
	case $tool in
	gdb) none gdb ', the process is traced' gdb -q -nx -batch -ex run --args "$altstack" small 4096 ;;
	strace) none strace ', the process is traced' strace -f -e trace=none -o /dev/null "$altstack" small 4096 ;;
	valgrind) none valgrind ' under valgrind' valgrind -q --tool=none "$altstack" handled 65536 ;;
	esac
done
done_testing
