#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pillion doctor: a machine where recording works, and planted states: a build without its library, a directory that
# cannot be written to, a network file system, a simulated driver, a CUPTI newer than the driver, Pythons, a batch job.
. "$(dirname -- "$0")/lib.sh"

export LC_ALL=C
unset LD_PRELOAD "${!SLURM_@}"
mkdir bin && cp "$(type -P true)" bin/
# A short PATH, so that the Pythons are those of this script.
doctor() {
	timeout "$patience" env PATH="$work/bin" \
		"${program:-$PILLION_BUILD_DIR/report/pillion-report}" doctor "$@" >out 2>err
}

# row CHECK: its state, what was found, and what to do, as "STATE|FOUND|ADVICE"
row() {
	python3 -c 'import csv, sys
for row in csv.DictReader(open("out")):
    if row["Check"] == sys.argv[1]: print(row["State"], row["Found"], row["Advice"], sep="|")' "$1"
}

doctor -f csv
is "$? $(cat err)" '0 ' 'a plain recording works: status 0'
is "$(row recording)" 'ok|a trial of `true` was recorded in .|' 'the trial'
is "$(ls)" $'bin\nerr\nout' 'which leaves nothing'
like "$(row 'file system')" '^ok.*\.: .*, [0-9]+ MB free' 'the file system'
like "$(row kernel)" "Linux $(uname -r) on $(uname -m)" 'the kernel'
is "$(row glibc | cut -d'|' -f2)" "$(getconf GNU_LIBC_VERSION | cut -d' ' -f2)" 'glibc'
like "$(row perf_event)" "kernel.perf_event_paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)" 'perf_event'
scope=$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null)
like "$(row ptrace)" "${scope:+ptrace_scope=$scope}${scope:-not restricted}" 'ptrace'
is "$(row LD_PRELOAD)" 'ok|not set|' 'LD_PRELOAD'
is "$(row Python)" 'ok|none on PATH|' 'no Python'
is "$(row scheduler)" 'ok|none: not in a batch job|' 'no batch job'
for check in loader seccomp no_new_privs container /dev/shm ulimit 'CUDA driver' CUPTI NVML; do
	like "$(row "$check")" '^(ok|limited|missing)\|[^|]' "$check"
done

doctor
like "$(cat out)" '^ok +recording +a trial of `true` was recorded' 'for people: one line each'
like "$(tail -1 out)" '^a plain recording works' 'the last line is the verdict'
unlike "$(cat out)" $'\033' 'no colours in a file'
# In a terminal there are, unless NO_COLOR is set.
if command -v script >/dev/null; then
	command="'$PILLION_BUILD_DIR/report/pillion-report' doctor"
	PATH=$work/bin:$PATH PILLION_PAGER='' TERM=xterm script -qec "$command" /dev/null >terminal </dev/null
	like "$(cat terminal)" $'\033\\[32mok' 'colours in a terminal'
	PATH=$work/bin:$PATH PILLION_PAGER='' TERM=xterm NO_COLOR=1 script -qec "$command" /dev/null \
		>terminal </dev/null
	unlike "$(cat terminal)" $'\033\\[3' 'NO_COLOR: none'
else
	skip 'colours' 'no script'
fi

# A batch job is recognised by what the scheduler sets.
SLURM_JOB_ID=17 SLURM_STEP_ID=3 SLURM_ARRAY_JOB_ID=16 SLURM_ARRAY_TASK_ID=4 doctor -f csv
like "$(row scheduler)" 'slurm, job 16, array task 4, step 3' 'a batch job'

