#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs that cannot be preloaded behave as without pillion, and the capture gives the reason for the missing data.
set -u
. "$(dirname "$0")/lib.sh"
cc=$(command -v cc || command -v gcc || command -v clang) || skip_all 'no C compiler'
cat >hello.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
	puts(getenv("LD_PRELOAD") ? "preload" : "none");
	return 3;
}
END

runs() { # TEXT WANTED-OUTPUT REASON COMMAND...
	local text=$1 wanted=$2 reason=$3
	shift 3
	is "$(pillion -f -o bare "$@" 2>err; echo "$?")" "$wanted
3" "$text runs"
	is "$(grep -cv '^pillion: ' err)" 0 "$text: no message of the loader"
	if [ -n "$reason" ]; then
		like "$(report stats -r processes bare.pillion)" "^ *recording: .* not recorded \\($reason\\)" \
			"$text: the ledger says why it is not recorded"
		like "$(cat bare.pillion/*.index)" "^bare	.*reason=$reason	" \
			"$text: the index has the reason $reason"
	else
		unlike "$(cat bare.pillion/*.index)" '^bare	' "$text: it is recorded"
	fi
}

$cc -o hello hello.c
runs 'a plain program' preload '' ./hello
printf '#!%s/hello -x\n' "$work" >script
chmod +x script
runs 'a script' preload '' ./script
if $cc -static -o static hello.c 2>/dev/null; then
	runs 'a static program' preload static ./static
	is "$(report stats --summary bare.pillion | sed 's/^[0-9.]* [mu]*s, //' | cut -d' ' -f1-3 | tr '\n' ';')" \
		'0 processes recorded,;missing  ;recording  0;' \
		'no process: neither a time nor an advice to sample'
	printf '#! %s/static\n' "$work" >script
	runs 'a script of a static interpreter' preload static ./script
else
	skip 'a static program runs' 'no static libc'
fi
if $cc -static-pie -o static-pie hello.c 2>/dev/null; then
	runs 'a static PIE' preload static ./static-pie
fi
if command -v musl-gcc >/dev/null && musl-gcc -o musl hello.c 2>/dev/null && ./musl >/dev/null 2>&1; [ $? = 3 ]; then
	runs 'a musl program' none musl ./musl
else
	skip 'a musl program runs' 'no musl'
fi
if $cc -m32 -o small hello.c 2>/dev/null; ./small >/dev/null 2>&1; [ $? = 3 ]; then
	runs 'a 32-bit program' none machine ./small
else
	skip 'a 32-bit program runs' 'no 32-bit libc'
fi
# On kernels with 32 bits of address randomization, sanitizers of gcc 12 and clang 14 sometimes crash at startup.
setarch -R true 2>/dev/null && fixed='setarch -R' || fixed=
if $cc -fsanitize=address -o asan hello.c 2>/dev/null; ASAN_OPTIONS=detect_leaks=0 $fixed ./asan >/dev/null 2>&1; [ $? \
	= 3 ]; then
	export ASAN_OPTIONS=detect_leaks=0
	# shellcheck disable=SC2086
	runs 'an AddressSanitizer program' preload '' $fixed ./asan
	# It has the runtime of AddressSanitizer preloaded, too, which starts when our constructor runs.
	echo '#include <unistd.h>
int main(void) { return execl("./plain", "plain", (char *)0); }' >starts.c
	$cc -o plain hello.c && $cc -fsanitize=address -o starts starts.c
	# shellcheck disable=SC2086
	runs 'what an AddressSanitizer program starts' preload '' $fixed ./starts
else
	skip 'an AddressSanitizer program runs' 'no libasan'
fi
# A launcher whose loader does not exist, as on a system with musl.
mkdir -p none/bin none/libexec/pillion
cp "$PILLION" none/bin/pillion
if $cc -Wl,--dynamic-linker=/nonexistent -o none/libexec/pillion/pillion-launch hello.c 2>/dev/null; then
	is "$(none/bin/pillion true 2>err; echo $?)" 127 'a launcher that cannot be executed: status 127'
	like "$(cat err)" 'pillion-launch(: not found| does not start here: it is for glibc|: cannot execute)' \
		'a launcher that cannot be executed: the reason'
fi
loader=$(ls /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1 2>/dev/null | head -1)
[ -z "$loader" ] || runs 'a program through its loader' preload '' "$loader" ./hello

user=nobody
if [ "$(id -u)" = 0 ] && id $user >/dev/null 2>&1; then
	chmod 755 "$work"
	cp hello owned
	chown $user owned
	chmod 4755 owned
	is "$(pillion -f -o bare ./owned >/dev/null 2>err; echo $?)" 3 'a setuid program runs'
	like "$(cat bare.pillion/*.index)" '^bare	.*reason=setuid	' \
		'a setuid program: the index has the reason setuid'
else
	skip 'a setuid program runs' 'needs root to make one'
fi
done_testing
