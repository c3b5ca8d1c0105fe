#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs that take away descriptors, file systems, rights or system calls behave as without pillion.
set -u
. "$(dirname "$0")/lib.sh"

hostile=$targets/hostile

# TEXT COMMAND...: compares output, errors and status with and without pillion. The capture is $work/same.pillion.
same() {
	local text=$1 bare recorded
	shift
	(exec "$@") >bare.out 2>bare.err
	bare=$?
	rm -rf same.pillion
	(LD_PRELOAD=$library PILLION_OUTPUT=$work/same.pillion PILLION_OSRT_THRESHOLD=0 exec \
		"$@") >recorded.out 2>recorded.err
	recorded=$?
	if [ $bare -eq $recorded ] && cmp -s bare.out recorded.out && cmp -s bare.err recorded.err; then
		pass "$text"
	else
		fail "$text" "status $bare and $recorded" "$(diff bare.out recorded.out | head -5)" \
			"$(diff bare.err recorded.err | head -5)"
	fi
}

# Missing events are reported: recorded writes and lost events add up, except for a few other calls among the lost.
adds_up() { # CALLS TEXT [CAPTURE]
	local lost recorded
	lost=$(report stats -r ledger -f csv "${3:-same.pillion}" |
		awk -F, '$3 == "lost" { n += $4 } END { print n + 0 }')
	recorded=$(report stats -r osrt_sum -f csv "${3:-same.pillion}" | awk -F, '$9 == "write" { print $3 }')
	ok "$2: recorded ($recorded) and lost ($lost) make $1" \
		test $((recorded + lost)) -ge "$1" -a $((recorded + lost)) -le $(($1 + 20)) -a "$recorded" -le "$1"
}

same 'descriptors are unchanged' "$hostile" descriptors
adds_up 100000 descriptors
same 'close_range, dup2 onto every number' "$hostile" closerange
adds_up 200001 closerange
same 'ulimit -n 16' "$hostile" few
same 'daemon' "$hostile" daemon
same 'the longest arguments with which a program starts' "$hostile" longest
like "$(report info same.pillion)" '^ *[0-9]+ .*/true +length$' \
	'programs that start only without us are listed as not recorded'
cat >too_long.py <<'END'
import os
for arguments in ['true', 'a' * 3000000], ['true'] + ['a' * 1000] * 5000:
    try:
        os.posix_spawn('/bin/true', arguments, os.environ)
    except OSError as error:
        print(error)
    try:
        os.execv('/bin/true', arguments)
    except OSError as error:
        print(error)
END
same 'arguments with which no program starts' python3 too_long.py
unlike "$(report info same.pillion)" 'length$' 'what did not start without us either is not listed'
if [ "$(uname -m)" = x86_64 ]; then
	same 'calls with a stack that is not aligned' "$targets/unaligned"
	like "$(tail -1 recorded.out)" '^execv 1 0$' 'calls with a stack that is not aligned: all were made'
	LD_PRELOAD=${library%.so}-memory.so PILLION_OUTPUT=$work/heap.pillion PILLION_MEMORY=native \
		"$targets/unaligned" >recorded.out
	ok 'calls with a stack that is not aligned, of malloc, too' cmp bare.out recorded.out
fi
same 'invalid addresses' "$hostile" faults
like "$(cat recorded.out)" '^open 1 Bad address' 'invalid addresses: the errors are unchanged'
same 'floating-point exceptions that the program enables' "$hostile" traps
PILLION_MODE=profile same 'floating-point exceptions, with sums of calls' "$hostile" traps
pillion -o traps "$hostile" traps >recorded.out 2>recorded.err
ok 'floating-point exceptions, under the launcher' cmp bare.out recorded.out
same 'a chroot that fails' "$hostile" chroot-fails
adds_up 100000 'a chroot that fails'
unlike "$(report stats -r ledger same.pillion)" 'note .*chroot' 'a chroot that fails leaves no note'
if [ "$(id -u)" -eq 0 ]; then
	same 'chroot' "$hostile" chroot
	adds_up 200000 chroot
	chmod 755 "$work"
	same 'setuid' "$hostile" nobody
	unlike "$(report stats --summary same.pillion 2>&1)" 'a large capture' \
		'a preallocated file does not count as a large capture'
else
	skip chroot 'needs root'
	skip setuid 'needs root'
fi
same 'a child that shares the memory and has zeroed thread-local storage' "$hostile" borrow
like "$(cat recorded.out)" '^child 0x700$' 'the child that shares the memory ends with its own status'
adds_up 100000 'seccomp filters at NULL'
unlike "$(report info same.pillion 2>&1)" 'seccomp filter' 'seccomp filters at NULL: no filter is reported'
same 'seccomp filters that fail' "$hostile" restrictions-fail
like "$(cat recorded.out)" '^seccomp strict -1 Invalid argument' 'seccomp filters that fail: the errors are unchanged'
adds_up 200000 'seccomp filters that fail'
unlike "$(report stats -r ledger same.pillion)" 'note .*seccomp' 'seccomp filters that fail leave no note'
is "$(report stats -r ledger -f csv same.pillion | awk -F, '$3 == "lost" { n += $4 } END { print n + 0 }')" 0 \
	'seccomp filters that fail: no event is lost'
