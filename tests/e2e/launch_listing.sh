#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Lists of a program's libraries, from which images and packages are built, are those without pillion, whoever makes
# them and however the loader is started; a program that the loader runs is recorded.
. "$(dirname -- "$0")/lib.sh"

command -v ldd >/dev/null || skip_all 'no ldd'
program=$(type -P ls)
loader=$(ldd "$program" | sed -n 's,^[[:space:]]*\(/[^ ]*/ld[-.][^ ]*\) .*,\1,p' | head -n 1)
[ -x "$loader" ] || skip_all 'the loader was not found'
python=${PYTHON:-/usr/bin/python3}
command -v "$python" >/dev/null || python=
export LIST=LD_TRACE_LOADED_OBJECTS=1 loader program

libraries() { # COMMAND...: what it prints, without addresses and the kernel's own object, whose place varies
	"$@" 2>/dev/null | sed 's/ (0x[0-9a-f]*)//'
}

number=0
same_list() { # TEXT OPTIONS COMMAND...
	local text=$1 options=$2 bare got
	shift 2
	number=$((number + 1))
	bare=$(libraries "$@")
	# shellcheck disable=SC2086 # a list
	got=$(libraries pillion -f $options -o "list$number" "$@")
	like "$bare" 'libc\.so' "$text: the list has the program's libraries"
	is "$got" "$bare" "$text: the list is that without pillion"
}

for options in '' '--ld-audit=true' '--memory=native' '-t openmp,osrt' '--follow-clean-env=false'; do
	same_list "ldd${options:+, $options}" "$options" ldd "$program"
done
same_list 'ldd -v' '' ldd -v "$program"
same_list 'ldd of two' '' ldd "$program" "$loader" "$program"
same_list 'COMMAND is the loader' '' "$loader" --list "$program"
same_list 'COMMAND is the loader, with options before --list' '' "$loader" --library-path /none --list "$program"
# shellcheck disable=SC2016 # the inner shell expands
{
	same_list 'a child is the loader' '' sh -c '"$loader" --list "$program"; :'
	same_list 'the loader in place of a shell' '' sh -c 'exec "$loader" --inhibit-cache --list "$program"'
	same_list 'the variable, a child' '' sh -c 'env $LIST "$program"; :'
	same_list 'the variable, in place of a shell' '' sh -c 'LD_TRACE_LOADED_OBJECTS=1 exec "$program"'
	same_list 'the variable, empty' '' sh -c 'LD_TRACE_LOADED_OBJECTS= exec "$program"'
	same_list 'the variable, a clean environment' '' sh -c 'env -i $LIST "$program"; :'
	same_list 'the variable, LD_PRELOAD of its own' '' sh -c 'env $LIST LD_PRELOAD="$LD_PRELOAD" "$program"; :'
}
bare=$(libraries env LD_TRACE_LOADED_OBJECTS=1 "$program")
is "$(libraries pillion -f -e LD_TRACE_LOADED_OBJECTS=1 -o option "$program")" "$bare" '--env-var sets the variable'
like "$(report info option.pillion)" "$program +listing\$" 'info says that it was not recorded, and why'

# Each way to start a program.
if [ -n "$python" ]; then
	cat >ways.py <<-'END_OF'
		import os, subprocess, sys
		loader, program = os.environ['loader'], os.environ['program']
		traced = dict(os.environ, LD_TRACE_LOADED_OBJECTS='1')
		lists = ([loader, '--list', program], None), ([program], traced)
		def child(run):
		    sys.stdout.flush()
		    pid = os.fork()
		    if pid == 0:
		        run()
		        os._exit(99)
		    print(os.waitpid(pid, 0)[1], flush=True)
		for words, environment in lists:
		    e = environment or dict(os.environ)
		    child(lambda: os.execve(words[0], words, e))
		    child(lambda: os.execvpe(words[0], words, e))
		    child(lambda: os.execve(os.open(words[0], os.O_RDONLY), words, e))
		    print(os.waitpid(os.posix_spawn(words[0], words, e), 0)[1], flush=True)
		    print(os.waitpid(os.posix_spawnp(words[0], words, e), 0)[1], flush=True)
		    print(subprocess.run(words, env=environment).returncode, flush=True)
		    print(subprocess.run(words, env=environment, close_fds=False).returncode, flush=True)
	END_OF
	same_list 'each way to start a program' '' "$python" ways.py
fi

# ---- what the loader runs is recorded ----

pillion -f -o run "$loader" "$program" / >out 2>err
is "$(cat out)" "$("$program" /)" 'the loader runs a program: its output'
like "$(report stats -q -r processes -f csv run.pillion)" 'ls' 'it is recorded'
pillion -f -o word "$loader" "$(type -P echo)" --list >out 2>err
is "$(cat out)" '--list' "--list is the program's: its output"
unlike "$(report info word.pillion)" 'listing' 'it is recorded'
done_testing
