#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pillion stats of dumps of PyTorch's flight recorder and NCCL's inspector: the rank that is behind, the slow rank,
# files that cannot be read, beside a capture and without one.
set -u
. "$(dirname "$0")/lib.sh"
data=$tests_dir/../data/nccl_dumps
command -v python3 >/dev/null || skip_all 'no python3'
case $(report query x 2>&1) in
*'no sqlite'*) skip_all 'no sqlite' ;;
esac
ok 'the dumps are made' python3 "$data/nccl_dumps.py" .

# cells REPORT COLUMNS FILE...: columns of its rows, by their names.
cells() {
	report stats -q -f csv -r "$1" "${@:3}" 2>err | python3 -c 'import csv, sys
for row in csv.DictReader(sys.stdin):
    print("|".join(row[name] for name in sys.argv[1].split(",")))' "$2"
}

# ---- flight recorder ----

columns='Process Group,Sequence,Operation,Ranks,Entered,Started,Completed,Not Entered,Not Known'
cat >wanted <<-'END'
	0 (default_pg)|4|nccl:all_reduce|4|0-1,3|0||2|
	0 (default_pg)|5|nccl:all_gather|4|0-1,3|||2|
	0 (default_pg)|3|nccl:all_reduce|4|0-3|0-3|0-2||
	0 (default_pg)|1|nccl:all_reduce|4|0-3|0-3|0-3||
	0 (default_pg)|2|nccl:broadcast|4|0-3|0-3|0-3||
	1 (pair)|1|nccl:all_reduce|2|0-1|0-1|0-1||
	1 (pair)|1|nccl:recv 1<-0|1|1|1|1||
	1 (pair)|1|nccl:send 0->1|1|0|0|0||
END
cells nccl_flight_sum "$columns" framed_?.json >rows
is "$(diff wanted rows; cat err)" '' 'collectives: the ranks that entered, started and completed it, and who is missing'
cells nccl_flight_sum "$columns" plain_?.json >rows
is "$(diff wanted rows; cat err)" '' 'the same of JSON that PyTorch writes'
cells nccl_flight_sum Line,Finding framed_?.json | head -2 >rows
at='/home/user/train.py'
is "$(cat rows)" "$at:50 step|rank 2 has not entered it; the last one entered: 3 nccl:all_reduce at $at:40 step
$at:60 step|rank 2 has not entered it; the last one entered: 3 nccl:all_reduce at $at:40 step; operations differ: \
nccl:all_gather of 0-1, nccl:reduce_scatter of 3" 'the rank that is behind, the lines, and operations that differ'
is "$(cells nccl_flight_sum 'Sequence,Entered,Not Entered,Not Known' framed_[013].json | grep '^4')" '4|0-1,3||2' \
	'a rank without a dump is not said to be behind'
python3 - <<-'END'
	import json
	for rank in range(4):
	    with open(f'plain_{rank}.json') as file:
	        dump = json.load(file)
	    dump['entries'] = [e for e in dump['entries'] if e['record_id'] > 0] if rank == 1 else dump['entries']
	    if rank == 2:
	        dump['entries'] = [e for e in dump['entries'] if e['collective_seq_id'] > 5]
	    with open(f'full_{rank}.json', 'w') as file:
	        json.dump(dump, file)
END
is "$(cells nccl_flight_sum "$columns" full_[01].json | grep '|1|nccl:all_reduce|4')" \
	'0 (default_pg)|1|nccl:all_reduce|4|0-1|0-1|0-1||2-3' 'a call that a full buffer has lost was entered'
cells nccl_flight_sum "$columns" "$data"/gloo_rank_?.json >rows
is "$(cat rows err)" '0 (default_pg)|3|gloo:barrier|2|0-1|0|0||
0 (default_pg)|1|gloo:all_reduce|2|0-1|0-1|0-1||
0 (default_pg)|2|gloo:broadcast|2|0-1|0-1|0-1||' 'dumps of PyTorch 2.13 itself, on gloo'

# ---- a pickle ----

report stats nccl_trace_rank_2 >out 2>err
is "$? $(cat out)" '2 ' 'a pickle is not read'
like "$(cat err)" 'nccl_trace_rank_2: a pickle is not read, because that executes what it says' 'and why'
not_ok 'no command is proposed that reads it' grep -q 'python3\|pickle.load' err
command=$(sed -n '/^    python3 -c .*pickle/ s/^ *//p' "${tests_dir%/tests/*}/docs/user/reading.md")
for rank in 0 1 2 3; do
	printf '%s\n' "$command" | sed "s/DUMP/nccl_trace_rank_$rank/g"
done >convert
ok 'the command of the guide converts what is plain data' bash -e convert
python3 -c 'import os, pickle, sys
class Harmful:
    def __reduce__(self):
        return os.mkdir, ("executed",)
pickle.dump({"entries": [Harmful()]}, sys.stdout.buffer, protocol=2)' >harmful
printf '%s\n' "$command" | sed "s/DUMP/harmful/g" >convert
not_ok 'and refuses what is not' bash -e convert
not_ok 'which is not executed' test -e executed
cells nccl_flight_sum "$columns" nccl_trace_rank_?.json >rows
is "$(diff wanted rows; cat err)" '' 'what it writes is read'

# ---- inspector ----

