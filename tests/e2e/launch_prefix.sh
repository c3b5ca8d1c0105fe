#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An installed tree works from any prefix, with any characters in its path.
set -u
. "$(dirname "$0")/lib.sh"

install_to() { # PREFIX LIBDIR
	mkdir -p "$1/bin" "$1/libexec/pillion" "$1/$2/pillion"
	cp "$PILLION" "$1/bin/pillion"
	cp "$PILLION_BUILD_DIR/runtime/pillion-launch" "$1/libexec/pillion/"
	cp "$PILLION_BUILD_DIR/report/pillion-report" "$1/bin/"
	cp "$PILLION_BUILD_DIR"/preload/libpillion*.so "$1/$2/pillion/"
}

try() { # PREFIX LIBDIR TEXT
	install_to "$1" "$2"
	is "$(env -u PILLION_BUILD_DIR PILLION_STATS=false "$1/bin/pillion" -f -o p sh -c 'echo ran' 2>err)" ran "$3"
	is "$(grep -cv "^$capture_line" err)" 0 "$3: no message of the loader"
	like "$(cat p.pillion/*.index)" '^process	' "$3: it records"
}

try "$work/plain" lib 'a plain prefix works'
# Names of variables in scripts/pillion, and others that are as short.
names='self to here recipes report launch build program odd name path file run root dir'
# shellcheck disable=SC2046,SC2086 # a list of words each
is "$(env $(printf '%s=kept ' $names) PILLION_STATS=false "$PILLION" -f -o p sh -c 'env' 2>err | grep -c '=kept$')" \
	"$(printf '%s\n' $names | wc -l)" "variables of COMMAND's environment are those that it was started with"
try "$work/multi" lib/x86_64-linux-gnu 'a multiarch library directory works'
try "$work/sixty four" lib64 'a prefix with a space works'
try "$work/a:b" lib 'a prefix with a colon works'
try "$work/\$LIB [x]*" lib 'a prefix with characters that ld.so and the shell expand works'
# inner PREFIX: the libraries of a run within one that records allocations.
inner() {
	# shellcheck disable=SC2016 # the inner shell expands them
	env -u PILLION_BUILD_DIR PILLION_STATS=false "$1/bin/pillion" -f -o p --memory=native \
		sh -c 'exec "$0" -f -o q --memory=none sh -c "echo \"\$LD_PRELOAD\""' "$1/bin/pillion" 2>err |
		sed 's@[^:]*/@@g'
}
is "$(inner "$work/sixty four")" "$(inner "$work/plain")" \
	'a prefix with a space: an inner run replaces the other library'
cp "$(readlink -f "$(command -v sleep)")" "$work/sixty four/sleeper"
PILLION_STATS=summary "$PILLION" -f -o p "$work/sixty four/sleeper" 0.2 >out 2>err
like "$(cat err)" '^sleeper ' 'a program in a directory with a space: the summary has its name'
like "$(report export -q -t folded --metric calls -o - p.pillion)" '^sleeper 0.2 \[[0-9]+\];' 'and the flame graph'
link=$(env -u PILLION_BUILD_DIR PILLION_STATS=false "$work/a:b/bin/pillion" -f -o p \
	sh -c 'echo ${LD_PRELOAD%%:*}' 2>err)
case $link in
/tmp/pillion-"$(id -u)"-*/libpillion.so) ;;
*) # it is removed below: never remove a directory that is not ours
	fail 'the preload is in a directory of ours' "LD_PRELOAD is $link"
	link=$work/none/libpillion.so
	;;
esac
is "$(readlink "$link")" "$work/a:b/lib/pillion/libpillion.so" 'a prefix with a colon: the preload is a link to it'
is "$(stat -c '%a %u' "${link%/*}")" "700 $(id -u)" 'the directory of the link is private'
is "$(env -u PILLION_BUILD_DIR PILLION_STATS=false "$work/a:b/bin/pillion" --ld-audit -f -o p \
	sh -c 'echo "$LD_AUDIT"' 2>err)" \
	"${link%/*}/libpillion-audit.so" 'a prefix with a colon: the auditor is a link to it'
is "$(grep -cv "^$capture_line" err)" 0 'a prefix with a colon: no message of the loader'
rm "$work/plain/lib/pillion/libpillion-audit.so"
is "$(env -u PILLION_BUILD_DIR "$work/plain/bin/pillion" --ld-audit -f -o none echo ran 2>err; echo $?)" 2 \
	'a missing auditor: status 2'
like "$(cat err)" '^pillion: --ld-audit: .*/libpillion-audit.so: No such file' \
	'a missing auditor: the message gives the reason'
ln -s "$work/a:b/bin/pillion" here
is "$(env -u PILLION_BUILD_DIR PILLION_STATS=false ./here -f -o p echo x 2>err)" x 'it runs through a link'
# Another user created the link first.
rm -rf "${link%/*}"
ln -s "$work" "${link%/*}"
is "$(env -u PILLION_BUILD_DIR PILLION_STATS=false "$work/a:b/bin/pillion" -f -o p echo x 2>err)" x \
	'a link in that place is not followed'
rm -f "${link%/*}"
for d in /tmp/pillion-"$(id -u)"-*; do
	case $(readlink "$d/libpillion.so") in "$work"/*) rm -rf "$d" ;; esac
done
done_testing
