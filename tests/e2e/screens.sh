#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What is printed on a terminal of 80, 100 and 200 columns: no line is wider, each row is one line, names are first;
# elsewhere tables are as Nsight Systems has them.
. "$(dirname -- "$0")/lib.sh"

command -v python3 >/dev/null || skip_all 'no python3'
unset COLUMNS MALLOC_PERTURB_ # which Meson sets, and a summary names
export PILLION_PAGER='' TERM=xterm

cat >screen.py <<'END'
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if not pid:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 50, int(sys.argv[1]), 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])
text = b""
try:
    while part := os.read(fd, 65536):
        text += part
except OSError:
    pass
os.waitpid(pid, 0)
sys.stdout.buffer.write(text.replace(b"\r\n", b"\n"))
END
cat >wider.py <<'END'
import re, sys
lines = re.sub("\033\\[[0-9]*m", "", sys.stdin.read()).split("\n")
print(len(lines) > 1, [line for line in lines if len(line) > int(sys.argv[1])])
END
on_screen() { # COLUMNS COMMAND...
	timeout "$patience" python3 screen.py "$@"
}
fits() { # COLUMNS TEXT COMMAND...
	is "$(on_screen "$1" "${@:3}" | python3 wider.py "$1")" 'True []' "$2, $1 columns"
}
report=$PILLION_BUILD_DIR/report/pillion-report
captures=${tests_dir%/e2e}/data/captures/0.1.0

deep=$work/$(printf 'a_directory_with_a_long_name/%.0s' 1 2 3 4)
mkdir -p "$deep"
cp "$targets/time_parts" "$deep/a_program_with_a_name_of_many_letters_so_that_it_fits_into_no_line_of_a_terminal"
cat >job.py <<'END'
import threading, time
def wait():
    time.sleep(0.8)
threads = [threading.Thread(target=wait, name="a thread with a long name") for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sum(range(3000000))
END
pillion -o job python3 job.py 2>err
pillion -o deep "$deep"/a_program* sleep 2>err
pillion -o crash "$targets/crash" segv 2>err

# ---- the summary ----

for width in 80 100 200; do
	for name in job deep crash; do
		fits $width "the summary of $name" "$report" stats --summary $name.pillion
	done
	fits $width 'the summary at the end of a run' "$PILLION" -f -o again python3 job.py
	for capture in example job recorded; do
		fits $width "the summary of $capture" "$report" stats --summary "$captures/$capture.pillpack"
	done
done
is "$(COLUMNS=80 report stats --summary deep.pillion | python3 wider.py 80)" 'True []' 'no terminal, with COLUMNS'
is "$(report stats --summary deep.pillion | python3 wider.py 100)" 'True []' 'no terminal: 100 columns'
like "$(on_screen 80 "$report" stats --summary job.pillion)" $'^\033\\[1mFIX FIRST\033\\[0m ' 'FIX FIRST is bold'
like "$(COLUMNS=80 report stats --summary job.pillion)" '^main +[^ ]+ [0-9.]+ (m?s): [0-9]+ % ' \
	'a role has a bar, its time and its parts'
! has_unwinder || like "$(COLUMNS=400 report stats --summary job.pillion)" 'for the 3 a thread with a[^(]* threads \(' \
	'threads have the name that Python has for them'
is "$(COLUMNS=400 report stats --summary job.pillion | sed -n 's/^main  *[^ ]* [^:]*: //p' | grep -o ' · ' |
	wc -l | awk '{ print ($1 <= 2) }')" 1 'and three parts at most'
PILLION_STATS=summary pillion -o short true 2>err
is "$(sed 's/[0-9.][0-9.]* [mu]*s/TIME/g; s/[0-9][0-9]* recorded/N recorded/' err)" \
	"pillion: capture: open it with pillion view short.pillion
TIME, 1 process, exit 0
recording  N recorded, 0 lost; recording cost TIME of CPU time" 'three lines of a run below 100 ms'

# ---- tables ----

for capture in "$captures/example" "$captures/job" "$captures/recorded" "$work/job"; do
	all=$(report stats --help-reports | sed -n 's/^ [ *]\([a-z][a-z0-9_]*\) .*/\1/p' | paste -sd,)
	# At 80 columns most is left out or cut; scripts/test --long has the other widths of each capture.
	widths='80 100 200'
	[ -n "${PILLION_TESTS_LONG:-}" ] || [ "$capture" = "$work/job" ] || widths=80
	for width in $widths; do
		fits "$width" "all reports of ${capture##*/}" "$report" stats -r "$all" "$capture"
		fits "$width" "the default set of ${capture##*/}" "$report" stats "$capture"
		for verb in info analyze; do
			fits "$width" "$verb of ${capture##*/}" "$report" "$verb" "$capture"
		done
	done
