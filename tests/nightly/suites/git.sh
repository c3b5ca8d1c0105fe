# SPDX-License-Identifier: Apache-2.0
# Part of git's own t/, of Debian's source package, on the installed git.
# shellcheck shell=bash disable=SC2034
subset='init, SIGPIPE, filter processes, run-command, cat-file, packs, push, fetch, gc, pager, maintenance'
packages='git perl'
user=nobody

obtain() {
	debian_source git
}

# The helpers of the tests; git itself is the installed one.
build() {
	cd source && make -j2 NO_CURL=1 NO_EXPAT=1 NO_GETTEXT=1 NO_TCLTK=1 CFLAGS='-O1 -g0' all
}

run() {
	local number script
	cd "$SOURCE/source/t" || return
	for number in t0001 t0005 t0021 t0061 t1006 t5300 t5400 t5510 t5516 t6500 t7006 t7900; do
		for script in "$number"-*.sh; do
			echo "== $script"
			GIT_TEST_INSTALLED=$(dirname "$(command -v git)") TERM=dumb timeout 300 \
				bash "./$script" --root="$TMPDIR/trash" </dev/null
			echo "== status $?"
		done
	done
}

outcomes() { # LOG
	awk '/^== status / { print script "\t" $3 } /^== t/ { script = $2 }
		/^(not )?ok [0-9]+/ { print script " " ($1 == "not" ? $3 : $2) "\t" ($1 == "not" ? "not ok" : "ok") \
			($0 ~ /# (SKIP|skip)/ ? " skip" : "") }' "$1"
}
