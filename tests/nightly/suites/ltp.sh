# SPDX-License-Identifier: Apache-2.0
# Part of the system call tests of the Linux Test Project. LTP_BUILT names its tree, built by somebody.
# shellcheck shell=bash disable=SC2034
subset='runtest/syscalls: processes, signals, files, memory, pipes, sockets; every fifth'
user=nobody

obtain() {
	built LTP_BUILT testcases/kernel/syscalls/fork/fork01
}

build() {
	:
}

run() {
	local name program words
	local topics='clone|fork|vfork|exec|wait|exit|kill|sig|rt_sig|tgkill|pause|alarm|timer_|setitimer|nanosleep'
	topics+='|futex|pipe|poll|epoll|select|read|write|pread|pwrite|open|close|dup|fcntl|lseek|mmap|munmap|mprotect'
	topics+='|mremap|brk|socket|accept|bind|connect|send|recv|prctl|ptrace|getrlimit|setrlimit|eventfd|flock|stat'
	topics+='|rename|unlink'
	export LTPROOT=$SOURCE/source LTP_TIMEOUT_MUL=2 LTP_COLORIZE_OUTPUT=0 PATH=$PATH:$SOURCE/source/testcases/lib
	grep -E "^($topics)" "$LTPROOT/runtest/syscalls" | awk 'NR % 5 == 0' | while read -r name program words; do
		program=$(find "$LTPROOT/testcases/kernel/syscalls" -name "$program" -perm -u+x -type f | head -n 1)
		[ -n "$program" ] || continue
		mkdir "$name" && (
			cd "$name" && PATH=$PATH:${program%/*}
			# shellcheck disable=SC2086
			timeout -s KILL 60 "$program" $words >../log 2>&1 </dev/null
			echo "== $name $?"
		)
		grep -E 'TPASS|TFAIL|TBROK|TCONF' log | sed -E 's/^.*(TPASS|TFAIL|TBROK|TCONF).*/\1/' | sort | uniq -c |
			sed "s/^/-- $name /"
		rm -rf "$name" log
	done
}

outcomes() { # LOG
	sed -nE 's/^== ([^ ]+) ([0-9]+)$/\1\t\2/p; s/^-- ([^ ]+) +([0-9]+) (T[A-Z]+)$/\1 \3\t\2/p' "$1"
}
