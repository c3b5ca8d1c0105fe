# SPDX-License-Identifier: Apache-2.0
# What every end-to-end script sources first: TAP, a scratch directory, the path of pillion.
#   PILLION            path of the pillion script; default: scripts/pillion beside this tree
#   PILLION_BUILD_DIR  where Meson built
# Ends with done_testing, which prints the plan; a script that dies before it prints none, and fails.

tests_dir=$(CDPATH='' cd -P -- "$(dirname -- "$0")" && pwd)
PILLION=${PILLION:-$tests_dir/../../scripts/pillion}
export PILLION_BUILD_DIR="${PILLION_BUILD_DIR:-$tests_dir/../../build}"
# Seconds that one command may take: ten times what it takes on a machine with something else to do, but a hang is ended.
patience=${PILLION_E2E_PATIENCE:-240}
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
	timeout "$patience" "$PILLION_BUILD_DIR/report/pillion-report" "$@"
}

# num_calls NAME FUNCTION: recorded calls in NAME.pillion, as osrt_sum has them; empty: none.
num_calls() {
	report stats -r osrt_sum -f csv "$1.pillion" 2>/dev/null | awk -F, -v name="$2" '$9 == name { print $3 }'
}

# Whether this build has native stacks.
has_unwinder() {
	"$PILLION" --version | grep -q 'built-in stack walker; unwind tables read by libunwind [0-9]'
}

# pillion ARG...: without a summary of its own, and not for ever.
pillion() {
	PILLION_STATS=${PILLION_STATS:-false} timeout --foreground "$patience" "$PILLION" "$@"
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

# eventually COMMAND...: waits until it succeeds; a machine has two minutes for what it is to do by itself, a hang ends.
eventually() {
	eventually_tries=0
	until "$@"; do
		eventually_tries=$((eventually_tries + 1))
		[ $eventually_tries -lt 2400 ] || return 1
		sleep 0.05
	done
}

# adopt COMMAND...: its lines "ok - ..." and "not ok - ..." become checks of ours; all of them are in ./seen.
adopt() {
	timeout "$((patience * 2))" "$@" >seen 2>err
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

# ranks N COMMAND...: N of them under mpirun.
ranks() {
	timeout "$patience" mpirun -n "$1" --oversubscribe $([ "$(id -u)" -ne 0 ] || echo --allow-run-as-root) "${@:2}"
}

needs_mpirun() {
	command -v mpirun >/dev/null || skip_all 'no mpirun'
	ranks 1 true >out 2>err || skip_all "mpirun does not run here: $(head -1 err)"
}

# ---- the simulated GPU of tests/doubles ----

# on_doubles: from here on this is a machine with that GPU; a build without it is skipped.
on_doubles() {
	doubles=$PILLION_BUILD_DIR/tests/doubles
	nm -D --defined-only "$library" | awk '{ print $3 }' >exported
	grep -q '^cudaMalloc$' exported && [ -e "$doubles/libcuda.so.1" ] || skip_all 'built without CUDA headers'
	export LD_LIBRARY_PATH="$doubles:$targets"
	unset CUDA_INJECTION64_PATH
}

# accounted NAME [OPTION...] COMMAND...: recorded as NAME.pillion, with the GPU's account in log.
accounted() {
	rm -rf log "$1.pillion"
	PILLION_SIMGPU_LOG=log pillion -o "$@" >out 2>err
}

# account_says SCRIPT ARG...: compares with the account; no bytecode beside the scripts.
account_says() {
	python3 -B "$tests_dir/$1" "${@:2}"
}

log_has() { # LINES, or more
	[ -s log ] && [ "$(wc -l <log)" -gt "$1" ]
}

log_flushed() {
	[ "$(grep -c '"ev":"cupti_flushed"' log)" -ge 2 ]
}

# kill_accounted LINES OPTION...: records cuda_launches as `killed`, and kills it once its account has a random number of lines, at
# least LINES and at most twice as many; with `flushed` set, up to a second after it tells that buffers were handed over, twice. Fails unless
# the kill was what ended it.
kill_accounted() {
	local launcher pid enough=$(($1 + RANDOM % $1))
	shift
	rm -rf killed.pillion log
	PILLION_SIMGPU_LOG=log PILLION_STATS=false "$PILLION" -o killed "$@" "$doubles/cuda_launches" 100000 >out 2>err &
	launcher=$!
	eventually log_has $enough
	[ -z "${flushed:-}" ] || { eventually log_flushed && sleep "0.$((RANDOM % 900 + 100))"; }
	pid=$(cat /proc/$launcher/task/*/children 2>/dev/null)
	kill -KILL $pid
	wait $launcher
	[ $? -eq 137 ]
}

ledger() { # NAME FACT: its count
	report stats -q -r ledger -f csv "$1.pillion" | awk -F, -v fact="$2" '$3 == fact { n += $4 } END { print n + 0 }'
}

notes() { # NAME
	report stats -q -r ledger -f csv "$1.pillion" | grep ',note,'
}

sets() { # NAME: memsets by their bytes, as "COUNTxMB"
	report stats -q -r cuda_gpu_trace -f csv "$1.pillion" 2>/dev/null | awk -F, '$20 == "[CUDA memset]" { n[$13]++ } END { for (b in n) print n[b] "x" b }' | sort | tr '\n' ' '
}

# ends_are_recorded: cuda_ends in each way to end on which records depend.
ends_are_recorded() {
	local how
	for how in return _exit quick_exit exec; do
		accounted end "$targets/cuda_ends" $how 40
		is "$? $(sets end)" '3 40x0.004 ' "$how: status, and each record"
	done
	accounted end "$targets/cuda_ends" reset 40
	is "$? $(sets end)" '137 40x0.004 ' 'cudaDeviceReset brings the records in, SIGKILL cannot take them'
	accounted end "$targets/cuda_ends" handler 40
	is $? 5 '_exit in a signal handler: status'
	like "$(sets end)$(notes end)" '40x0.004|signal handler' 'its records, or a note'
}

done_testing() {
	printf '1..%d\n' "$count"
	[ "$failed" -eq 0 ]
	exit
}
