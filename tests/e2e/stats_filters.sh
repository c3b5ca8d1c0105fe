#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --filter-time and --filter-nvtx: events that overlap are kept entirely, and the ledger covers the whole run.
. "$(dirname -- "$0")/lib.sh"

command -v python3 >/dev/null || skip_all 'no python3'
pillion -o run --osrt-threshold=0 "$targets/nvtx_steps" 3 >/dev/null 2>err
status=$?
[ "$status" -ne 77 ] || skip_all 'built without the headers of NVTX'
is "$status" 0 'the program runs'

sleeps() { # OPTION...
	report stats -r osrt_sum -f csv "$@" run.pillion 2>&1 | awk -F, '$9 == "usleep" { print $3 }'
}
is "$(sleeps)" 7 'without a filter: a call before, two in each of three steps'
is "$(sleeps --filter-nvtx=step)" 6 'all ranges of a text'
is "$(sleeps --filter-nvtx=step@)" 6 'an empty domain is the default one'
is "$(sleeps --filter-nvtx=step@*)" 6 'any domain'
is "$(sleeps --filter-nvtx=step/1)" 2 'one range of a text'
is "$(sleeps --filter-nvtx=half@other)" 3 'a range of a domain'
is "$(sleeps --filter-nvtx='a\/b\@c')" 1 'a text with special characters'
is "$(report stats -r nvtx_sum -f csv --filter-nvtx=step/2 run.pillion | grep -c ',step')" 1 'ranges are filtered'
is "$(report stats -r nvtx_sum -f csv --filter-nvtx=step/2 run.pillion | awk -F, '/,step/ { print $3 }')" 1 \
	'ranges are filtered by time'
is "$(sleeps --filter-nvtx=step --filter-time=/0)" '' 'both filters: events that pass both'

is "$(sleeps --filter-time=0/1h 2>&1)" '' 'an invalid unit: no rows'
like "$(report stats --filter-time=0/1h run.pillion 2>&1)" 'a time is a number with ns' 'an invalid unit: the message'
is "$(sleeps --filter-time=0/1000s)" 7 'a filter of the whole time'
is "$(sleeps --filter-time=/)" '' 'an empty time filter is refused'
is "$(sleeps --filter-time=1000s/)" '' 'a time after the end: no rows'
like "$(report stats -r osrt_sum --filter-time=2s/1s run.pillion 2>&1)" 'ends before it starts' \
	'an end before the start: the message'
report stats -r osrt_sum --filter-nvtx=nosuch run.pillion >out 2>err
is "$?" 2 'a missing range is an error'
like "$(cat err)" 'no such range; the capture has: .*step' 'a missing range: the message names the existing ones'
report stats -r osrt_sum --filter-nvtx=step/9 run.pillion >out 2>err
like "$(cat err)" 'only 3' 'an invalid index: the message has the number of ranges'
report stats -r osrt_sum --filter-nvtx=step/x run.pillion >out 2>err
is "$?" 2 'an index that is not a number'

# A call that crosses the edge counts entirely, in whichever chunk its parts are.
first=$(report stats -r nvtx_pushpop_sum -f csv run.pillion | awk -F, '/,step/ { print $2 }')
ok 'ranges have a duration' test "${first:-0}" -gt 0
is "$(report stats -r ledger -f csv --filter-nvtx=step/0 run.pillion)" "$(report stats -r ledger -f csv run.pillion)" \
	'the ledger covers the whole run'
report stats -r osrt_short_sum --filter-time=0/1s run.pillion >out 2>err
is "$?" 1 'counts without times cannot be filtered'

report export -t folded --metric calls --filter-nvtx=step/1 -o some.folded run.pillion 2>err
! has_unwinder || is "$(grep -c usleep some.folded)" 2 'exports are filtered: both stacks'
report export -t chrome --filter-nvtx=step/1 -o some.json run.pillion 2>err
is "$(python3 -c 'import json
print(sum(e.get("name") == "usleep" for e in json.load(open("some.json"))["traceEvents"]))')" 2 \
	'exports are filtered: events'
is "$(report stats -r osrt_sum --by thread -f csv run.pillion | head -1 | cut -d, -f1)" TID \
	'by thread: its number comes first'
like "$(report stats -q -r nvtx_sum --by thread -f csv run.pillion)" '^[0-9]+,.*,step' 'ranges by thread'
report stats -r cuda_gpu_kern_sum --by thread run.pillion >out 2>err
like "$(cat err)" 'by thread does not apply' 'device records have no thread'
done_testing
