#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# stats with several formats and outputs, as nsys takes them: each report in turn has its own, the last one is that of
# the others, too. With the real nsys, the same options make files of the same names.
set -u
. "$(dirname "$0")/lib.sh"

"$PILLION_BUILD_DIR/tests/trace-writer" example run.pillion

stats() {
	report stats "$@" >out 2>err
	status=$?
}

stats -q -r osrt_sum,cuda_gpu_kern_sum -f csv,column -o -,. -o '@grep -c ^' run.pillion
is "$status" 0 'two reports, two formats, three outputs'
is "$(head -1 out | cut -c1-24)" 'Time (%),Total Time (ns)' 'the first: csv on standard output'
like "$(cat run_cuda_gpu_kern_sum.txt)" 'CUDA GPU Kernel Summary' \
	'the second: columns in a file named after the capture'
stats -r osrt_sum -f csv -o -,. run.pillion
like "$(cat err)" 'more outputs than reports' 'outputs that are not used are named'
is "$status" 0 'and are no error, as with nsys'

stats -r osrt_sum,processes,cuda_api_sum -f csv,json -o base,.,- run.pillion
is "$(head -1 base_osrt_sum.csv | cut -c1-8)" 'Time (%)' 'a name is the beginning of a name'
is "$(head -c1 run_processes.json)" '[' 'the last format is that of the others: in a file'
is "$(head -c1 out)" '[' 'and on standard output'
like "$(cat err)" 'wrote base_osrt_sum.csv' 'files that were written are named'
like "$(cat err)" 'wrote run_processes.json' 'each of them'

stats -r gpukernsum:base -o . run.pillion
is "$(head -1 run_gpukernsum_base.csv | cut -c1-8)" 'Time (%)' \
	'files: csv by default, the name as requested, with its suffix'
echo kept >base_osrt_sum.csv
stats -r osrt_sum,processes -o base,- run.pillion
is "$status" 1 'a file that exists'
like "$(cat err)" 'base_osrt_sum.csv: file exists, use --force-overwrite' 'is named'
is "$(cat base_osrt_sum.csv)" kept 'and not replaced'
like "$(cat out)" 'Processes' 'and the other report is printed'
stats -r osrt_sum,processes -o base,- --force-overwrite=true run.pillion
is "$status $(head -1 base_osrt_sum.csv | cut -c1-8)" '0 Time (%)' 'unless --force-overwrite is given'
stats -r osrt_sum -f csv,csv -o missing/base run.pillion
is "$status" 1 'a directory that does not exist'
like "$(cat err)" 'missing/base_osrt_sum.csv: No such file' 'is named'

stats -q -r osrt_sum,processes -o '@sed -n 1p' run.pillion
is "$(grep -c , out)" 2 'each report is the standard input of a command: csv by default'
stats -q -r osrt_sum -f table -o "@grep -E (-|Name|read)" run.pillion
like "$(cat out)" '\| read' 'there is no shell'
unlike "$(cat out)" 'usleep' 'the words of the command are its arguments'
stats -q -r osrt_sum,processes -o @false,- run.pillion
is "$status" 1 'a command that fails'
like "$(cat err)" 'osrt_sum: @false: exit status 1' 'is reported'
like "$(cat out)" 'Processes' 'and the other report is printed'
stats -q -r osrt_sum -o '@nosuchcommand -x' run.pillion
is "$status" 1 'a command that does not exist'
like "$(cat err)" '@nosuchcommand -x: No such file' 'is reported'
printf '#!/bin/sh\nkill -9 $$\n' >killed && chmod +x killed
stats -q -r osrt_sum -o @./killed run.pillion
like "$status $(cat err)" '^1 .*ended by signal 9' 'a command that is killed'
stats -q -r osrt_sum -f csv -o '@head -c 1' run.pillion
is "$status $(cat out)" '0 T' 'a command need not read everything'

stats -r osrt_sum -o file run.pillion
is "$status $(grep -c 'OS Runtime Summary' file)" '0 1' 'one plain name is a file'
stats -r osrt_sum,processes -o file run.pillion
is "$status $(grep -c '^ \*\*' file)" '0 2' 'of all tables, and is replaced'

