# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What every end-to-end script sources first: TAP, a scratch directory, the path of pillion.
#   PILLION            path of the pillion script; default: scripts/pillion beside this tree
#   PILLION_BUILD_DIR  where Meson built
#   PILLION_TESTS_LONG not empty: also what takes long and rarely finds more (scripts/test --long)
#   PILLION_E2E_SITES  not empty: before each check, the lines of the script that made it (for tests/nightly/mutants.py)
#   PILLION_E2E_INVERT not empty: each check is given the opposite of its fact, and must fail
# Ends with done_testing, which prints the plan; a script that dies before it prints none, and fails.

tests_dir=$(CDPATH='' cd -P -- "$(dirname -- "$0")" && pwd)
PILLION=${PILLION:-${tests_dir%/tests/*}/scripts/pillion}
export PILLION_BUILD_DIR="${PILLION_BUILD_DIR:-${tests_dir%/tests/*}/build}"
# Time limit of one command in seconds: ten times its duration on a loaded machine, so that only a hang exceeds it.
patience=${PILLION_E2E_PATIENCE:-240}
count=0
failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/pillion-e2e.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
cd "$work" || exit 99
export HOME="${HOME:-$work}" SHELL="${SHELL:-/bin/sh}" # a service may have neither

# preloadable FILE: its path for LD_PRELOAD, which ld.so splits at spaces and colons: that of a link, if necessary.
preloadable() {
	local directory=${1%/*}
	case $1 in
	*[\ :]*)
		ln -sfn "$directory" "$work/.${directory##*/}"
		directory=$work/.${directory##*/}
		;;
	esac
	printf '%s/%s\n' "$directory" "${1##*/}"
}

# What a run prints first, before the name of its capture.
# shellcheck disable=SC2034 # the scripts use it
capture_line='pillion: capture: open it with pillion view'

# Lines of the summary that do not depend on a terminal: each is whole.
export COLUMNS=400

# Programs of tests/targets, the object that is preloaded, the report.
targets=$PILLION_BUILD_DIR/tests/targets
library=$(preloadable "$PILLION_BUILD_DIR/preload/libpillion.so")

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

# pillion ARG...: runs it without a summary and with a time limit.
pillion() {
	PILLION_STATS=${PILLION_STATS:-false} timeout --foreground "$patience" "$PILLION" "$@"
}

diag() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

# site: the check's function and where it was called, outermost last.
site() {
	[ -z "${PILLION_E2E_SITES:-}" ] || printf '# site %s %s\n' "${FUNCNAME[2]}" "${BASH_LINENO[*]:2}"
}

pass() { # TEXT
	site
	count=$((count + 1))
	printf 'ok %d - %s\n' "$count" "$1"
}

fail() { # TEXT [DIAGNOSIS...]
	site
	count=$((count + 1))
	failed=$((failed + 1))
	printf 'not ok %d - %s\n' "$count" "$1"
	shift
	[ $# -eq 0 ] || diag "$@"
}

# inverted: whether checks are given the opposite of their facts.
inverted() {
	[ -n "${PILLION_E2E_INVERT:-}" ]
}

# ok TEXT COMMAND...: the command succeeds. Its output is shown only if it does not.
ok() {
	ok_text=$1
	shift
	ok_output=$("$@" 2>&1)
	ok_status=$?
	! inverted || ok_status=$((! ok_status))
	if [ "$ok_status" -eq 0 ]; then
		pass "$ok_text"
	else
		fail "$ok_text" "$* gave status $ok_status" "$ok_output"
	fi
}

# not_ok TEXT COMMAND...: the command fails by itself: a command that cannot be started, times out or is killed does
# not pass.
not_ok() {
	ok_text=$1
	shift
	ok_output=$("$@" 2>&1)
	ok_status=$?
	! inverted || ok_status=$((! ok_status))
	if [ "$ok_status" -gt 0 ] && [ "$ok_status" -lt 124 ]; then
		pass "$ok_text"
	else
		fail "$ok_text" "$* gave status $ok_status" "$ok_output"
	fi
}

is() { # GOT WANTED TEXT
	local got=$1
	! inverted || got="not $2"
	if [ "$got" = "$2" ]; then
		pass "$3"
	else
		fail "$3" "got:    $got" "wanted: $2"
	fi
}

# Text unrelated to every check. A pattern that matches it or an empty line, such as one with an empty alternative,
# cannot fail.
unrelated='~ 9Q unrelated ~'

matches() { # TEXT REGEX: any line of it; status 2 if that is not a regular expression
	grep -Eq -- "$2" <<<"$1"
}

like() { # GOT REGEX TEXT (extended regular expression, any line of GOT)
	local got=$1
	! inverted || got=$unrelated
	if matches $'\n'"$unrelated" "$2"; then
		fail "$3" "/$2/ matches anything"
	elif matches "$got" "$2"; then
		pass "$3"
	else
		fail "$3" "got:    $got" "wanted: /$2/"
	fi
}

# unlike GOT REGEX TEXT: GOT has lines, none of which matches. An empty GOT fails, since it matches no pattern; use `is`
# for it.
unlike() {
	local got=$1
	! inverted || got=$(python3 "$tests_dir/../nightly/matching.py" "$2")
	matches "$got" "$2"
	case $? in
	0) fail "$3" "got:        $got" "not wanted: /$2/" ;;
	1) if [ -n "$got" ]; then pass "$3"; else fail "$3" 'got nothing, which says nothing'; fi ;;
	*) fail "$3" "/$2/ is not a regular expression" ;;
	esac
}

