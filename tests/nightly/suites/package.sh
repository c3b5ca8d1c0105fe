# SPDX-License-Identifier: Apache-2.0
# A Debian package built by dpkg-buildpackage, its own tests included: each file of the packages, byte for byte.
# shellcheck shell=bash disable=SC2034
subset='gzip: configure, make check, fakeroot, dh; the digest of each file of the packages'
packages='dpkg-dev debhelper fakeroot texinfo less gcc make'
user=nobody

obtain() {
	debian_source gzip
}

build() {
	test -e source/debian/rules
}

# Always in one directory: its name may be in the binaries.
run() {
	rm -rf "$SOURCE/building" && mkdir "$SOURCE/building" && cp -a "$SOURCE/source" "$SOURCE/building/gzip" &&
		cd "$SOURCE/building/gzip" && dpkg-buildpackage -B -us -uc -d -rfakeroot -j2
	local status=$? package
	for package in ../*.deb; do
		echo "== $(sha256sum "$package")"
		dpkg-deb --fsys-tarfile "$package" | tar -tvf - | sed 's/^/-- /'
	done
	return $status
}

outcomes() { # LOG
	sed -nE 's/^== ([0-9a-f]+) +(.*)$/\2\t\1/p; s/^-- (([^ ]+ +){5})(.*)$/\3\t\1/p
		s/^(PASS|FAIL|SKIP|ERROR): (.*)$/\2\t\1/p' "$1"
}
