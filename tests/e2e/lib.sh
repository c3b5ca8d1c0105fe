# SPDX-License-Identifier: Apache-2.0
# What every end-to-end script sources first: TAP, a scratch directory, the path of pillion.
#   PILLION            path of the pillion script; default: scripts/pillion beside this tree
#   PILLION_BUILD_DIR  where Meson built
# Ends with done_testing, which prints the plan; a script that dies before it prints none, and fails.

tests_dir=$(CDPATH='' cd -P -- "$(dirname -- "$0")" && pwd)
PILLION=${PILLION:-$tests_dir/../../scripts/pillion}
export PILLION_BUILD_DIR="${PILLION_BUILD_DIR:-$tests_dir/../../build}"
count=0
failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/pillion-e2e.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
cd "$work" || exit 99

# Programs of tests/targets, the object that is preloaded, the report.
targets=$PILLION_BUILD_DIR/tests/targets
library=$PILLION_BUILD_DIR/preload/libpillion.so

report() {
	timeout 120 "$PILLION_BUILD_DIR/report/pillion-report" "$@"
}

# num_calls NAME FUNCTION: recorded calls in NAME.pillion, as osrt_sum has them; empty: none.
num_calls() {
	report stats -r osrt_sum -f csv "$1.pillion" 2>/dev/null | awk -F, -v name="$2" '$9 == name { print $3 }'
}

# pillion ARG...: without a summary of its own, and not for ever.
pillion() {
	PILLION_STATS=${PILLION_STATS:-false} timeout --foreground 60 "$PILLION" "$@"
}

diag() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

pass() { # TEXT
	count=$((count + 1))
	printf 'ok %d - %s\n' "$count" "$1"
}

fail() { # TEXT [DIAGNOSIS...]
	count=$((count + 1))
	failed=$((failed + 1))
	printf 'not ok %d - %s\n' "$count" "$1"
	shift
	[ $# -eq 0 ] || diag "$@"
}

# ok TEXT COMMAND...: the command succeeds. Its output is shown only if it does not.
ok() {
	ok_text=$1
	shift
	if ok_output=$("$@" 2>&1); then
		pass "$ok_text"
	else
		fail "$ok_text" "$* gave status $?" "$ok_output"
	fi
}

# not_ok TEXT COMMAND...: the command fails.
not_ok() {
	ok_text=$1
	shift
	if ok_output=$("$@" 2>&1); then
		fail "$ok_text" "$* succeeded" "$ok_output"
	else
		pass "$ok_text"
	fi
}

is() { # GOT WANTED TEXT
	if [ "$1" = "$2" ]; then
		pass "$3"
	else
		fail "$3" "got:    $1" "wanted: $2"
	fi
}

like() { # GOT REGEX TEXT (extended regular expression, any line of GOT)
	if printf '%s\n' "$1" | grep -Eq -- "$2"; then
		pass "$3"
	else
		fail "$3" "got:    $1" "wanted: /$2/"
	fi
}

unlike() { # GOT REGEX TEXT
	if printf '%s\n' "$1" | grep -Eq -- "$2"; then
		fail "$3" "got:        $1" "not wanted: /$2/"
	else
		pass "$3"
	fi
}

skip() { # TEXT REASON
	count=$((count + 1))
	printf 'ok %d - %s # SKIP %s\n' "$count" "$1" "$2"
}

# adopt COMMAND...: its lines "ok - ..." and "not ok - ..." become checks of ours; all of them are in ./seen.
adopt() {
	timeout 240 "$@" >seen 2>err
	[ ! -s err ] || diag "$(cat err)"
	while read -r line; do
		case $line in
		'ok - '*) pass "${line#ok - }" ;;
		'not ok - '*) fail "${line#not ok - }" ;;
		*) printf '%s\n' "$line" ;;
		esac
	done <seen
}

# skip_all REASON: for a script that cannot run here at all.
skip_all() {
	printf '1..0 # SKIP %s\n' "$1"
	exit 0
}

done_testing() {
	printf '1..%d\n' "$count"
	[ "$failed" -eq 0 ]
	exit
}