skip() { # TEXT REASON
	site
	count=$((count + 1))
	printf 'ok %d - %s # SKIP %s\n' "$count" "$1" "$2"
}

# eventually COMMAND...: repeats it until it succeeds, for half the time limit of one command plus the time of the
# attempts.
eventually() {
	local tries=$((patience * 10))
	until "$@"; do
		[ $((--tries)) -gt 0 ] || return 1
		sleep 0.05
	done
}

# child_of PID: the process id of its first child. The launcher's is COMMAND.
child_of() {
	cat "/proc/$1/task/"*/children 2>/dev/null | tr ' ' '\n' | head -n 1
}

# adopt COMMAND...: its lines "ok - ..." and "not ok - ..." become checks of the script; all lines are in ./seen. A
# command that fails without a line that says so is a failed check.
adopt() {
	timeout "$((patience * 2))" "$@" >seen 2>err
	local status=$?
	[ ! -s err ] || diag "$(cat err)"
	while read -r line; do
		case $line in
		'ok - '*) pass "${line#ok - }" ;;
		'not ok - '*) fail "${line#not ok - }" ;;
		*) printf '%s\n' "$line" ;;
		esac
	done <seen
	[ "$status" -eq 0 ] || grep -q '^not ok - ' seen || fail "$* gave status $status"
}

# skip_all REASON: skips a script that cannot run here.
skip_all() {
	printf '1..0 # SKIP %s\n' "$1"
	exit 0
}

# from_pypi VARIABLE FOLDER PACKAGE: sets `python` to the Python that VARIABLE names, or else to python3 with PACKAGE,
# which pip fetches once per build directory. Fails, with the reason in `why`, if there is none.
# shellcheck disable=SC2034 # `why` is read by the callers
from_pypi() {
	local modules=$PILLION_BUILD_DIR/tests/$2
	python=${!1:-}
	[ -z "$python" ] || return 0
	why='no python3'
	python=$(command -v python3) || return
	export PYTHONPATH=$modules
	[ ! -e "$modules/.whole" ] || return 0
	why="pip cannot fetch $3"
	LD_LIBRARY_PATH='' timeout 300 python3 -m pip -q --disable-pip-version-check --retries 1 --timeout 15 install \
		--target "$modules" "$3" >pip.log 2>&1 && touch "$modules/.whole"
}

# all_pythons FIRST: sets `pythons` to FIRST, those of pyenv from 3.8 on, and those that PILLION_PYTHONS names,
# separated by colons; as far as they exist. Of pyenv's only the oldest and the newest without PILLION_TESTS_LONG.
# shellcheck disable=SC2034 # the callers read it
all_pythons() {
	local any named installed
	IFS=: read -ra named <<<"${PILLION_PYTHONS:-}"
	pythons=()
	installed=("$HOME"/.pyenv/versions/3.{8,9,1[0-9]}.*/bin/python3)
	[ -n "${PILLION_TESTS_LONG:-}" ] || [ "${#installed[@]}" -lt 3 ] ||
		installed=("${installed[0]}" "${installed[-1]}")
	for any in "$1" "${installed[@]}" "${named[@]}"; do
		any=$(command -v "$any") && pythons+=("$any")
	done
}

# ranks N COMMAND...: N of them under mpirun.
ranks() {
	local flags=(--oversubscribe)
	[ "$(id -u)" -ne 0 ] || flags+=(--allow-run-as-root)
	timeout "$patience" mpirun -n "$1" "${flags[@]}" "${@:2}"
}

needs_mpirun() {
	command -v mpirun >/dev/null || skip_all 'no mpirun'
	ranks 1 true >out 2>err || skip_all "mpirun does not run here: $(head -1 err)"
}

# ---- the simulated GPU of tests/doubles ----

# on_doubles: simulates a machine with that GPU from here on; skips the script if the build lacks it.
on_doubles() {
	doubles=$PILLION_BUILD_DIR/tests/doubles
	[ -e "$doubles/libcuda.so.1" ] || skip_all 'built without CUDA headers'
	nm -D --defined-only "$library" | awk '{ print $3 }' >exported
	export LD_LIBRARY_PATH="$doubles:$targets"
	unset CUDA_INJECTION64_PATH
	export PILLION_ENERGY=false # a real NVML of this machine knows nothing of the simulated GPU
}

# accounted NAME [OPTION...] COMMAND...: records it as NAME.pillion, with the GPU's account in log.
accounted() {
	rm -rf log "$1.pillion"
	PILLION_SIMGPU_LOG=log pillion -o "$@" >out 2>err
}

# account_says SCRIPT ARG...: compares with the account; writes no bytecode beside the scripts.
account_says() {
	python3 -B "$tests_dir/$1" "${@:2}"
}

