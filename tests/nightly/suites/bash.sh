# SPDX-License-Identifier: Apache-2.0
# bash's own tests, of Debian's source package, on a bash built from it: each run-* file of tests/.
# shellcheck shell=bash disable=SC2034
subset='all of tests/run-*: jobs, traps, redirections, coprocesses, history, arrays, printf'
packages='gcc make bison'
user=nobody

obtain() {
	debian_source bash
}

build() {
	if [ ! -e source/configure ]; then
		(cd source && tar xf bash-*.tar.* --strip-components=1) || return
	fi
	cd source && ./configure -q && make -s -j2 && make -s -j2 recho zecho printenv xcase
}

# A test prints what differs from what is expected of it; that is the outcome, process IDs and times left out.
run() {
	local script
	cp -a "$SOURCE/source/tests" . && cd tests || return
	export BUILD_DIR=$SOURCE/source THIS_SH=$SOURCE/source/bash PATH=$SOURCE/source:$PATH BASH_TSTOUT=$TMPDIR/tstout
	export TSTOUT=$BASH_TSTOUT
	for script in run-*; do
		case $script in
		run-all | run-minimal | run-gprof) continue ;;
		esac
		timeout -s KILL 120 sh "./$script" >../log 2>&1 </dev/null
		echo "== $script $? $(sed -E 's/[0-9]{3,}/N/g' ../log | cksum | cut -d' ' -f1)"
		cat ../log
	done
}

outcomes() { # LOG
	sed -nE 's/^== (run-[^ ]+) ([0-9]+ [0-9]+)$/\1\t\2/p' "$1"
}

differs() { # CONFIGURATION TEST
	case $2 in
	run-read) echo 'read7.sub: a timer of 10 us races with the end of the input; bare has both outcomes, too' ;;
	esac
}
