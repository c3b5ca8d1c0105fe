# SPDX-License-Identifier: Apache-2.0
# Part of Node's core tests, of Debian's source package, on the installed node.
# shellcheck shell=bash disable=SC2034
subset='test/parallel: every sixth on processes, files, signals, pipes, sockets, threads; every 40th of the others'
packages='nodejs'
user=nobody

obtain() {
	debian_source nodejs
}

build() {
	test -d source/test/parallel
}

# Two at a time, each in a process of its own, as tools/test.py runs them.
run() {
	local topics='child-process|cluster|fs-read|fs-write|fs-watch|signal|stdio|pipe|net-|worker|process|dgram|tls-'
	# shellcheck disable=SC2016
	cd "$SOURCE/source" && find test/parallel -name 'test-*.js' | sort | awk -v topics="/test-($topics)" '
		$0 ~ topics && ++count[1] % 6 == 0 || $0 !~ topics && ++count[2] % 40 == 0' |
		NODE_TEST_DIR=$TMPDIR xargs -P 2 -n 1 bash -c '
			flags=$(sed -n "s|^// Flags: ||p" "$1" | head -n 1)
			TEST_THREAD_ID=$$ timeout 60 node $flags "$1" </dev/null >/dev/null 2>&1
			echo "== $1 $?"' node
}

outcomes() { # LOG
	sed -nE 's/^== (test[^ ]*) ([0-9]+)$/\1\t\2/p' "$1"
}
