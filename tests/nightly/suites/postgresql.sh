# SPDX-License-Identifier: Apache-2.0
# PostgreSQL's pg_regress: the SQL tests of Debian's source package on the installed server.
# shellcheck shell=bash disable=SC2034
subset='pg_regress: the first groups of parallel_schedule, 4 connections'
packages='postgresql postgresql-contrib postgresql-server-dev-all libpq-dev zlib1g-dev libreadline-dev bison flex'
user=nobody

obtain() {
	debian_source "postgresql-$(version)"
}

version() {
	local directories=(/usr/lib/postgresql/*/bin/postgres)
	local newest=${directories[-1]%/bin/postgres}
	echo "${newest##*/}"
}

# pg_regress and the library of the tests; the server is the installed one.
build() {
	cd source && ./configure -q --without-icu CFLAGS='-O1 -g0' --with-system-tzdata=/usr/share/zoneinfo &&
		make -s -C src/backend generated-headers && make -s -j2 -C src/port && make -s -j2 -C src/common &&
		make -s -j2 -C src/interfaces/libpq && make -s -j2 -C src/test/regress
}

run() {
	local regress=$SOURCE/source/src/test/regress bin
	bin=$("/usr/lib/postgresql/$(version)/bin/pg_config" --bindir)
	sed -n '/^test:/p' "$regress/parallel_schedule" | head -n 12 >schedule
	"$regress/pg_regress" --temp-instance="$PWD/instance" --bindir="$bin" --inputdir="$regress" \
		--outputdir="$PWD" --dlpath="$regress" --max-connections=4 --schedule=schedule
	local status=$?
	echo '== log of the server'
	grep -E 'PANIC|crash|terminated by signal' log/postmaster.log
	return $status
}

outcomes() { # LOG
	sed -nE 's/^(test)? +([a-z0-9_]+) +\.\.\. (ok|FAILED|failed)\>.*/\2\t\3/p' "$1"
	echo "crashes of the server	$(sed '1,/^== log of the server/d' "$1" | grep -cE 'PANIC|crash|terminated by signal')"
}
