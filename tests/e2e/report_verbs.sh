#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The first word of the command line: verbs, words that are nearly verbs, help. What all tables share: --top, the pager,
# --fail-on. view.
. "$(dirname -- "$0")/lib.sh"

pillion -o run --osrt-threshold=0 bash -c 'cat /dev/null; sleep 0; exec true' 2>err
is "$?" 0 'a run to report on'

# ---- the first word ----

mkdir bin
cat >bin/view <<'END'
#!/bin/sh
echo "the program view: $*"
END
cp bin/view bin/stat
chmod +x bin/view bin/stat
PATH=$work/bin:$PATH

pillion stat run.pillion >out 2>err
is "$? $(cat out)" '2 ' 'a word that is nearly a verb, with a capture: not run as a program'
like "$(cat err)" "'stat' is not a verb; did you mean pillion stats\? pillion -- stat runs" 'the message names the verb'
for verb in sessions shutdown; do
	PATH=${PILLION%/*} "$PILLION" "$verb" >out 2>err
	is "$?" 127 "nsys's verb $verb: there is no such command"
	like "$(cat err)" 'if the word of another tool is meant: ' 'the message has what to use instead'
done
"$PILLION" shutdown --kill=none >out 2>err
is "$?" 2 'nsys shutdown --kill: the program of that name does not run'
like "$(cat err)" 'shutdown: there are no sessions' 'the message states the reason'
pillion expotr -t folded -o - run.pillion/ >out 2>err
is "$?" 2 'options and their values are not operands'
like "$(cat err)" 'did you mean pillion export' 'the message names the nearest verb'
is "$(pillion stat run.pillion other 2>err)" 'the program view: run.pillion other' \
	'with another operand it is a program'
is "$(pillion -- stat run.pillion 2>err)" 'the program view: run.pillion' 'after -- it is a program'
is "$(pillion profile stat run.pillion 2>err)" 'the program view: run.pillion' 'after profile it is a program'
pillion cat run.pillion/capture >out 2>err
is "$?" 0 'a path within a capture is not a capture'
is "$(pillion view notes.txt 2>err)" 'the program view: notes.txt' 'view without a capture is the program'
is "$(grep 'view: ' err)" \
	'pillion: view: no operand is a capture, so the program view runs; pillion view --help is on the verb' \
	'one line says so'
before=$(ls -d report*.pillion 2>/dev/null)
echo '{"schemaVersion": 1, "traceEvents": []}' >trace.json
echo '{"name": "traces"}' >package.json
for file in 'a.nsys-rep:nsys stats' 'b.qdrep:nsys stats' 'c.sqlite:pillion ops' 'd.prof:python3 -m pstats' \
	'e.pstats:python3 -m pstats' 'trace.json:ui.perfetto.dev'; do
	[ -e "${file%%:*}" ] || printf '\001\002' >"${file%%:*}"
	pillion view "${file%%:*}" >out 2>err
	like "$? $(cat out err)" "^2 pillion view: ${file%%:*}: .*, but .*${file#*:}" \
		"view ${file%%:*}: what to do instead"
done
is "$(ls -d report*.pillion 2>/dev/null)" "$before" 'and no capture is left'
is "$(pillion view package.json 2>err)" 'the program view: package.json' 'other JSON is for the program'
like "$(pillion view --help 2>&1)" '^Usage: pillion view ' 'view with options only is the verb'
like "$(pillion diff --help 2>&1)" '^Usage: pillion diff ' 'diff with options only is the verb'
pillion diff >out 2>err
is "$? $(cat out err)" '2 pillion diff: two captures are compared: pillion diff BEFORE AFTER' 'diff alone is the verb'
pillion diff -q run other.txt >out 2>err
like "$? $(cat err)" '^2 pillion diff: .*other.txt: No such file or directory' \
	'with a capture among the operands, here NAME for NAME.pillion, it is the verb'
pillion view --no-open -o page.html >out 2>err
is "$? $(tail -n 1 err)" '0 pillion view: wrote page.html' 'the value of an option is no operand'
is "$(pillion view -R page.html 2>err)" 'the program view: -R page.html' 'an option that only the program has'
for words in 'attach 12:pillion where PID' 'record true:pillion COMMAND'; do
	# shellcheck disable=SC2086
	PATH=${PILLION%/*}:/usr/bin:/bin "$PILLION" ${words%%:*} >out 2>err
	like "$? $(cat err)" "^127 .*: command not found; if the word of another tool is meant: ${words#*:}" \
		"a word of another tool: ${words%% *}"
done
for words in 'open:pillion view CAPTURE' 'report:pillion stats CAPTURE'; do
	pillion "${words%%:*}" run >out 2>err
	like "$? $(cat err)" \
		"^2 .*'${words%%:*}' is not a verb: ${words#*:}; pillion -- ${words%%:*} runs the program" \
		"a word of another tool with a capture: ${words%%:*}"
done
pillion --pid=12 true >out 2>err
like "$? $(cat err)" '^2 .*pillion where PID shows' '--pid: refused, with the line that does it here'
pillion where -p 12 >out 2>err
like "$? $(cat err)" '^2 .*pillion where PID' 'where -p: likewise'

# ---- NAME where there is also a file of that name ----

for name in program folder; do
	cp -r run.pillion $name.pillion
done
echo '#!/bin/sh' >program
mkdir folder
for name in program folder; do
	is "$(pillion stats -q -r processes -f csv $name 2>&1)" "$(pillion stats -q -r processes -f csv run)" \
		"the capture of the $name of that name"
done
is "$(pillion stats -q -r processes -f csv folder/ 2>&1)" "$(pillion stats -q -r processes -f csv run)" \
	'the name of a folder may end with a slash'
pillion view --no-open -o program.html program >out 2>err
is "$? $(cat out)" '0 ' 'view likewise'
echo expected >expected
like "$(pillion diff program expected 2>err)" '> expected$' \
	'diff of two files is the program, also if there is a capture beside one of them'
like "$(pillion diff program folder 2>&1)" 'Changes by ' 'if there is one beside both, it is the verb'

# ---- a name that a shell would split ----

PILLION_STATS=summary pillion -o "it's new" sleep 0.3 2>err
like "$(cat err)" "^pillion: capture: open it with pillion view 'it'.*''s new.pillion'\$" 'the name is quoted'
eval "$(sed -n 's/^pillion: capture: open it with//p' err) -o new.html --no-open" >out 2>&1
ok 'so that the line can be run' [ -s new.html ]
for name in 'new one' "it's" 'a[1]' '#x'; do
	cp -r "it's new.pillion" "$name"
	report stats --summary "$name" >out
	(pillion() { printf '%s\n' "$2"; } && eval "$(sed -n 's/^next *//p' out)") >named 2>&1
	is "$(cat named)" "$name" "what to run next likewise: $name"
done

# ---- files of other tools ----

printf 'SQLite format 3\0' >nsys.sqlite
echo text >notes.txt
printf '#!/bin/sh\n' >script
echo report >r.nsys-rep
for words in 'nsys.sqlite:a database; type: pillion ops nsys.sqlite' 'script:a program; type: pillion ./script' \
	'notes.txt:text; type: pillion COMMAND' 'r.nsys-rep:a report of Nsight Systems; type: nsys stats r.nsys-rep'; do
	pillion stats "${words%%:*}" >out 2>err
	like "$? $(cat err)" "^2 .*: not a pillion capture, but ${words#*:}" "${words%%:*}: what reads it"
done
mkdir empty.pillion && echo text >text.pillion
is "$(pillion view -x empty.pillion text.pillion 2>err)" 'the program view: -x empty.pillion text.pillion' \
	'what is named like a capture and is none is no capture'
pillion view none.pillion >out 2>err
is "$? $(cat err)" '2 pillion view: none.pillion: No such file or directory' \
	'a capture that is missing: the verb says so'
pillion diff none.pillion run >out 2>err
is "$? $(cat err)" '2 pillion diff: none.pillion: No such file or directory' 'diff names a missing capture once'

# ---- no operand: the newest capture ----

mkdir newest && cd newest || exit 99
pillion view >out 2>err
is "$? $(cat err)" '2 pillion view: no CAPTURE given, and none in this directory; see pillion view --help' \
	'view where there is no capture'
pillion -o older true 2>err
pillion -o newer true 2>err
touch -d '2001-01-01' older.pillion/capture
mkdir empty.pillion && echo text >text.pillpack
for verb in stats info analyze 'export -t folded -o -' pack; do
	# shellcheck disable=SC2086
	pillion $verb >out 2>err
	is "$(head -n 1 err)" "pillion ${verb%% *}: newer.pillion" "$verb takes the newest capture and says so"
done
touch -d '2002-01-01' newer.pillion/capture
pillion view --no-open >out 2>err
is "$? $(head -n 1 err) $(ls -- *.html)" '0 pillion view: newer.pillpack newer.pillpack.html' 'view takes a packed one'
is "$(pillion stats --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["capture"])')" \
	"['newer.pillpack']" 'json has its name'
cd ..
pillion stat run >out 2>err
is "$? $(cat out)" '2 ' 'a word that is nearly a verb, with NAME for NAME.pillion: not run as a program'
is "$(cp out run; pillion stat run 2>err; rm run)" 'the program view: run' 'with a file of that name: run'
is "$(pillion -- view run.pillion 2>err)" 'the program view: run.pillion' 'view after -- is the program'
is "$(pillion help | head -n 1)" '  pillion python3 train.py            run a program and record it' \
	'help begins with examples'
like "$(pillion help)" '^Usage: pillion \[profile\]' 'help prints the help of a run'
like "$(pillion stats --help | sed -n '/^GPU and CUDA:/,/^$/p')" '^ \*cuda_api_sum .*cudaapisum' \
	'the help of stats lists reports by topic'
is "$(pillion stats --help | sed -n 's/^ [ *]\([a-z0-9_][a-z0-9_]*\) .*/\1/p' | sort)" \
	"$(pillion stats --help-reports | sed -n 's/^ [ *]\([a-z0-9_][a-z0-9_]*\) .*/\1/p' | sort)" \
	'each report is in one topic'
like "$(pillion help nsys)" 'Nsight Systems' 'help nsys'
is "$(pillion help stats)" "$(pillion stats --help)" 'help VERB'
is "$(pillion help --help; pillion help -h)" "$(pillion help; pillion help)" 'the help of help'
is "$(pillion help --version)" "$(pillion stats --version)" 'the version of help'
pillion help nonsense >out 2>err
is "$? $(cat err)" "2 pillion: there is no help on 'nonsense'; see pillion --help" \
	'help on something unknown proposes nothing that differs in many letters'
pillion help stat >out 2>err
like "$? $(cat err)" "^2 .*; did you mean pillion help stats\?" 'nor nothing where two letters differ'
for word in 'rank_cause_sum:pillion stats -r rank_cause_sum CAPTURE' 'gpu_gaps:pillion analyze -r gpu_gaps CAPTURE' \
	'folded:pillion export -t folded CAPTURE'; do
	like "$(pillion help "${word%%:*}" 2>&1)" "^  ${word#*:}\$" "help ${word%%:*}"
done
like "$(env a.b-c=1 "$PILLION" stats -r processes run.pillion 2>&1)" 'cat /dev/null' \
	'a verb in an environment with unusual names'
is "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'pillion-env.*' -newer run.pillion/capture -user "$(id -u)" | wc -l)" 0 \
	'no file of the environment is left'

# ---- tables ----

rows=$(report stats -q -r osrt_sum -f csv run.pillion | wc -l)
ok 'the run has more than three rows' test "$rows" -gt 4
is "$(report stats -q -r osrt_sum -f csv --top=2 run.pillion)" \
	"$(report stats -q -r osrt_sum -f csv run.pillion | head -n 3)" '--top=2: the first two rows'
like "$(report stats -r osrt_sum -f csv --top=2 run.pillion 2>&1 >out)" "osrt_sum: 2 of $((rows - 1)) rows" \
	'csv: the message has the number of rows'
like "$(report stats -r osrt_sum --top=2 run.pillion)" "2 of $((rows - 1)) rows; --top=0 shows all" \
	'a table for people: its last line has the number of rows'
is "$(report stats -q -r osrt_sum -f csv --top=0 run.pillion | wc -l)" "$rows" '--top=0: all rows'
report stats --top=-1 run.pillion >out 2>err
is "$?" 2 '--top takes a number'
like "$(report stats run.pillion 2>&1 >out)" '^pillion stats: no rows: .*cuda_api_sum, ' \
	'the reports of the default set without rows are listed in one line'

# ---- analyze --fail-on ----

# Of what a busy machine does not change: a run that waits for a CPU is found by cpu_starved.
report analyze -r small_io,lock_convoy --fail-on=found run.pillion >out 2>err
is "$?" 0 '--fail-on: nothing was found'
report analyze --fail-on=lost run.pillion >out 2>err
is "$?" 2 '--fail-on takes found'
report analyze --fail-on=found:nonsense run.pillion >out 2>err
is "$? $(grep -c "unknown rule 'nonsense'" err)" '2 1' '--fail-on=found:RULE needs a rule'
report analyze -r gpu_gaps --fail-on=found:gpu_idle run.pillion >out 2>err
is "$?" 2 '--fail-on needs a rule that is applied'

# ---- the pager, on a terminal ----

cat >terminal.py <<'END'
import os, pty, sys
pid, fd = pty.fork()
if not pid:
    os.execvp(sys.argv[1], sys.argv[1:])
text = b''
try:
    while True:
        part = os.read(fd, 65536)
        if not part:
            break
        text += part
except OSError:
    pass
os.waitpid(pid, 0)
sys.stdout.buffer.write(text.replace(b'\r\n', b'\n'))
END
if command -v python3 >/dev/null; then
	terminal() { # PAGER ARG...
		COLUMNS=200 PILLION_PAGER=$1 timeout "$patience" python3 terminal.py \
			"$PILLION_BUILD_DIR/report/pillion-report" "${@:2}"
	}
	like "$(terminal 'sed s/^/paged:/' stats run.pillion)" '^paged: \*\* OS Runtime Summary' \
		'a terminal: a long output is shown in the pager'
	unlike "$(terminal 'sed s/^/paged:/' stats -r processes run.pillion)" 'paged' 'a short one is printed'
	like "$(terminal '' stats run.pillion)" '^ \*\* OS Runtime Summary' 'an empty pager: printed'
	like "$(terminal /nonexistent/pager stats run.pillion)" 'OS Runtime Summary' \
		'a pager that does not exist: printed'
	pillion -o many --osrt-threshold=0 bash -c 'for i in {1..30}; do (:); done' 2>err
	like "$(terminal cat stats -r processes many.pillion)" '^ 20 of [0-9]+ rows; --top=0 shows all' \
		'a terminal shows 20 rows'
fi

# ---- view ----

if report export -t html -o probe.html run.pillion 2>err; then
	cat >bin/browser <<'END'
#!/bin/sh
echo "opened $*" >"$(dirname -- "$0")/opened"
END
	chmod +x bin/browser
	BROWSER=browser pillion view run.pillion >out 2>err
	is "$? $(cat out)" '0 ' 'view writes the page'
	like "$(cat err)" 'pillion view: wrote run.html' 'its path is stated'
	ok 'the page is that of export -t html' cmp -s probe.html run.html
	opened() { [ -s bin/opened ]; }
	eventually opened
	is "$(cat bin/opened)" 'opened run.html' 'the browser is started'
	pillion view --no-open run.pillion >out 2>err
	is "$?" 0 'a page of its own is replaced'
	echo mine >run.html
	pillion view --no-open run.pillion >out 2>err
	is "$? $(cat run.html)" '2 mine' 'another file is not'
	env -u DISPLAY -u WAYLAND_DISPLAY -u BROWSER "$PILLION" view -f run.pillion >out 2>err
	is "$? $(grep -c 'there is no display' err)" '0 1' 'without a display the user is told to open it'
fi
done_testing