for words in '-f nosuch' '-f csv,' '-f ,csv' '-f csv,nosuch' '-o @' '-o -,' '--summary -o .' '--json -o -,.' \
	'--source job.py -f csv,json'; do
	# shellcheck disable=SC2086 # words
	stats $words run.pillion
	is "$status" 2 "refused: $words"
	like "$(cat out err)" 'takes|cannot be combined' "with the reason"
done

stats -q --force-export=true -r osrt_sum -f hdoc run.pillion
is "$status $(head -c 15 out) $(cat err)" '0 <!DOCTYPE html> ' \
	'--force-export, and a format by the name that nsys has for it'
stats --sqlite x.sqlite -r osrt_sum run.pillion
like "$status $(cat err)" '^0 .*--sqlite is ignored' '--sqlite is ignored, and this is stated'
stats --help-reports
is "$status $(grep -c '^ [ *][a-z]' out)" \
	"0 $(report stats --help | sed '1,/^Reports/d' | grep -c '^ [ *][a-z]')" '--help-reports lists all'
stats --help-reports gpukernsum
like "$(cat out)" '^ \*cuda_gpu_kern_sum' '--help-reports with a name'
stats --help-reports nosuch
like "$status $(cat err)" "^2 .*unknown report 'nosuch'" '--help-reports with an unknown name'
stats --help-formats
is "$status $(grep -c . out)" '0 7' '--help-formats'

# Suffixes of reports, and words of analyze.
names() {
	report stats -q -r "$1" -f csv run.pillion | awk -F, 'NR > 1 { sum += $2 } END { print sum }'
}
is "$(names cuda_gpu_kern_sum:nvtx-name)" "$(names cuda_gpu_kern_sum)" ':nvtx-name divides the time of kernels'
is "$(names cuda_gpu_kern_gb_sum:base:nvtx-name)" "$(names cuda_gpu_kern_sum)" ':base:nvtx-name of the report by shape'
if [ -x "$targets/cuda_steps" ] && [ -e "$PILLION_BUILD_DIR/tests/doubles/libcuda.so.1" ]; then
	LD_LIBRARY_PATH=$PILLION_BUILD_DIR/tests/doubles pillion -o steps "$targets/cuda_steps" 20 >out 2>err
	is "$(report stats -q -r cuda_gpu_kern_sum:nvtx-name:base -f csv steps.pillion |
		awk -F, 'NR > 1 { print $9, $3 }')" \
		$'library:inner/work 20\nlibrary:inner/other 19\nwork 1' 'with the name of the innermost range'
else
	skip 'with the name of the innermost range' 'built without CUDA headers'
fi
stats -r cuda_gpu_trace:nvtx-name run.pillion
like "$status $(cat err)" '^0 .*nvtx-name is ignored' 'a report that does not have the names of ranges'
stats -r osrt_sum:base run.pillion
like "$status $(cat err)" "^2 .*unknown report 'osrt_sum:base'" 'a suffix that a report does not take'
report analyze -q -f csv -r all run.pillion >all 2>err
report analyze -q -f csv run.pillion >default 2>err
is "$(cat all)" "$(cat default)" 'analyze -r all applies every rule'
report analyze -f csv -r cuda_memcpy_sync:rows=1:start=5 run.pillion >out 2>err
is "$(grep -c cuda_memcpy_sync out)" 1 'RULE:rows=N has N rows'
like "$(cat err)" 'start=5 is ignored: use --filter-time' 'other arguments of rules are ignored, and this is stated'
report analyze -r small_io:rows=none run.pillion >out 2>err
is "$?" 2 'a wrong number of rows is refused'

nsys=${NSYS:-$(command -v nsys)}
if [ -x "$nsys" ] && "$nsys" stats --help 2>&1 | grep -q -- '--report' &&
	report export -q -t sqlite -o run.sqlite run.pillion 2>/dev/null; then
	mkdir ours theirs
	cp -r run.pillion ours
	cp run.sqlite theirs
	options=(-q -r 'gpukernsum:base,cudaapisum,osrtsum' -f 'csv,json,column' -o '.,base')
	(cd ours && report stats "${options[@]}" run.pillion)
	(cd theirs && timeout "$patience" "$nsys" stats "${options[@]}" run.sqlite) >log 2>&1
	is "$(cd ours && echo ./*_*)" "$(cd theirs && echo ./*_*)" 'nsys writes files of the same names'
else
	skip 'nsys writes files of the same names' 'no nsys, or no sqlite'
fi
done_testing
