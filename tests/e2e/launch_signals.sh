#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Signals, the terminal and job control: COMMAND receives each signal once, and the launcher waits for it.
set -u
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip_all 'no python3'
export PILLION_STATS=false

cat >catch.py <<'END'
import os, signal, sys, time
seen = []
for name in sys.argv[2:]:
    signal.signal(getattr(signal, name), lambda n, f: seen.append(signal.Signals(n).name))
open(sys.argv[1], "w").write(str(os.getpid()))
end = time.time() + 100
while not seen and time.time() < end:
    time.sleep(0.02)
time.sleep(0.3)  # time for a duplicate signal to arrive
print(*seen, flush=True)
sys.exit(9)
END

begin() { # ready file, options...: starts COMMAND in the background, waits until it is ready
	rm -f "$1"
	"$PILLION" -f -o sig python3 catch.py "$@" >out 2>err &
	launcher=$!
	eventually test -s "$1"
}

for name in TERM HUP USR1 USR2 ALRM WINCH; do
	begin ready SIG$name
	kill -$name $launcher
	wait $launcher
	is "$? $(cat out)" "9 SIG$name" "SIG$name to the launcher reaches COMMAND once"
done
set -m # a background job of its own takes SIGINT
begin ready SIGINT
kill -INT $launcher
wait $launcher
is "$? $(cat out)" '9 SIGINT' 'SIGINT to the launcher alone reaches COMMAND once'
like "$(cat err)" 'pillion view' 'SIGINT: the message names the capture'
for name in INT TERM USR1; do
	begin ready SIG$name
	kill -$name -- -$launcher
	wait $launcher
	is "$? $(cat out)" "9 SIG$name" "SIG$name to the process group reaches COMMAND once"
done
set +m
# timeout(1) passes a signal on to its child, and then to its process group.
rm -f ready
timeout "$patience" "$PILLION" -f -o sig python3 catch.py ready SIGTERM >out 2>err &
timer=$!
eventually test -s ready
kill -TERM $timer
wait $timer
is "$? $(cat out)" '9 SIGTERM' 'the signal of timeout reaches COMMAND once'
# Without the launcher, COMMAND would lead a job's group and could not leave it by setsid(). Elsewhere it leaves the
# group, and then has no part in the signals of the group.
cat >leave.py <<'END'
import os, runpy, sys
os.setsid()
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0])
END
set -m
rm -f ready
"$PILLION" -f -o sig python3 leave.py catch.py ready SIGTERM >out 2>err &
launcher=$!
eventually test -s ready
kill -TERM -- -$launcher
wait $launcher
is "$? $(cat out)" '9 SIGTERM' 'a COMMAND that left the group of a job: a signal to the group reaches it'
rm -f ready
sh -c 'trap "" TERM; "$@" & wait $!; exit' sh "$PILLION" -f -o sig \
	python3 leave.py catch.py ready SIGUSR1 SIGTERM >out 2>err &
shell=$!
eventually test -s ready
kill -TERM -- -$shell
sleep 1
kill -USR1 "$(cat ready)"
wait $shell
is "$? $(cat out)" '9 SIGUSR1' 'a COMMAND that left the group of its shell: a signal to the group does not'
set +m

rm -f ready
"$PILLION" -f -o sig sh -c 'echo $$ >ready; exec sleep 100' 2>err &
launcher=$!
eventually test -s ready
kill -TERM $launcher
wait $launcher
is $? 143 'a COMMAND that SIGTERM ends is 143'
like "$(cat err)" 'pillion view' 'SIGTERM: the message names the capture'
like "$(cat sig.pillion/*.index)" '^child	.*status=15	' 'SIGTERM: the index has the end of COMMAND'

