# SPDX-License-Identifier: Apache-2.0
# busybox's own tests, of Debian's source package, on a busybox built from it with shared libraries.
# shellcheck shell=bash disable=SC2034
subset='testsuite/runtest -v: all applets, and ash'
packages='gcc make zip bzip2 libcrypt-dev'
user=nobody

obtain() {
	debian_source busybox
}

build() {
	cd source && make -s defconfig >/dev/null && sed -i -E 's/^CONFIG_TC=y/# CONFIG_TC is not set/' .config &&
		make -s oldconfig >/dev/null < <(yes '') && make -s -j2 SKIP_STRIP=y busybox
}

# Its ash and hush have a test of their own each, ash_test/*/*.tests beside *.right.
run() {
	cp -a "$SOURCE/source" tree && cd tree/testsuite || return
	export bindir="$PWD/.." tsdir="$PWD" SKIP_KNOWN_BUGS=
	./runtest -v
	rm ../shell/ash_test/ash-misc/exitcode_trap2.tests # a race of its own: bare, either outcome
	cd ../shell/ash_test && mkdir -p ../bin && ln -sf ../../busybox ./ash && CONFIG="$PWD/../../.config" \
		THIS_SH="$PWD/ash" timeout 600 ./run-all
}

outcomes() { # LOG
	sed -nE 's/^(PASS|FAIL|SKIPPED|UNTESTED): (.*)$/\2\t\1/p; s/^([a-z_]+)\/([^ ]+): (ok|fail|skip.*)$/\1\/\2\t\3/p
		s/^(ash-[a-z_]+)\/([^ ]+): +(ok|fail.*|skip.*)$/\1\/\2\t\3/p' "$1"
}
