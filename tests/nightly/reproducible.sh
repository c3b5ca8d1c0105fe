#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/nightly/reproducible.sh: scripts/dist of the last commit in two directories, with static libraries built in
# each: all released files have the same bytes. And how long it takes with its cache (timed.sh). Needs what scripts/dist
# needs.
#   REPRODUCIBLE_CACHE  the first build's cache, which is kept; default: /var/cache/pillion-nightly/dist
#   REPRODUCIBLE_DIST   where the files of the first build are left; default: nowhere
set -u
. "$(dirname "$0")/../e2e/lib.sh"
. "$tests_dir/timed.sh"
tree=${tests_dir%/tests/*}
cache=${REPRODUCIBLE_CACHE:-/var/cache/pillion-nightly/dist}

clone() { # DIRECTORY
	git clone -q "$tree" "$1"
	cp -R "$tree"/subprojects/libunwind-*/ "$tree/subprojects/packagecache" "$1/subprojects/" 2>/dev/null
}

# What was downloaded, which is checked by hashes and signatures, but nothing that was compiled.
copy_downloads() { # DIRECTORY
	mkdir -p "$1"
	cp -R "$cache/packages" "$cache/sources" "$cache/wheels" "$1/"
}

mkdir -p "$cache"
clone one
if ! one/scripts/dist --cache "$cache" >log 2>&1; then
	why=$(tail -n 1 log)
	case $why in
	*'packages are missing'*) skip_all "$why" ;;
	esac
	fail 'scripts/dist makes the released files' "$(tail -n 30 log)"
	done_testing
fi
pass 'scripts/dist makes the released files'
sums=$(cat one/dist/SHA256SUMS)
[ -z "${REPRODUCIBLE_DIST:-}" ] || { mkdir -p "$REPRODUCIBLE_DIST" && cp one/dist/* "$REPRODUCIBLE_DIST/"; }

rm -rf one/dist one/build-dist
time_begins
ok 'once more, with its cache' one/scripts/dist --cache "$cache"
time_ends 300 'scripts/dist with its cache'
is "$(cat one/dist/SHA256SUMS)" "$sums" 'the same bytes in the same directory'

elsewhere=two/with/a-longer-name
clone "$elsewhere"
copy_downloads two/cache
ok 'in another directory, with libraries of its own' "$elsewhere/scripts/dist" --cache "$work/two/cache"
while read -r sum name; do
	[ "$(sha256sum <"$elsewhere/dist/$name" | cut -d ' ' -f 1)" = "$sum" ] || differ=${differ:+$differ }$name
done <<<"$sums"
is "${differ:-}" '' 'the same bytes in the other directory'
is "$(wc -l <<<"$sums")" "$(wc -l <"$elsewhere/dist/SHA256SUMS")" 'of as many files'
done_testing