rm -f ready
"$PILLION" -f -o sig sh -c 'echo $$ >ready; exec sleep 100' 2>err &
launcher=$!
eventually test -s ready
kill -KILL $launcher
wait $launcher 2>/dev/null
ok 'COMMAND outlives a killed launcher' kill -0 "$(cat ready)"
kill "$(cat ready)"
ok 'a killed launcher leaves a readable index' grep -q '^launch' sig.pillion/*.index

(trap '' HUP; "$PILLION" -f -o sig python3 \
	-c 'import os,signal; os.kill(os.getpid(), signal.SIGHUP); print("lives")' >out 2>err)
is "$(cat out)" lives 'nohup: an ignored SIGHUP stays ignored'

# A pseudo-terminal whose shell does job control.
cat >terminal.py <<'END'
import os, pty, re, select, signal, sys, time
pillion = sys.argv[1]
pid, fd = pty.fork()
if pid == 0:
    os.environ["PS1"] = "$ "
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
text = b""
def expect(pattern, again=b"", seconds=60):
    """Whether it comes to be seen; meanwhile `again` is typed every half second."""
    global text
    end = time.time() + seconds
    while not re.search(pattern, text):
        if time.time() > end:
            print("not seen:", pattern, text, file=sys.stderr)
            return False
        if select.select([fd], [], [], 0.5)[0]:
            try:
                text += os.read(fd, 4096)
            except OSError:
                break
        elif again:
            send(again)
    found = re.search(pattern, text) is not None
    text = b""
    return found
def send(s):
    os.write(fd, s)
def say(fact, name):
    print(("ok" if fact else "no"), name)
expect(rb"\$ ")
send(f"'{pillion}' -f -o tty python3 catch.py r1 SIGINT; echo status=$?\n".encode())
while not os.path.exists("r1"):
    time.sleep(0.05)
send(b"\x03")
say(expect(rb"(?s)SIGINT\r.*status=9"), "Ctrl-C reaches COMMAND once, and the launcher waits")
send(f"'{pillion}' -f -o tty sh -c 'echo begun; exec sleep 100'; echo status=$?\n".encode())
expect(rb"[\r\n]begun")
send(b"\x03")
say(expect(rb"pillion view"), "a COMMAND that Ctrl-C kills is reported")
send(b"echo again=$?\n")
expect(rb"again=\d")
send(f"'{pillion}' -f -o tty sh -c 'echo begun; read line; echo got:$line'\n".encode())
expect(rb"[\r\n]begun")
send(b"\x1a")
say(expect(rb"Stopped"), "Ctrl-Z stops the job")
send(b"jobs\n")
say(expect(rb"Stopped"), "the shell reports the stop")
send(b"fg\n")
expect(rb"[\r\n].*got:.line")  # the shell's last output before the job has the terminal
send(b"word\n")
say(expect(rb"got:word"), "fg continues it, with the terminal")
expect(rb"pillion view")
send(f"'{pillion}' -f -o tty sh -c 'read line; echo got:$line' &\n".encode())
say(expect(rb"Stopped", again=b"\n"), "reading in the background stops the job")
send(b"fg\n")
expect(rb"[\r\n].*got:.line")
send(b"more\n")
say(expect(rb"got:more"), "fg lets it read")
send(b"exit\n")
time.sleep(0.3)
os.close(fd)
os.waitpid(pid, 0)
END
timeout "$patience" python3 -u terminal.py "$PILLION" >answers 2>diag_text
while read -r answer name; do
	is "$answer" ok "$name"
done <answers
is "$(wc -l <answers)" 7 'the terminal session ran to its end'
[ ! -s diag_text ] || diag "$(cat diag_text)"

# Processes that outlive COMMAND.
"$PILLION" -f -o rest sh -c '(sleep 1; echo over >last) & exit 4' 2>err
is $? 4 'a child outlives COMMAND: the status is that of COMMAND'
is "$(cat last)" over '--wait all waits for the child'
# Neither COMMAND nor its child is recorded, and the child's PID is less than that of COMMAND: PIDs have wrapped.
cat >wrapped.c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int last = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);

	if (argc < 2 || last < 0 || write(last, argv[1], strlen(argv[1])) < 0)
		return 77;
	if (!fork()) {
		usleep(700000);
		fclose(fopen("wrapped.over", "w"));
		_exit(0);
	}
	return 4;
}
END
if "${CC:-gcc}" -static -o wrapped wrapped.c 2>/dev/null && ./wrapped 300 2>/dev/null; [ $? = 4 ]; then
	eventually test -e wrapped.over
	rm -f wrapped.over
	"$PILLION" -f -o rest ./wrapped 300 2>err
	is "$? $(ls wrapped.over)" '4 wrapped.over' '--wait all waits for a child whose PID is the lesser one'
else
	skip '--wait all waits for a child whose PID is less' 'no static libc, or the last PID cannot be set'
fi
"$PILLION" --wait primary -f -o rest sh -c 'sleep 100 & echo $! >child; exit 4' 2>err
ok '--wait primary does not wait for the child' kill "$(cat child)"
"$PILLION" -x false -f -o rest sh -c 'sleep 100 & echo $! >child; exit 4' 2>err
ok '-x false does not wait for the child' kill "$(cat child)"
"$PILLION" -f -o rest sh \
	-c 'rm -f child; setsid sh -c "echo \$\$ >child; exec sleep 100" & until [ -s child ]; do sleep 0.1; done' 2>err
ok 'the launcher does not wait for a daemon' kill "$(cat child)"

"$PILLION" -d 0.5 -f -o rest sleep 100 2>err
is $? 143 '--duration ends COMMAND by SIGTERM'
"$PILLION" -d 0.2 --kill none -f -o rest sleep 1 2>err
is $? 0 '--kill none lets COMMAND continue'
"$PILLION" -y 0.2 -d 0.3 --kill 9 -f -o rest sleep 100 2>err
is $? 137 '--duration after --delay, --kill by number'
done_testing