done
on_screen 80 "$report" stats -r osrt_sum job.pillion >out
like "$(cat out)" '^ Name +(Total )?Time +Share +(Num )?Calls +Avg +Max( +Med)?$' \
	'name, total, share, count, average, maximum'
rows=$(report stats -q -r osrt_sum -f csv job.pillion | wc -l)
is "$(grep -c '[0-9]%' out)" "$((rows > 21 ? 20 : rows - 1))" 'one line for each row'
like "$(cat out)" '^ clock_nanosleep +[0-9.]+ (m?s) +[^ ]+ +[0-9.]+% +[0-9]+ ' 'a bar, and units in each cell'
is "$(on_screen 80 "$report" stats -q --nsys --top=0 -r osrt_sum job.pillion | tr -s ' -' | grep -c 'StdDev')" 1 \
	'--nsys: all columns'
for format in csv table; do
	is "$(on_screen 300 "$report" stats -q --top=0 -f $format -r osrt_sum job.pillion)" \
		"$(report stats -q -f $format -r osrt_sum job.pillion)" "$format on a terminal is that elsewhere"
done
is "$(on_screen 300 "$report" stats -q --nsys --top=0 -r osrt_sum job.pillion)" \
	"$(report stats -q -r osrt_sum job.pillion)" '--nsys on a terminal is what is printed elsewhere'
# Between the tables there are only their last lines.
on_screen 80 "$report" stats job.pillion >out
is "$(sed -n '1,/Processes (processes)/p' out | grep -cE '^pillion|device times')" 0 'nothing is between tables'

# ---- a start-up script, what it ran before the program, and what it left running ----

cat >startup.sh <<END
/bin/true
/bin/true
sleep 3 &
exec '$targets/time_parts' sleep
END
PILLION_STATS=summary pillion -o startup sh startup.sh 2>err
like "$(sed -n 2p err)" '2 processes \(\+2 of start-up\), exit 0$' 'start-up in the summary'
for table in processes time_sum; do
	on_screen 100 "$report" stats -r "$table" startup.pillion >out
	unlike "$(cat out)" ' true( |$)' "$table: start-up is left out on a terminal"
	like "$(cat out)" '^ [0-9]+ of [0-9]+ rows, without processes of start-up; --top=0 shows all' "$table: says so"
	like "$(cat out)" ' sleep' "$table: what was left running is there"
	on_screen 100 "$report" stats --top=0 -r "$table" startup.pillion >out
	like "$(cat out)" ' (/bin/)?true( |$)' "$table: --top=0"
done
is "$(report stats -r processes -f csv startup.pillion | wc -l)" 5 'files have all rows'
cat >looping.sh <<END
sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do /bin/sleep 0.05; done; true'
exec '$targets/time_parts' sleep
END
pillion -o looping sh looping.sh 2>err
is "$(report stats -q -r steps -f csv looping.pillion | wc -l)" 1 'a loop of a start-up script has no steps'
cat >job.sh <<END
sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do /bin/sleep 0.05; done; true'
/bin/sleep 2
exec /bin/true
END
PILLION_STATS=summary pillion -o lasting sh job.sh 2>err
like "$(sed -n 2p err)" 's, 12 processes' 'what takes longer than the last program is no start-up'
like "$(report stats -q -r steps -f csv lasting.pillion | wc -l)" '^([2-9]|[1-9][0-9]+)$' 'and its loop has steps'

# ---- lines of a thread that waits for work all its life ----

cat >watched.py <<'END'
import threading, time
stop = threading.Event()
def watch():
    while not stop.wait(0.2):
        pass
threading.Thread(target=watch, daemon=True).start()
for _ in range(20):
    time.sleep(0.05)
END
pillion -o watched python3 watched.py 2>err
on_screen 100 "$report" stats -r lines watched.pillion >out
like "$(cat out)" ' watched.py:8 +<module> ' 'lines of the work'
unlike "$(cat out)" 'watched.py:4 ' 'lines of idle helpers are left out on a terminal'
like "$(cat out)" '^ [0-9]+ of [0-9]+ rows, without idle helpers and start-up; --top=0 shows all' 'and it says so'
like "$(on_screen 100 "$report" stats --top=0 -r lines watched.pillion)" ' watched.py:4 +watch ' 'lines: --top=0'
like "$(report stats -r lines -f csv watched.pillion)" 'watched.py:4,watch$' 'files have lines of idle helpers'
unlike "$(report stats --summary watched.pillion)" 'watched.py:4' 'the summary has none of them'
done_testing
