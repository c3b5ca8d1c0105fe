#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/nightly/newcomer_path.sh: how long a person waits until the first summary, in roots of Debian 12 that have
# nothing else: from the wheel and the tarball of scripts/dist (a root with Python and pip), and from a clone and a
# source archive by scripts/demo (a root with git), which installs compiler and libraries first. Each figure is printed
# beside its bound, as timed.sh says. Needs root and a mirror of Debian (root.sh); the source is that of the last
# commit.
#   PILLION_DIST  where scripts/dist wrote; default: dist/ of this tree
set -u
. "$(dirname "$0")/../e2e/lib.sh"
. "$tests_dir/root.sh"
. "$tests_dir/timed.sh"
tree=${tests_dir%/tests/*}
dist=${PILLION_DIST:-$tree/dist}
needs_roots

# timed BOUND TEXT ROOT SCRIPT: one check. SCRIPT runs in the root, where /mnt/shared is, and has to print a summary;
# its lines that begin with # are printed.
timed() {
	time_begins
	enter_root "$3" "$work/shared" -- sh -euc "$4" >out 2>&1
	if grep -qE '^recording +[0-9]+ recorded, 0 lost' out; then
		time_ends "$1" "$2"
		sed -n 's/^# /# of these: /p' out
	else
		fail "$2: a summary" "$(tail -n 30 out)"
	fi
}

root_for() { # NAME PACKAGE[,PACKAGE]...
	make_root "$1" bookworm "$2" || {
		skip "$1" "$why"
		return 1
	}
}

# ---- from the released files ----

first_job='-o first python3 /mnt/shared/first.py'
mkdir shared
cp "$tree/examples/tutorials/first.py" shared/
chmod -R a+rX shared
from_wheel='
	cd
	python3 -m venv venv
	venv/bin/pip --disable-pip-version-check install --no-index /mnt/shared/*.whl
	venv/bin/pillion '$first_job
from_tarball='
	cd
	tar -xf /mnt/shared/pillion.tar.gz
	pillion-*/bin/pillion '$first_job
wheel=$(echo "$dist"/pillion-*manylinux*_"$(uname -m)".whl)
if [ ! -e "$wheel" ]; then
	skip 'from the released files' "nothing in $dist: run scripts/dist"
elif root_for newcomer-python python3,python3-venv,python3-pip; then
	cp "$wheel" shared/
	cp "${wheel%/*}/$(basename "$wheel" | sed 's/-py3.*//')-$(uname -m).tar.gz" shared/pillion.tar.gz
	timed 20 'from pip install of the wheel to the first summary' newcomer-python "$from_wheel"
	timed 20 'from the tarball to the first summary' newcomer-python "$from_tarball"
fi

# ---- from the source ----

demo='
	scripts/demo --yes 2>&1 | while IFS= read -r line; do
		case $line in
		"== Set-up"*) begin=$(date +%s) ;;
		"building in"*) echo "# set-up $(($(date +%s) - begin)) s" && begin=$(date +%s) ;;
		"== A Python"*) echo "# build $(($(date +%s) - begin)) s" ;;
		esac
		printf "%s\n" "$line"
	done
	test -s build-demo/demo/python.html'
if root_for newcomer-git git; then
	git clone -q --bare "$tree" shared/pillion.git
	git -C "$tree" archive --prefix=pillion/ HEAD | gzip >shared/source.tar.gz
	timed 90 'from a clone to the end of scripts/demo' newcomer-git "
		cd
		git clone -q /mnt/shared/pillion.git
		cd pillion$demo"
	timed 90 'from a source archive to the end of scripts/demo' newcomer-git "
		cd
		tar -xf /mnt/shared/source.tar.gz
		cd pillion$demo"
fi
done_testing
