#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# -c nvtx records inside of the range that -p names, in every form, domain, thread and process; domains are included or
# excluded.
set -u
. "$(dirname "$0")/lib.sh"

"$targets/nvtx_capture" >out 2>err
[ $? -ne 77 ] || skip_all 'built without the headers of NVTX'

# The recorded ranges: instances, style and text of each.
ranges() {
	report stats -q -r nvtx_sum -f csv "$1.pillion" 2>/dev/null | awk -F, 'NR > 1 { print $3, $9, $10 }' |
		LC_ALL=C sort | paste -s -d ';'
}

# captured TEXT WANTED OPTION...
captured() {
	captured_text=$1
	captured_wanted=$2
	shift 2
	pillion -f true -o run "$@" "$targets/nvtx_capture" fork >out 2>err
	is "$? $(cat out) $(grep -v "^$capture_line" err)" '0 done ' "$captured_text: the program continues"
	is "$(ranges run)" "$captured_wanted" "$captured_text"
}

repeat=(-c nvtx --capture-range-end=repeat)
captured 'RANGE is of the default domain' '2 PushPop inner;4 PushPop step' "${repeat[@]}" -p step
captured 'RANGE@DOMAIN: registered, wide, ended in another thread' \
	'2 PushPop domain:step;2 PushPop in a thread;2 StartEnd domain:step' "${repeat[@]}" -p step@domain
captured 'RANGE@*' '2 PushPop domain:step;2 PushPop in a thread;2 PushPop inner;2 StartEnd domain:step;4 PushPop step' \
	"${repeat[@]}" -p 'step@*'
captured 'an escaped @' '2 PushPop "odd' "${repeat[@]}" -p 'a\@b@odd,name'
captured 'by default the first range is the only one' '1 PushPop inner;2 PushPop step' -c nvtx -p step
captured 'a range of a domain that is left out; its end is ignored' \
	'1 PushPop inner;2 PushPop "odd;2 PushPop in a thread;2 PushPop step' \
	-c nvtx --capture-range-end=none --nvtx-domain-exclude=domain -p step@domain
like "$(report info run.pillion 2>/dev/null)" 'nvtx, 1 begun' 'info shows the range'

# Only marks inside of the range are recorded.
pillion -f true -o run "${repeat[@]}" -p 'step@*' "$targets/nvtx_capture" >out 2>err
report export -t chrome -o run.json -f true run.pillion >/dev/null 2>&1
is "$(grep -o '"name":"out' run.json | wc -l) $(grep -o '"name":"in ' run.json | wc -l)" '0 5' \
	'marks: only those inside the range'

pillion -f true -o run "${repeat[@]}" -p step "$targets/nvtx_capture" race >out 2>err
report export -t chrome -o run.json -f true run.pillion >/dev/null 2>&1
is "$(cat out) $(grep -o '"name":"in"' run.json | wc -l) $(grep -o '"name":"out"' run.json | wc -l)" 'done 40000 0' \
	'two threads enter and leave it at the same time: only marks inside are recorded'

PILLION_STATS=summary pillion -f true -o run -c nvtx -p stepp "$targets/nvtx_capture" >out 2>err
is "$? $(cat out)" '0 done' 'a range that never occurs: the program continues'
like "$(cat err)" 'the range did not occur; ranges that did: step, inner, step@domain, in a thread, a\\@b@odd,name$' \
	'a range that never occurs: the summary names the ranges that did'
PILLION_STATS=summary pillion -f true -o run -c nvtx -p step true >out 2>err
like "$(cat err)" 'the range did not occur; no other range did' 'no range at all: the summary says so'

captured 'only a domain' '2 PushPop domain:step;2 StartEnd domain:step' --nvtx-domain-include=domain
captured 'only the default one' '2 PushPop in a thread;2 PushPop inner;4 PushPop step' --nvtx-domain-include default
captured 'all but two' '2 PushPop "odd' --nvtx-domain-exclude=default,domain
captured 'a comma in a name' '2 PushPop "odd' --nvtx-domain-include='odd\,name'
captured 'a domain that would be called default' '' --nvtx-domain-include='\default'

pillion --nvtx-domain-include=a --nvtx-domain-exclude=b touch started >out 2>err
is "$? $(cat err) $(ls)" "2 pillion: --nvtx-domain-include and --nvtx-domain-exclude: choose one $(ls)" \
	'--nvtx-domain-include and -exclude together are refused'
[ ! -e started ]
is $? 0 'a refused option starts nothing'
pillion -o all -c nvtx touch started >out 2>err
is "$? $(head -1 err)" \
	'0 pillion: --capture-range=nvtx needs --nvtx-capture=RANGE[@DOMAIN]: everything is recorded' \
	'-c nvtx alone records everything, and says so'
ok 'and runs COMMAND' test -e started
done_testing
