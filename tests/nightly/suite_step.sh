#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# suite_step.sh SUITE STEP [ARG]...: one step of the suite in suites/SUITE.sh; suites.py calls this.
#
# A suite's file sets
#   subset     which part of the suite is run, for the table of tests/README.md
#   packages   the Debian packages that it needs
#   user       nobody, if the suite refuses to run as root
#   limit      seconds until a run is ended (1200)
#   tests      what else decides which tests are run, such as a list that an environment variable may replace
# $here is the directory of this file, $SOURCE the one of the sources. The file defines
#   obtain     puts the sources into the current directory, which is $SOURCE; once
#   build      builds them there; once
#   run        runs the tests in an empty current directory, which is also HOME and TMPDIR; its output is the log
#   outcomes LOG   prints one line TEST<tab>OUTCOME for each test of the log
#   differs CONFIGURATION TEST   prints the reason, if this test has to differ under that configuration
set -u -o pipefail

here=$(dirname "$(readlink -f "$0")")
name=$1
step=$2
shift 2
subset='' packages='' user='' limit=1200 tests=''

# Unpacks the source package of a Debian or Ubuntu package into ./source: the newest one, or, if the mirror lacks its
# files, the newest outside of the security updates.
debian_source() { # PACKAGE
	local without
	for without in ^$ -security; do
		apt_lists "$without"
		apt_get update && apt_get --download-only source "$1" &&
			dpkg-source --no-check -x ./*.dsc source && return
		rm -rf ./*.dsc apt
	done
	return 1
}

apt_lists() { # WITHOUT
	local origin uri release component
	mkdir -p apt/lists/partial apt/cache
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(ORIGIN) $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
		sort -u | grep -ve "$1" | while read -r origin uri release component; do
		case $origin in
		Debian | Ubuntu) echo "deb-src $uri $release $component" ;;
		esac
	done >apt/sources.list
}

apt_get() {
	apt-get -q -o Dir::Etc::SourceList="$PWD/apt/sources.list" -o Dir::Etc::SourceParts=- \
		-o Dir::State::Lists="$PWD/apt/lists" -o Dir::Cache="$PWD/apt/cache" -o APT::Sandbox::User= "$@"
}

# Copies a tree that somebody has built into ./source: the directory that an environment variable names.
built() { # VARIABLE FILE: FILE is in the tree once it is built
	local directory=${!1-}
	if [ -z "$directory" ]; then
		echo "$1 names no built tree: tests/README.md says what it must hold"
		return 1
	elif [ ! -e "$directory/$2" ]; then
		echo "$1=$directory has no $2"
		return 1
	fi
	cp -a "$directory" source
}

# A virtual environment in ./venv with packages of PyPI.
pypi() { # PACKAGE...
	"${NIGHTLY_PYTHON:-python3}" -m venv venv && venv/bin/pip -q --disable-pip-version-check install "$@"
}

differs() {
	:
}

# shellcheck disable=SC1090
. "$here/suites/$name.sh" || exit
case $step in
variables) printf '%s\0' "$subset" "$packages" "$user" "$limit" "$tests" ;;
*) "$step" "$@" ;;
esac