same 'a seccomp filter by prctl' "$hostile" seccomp
if [ "$(cat bare.out)" = "$(printf 'ready\nfiltered')" ]; then
	adds_up 300001 seccomp
	like "$(report stats -r ledger same.pillion)" 'note .*seccomp filter' 'a seccomp filter is noted in the ledger'
	same 'a seccomp filter by syscall' "$hostile" seccomp-syscall
fi

printf '#!/bin/sh\nulimit -f 1\nexec "%s" calls\n' "$hostile" >limited
printf '#!/bin/sh\nfor i in 1 2 3 4 5 6 7 8 9; do /bin/true; done; ulimit -f 1\nexec "%s" calls\n' \
	"$hostile" >limited_later
printf '#!/bin/sh\numask 0777\nexec "%s" calls\n' "$hostile" >masked
chmod +x limited limited_later masked
same 'ulimit -f 1' ./limited
same 'ulimit -f 1 after the index has grown' ./limited_later
same 'umask 0777' ./masked
adds_up 100000 'umask 0777'
is "$(stat -c %a same.pillion/* | sort -u)" 600 'umask 0777: files are 0600 nevertheless'
if [ -d /dev/shm ] && [ "$(id -u)" -eq 0 ] && mkdir full && mount -t tmpfs -o size=512k tmpfs full 2>/dev/null; then
	rm -rf full.out
	LD_PRELOAD=$library PILLION_OUTPUT=$work/full/cap PILLION_OSRT_THRESHOLD=0 "$hostile" calls >full.out 2>full.err
	is "$? $(cat full.out)" '0 calls done' 'a full disk: the program continues'
	adds_up 100000 'a full disk' full/cap
	umount full
else
	skip 'a full disk' 'no tmpfs can be mounted here'
fi

mkdir closed && chmod 555 closed
if [ "$(id -u)" -ne 0 ]; then
	LD_PRELOAD=$library PILLION_OUTPUT=$work/closed/cap "$hostile" calls >out 2>err
	is "$? $(cat out)" '0 calls done' 'a directory that cannot be written: the program continues'
	is "$(wc -l <err)" 1 'a directory that cannot be written: one message'
fi

LD_PRELOAD=$library PILLION_OUTPUT=$work/none/cap "$hostile" calls >out 2>err
is "$? $(cat out)" '0 calls done' 'no directory for the capture: the program continues'
is "$(cat err)" "pillion: recording is off: no directory for the capture: $work/none/cap" \
	'no directory for the capture: one message names it'

# hidden DIRECTORY...: a shell and its child in a sandbox, made by a raw clone, without these directories.
hidden() {
	local mounts=() directory
	for directory in "$@"; do
		mounts+=(--tmpfs "$directory")
	done
	same "a sandbox without ${*##*/}" bwrap --dev-bind / / --chdir / "${mounts[@]}" \
		sh -c 'echo started; ls -d /; exit 4'
}

if bwrap --dev-bind / / true 2>/dev/null; then
	hidden "$work" "${library%/*}"
	hidden "$work"
	hidden "${library%/*}"
	like "$(report info same.pillion)" '^ *[0-9]+ .*/sh +hidden$' \
		'a program from which the library is hidden is listed as not recorded'
else
	skip 'a sandbox that hides the library' 'no bwrap that works'
fi

# Where both are hidden, the program cannot be named, but it is counted.
if unshare -m sh -c "mount -t tmpfs none '$work'" 2>/dev/null; then
	pillion -o covered unshare -m sh -c "mount -t tmpfs none '$work' && mount -t tmpfs none '${library%/*}' &&
		/bin/ls -d /; exit 4" >out 2>err
	is "$? $(cat out) $(grep -v '^pillion: ' err)" '4 / ' \
		'a sandbox that hides capture and library: output and status'
	is "$(report stats -q -r ledger -f csv covered.pillion | grep -c '"*index lines lost"*,[1-9]')" 1 \
		'the program that it starts is counted as a line that could not be stored'
else
	skip 'a sandbox that hides capture and library' 'no unshare -m that works'
fi

# 1e5 exceptions: the program uses its own unwinder.
same 'C++ exceptions' "$targets/throws" 100000
LD_PRELOAD=$library PILLION_OUTPUT=$work/throw.pillion LD_DEBUG=bindings "$targets/throws" 1 2>&1 |
	grep 'symbol .*_Unwind_RaiseException' >bound
is "$(grep -c libgcc_s bound) $(grep -c 'to .*libpillion' bound)" '1 0' \
	'C++ exceptions are bound to libgcc, not to libpillion.so'
done_testing
