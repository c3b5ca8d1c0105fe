#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs as root inside the root of another distribution, for install.sh: installs the files of scripts/dist one after the
# other, records a job with each as root and as a user, upgrades, removes. Prints "ok - TEXT" and "not ok - TEXT".
#   install_inside.sh NAME DIST NEXT JOB
# NAME is for the texts; DIST has what scripts/dist made, NEXT a wheel and a .deb of a later version, JOB is a program.
set -u
export LC_ALL=C HOME=/root PYTHONDONTWRITEBYTECODE=1

python_is() { # MINOR: at least Python 3.MINOR
	python3 -c "import sys; sys.exit(sys.version_info < (3, $1))"
}

check() { # TEXT COMMAND...
	text=$1
	shift
	if "$@" >"$here/output" 2>&1; then
		echo "ok - $name: $text"
	else
		echo "not ok - $name: $text"
		sed 's/^/# /' "$here/output" | tail -n 15
	fi
}

list() {
	find / -xdev \( -path /proc -o -path /sys -o -path /tmp -o -path /var/log -o -path /var/cache \) -prune -o \
		! -type d ! -path '/var/lib/dpkg/*-old' -print | sort
}

# What a user does first: record, read tables, and each feature that rests on a library linked statically.
first_use() { # COMMAND
	"$1" --version && "$1" --version | grep -q '^pillion [0-9]' || return
	"$1" -o c python3 "$job" >out 2>err || { cat out err && return 1; }
	cat err
	grep -q '^recording .* recorded, 0 lost' err || return
	[ "$("$1" stats -q -r processes -f csv c.pillion | grep -c 'exit 0')" -ge 5 ] || return
	"$1" stats -r osrt_sum c.pillion | grep -q ' write$' || return
	# libdw, sqlite, zstd, zlib
	"$1" export -t folded -o - c.pillion | grep -q "$(basename "$job")" || return
	"$1" query c.pillion 'SELECT count(*) AS n FROM processes' | grep -q '[5-9]' || return
	"$1" export -t sqlite -o c.sqlite c.pillion && [ -s c.sqlite ] || return
	"$1" pack c.pillion && "$1" stats -q -r processes c.pillpack >/dev/null || return
	"$1" export -t html -o c.html c.pillpack && [ -s c.html ]
}

as_root() { # COMMAND
	mkdir "$here/run" && cd "$here/run" && first_use "$1"
	status=$?
	cd / && rm -rf "$here/run"
	return "$status"
}

as_user() { # COMMAND
	mkdir "$here/run" && chown "$user" "$here/run" &&
		su -s /bin/sh "$user" -c "cd '$here/run' && sh '$0' --first-use '$1' '$job'"
	status=$?
	cd / && rm -rf "$here/run"
	return "$status"
}

same_files() { # the files of this root are those from before
	list >"$here/after"
	diff "$here/before" "$here/after"
}

unpack() { # ARCHIVE DIRECTORY: small images have no xz
	if command -v xz; then tar -C "$2" -xf "$1"; else python3 -m tarfile -e "$1" "$2"; fi
}

try_tarball() {
	list >"$here/before"
	mkdir -p '/opt/two words' /root/bin
	check 'tarball: unpacked' unpack "$dist/pillion-$version-$(uname -m).tar.xz" '/opt/two words'
	ln -s "/opt/two words/pillion-$version-$(uname -m)/bin/pillion" /usr/local/bin/pillion
	check 'tarball: a job of root, through a link' as_root pillion
	check 'tarball: a job of a user, through a link' as_user pillion
	rm -rf '/opt/two words' /usr/local/bin/pillion
	check 'tarball: no file remains' same_files
}

try_deb() {
	command -v dpkg >/dev/null || return 0
	list >"$here/before"
	check '.deb: installed' dpkg -i "$dist/pillion_${version}_$(dpkg --print-architecture).deb"
	check '.deb: a job of root' as_root pillion
	check '.deb: a job of a user' as_user pillion
	check '.deb: upgraded' dpkg -i "$next"/pillion_*.deb
	check '.deb: a job after the upgrade' as_user pillion
	check '.deb: removed' dpkg --purge pillion
	check '.deb: no file remains' same_files
}

try_rpm() {
	command -v rpm >/dev/null || return 0
	database=$here/rpm
	list >"$here/before"
	check '.rpm: installed' rpm -i --dbpath "$database" --nodeps "$dist/pillion-$version-1.$(uname -m).rpm"
	check '.rpm: verified' rpm -V --dbpath "$database" --nodeps pillion
	check '.rpm: a job of root' as_root pillion
	check '.rpm: a job of a user' as_user pillion
	check '.rpm: removed' rpm -e --dbpath "$database" --nodeps pillion
	check '.rpm: no file remains' same_files
}

annotates() {
	"$here/venv/bin/python3" -c 'import pillion
with pillion.annotate("range"):
    print(pillion.__version__)'
}

from_wheel_to_summary() {
	"$here/venv/bin/pip" --disable-pip-version-check install --no-index \
		"$dist/pillion-$version"-py3-*_"$(uname -m)".whl &&
		cd "$here" && venv/bin/pillion -o first python3 -c 'print(sum(range(1000000)))' 2>&1 | grep '^recording'
}

try_wheel() {
	python_is 8 || { echo "ok - $name: wheel # SKIP Python older than 3.8" && return; }
	list >"$here/before"
	check 'wheel: a virtual environment' python3 -m venv "$here/venv"
	begin=$(date +%s.%N)
	check 'wheel: installed, and a first summary' from_wheel_to_summary
	echo "# $name: from the wheel to the first summary $(echo "$begin $(date +%s.%N)" |
		awk '{ printf "%.1f s", $2 - $1 }')"
	rm -rf "$here/first.pillion"
	find "$here/venv" ! -type d | grep -v pillion | sort >"$here/pip-before"
	check 'wheel: import pillion' annotates
	check 'wheel: a job of root' as_root "$here/venv/bin/pillion"
	check 'wheel: a job of a user' as_user "$here/venv/bin/pillion"
	check 'wheel: upgraded' "$here/venv/bin/pip" --disable-pip-version-check install --no-index "$next"/*.whl
	check 'wheel: a job after the upgrade' as_user "$here/venv/bin/pillion"
	check 'wheel: removed' "$here/venv/bin/pip" --disable-pip-version-check uninstall -y pillion
	find "$here/venv" ! -type d | sort >"$here/pip-after"
	check 'wheel: no file remains in the environment' diff "$here/pip-before" "$here/pip-after"
	check 'wheel: no file remains elsewhere' same_files
}

[ "$1" != --first-use ] || {
	job=$3
	first_use "$2"
	exit
}
name=$1
dist=$2
next=$3
job=$4
version=$(basename "$dist"/pillion-*-"$(uname -m)".tar.xz "-$(uname -m).tar.xz")
version=${version#pillion-}
user=nobody
here=$(mktemp -d)
chmod 755 "$here"
echo "# $name: $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release), $(ldd --version | sed -n '1s/.* //p')," \
	"$(python3 --version), $(basename "$job")"
try_tarball
try_deb
try_rpm
try_wheel
rm -rf "$here"