log_has() { # LINES, or more
	[ -s log ] && [ "$(wc -l <log)" -gt "$1" ]
}

log_flushed() {
	[ "$(grep -c '"ev":"cupti_flushed"' log)" -ge 2 ]
}

# kill_accounted LINES OPTION...: records cuda_launches as `killed`, and kills it once its account has a random number
# of lines, at least LINES and at most twice as many; with `flushed` set, up to a second after the account has two
# deliveries of buffers. Fails unless the kill ended the program.
kill_accounted() {
	local launcher enough=$(($1 + RANDOM % $1))
	shift
	rm -rf killed.pillion log
	PILLION_SIMGPU_LOG=log PILLION_STATS=false "$PILLION" -o killed "$@" \
		"$doubles/cuda_launches" 100000 >out 2>err &
	launcher=$!
	eventually log_has $enough
	[ -z "${flushed:-}" ] || { eventually log_flushed && sleep "0.$((RANDOM % 900 + 100))"; }
	kill -KILL "$(child_of $launcher)"
	wait $launcher
	[ $? -eq 137 ]
}

ledger() { # NAME FACT: its count
	report stats -q -r ledger -f csv "$1.pillion" |
		awk -F, -v fact="$2" '$3 == fact { n += $4 } END { print n + 0 }'
}

notes() { # NAME: without that about the cost of looking at many threads, which a slow machine has
	report stats -q -r ledger -f csv "$1.pillion" | grep ',note,' |
		grep -v 'samples CPU time less than once per second'
}

sets() { # NAME: memsets by their size in 10^6 bytes with three decimals, as "COUNTxMB"
	report stats -q -r cuda_gpu_trace -f csv "$1.pillion" 2>/dev/null |
		awk -F, '$20 == "[CUDA memset]" { n[sprintf("%.3f", $13)]++ }
			END { for (b in n) print n[b] "x" b }' | sort | tr '\n' ' '
}

# ends_are_recorded: runs cuda_ends with each way to end a process that affects the records.
ends_are_recorded() {
	local how
	for how in return _exit quick_exit exec; do
		accounted end "$targets/cuda_ends" $how 40
		is "$? $(sets end)" '3 40x0.004 ' "$how: status, and each record"
	done
	accounted end "$targets/cuda_ends" reset 40
	is "$? $(sets end)" '137 40x0.004 ' 'records that cudaDeviceReset delivered survive SIGKILL'
	accounted end "$targets/cuda_ends" handler 40
	is $? 5 '_exit in a signal handler: status'
	is "$(($(ledger end 'device records') + $(ledger end 'unmatched calls')))" 40 \
		'_exit in a signal handler: each call has a record or is counted as unmatched'
	like "$(notes end)" 'signal handler' '_exit in a signal handler: a note gives the reason'
}

done_testing() {
	printf '1..%d\n' "$count"
	[ "$failed" -eq 0 ]
	exit
}

# nsys_records NAME OPTION... COMMAND: records with Nsight Systems into NAME.nsys-rep. It hangs occasionally, and what
# it then leaves is a part: three tries of nsys_patience (60) seconds. Fails, with the reason in `why`.
#   NSYS NSYS_IMPORTER  nsys, default: the one on PATH; QdstrmImporter, for installations whose nsys does not find it
# shellcheck disable=SC2034 # the scripts use `why`
nsys_records() {
	local name=$1 importer=${NSYS_IMPORTER:-/usr/lib/nsight-systems/host-linux-x64/QdstrmImporter} try status
	shift
	NSYS=${NSYS:-$(command -v nsys)}
	why='no nsys'
	[ -n "$NSYS" ] || return
	for try in 1 2 3; do
		rm -f "$work/$name".{nsys-rep,qdstrm}
		timeout -k 5 "${nsys_patience:-60}" "$NSYS" profile -s none --cpuctxsw=none -f true \
			-o "$work/$name" "$@" >"$work/nsys.log" 2>&1 </dev/null
		status=$?
		[ -e "$work/$name.nsys-rep" ] || timeout -k 5 "${nsys_patience:-60}" "$importer" \
			-i "$work/$name.qdstrm" -o "$work/$name.nsys-rep" >>"$work/nsys.log" 2>&1
		case $status in
		124 | 137) why="nsys hung, $try times" ;;
		*) why="nsys recorded nothing here: $(tail -n 1 "$work/nsys.log")" ;;
		esac
		[ "$status" -eq 124 ] || [ "$status" -eq 137 ] || [ ! -s "$work/$name.nsys-rep" ] || return 0
	done
	return 1
}

# axe-core checks whether the page can be used by everybody; it is fetched once per build directory.
fetch_axe() {
	modules=$PILLION_BUILD_DIR/tests/axe
	[ ! -e "$modules/.whole" ] || return 0
	command -v npm >/dev/null || return
	mkdir -p "$modules" && printf '{"private":true}\n' >"$modules/package.json"
	timeout 60 npm install --prefix "$modules" --no-audit --no-fund --ignore-scripts axe-core@4 >npm.log 2>&1 &&
		touch "$modules/.whole"
}
