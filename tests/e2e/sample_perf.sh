#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# CPU samples by perf_event_open: of programs that signals cannot sample, and by request of all.
. "$(dirname -- "$0")/lib.sh"
samples=$targets/samples

# ledger CAPTURE FACT: the sum over all processes.
ledger() {
	report stats -q -f csv -r ledger "$1.pillion" |
		awk -F, -v fact="$2" '$3 == fact { n += $4 } END { print n + 0 }'
}

# The launcher measures it: the kernel, a container or the machine may forbid it.
pillion -s cpu --sampling-source=perf -o probe "$samples" shares 0.3 >out 2>err
probe="$? $(cat out)"
if grep -q 'no CPU samples: perf_event_open' err; then
	like "$(report stats -r ledger -f csv probe.pillion)" 'CPU samples: none by perf_event_open' \
		'the ledger says why there are no samples by perf'
	is "$probe" '0 ' 'without permission the program runs as usual'
	done_testing
	exit
fi

is "$probe" '0 ' 'a program sampled by perf ends as usual'
is "$(ledger probe 'CPU samples by perf')" "$(ledger probe 'CPU samples')" \
	'--sampling-source=perf: all samples are of perf'
ok 'CPU time per sample is the period' test "$(ledger probe 'CPU time sampled')" -eq \
	"$(($(ledger probe 'CPU samples') * 10101))"
like "$(report info probe.pillion)" 'cpu-samples +perf_event_open' 'info names the source'

pillion -s cpu -o both "$samples" shares 0.3 >out 2>err
is "$(ledger both 'CPU samples by perf') $(ledger both 'CPU samples' | sed 's/[1-9].*/some/')" '0 some' \
	'auto: signals where they can sample'
like "$(report info both.pillion)" 'cpu-samples +signals' 'info names the source'

pillion -s cpu --sampling-source=perf -o tree "$samples" children 3 >out 2>err
ok 'children are sampled' test "$(report stats -q -f csv -r ledger tree.pillion | grep -c 'CPU samples by perf')" -gt 1
pillion -s cpu --sampling-source=perf -o threads "$samples" threads 4 >out 2>err
ok 'threads are sampled' test "$(ledger threads 'CPU samples by perf')" -gt 0

pillion -s cpu --follow-clean-env=false -o clean env -i "$samples" shares 0.5 >out 2>err
is "$? $(cat out)" '0 ' 'a program with a cleaned environment ends as usual'
ok 'it is sampled, although it is not recorded' test "$(ledger clean 'CPU samples by perf')" -gt 0
like "$(report info clean.pillion)" 'samples: environment' 'info says that it is not recorded'

# Descriptors and signals that the program can see.
list='for i in /proc/self/fd/*; do echo "${i##*/} $(readlink "$i" | sed "s/[0-9][0-9]*//")"; done
	grep Sig /proc/self/status'
timeout --foreground "$patience" sh -c "$list" >plain 2>&1 </dev/null # as the function pillion runs it
pillion -s cpu --sampling-source=perf -o fds sh -c "$list" >out 2>err </dev/null
sed -i '/SigQ/d; /^2 /d' out plain
# SIGILL, SIGABRT, SIGBUS, SIGFPE and SIGSEGV have handlers that record a crash: docs/decisions/crashes.md.
caught=$(sed -n 's/^SigCgt:\t//p' plain)
sed -i "s/^SigCgt:.*/SigCgt:\t$(printf %016x $((0x$caught | 0x4e8)))/" plain
is "$(cat out)" "$(cat plain)" 'the program has no descriptor of ours, and no signal but those of crashes'
prlimit --nofile=64:64 "$PILLION" --stats=false -s cpu --sampling-source=perf -o few sh -c 'ulimit -n' >out 2>err
is "$? $(cat out)" '0 64' 'the limit on descriptors is unchanged'

if "${CC:-gcc}" -O1 -g -fno-omit-frame-pointer -static -o static_burn -x c - 2>/dev/null <<-'END'
	#include <stdio.h>
	#include <time.h>
	__attribute__((noinline)) unsigned inner(unsigned n)
	{
		volatile unsigned sum = 0;
		for (unsigned i = 0; i < n; i++)
			sum += i;
		return sum;
	}
	__attribute__((noinline)) unsigned outer(unsigned n)
	{
		return inner(n) + 1;
	}
	int main(void)
	{
		struct timespec t;
		unsigned n = 0;
		do {
			n += outer(20000);
			clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
		} while (t.tv_sec < 1);
		printf("%d\n", n > 0);
		return 7;
	}
END
then
	pillion -s cpu -o static ./static_burn >out 2>err
	is "$? $(cat out)" '7 1' 'a static program ends as usual'
	like "$(report stats -q -f csv -r sample_sum static.pillion)" ',outer,.*/static_burn' \
		'its functions are named, and callers found by frame pointers'
	like "$(report stats -q -f csv -r processes static.pillion)" ',exit 7,./static_burn,' \
		'it is a process of the capture'
	is "$(report stats -q -f csv -r processes static.pillion | wc -l)" 2 'one process'
	ok 'nearly all its CPU time is sampled' test "$(ledger static 'CPU time sampled')" -gt 800000
	pillion -s cpu -o child sh -c './static_burn; exit 4' >out 2>err
	is "$? $(cat out)" '4 1' 'a shell with a static child ends as usual'
	ok 'the child is sampled once the launcher has seen it' test "$(ledger child 'CPU samples by perf')" -gt 0
	unlike "$(report stats -q -f csv -r sample_sum child.pillion)" 'dash' 'nothing else is'
	pillion -s cpu --sampling-source=signal -o signal ./static_burn >out 2>err
	is "$(ledger signal 'CPU samples')" 0 '--sampling-source=signal: no samples of a static program'
	pillion -s cpu --delay=3600 -o later ./static_burn >out 2>err
	is "$(ledger later 'CPU samples')" 0 'no samples outside of the capture range'
	if command -v setpriv >/dev/null && [ "$(id -u)" = 0 ]; then
		mkdir -m 777 theirs && chmod 755 . static_burn
		(cd theirs && setpriv --reuid=65534 --regid=65534 --clear-groups "$PILLION" --stats=false -s cpu \
			-o own ../static_burn) >out 2>err
		is "$? $(cat out)" '7 1' 'without privileges a static program ends as usual'
	fi
else
	skip 'a static program' 'no static libc'
fi

for tool in gdb strace valgrind; do
	if ! command -v $tool >/dev/null 2>&1; then
		skip "$tool" "no $tool"
		continue
	fi
	case $tool in
	gdb) set -- gdb -q -nx -batch -ex run --args "$samples" shares 1 ;;
	strace) set -- strace -f -e trace=none -o /dev/null "$samples" shares 1 ;;
	valgrind) set -- valgrind -q --tool=none "$samples" shares 0.5 ;;
	esac
	"$@" >plain 2>/dev/null
	plain_status=$?
	pillion -s cpu -f true -o own "$@" >own 2>own_err
	own_status=$?
	sed -i 's/process [0-9]*/process/' plain own
	is "$own_status $(cat own)" "$plain_status $(cat plain)" "$tool: as without pillion"
	ok "$tool: the program is sampled by perf" test "$(ledger own 'CPU samples by perf')" -gt 0
done
done_testing
