#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ten tasks of a newcomer: the hot line, the lock, the slow file, the late rank, the leak, the regression, the deadlock,
# the crash, the gap of the GPU, the owner of memory. Each answer is on the screen of a terminal of 100 columns (tmux)
# after the run or after one further command, and in the page after at most two clicks (Chromium).
set -u
. "$(dirname "$0")/lib.sh"
has_unwinder || skip_all 'built without the unwinder'
command -v tmux >/dev/null || skip_all 'no tmux'
command -v python3 >/dev/null || skip_all 'no python3'
# Meson fills what malloc() returns: the page faults of a buffer then no longer belong to the read() into it.
unset COLUMNS TMUX MALLOC_PERTURB_

sources=$(readlink -f -- "${tests_dir%/e2e}/targets")
doubles=$PILLION_BUILD_DIR/tests/doubles
mkdir bin pictures
printf '#!/bin/sh\nexec "%s" "$@"\n' "$PILLION" >bin/pillion
chmod +x bin/pillion
for program in locks causes deadlock crash mpi_late; do
	ln -s "$targets/$program" "$program"
done
cp "$sources/lines_job.py" "$sources/memory_job.py" .

# ---- a terminal that is typed into ----

tmux() {
	command tmux -L "pillion-$$" -f /dev/null "$@"
}
trap 'tmux kill-server 2>/dev/null; rm -rf "$work"' EXIT
cat >rc <<END
PS1='\#$ '
PATH=$PWD/bin:\$PATH
export PILLION_PAGER='' PILLION_ENERGY=false
END
tmux new-session -d -x 100 -y 50 "exec bash --noprofile --rcfile '$PWD/rc' -i" || skip_all 'tmux does not run here'

screen() {
	tmux capture-pane -p
}

# The prompt has the number of the command, so that the one before it is none while the shell has not read the keys.
commands=1
has_prompt() {
	[ "$(screen | grep . | tail -n 1)" = "$commands$" ]
}

is_typed() {
	screen | grep -q "^$commands\\$ ."
}

# typed NAME COMMAND: runs it in the terminal; its screen is in pictures/NAME.txt and, in one line, in `seen`.
typed() {
	tmux send-keys C-l
	eventually has_prompt
	tmux send-keys -l "$2"
	eventually is_typed
	tmux send-keys Enter
	commands=$((commands + 1))
	[ -z "${meanwhile:-}" ] || "$meanwhile"
	eventually has_prompt
	screen >"pictures/$1.txt"
	seen=$(tr -s '\n ' ' ' <"pictures/$1.txt")
}

line() { # FILE TEXT: FILE:LINE of that text
	printf '%s:%s' "$1" "$(grep -n -m 1 -- "$2" "$sources/$1" | cut -d: -f1)"
}

shows() { # TEXT REGEX
	like "$seen" "$2" "$1"
}

# ---- the tasks ----

typed hot 'pillion -o hot python3 lines_job.py alone'
shows 'the hot line' "[0-9] ms|[0-9] s.* $(line lines_job.py 'PLANTED collate') "
typed lock 'pillion -o lock ./locks convoy'
shows 'the lock, and what its holders do' \
	"% waits for each other \(usleep locks.c:[0-9]+ work\) in pthread_mutex_lock $(line locks.c mutex_lock) work"
typed file 'pillion -o file python3 lines_job.py file'
shows 'the slow file' "files [0-9.]+ m?s [0-9]+ x /[^ ]+/tmp[^ ]+ "
if [ -x mpi_late ] && command -v mpirun >/dev/null && ranks 1 true >out 2>err; then
	root=$([ "$(id -u)" -ne 0 ] || echo --allow-run-as-root)
	typed rank "mpirun $root --oversubscribe -n 3 pillion -o rank ./mpi_late sleep 20"
	shows 'the late rank' "rank 1 arrives last at MPI_Allreduce, .* $(line mpi_late.c 'late: sleep') late_sleep"
else
	skip 'the late rank' 'no mpirun'
fi
typed leak 'pillion -o leak --memory=python python3 memory_job.py'
shows 'the leak' "memory that one line allocates .* grows steadily .*: $(line memory_job.py 'PLANTED block') job"
shows 'the owner of host memory' "host peak [0-9]+ MB in .* MB of it by $(line memory_job.py 'PLANTED block') job"
typed before 'pillion -o before ./causes join fixed'
typed after 'pillion -o after ./causes join slow'
typed diff 'pillion diff before after'
# By line, where a slow machine took a sample of the program.
shows 'the regression' "most is added by (usleep at )?worker \([^ ]*$(line causes.c 'slow worker')\)"

# A person waits a moment before Ctrl-C; the launcher looks into a process that does nothing for a second.
has_look() {
	[ -n "$(find deadlock.pillion -name '*.where' -size +0 2>/dev/null)" ]
}

interrupt() {
	eventually has_look
	tmux send-keys C-c
}
meanwhile=interrupt typed deadlock 'pillion -o deadlock ./deadlock mutexes'
shows 'the deadlock' "DEADLOCK thread [0-9]+ at deadlock.c:[0-9]+ waits for a mutex of thread [0-9]+ at deadlock.c"
typed crash 'pillion -o crash ./crash segv'
shows 'the crash' "CRASH signal 11 .* at $(line crash.c 'read_nothing crashes') read_nothing"
if [ -x "$targets/cuda_memory" ] && [ -e "$doubles/libcuda.so.1" ]; then
	ln -s "$targets/cuda_memory" "$targets/cuda_trouble" .
	typed gpu "export LD_LIBRARY_PATH='$doubles'"
	typed gap 'pillion -o gap ./cuda_trouble gap'
	shows 'the gap of the GPU' "GPU .*idle [0-9.]+ % \(host in OS call: usleep [0-9.]+ m?s "
	shows 'and its line' " $(line cuda_trouble.c 700000) gap"
	# The simulated cudaMalloc is too short for a stack by default.
	typed owner 'pillion -o owner --cudabacktrace=memory:0 ./cuda_memory 200'
	shows 'the owner of device memory' "GPU peak [0-9]+ MB in .* MB of it by cuda_memory.c:[0-9]+ asks_too_much"
else
	skip 'the gap and the memory of the GPU' 'built without CUDA headers'
fi
tmux kill-server

[ -z "${PILLION_PICTURES:-}" ] || for name in pictures/*.txt; do
	cp "$name" "$PILLION_PICTURES/newcomer-${name##*/}"
done

# ---- the page ----

if [ -z "${PILLION_TESTS_LONG:-}" ]; then
	skip 'the page' 'scripts/test --long has it'
elif report export --help | grep -q '^  html .*this build has no'; then
	skip 'the page' 'this build has no zlib'
elif ! node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)' 2>/dev/null; then
	skip 'the page' 'no Node 18'
elif ! chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome); then
	skip 'the page' 'no Chromium'
else
	for capture in *.pillion; do
		report export -q -t html "$capture"
	done
	if fetch_axe; then
		export AXE="$modules/node_modules/axe-core/axe.min.js"
	else
		skip 'axe' 'npm cannot fetch axe-core'
	fi
	report diff -q -o diff.html before.pillion after.pillion >out 2>err
	adopt node "$tests_dir/newcomer_tasks.mjs" "$chromium" "$PWD"
	like "$(tail -n 1 seen)" 'no error' 'driven to the end'
fi
done_testing
