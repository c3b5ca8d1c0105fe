#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The real `nsys stats` of our sqlite export gives our tables; a program recorded by nsys has the same ranges, counts
# and durations. NSYS and NSYS_IMPORTER: lib.sh.
set -u
. "$(dirname "$0")/lib.sh"

NSYS=${NSYS:-$(command -v nsys)}
[ -n "$NSYS" ] || skip_all 'no nsys'
"$targets/nvtx_steps" 1 >/dev/null 2>&1
[ $? -ne 77 ] || skip_all 'built without the headers of NVTX'

# Rows of a table without their order; nsys ends an unfinished range at its last event.
rows() {
	grep -v '^$' | LC_ALL=C sort
}

pillion -o run "$targets/nvtx_extended" >out 2>err
pillion --append -o run "$targets/nvtx_steps" 20 >>out 2>>err
if report export -t sqlite -o run.sqlite run.pillion >/dev/null 2>err; then
	for pair in nvtx_sum=nvtxsum nvtx_pushpop_sum=nvtxppsum nvtx_startend_sum=nvtxsesum; do
		report stats -q -f csv -r "${pair%=*}" run.pillion | rows >ours
		timeout "$patience" "$NSYS" stats -q -f csv -r "${pair#*=}" run.sqlite 2>/dev/null | rows >theirs
		is "$(wc -l <ours) $(diff ours theirs)" "$(wc -l <theirs) " \
			"${pair%=*}: nsys gives the same rows for our export"
		[ "$(wc -l <ours)" -gt 1 ]
		is $? 0 "${pair%=*}: there are rows"
	done
else
	skip "nsys stats of our export" 'built without sqlite'
fi

# summary OF: text, instances and median of each range.
summary() {
	awk -F, 'NR > 1 && NF { print $10, $3, $5 }' | LC_ALL=C sort
}

nsys_records theirs -t nvtx "$targets/nvtx_steps" 50 || {
	skip 'the same program under nsys' "$why"
	done_testing
}
timeout "$patience" "$NSYS" export -t sqlite -f true -o theirs.sqlite theirs.nsys-rep >>out 2>>err
timeout "$patience" "$NSYS" stats -q -f csv -r nvtxsum theirs.sqlite 2>/dev/null | summary >theirs
if [ ! -s theirs ]; then
	skip 'the same program under nsys' 'nsys recorded nothing here'
	done_testing
fi
pillion -f true -o ours "$targets/nvtx_steps" 50 >out 2>err
report stats -q -f csv -r nvtx_sum ours.pillion | summary >ours
is "$(sed 's/ [^ ]*$//' ours)" "$(sed 's/ [^ ]*$//' theirs)" 'nsys records the same ranges and counts'
paste -d ' ' ours theirs | awk '$2 >= 20 { off = $3 / $6 - 1; if (off > 0.05 || off < -0.05) print $1, $3, $6 }' >far
is "$(cat far)" '' 'medians are within 5 % for ranges with 20 instances'
done_testing