# Pythons, by programs that answer as they do.
python() { # NAME IMPLEMENTATION VERSION KIND [CUPTI]
	printf '#!/bin/sh\nprintf "%s\\t%s\\t%s\\t%s\\n%s"\n' "$2" "$3" "$4" "$work/bin/$1" "${5:-}" >"bin/$1"
	chmod +x "bin/$1"
}
python python3.11 cpython 3.11.2 usual
python python3.14t cpython 3.14.0 free-threaded
python python3.15t cpython 3.15.2 free-threaded
python python3.16 cpython 3.16.0 usual
python python3.6 cpython 3.6.9 usual
python python3 pypy 3.10.1 usual
printf '#!/bin/sh\nexit 127\n' >bin/python2
chmod +x bin/python2
ln -s python3.11 bin/python
doctor -f csv
is "$(row Python | cut -d'|' -f1,2 | sort)" "limited|cpython 3.14.0 free-threaded, $work/bin/python3.14t
limited|cpython 3.16.0, $work/bin/python3.16
limited|cpython 3.6.9, $work/bin/python3.6
limited|pypy 3.10.1, $work/bin/python3
ok|cpython 3.11.2, $work/bin/python3.11
ok|cpython 3.15.2 free-threaded, $work/bin/python3.15t" 'Pythons: each once, with what limits it'
like "$(row Python | grep 3.16.0)" 'no Python frames in stacks: they are recorded of 3.8 to 3.15' \
	'a later version: what it lacks'
like "$(row Python | grep 3.14.0)" 'no --python-calls: .* from 3.15 on' 'a free-threaded one: what it lacks'

# A directory that is not there, and one that cannot be written to.
doctor -f csv -o no/such
is "$?" 1 'a directory that is not there: status 1'
like "$(row recording)" '^missing.*no/pillion-doctor' 'the recording fails'
like "$(row 'file system')" '^missing.*No such file' 'and why'
mkdir readonly && chmod 555 readonly
if [ "$(id -u)" -ne 0 ]; then
	doctor -f csv -o readonly/x
	is "$?" 1 'a read-only directory: status 1'
	like "$(row 'file system')" '^missing.*no permission' 'and why'
else
	# A user without rights, who has the tree mapped as it is.
	if chmod 755 "$work" && setpriv --reuid=65534 --regid=65534 --clear-groups \
		test -x "$PILLION_BUILD_DIR/report/pillion-report" 2>/dev/null; then
		setpriv --reuid=65534 --regid=65534 --clear-groups "$PILLION_BUILD_DIR/report/pillion-report" \
			doctor -f csv -o readonly/x >out 2>err
		is "$?" 1 'a read-only directory: status 1'
		like "$(row 'file system')" '^missing.*no permission' 'and why'
	else
		skip 'a read-only directory' 'root, and no other user can read this tree'
	fi
fi

# A build without its library.
mkdir -p copy/report copy/runtime
cp "$PILLION_BUILD_DIR/report/pillion-report" copy/report/
cp "$PILLION_BUILD_DIR/runtime/pillion-launch" copy/runtime/
program=copy/report/pillion-report doctor -f csv
is "$?" 1 'no libpillion.so: status 1'
like "$(row recording)" '^missing.*libpillion.so' 'and why'
rm copy/runtime/pillion-launch
program=copy/report/pillion-report doctor -f csv
is "$?" 1 'no launcher: status 1'
like "$(row recording)" '^missing.*pillion-launch' 'and why'

doctor nonsense
is "$?" 2 'an operand is wrong usage'

on_doubles
doctor -f csv
like "$(row 'CUDA driver')" "^ok\|CUDA 13\.[0-9]+, $doubles/libcuda.so.1" 'the simulated driver: its version and path'
like "$(row CUPTI)" "^ok\|of CUDA 13.*$doubles/libcupti.so.13" 'CUPTI of its version'
like "$(row CUPTI)" '-t cuda-hw refuses it: .*13\.4 Update 1' 'a CUPTI whose hardware events damage programs'
for version in 22:0 26:1 130400:1 130401:0 130500:0; do
	PILLION_SIMCUPTI=version=${version%:*} doctor -f csv
	is "$(row CUPTI | grep -q 'cuda-hw refuses it' && echo 1 || echo 0)" "${version#*:}" \
		"CUPTI ${version%:*}: whether it is refused"
done
mkdir old && cat >old.c <<'END'
int cuDriverGetVersion(int *version)
{
	*version = 12020;
	return 0;
}
END
if cc -shared -fPIC -o old/libcuda.so.1 old.c 2>err; then
	LD_LIBRARY_PATH=$work/old:$LD_LIBRARY_PATH doctor -f csv
	like "$(row 'CUDA driver')" '^ok\|CUDA 12\.2' 'an older driver'
	like "$(row CUPTI)" '^limited\|of CUDA 13.*newer than the driver' 'CUPTI newer than the driver'
else
	skip 'an older driver' 'no compiler'
fi
done_testing
