#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Invalid options: status 2, a helpful message of one line, COMMAND is not started.
set -u
. "$(dirname "$0")/lib.sh"

refused() { # REGEX OPTION...
	local regex=$1
	shift
	pillion "$@" touch ran 2>err
	is $? 2 "$* is refused"
	like "$(cat err)" "$regex" "$*: the message"
	is "$(wc -l <err)" 1 "$*: one line"
	is "$(ls -d -- ran *.pillion 2>/dev/null)" '' "$*: COMMAND does not run and no capture is made"
	rm -rf ran ./*.pillion
}

refused 'unknown option --osrt-treshold; did you mean --osrt-threshold\?' --osrt-treshold=5
refused 'did you mean --capture-range' --capture-rang=none
refused 'unknown option --zzzzzzzzzzzz; the nearest is --[a-z-]+; see pillion --help$' --zzzzzzzzzzzz
refused '--help takes no value' -hotkey
refused 'unknown option -Z; see pillion --help$' -Z
refused "takes a list of cuda,nvtx,osrt,.* not 'cud'" -t cud,nvtx
refused "takes auto\|cpu\|process-tree\|none, not 'gpu'" -s gpu
refused 'takes true or false' -x maybe
refused 'takes a number' --osrt-threshold=-5
refused 'takes a number' --osrt-threshold=1e3
refused 'from 1 to 256' --backtrace-depth=0
refused 'number of seconds' -y soon
refused 'repeat-shutdown:N' --capture-range-end=repeat-shutdown
refused 'repeat\[:N\]' --capture-range-end=repeat:0
refused 'other\[:NS\]' --cudabacktrace=kernel:x
refused "takes none\|sigkill\|sigterm\|N, not '99'" --kill=99
refused "takes none\|autograd-nvtx\|autograd-shapes-nvtx, not 'autograd'" --pytorch=autograd
refused "takes none\|autograd-nvtx\|autograd-shapes-nvtx, not ''" --pytorch=
refused "takes none\|sqlite\|parquetdir\|arrowdir,..., not 'xml'" --export=xml
refused 'cannot read /no/such/file: No such file' --python-functions-trace=/no/such/file
printf '[{"module": "m",\n"functions": ["f" "g"]}]' >functions.json
refused "functions.json: line 2: expected ',' or ']'" --python-functions-trace=functions.json
echo '[]' >functions.json
refused 'functions.json names no function' --python-functions-trace=functions.json
refused '--run-as is not supported: COMMAND would run as another user' --run-as=nobody
refused 'A=B,C=D' -e 5
refused 'cannot read' --command-file=/no/such/file

pillion -o 2>err
is $? 2 'an option without its value is status 2'
pillion 2>err
is $? 2 'no COMMAND is status 2'
like "$(cat err)" 'no COMMAND given' 'no COMMAND: the message says so'
pillion --help >help
is "$(tail -n +2 err)" "$(head -n 6 help)" 'nothing at all: the six examples that --help begins with'
is "$(grep -c '^  .*pillion ' err)" 6 'six of them'
is "$(sed -n '/^## Using it$/,/^$/s/^    /  /p' "${tests_dir%/tests/*}/README.md")" "$(head -n 6 help)" 'as the README'
pillion -s none 2>err
is "$? $(wc -l <err)" '2 1' 'an option and no COMMAND: the message alone'

warned() { # REGEX OPTION...
	local regex=$1
	shift
	pillion -f -o w "$@" echo ran >out 2>err
	is "$?$(cat out)" 0ran "$* runs"
	like "$(cat err)" "$regex" "$* gives a warning"
}
warned '--cpuctxsw is ignored' --cpuctxsw=none
warned '--resolve-symbols is ignored' --resolve-symbols false
warned '--trace-fork-before-exec=false is ignored' --trace-fork-before-exec=false
warned '--backtrace=dwarf is ignored' -b dwarf
warned '--ftrace is ignored: kernel events' --ftrace=sched
warned '--storage-metrics=true is ignored' --storage-metrics
warned '--capture-range=hotkey is ignored' -c hotkey
warned 'needs --nvtx-capture=RANGE\[@DOMAIN\]: everything is recorded' -c nvtx
warned 'functions-trace-shapes: ranges have no sizes' --pytorch=functions-trace-shapes
warned '--python-import-time records NVTX ranges: nvtx is added to --trace' -t osrt --python-import-time=true
warned 'system-wide samples the processes of COMMAND only' -s system-wide
like "$(report stats -r ledger -f csv w.pillion)" 'system-wide samples the processes of COMMAND only' \
	'what has no effect is in the ledger'
warned 'opengl is not recorded by pillion, vulkan is not' -t cuda,opengl,vulkan
pillion -f -o w --cuda-um-cpu-page-faults=false --gpuctxsw=false --export none --trace-fork-before-exec=true \
	--capture-range-end=repeat:3:async --cuda-graph-trace=node:host-only --discard-environment=true \
	--cuda-trace-scope=process-tree --backtrace=none --nic-metrics=none -t cuda,nvtx,osrt,cublas,cudnn true 2>err
is "$(grep -vc 'pillion view' err)" 0 'an option without effect gives no warning'

like "$(PILLION_BACKTRACE_DEPTH=0 pillion true 2>&1)" 'environment: --backtrace-depth takes' \
	'values of the environment are checked'
like "$(PILLION_OUTPUT=fromenv pillion true 2>&1)" 'fromenv.pillion' 'PILLION_OUTPUT is -o'
like "$(PILLION_OUTPUT=fromenv pillion -o fromline true 2>&1)" 'fromline.pillion' \
	'the command line overrides the environment'
is "$(PILLION_OUTPTU=x PILLION_SAMPEL=cpu PILLION_HOME=y PILLION_REPORT=z PILLION_TRACE=osrt pillion -f -o w \
	"$PILLION" -o inner true 2>&1 | grep PILLION | sort)" \
	'pillion: the variable PILLION_OUTPTU has no effect; did you mean PILLION_OUTPUT?
pillion: the variable PILLION_SAMPEL has no effect; did you mean PILLION_SAMPLE?' \
	'misspelt variables are named once, others are not'
like "$(report stats -r ledger -f csv w.pillion)" 'PILLION_OUTPTU has no effect' 'in the ledger, too'
like "$(pillion -f -ow true 2>&1)" 'w.pillion' 'a value may follow its letter directly'
cat >options <<'END'
# a comment
--output=fromfile --osrt-threshold 5
-e "A=x y"
END
is "$(pillion --command-file options sh -c 'echo "$A $PILLION_OSRT_THRESHOLD"' 2>err)" 'x y 5' \
	'--command-file: options are read from the file'
ok '--command-file: -o is read from the file' test -d fromfile.pillion
is "$(pillion --osrt-threshold 7 -f --command-file=options sh -c 'echo $PILLION_OSRT_THRESHOLD' 2>err)" 7 \
	'the command line overrides the file'
echo 'stray --append' >options
pillion --command-file options true 2>err
is "$? $(cat err)" "2 pillion: options: 'stray' is not an option" \
	'--command-file: a word that is not an option is status 2'
echo '--command-file=options' >nested
pillion --command-file nested true 2>err
is "$? $(cat err)" '2 pillion: nested: --command-file is not allowed in a command file' \
	'--command-file: a nested command file is status 2'

settings() {
	pillion -f -o s "$@" sh -c 'env | grep ^PILLION_C | grep -v ^PILLION_CLOCK_HZ | sort | tr "\n" " "' 2>err
}
is "$(settings --profile-from-start off)" 'PILLION_CAPTURE_RANGE=cudaProfilerApi PILLION_CAPTURE_RANGE_END=repeat ' \
	'nvprof: --profile-from-start off'
is "$(settings --cudabacktrace=true --cudabacktrace-threshold=5)" \
	'PILLION_CUDABACKTRACE=kernel:5,memory:5,sync:5,other:5 ' '--cudabacktrace-threshold sets all thresholds'
is "$(settings --cudabacktrace-threshold=5 --cudabacktrace=kernel,sync:9)" 'PILLION_CUDABACKTRACE=kernel:5,sync:9 ' \
	'--cudabacktrace-threshold before --cudabacktrace'
is "$(settings -c cudaProfilerApi --stop-on-range-end=false)" \
	'PILLION_CAPTURE_RANGE=cudaProfilerApi PILLION_CAPTURE_RANGE_END=none ' '--stop-on-range-end=false means none'
pillion --help >help
is $? 0 '--help is status 0'
pillion --help=nsys >nsys
is $? 0 '--help=nsys is status 0'
like "$(cat nsys)" '--cpuctxsw +context switches' '--help=nsys lists the compatibility options'
like "$(cat nsys)" '--profile-from-start=on\|off' '--help=nsys lists the older spellings'
unlike "$(cat help)" 'cpuctxsw|profile-from-start' '--help lists no compatibility options'
for verb in stats export analyze info pack unpack recover; do
	report "$verb" --help >>help || fail "$verb --help is status 0"
done
is "$(awk 'length > 80' help nsys)" '' 'every help page has at most 80 columns'
is "$(pillion --help=cuda)" "$(pillion --help)" '--help with a topic of nsys prints the whole text'
is "$(pillion --version=1)" "$(pillion --version)" 'the value of --version is ignored'
done_testing
