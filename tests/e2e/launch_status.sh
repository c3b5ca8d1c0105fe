#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# COMMAND's status, output, input and environment are the same as without pillion.
set -u
. "$(dirname "$0")/lib.sh"

status() { # WANTED TEXT COMMAND...
	local wanted=$1 text=$2
	shift 2
	pillion -f -o status "$@" >out 2>err
	is $? "$wanted" "$text"
}

for n in 0 1 7 255; do
	status $n "status $n is returned" sh -c "exit $n"
done
status 137 'a killed COMMAND is 137' sh -c 'kill -KILL $$'
status 143 'a terminated COMMAND is 143' sh -c 'kill -TERM $$'
status 139 'a crashed COMMAND is 139' sh -c 'kill -SEGV $$'
like "$(cat err)" "^$capture_line status\\.pillion\$" 'a crashed COMMAND: the message names the capture'

pillion -o missing no-such-program-here >out 2>err
is $? 127 'a missing COMMAND is 127'
like "$(cat err)" '^pillion: no-such-program-here: command not found$' 'a missing COMMAND: the message names it'
not_ok 'and leaves no capture' test -e missing.pillion
pillion -o missing ./no/such >out 2>err
is $? 127 'a missing path is 127'
echo 'echo ran "$1"' >plain
pillion -o plain ./plain >out 2>err
is $? 126 'a file that may not be executed is 126'
pillion -o plain "$work" >out 2>err
is $? 126 'a directory is 126'
chmod +x plain
is "$(pillion -f -o plain ./plain 'a b' 2>err)" 'ran a b' 'a script without #! runs in sh'
printf '#!/no/such/interpreter\n' >lost
chmod +x lost
pillion -o lost ./lost >out 2>err
is $? 127 'a script without its interpreter is 127'
not_ok 'and leaves no capture' test -e lost.pillion
is "$(PATH=$work PILLION_STATS=false "$PILLION" -f -o plain plain x 2>err; echo $?)" 'ran x
0' 'a script without #! runs with a PATH without tools'

is "$(printf 'a\nb' | pillion -f -o pipe cat 2>err; echo .)" 'a
b.' 'stdin and stdout are pipes'
is "$(pillion -f -o pipe sh -c 'echo out; echo err >&2' 2>/dev/null)" out 'stdout has only the output of COMMAND'
pillion -f -o pipe sh -c 'echo err >&2' 2>err
is "$(grep -v '^pillion: ' err)" err 'stderr has only the output of COMMAND and our messages'
is "$(pillion -w false -f -o quiet sh -c 'echo out; echo err >&2' 2>err)" '' '-w false hides stdout'
unlike "$(cat err)" '^err$' '-w false hides stderr'
is "$(pillion -f -o args printf '[%s]' -- -o 'a b' '' 2>err)" '[--][-o][a b][]' 'arguments are passed unchanged'
is "$(pillion -f -o name -- sh -c 'echo $0' profile 2>err)" profile 'words after COMMAND are its arguments'

is "$(pillion -f -o e -e A=1,2,B=x sh -c 'echo "$A $B"' 2>err)" '1,2 x' '-e takes values with commas'
is "$(pillion -f -o e -e A=1 -e B=2 sh -c 'echo "$A$B"' 2>err)" '12' '-e may be repeated'
like "$(SECRET=1 pillion -f -o e -n false -e A=1 "$(command -v env)" 2>err)" '^A=1$' '-n false keeps --env-var'
unlike "$(SECRET=1 pillion -f -o e -n false -e A=1 "$(command -v env)" 2>err)" '^(SECRET|HOME)=' \
	'-n false removes other variables'