columns='Operation,Bytes from,Num Calls,Avg (ns),Min (ns),Max (ns),Bus (GB/s),Slowest Rank,Fastest Rank'
cells nccl_inspector_sum "$columns" node1-pid*.log >rows
is "$(sed 's/\([|]\)\([0-9]*\)\.0\([|]\)/\1\2\3/' rows; cat err)" \
	'AllReduce|2097152|16|1390000|500000|3030000|5.008|2|1
AllReduce|16384|8|40000|40000|40000|0.614|0|0
Recv|65536|1|20000|20000|20000|3.277|1|1
Send|65536|1|20000|20000|20000|3.277|0|0' 'calls by size, the slow rank and the fast one'

# ---- files that cannot be read ----

: >empty.json
: >empty.log
head -c 900 plain_1.json >cut_1.json
echo '{"a": [1, 2]}' >other_9.json
sed 's/"version":"2.10"/"version":"1.5"/' plain_1.json >old_1.json
sed 's/"version":"2.10"/"version":"2.4"/' plain_1.json >earlier_1.json
cp plain_1.json again_1.json
cp plain_1.json unnumbered.json
sed 's/"profiling_name":"nccl:broadcast"/"profiling_name":null/' plain_3.json >lacks_3.json
{ sed 1d node1-pid1000.log; head -1 node1-pid1000.log | head -c 200; } >torn.log
sed 's/v4\.0/v9.0/' node1-pid1001.log >later.log
mixed=(plain_0.json empty.json empty.log cut_1.json other_9.json old_1.json earlier_1.json again_1.json unnumbered.json
	lacks_3.json torn.log later.log)
report stats -r nccl_flight_sum,nccl_inspector_sum "${mixed[@]}" absent.json >out 2>err
is $? 2 'an operand that does not exist is a capture that cannot be opened'
report stats -r nccl_flight_sum,nccl_inspector_sum "${mixed[@]}" >out 2>err
is $? 1 'some files cannot be read: status 1'
cat >wanted <<-'END'
	empty.json: the file is empty
	empty.log: the file is empty
	cut_1.json: damaged: it is not valid JSON
	other_9.json: neither a dump of PyTorch's flight recorder nor of NCCL's inspector
	old_1.json: version '1.5' of PyTorch's flight recorder cannot be read; 2.x can
	earlier_1.json: version 2.4 of the format, but plain_0.json has 2.10: are they dumps of one run?
	again_1.json: not read, because earlier_1.json is the dump of rank 1
	unnumbered.json: the rank is not known: the name must end with it, as in nccl_trace_rank_3.json
	lacks_3.json: entries that lack fields: 1; the others are read
	torn.log: damaged lines: 1, the first is line 7; the others are read
	later.log: lines of format v9.0, which cannot be read (v4 can): 7
END
is "$(sed 's/^pillion stats: //' err | diff wanted -)" '' 'each is named with the reason'
is "$(grep -c 'default_pg.*0-1,3' out) $(grep -c '0x7f8c496ae9f661 .*AllReduce' out)" '5 2' 'the others are read'
signals=0
for size in $(seq 1 97 "$(stat -c %s framed_0.json)"); do
	head -c "$size" framed_0.json >part_0.json
	report stats part_0.json >out 2>err
	[ $? -eq 2 ] && grep -q 'part_0.json: ' err || signals=$((signals + 1))
done
is "$signals" 0 'a dump that was cut anywhere: status 2 and a reason'

log=$(ls node1-pid*.log | head -1)
{ printf '\n\n' && cat "$log" && head -1 "$log" | sed 's/"\(coll_exec_time_us\)": *[0-9]*/"\1": -5/'; } >edges.log
report stats -f csv -r nccl_inspector_sum edges.log >out 2>err
last=$(($(wc -l <"$log") + 3))
is "$(cat err)" "pillion stats: edges.log: damaged lines: 1, the first is line $last; the others are read" \
	'empty lines before the first, and a negative time'
is "$(cat out)" "$(report stats -q -f csv -r nccl_inspector_sum "$log")" 'they change nothing'

# ---- with a capture and without one ----

report stats plain_?.json >out 2>err
is "$? $(grep -c '^ \*\* ' out)" '0 1' 'only dumps: their report'
report stats -r osrt_sum,processes,nccl_flight_sum plain_?.json >out 2>err
is "$? $(grep -c ': needs a capture$' err) $(grep -c '^ \*\* ' out)" '1 2 1' 'other reports need a capture'
report stats --summary plain_?.json >out 2>err
is "$? $(cat err)" '2 pillion stats: --summary needs a capture' 'the summary does'
report stats --json -r nccl_flight_sum plain_?.json >out 2>err
is "$(python3 -c 'import json; print(json.load(open("out"))["rows"][0]["Not Entered"])')" 2 '--json'
report stats -r nccl_flight_sum -f csv -o . plain_0.json >out 2>err
is "$? $(head -1 plain_0.json_nccl_flight_sum.csv | cut -d, -f1)" '0 Process Group' 'a file beside the dump'
pillion -o run true >out 2>err
report stats -q plain_?.json run.pillion >out 2>err
is "$? $(grep -c -e '(processes):' -e '(nccl_flight_sum):' out)" '0 2' 'a capture and dumps'
report stats -r nccl_flight_sum run.pillion >out 2>err
is "$? $(head -1 err)" "1 pillion stats: nccl_flight_sum: no dump of PyTorch's flight recorder is given" 'no dumps'
is "$(report query run.pillion 'SELECT count(*) FROM nccl_flight_sum, nccl_inspector_sum' 2>&1 |
	tail -1 | tr -d ' ')" 0 'query: no rows of dumps'
done_testing
