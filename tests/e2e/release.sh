#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# scripts/release in a repository of its own: what it accepts, and each thing that it refuses.
. "$(dirname -- "$0")/lib.sh"

root=${tests_dir%/tests/*}
command -v git >/dev/null || skip_all 'no git'
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b \
	GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
mkdir -p tree/scripts tree/python/pillion tree/runtime/shared/format tree/tests/data/captures/1.2.3 &&
	cd tree || exit 99
cp "$root/scripts/release" scripts/
printf "project('pillion', 'c',\n  version: '1.2.3',\n)\n" >meson.build
printf '# Changes\n\n## 1.2.3, 2026-11-23\n' >CHANGELOG.md
printf '__version__ = "1.2.3"\n' >python/pillion/__init__.py
touch runtime/shared/format/format.h tests/data/captures/1.2.3/x
git init -q && git add -A && git commit -qm begin

release() {
	timeout "$patience" scripts/release --quick
}
refused() { # TEXT
	release >../out 2>&1
	is "$? $(grep -c '^wrong' ../out)" '1 1' "refused: $1"
	like "$(cat ../out)" "^wrong +.*$1" "and why: $1"
	git checkout -q . && git clean -qfd
}
release >../out 2>&1
is "$? $(grep -c '^wrong' ../out)" '0 0' 'a tree that can be released'
like "$(tail -1 ../out)" 'git tag -s v1.2.3' 'the next command'
touch left && refused 'left over in the tree'
git tag v1.2.3 && refused 'no tag of this version' && git tag -d v1.2.3 >/dev/null
# change FILE TEXT...: a commit that is taken back by undo
change() {
	printf '%b' "$2" >"$1" && git commit -qam change
}
undo() {
	git reset -q --hard HEAD~
}
change CHANGELOG.md '# Changes\n\n## 1.2.3, not released\n' && refused 'CHANGELOG.md begins with' && undo
change python/pillion/__init__.py '__version__ = "1.2.2"\n' && refused 'the Python package' && undo
git rm -qr tests/data && git commit -qm remove && printf '/* */\n' >runtime/shared/format/format.h &&
	git commit -qam format
refused 'captures of this trace format'
git reset -q --hard HEAD~2
done_testing