is "$(LD_PRELOAD='' pillion -f -o e sh -c 'echo "${LD_PRELOAD##*/}"' 2>err)" libpillion.so \
	'LD_PRELOAD has only our library'
like "$(LD_PRELOAD=libc.so.6 pillion -f -o e sh -c 'echo "$LD_PRELOAD"' 2>err)" 'libpillion\.so:libc\.so\.6$' \
	"the user's LD_PRELOAD comes after ours"
like "$(pillion -f -o e env 2>err)" "^PILLION_OUTPUT=$work/e.pillion$" \
	'PILLION_OUTPUT is the absolute path of the capture'
unlike "$(pillion -f -o e --osrt-threshold 1000 env 2>err)" '^PILLION_OSRT' 'a default value is not passed on'
like "$(pillion -f -o e --osrt-threshold 0 env 2>err)" '^PILLION_OSRT_THRESHOLD=0$' 'another value is passed on'

is "$(trap '' INT HUP; PILLION_STATS=false "$PILLION" -f -o s grep -E '^Sig(Ign|Blk)' /proc/self/status 2>err)" \
	"$(trap '' INT HUP; grep -E '^Sig(Ign|Blk)' /proc/self/status)" 'ignored and blocked signals are unchanged'
is "$(pillion -f -o s ls /proc/self/fd 2>err)" "$(ls /proc/self/fd)" 'no descriptor of the launcher is left open'
is "$(pillion -f -o s ls /proc/self/fd 2>err 7</dev/null)" "$(ls /proc/self/fd 7</dev/null)" \
	"the caller's are passed on"
# ls itself opens the directory with the lowest free descriptor.
pillion -f -o s sh -c 'ls /proc/$$/fd >list; exit 0' <&- 2>err
unlike "$(cat list)" '^0$' 'a closed stdin stays closed'
pillion -f -o s sh -c 'exit 5' >&- 2>&-
is $? 5 'closed stdout and stderr do no harm'
is "$(ulimit -f 1; pillion -f -o s bash -c 'ulimit -f' 2>err)" 1 'the limit on file sizes is unchanged'

if command -v script >/dev/null; then
	is "$(script -qec "PILLION_STATS=false '$PILLION' -f -o tty \
		sh -c 'tty >/dev/null && echo is a tty' 2>/dev/null" /dev/null | tr -d '\r')" \
		'is a tty' 'COMMAND has the terminal'
else
	skip 'COMMAND has the terminal' 'no script(1)'
fi

is "$(said() { echo from a function; }; export -f said; pillion -f -o s bash -c said 2>err)" 'from a function' \
	'exported functions of bash are passed on'
is "$(env a.b-c=1 'x=y z' "$PILLION" -f -o s env 2>err | grep -a '^a\.b-c=')" 'a.b-c=1' \
	'variables with unusual names are passed on'
unlike "$(env a.b-c=1 "$PILLION" -f -o s env 2>err)" '^PILLION_ENVIRON' \
	'the variable that carries them is not passed on'
(exec 10</dev/null && ulimit -n 12 && exec "$PILLION" --stats=false -f -o s sh -c 'echo said >&2; exit 3') >out 2>err
is "$? $(grep -v '^pillion: ' err)" '3 said' 'with few descriptors the command keeps stderr'
ln -s "$PILLION" link
ln -s "$work/link" second
is "$(PILLION_STATS=false ./second -f -o link echo x 2>err)" x 'pillion runs through links'
mkdir bin
ln -s ../link bin/pillion
is "$(PILLION_STATS=false PATH=$work/bin:$PATH sh -c 'cd /; pillion -f -o "$0/path" echo x' "$work" 2>err)" x \
	'pillion runs from PATH'
is "$(pillion profile -f -o profile echo x 2>err)" x 'the word profile is accepted before the options'
cat >stats <<'END'
#!/bin/sh
echo my stats
END
chmod +x stats
is "$(PATH=$work:$PATH pillion -- stats 2>err)" 'my stats' 'pillion -- stats runs a program of that name'
like "$(pillion --help)" '--osrt-threshold' '--help lists the options'
like "$(pillion --version)" '^pillion [0-9]+\.' '--version prints the version'

verbs=$(report --help | awk '/^  [a-z]/ { print $1 }')
for verb in $verbs; do
	like "$(pillion "$verb" run.pillion --help)" "^[Uu]sage: pillion $verb " "pillion $verb is handed over"
done
is "$(pillion --help | sed -n '/VERB is one of/,/\.$/p' | sed 1d | tr -s ',.\n' ' ')" \
	"$(tr '\n' ' ' <<<"$verbs")recipe " \
	'--help of the launcher lists the same verbs'
done_testing
