#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# analyze on real processes: each planted problem is found at its source line, and no other problem is reported. The
# rules of the real nsys, applied to our export, print the same rows.
set -u
. "$(dirname "$0")/lib.sh"
unset MALLOC_PERTURB_ # of Meson: the summary has a line for what is switched on
has_unwinder || skip_all 'built without the unwinder'

doubles=$PILLION_BUILD_DIR/tests/doubles
trouble=$targets/cuda_trouble
[ -x "$trouble" ] || skip_all 'built without CUDA headers'

record() { # NAME OPTION... COMMAND
	LD_LIBRARY_PATH=$doubles pillion -o "$@" >out 2>err
}

verdict() { # CAPTURE RULE: found, clean, could not check: why
	report analyze -q -r "$2" -f csv "$1.pillion" 2>/dev/null |
		python3 -c 'import csv, sys; print(list(csv.DictReader(sys.stdin))[0]["Verdict"])'
}

line() { # TEXT: number of the target's source line that contains it
	grep -n "$1" "$tests_dir/../targets/cuda_trouble.c" | sed 's/:.*//'
}

for kind in none input copies memset gap; do
	record $kind "$trouble" $kind
	is "$? $(cat out)" "0 $kind" "$kind: its status and output"
	like "$(cat err)" "^$capture_line " "$kind: its stderr has the capture's line"
done

# ---- found where planted, clean where not ----

is "$(verdict copies cuda_memcpy_async)" found 'pageable memory in an asynchronous copy'
is "$(verdict copies cuda_memcpy_sync)" found 'synchronous copies'
is "$(verdict copies pageable_copies)" found 'pageable copies'
like "$(report analyze -q -r pageable_copies -f csv copies.pillion)" \
	"cudaMemcpyAsync HtoD,copies \(.*cuda_trouble\.c:$(line '/\* pageable \*/')\)" 'pageable copies: source line'
is "$(verdict none cuda_memcpy_async) $(verdict none cuda_memcpy_sync) $(verdict none pageable_copies)" \
	'clean clean clean' 'pinned copies: clean'
is "$(verdict memset cuda_memset_sync) $(verdict none cuda_memset_sync)" 'found clean' 'memsets of pinned memory'
is "$(verdict gap gpu_gaps) $(verdict none gpu_gaps)" 'found clean' 'a gap over 500 ms'
is "$(verdict gap gpu_time_util)" found 'a device with low utilization'
is "$(verdict copies cuda_api_sync) $(verdict input cuda_api_sync)" 'clean found' 'synchronizing calls'
is "$(verdict input input_bound) $(verdict copies input_bound)" 'found clean' 'steps that wait for input'
like "$(report analyze -q -r input_bound -f csv input.pillion)" ',read,input \(.*cuda_trouble\.c:[0-9]+\)$' \
	'the call and its line'
like "$(report analyze -r input_bound input.pillion 2>&1)" 'the device waits for input, .*Load data ahead' \
	'the finding and the advice'

# ---- gaps: the sum of their causes ----

sums() { # CAPTURE: total idle time over all causes; wall time minus busy time
	report analyze -q -r gpu_idle -f csv "$1.pillion" >idle.csv
	report stats -q -r cuda_gpu_trace -f csv "$1.pillion" >trace.csv
	report stats -q -r processes -f csv "$1.pillion" >processes.csv
	python3 - <<'END'
import csv
idle = sum(int(r['Idle Time (ns)']) for r in csv.DictReader(open('idle.csv')))
wall = max(int(r['Start (ns)']) + int(r['Duration (ns)']) for r in csv.DictReader(open('processes.csv')))
busy, last = 0, 0
for start, length in sorted((int(r['Start (ns)']), int(r['Duration (ns)'])) for r in csv.DictReader(open('trace.csv'))):
    busy += max(0, min(start + length, wall) - max(start, last))
    last = max(last, start + length)
print(idle, wall - busy)
END
}
for kind in input gap; do
	read -r idle rest < <(sums $kind)
	is "$idle" "$rest" "$kind: the causes add up to the time without work"
done
like "$(report analyze -q -r gpu_idle -f csv gap.pillion)" ',host in OS call: usleep,' 'a gap while the host sleeps'

# ---- a shell that executes the program: it recorded no event before exec and has no trace ----

record became -t cuda sh -c "exec $trouble input"
is "$(ls became.pillion/*.trace | wc -l)" 1 'one trace of two programs'
is "$(verdict became gpu_idle)" found 'exec: idle'
like "$(report analyze -q -r gpu_idle -f csv became.pillion)" ',Simulated GPU 0 \(0\),' 'exec: the name of the device'
like "$(report stats --summary became.pillion 2>&1)" '^recording +[0-9]+ recorded' 'exec: the summary has a ledger'

# ---- could not check ----

record host --gpu-activity=none "$trouble" copies
for rule in cuda_memcpy_async gpu_gaps gpu_idle input_bound pageable_copies; do
	is "$(verdict host $rule)" 'could not check: no device records; the ledger states the reason' \
		"$rule without device records"
done
report analyze -r gpu_gaps host.pillion >out 2>err
is "$? $(cat err)" '1 pillion analyze: gpu_gaps: could not check: no device records; the ledger states the reason' \
	'a rule given by -r could not be checked: status 1'
report analyze host.pillion >out 2>err
is $? 0 'a default rule could not be checked: status 0'
pillion -o none_at_all true >out 2>err
for rule in cuda_api_sync implicit_sync alloc_churn tensor_dims; do
	like "$(verdict none_at_all $rule)" '^could not check: ' "$rule without any CUDA call"
done

# ---- forms ----

report analyze -q -f json copies.pillion >out.json
ok 'json of all rules' python3 -c 'import json; d = json.load(open("out.json"))
assert len(d) == 39 and d["cuda_memcpy_sync"][0]["Verdict"] == "found", d.keys()'
report analyze -r gpu-starv,cuda-sync-api copies.pillion >out 2>err
is $? 0 "nsys's older names"
report analyze -r gpu_gap copies.pillion >out 2>err
is "$? $(cat err)" "2 pillion analyze: unknown rule 'gpu_gap'; did you mean gpu_gaps?" 'an unknown rule'
report analyze copies.pillion >out 2>err
is "$? $(cat err)" '0 ' 'what could not be checked is no message'
is "$(grep -c '^ clean: ' out) $(grep -cE '^ could not check [0-9]+ rules?[:,].* \(--all lists them\)$' out)" '1 1' \
	'one line for clean rules, one for unchecked ones'
like "$(cat out)" '^ clean: .*gpu_gaps' 'a clean rule has no table'
unlike "$(cat out)" '\(gpu_gaps\):' 'a clean rule has no table'
like "$(report analyze --all copies.pillion 2>err)" '^ could not check: .*tensor_dims \([a-z ]' \
	'an unchecked rule has its reason with --all'
report analyze -f json copies.pillion 2>err | timeout "$patience" python3 -c 'import json, sys
print(*(rule for rule, rows in json.load(sys.stdin).items() if rows[0]["Verdict"] == "found"))' >found
is "$(sed -n 's/^ \*\* .*(\([a-z_]*\)):$/\1/p' out | sort)" "$(tr ' ' '\n' <found | sort)" \
	'for people the same findings as in json'
mkdir none
(cd none && report analyze) >out 2>err
is "$? $(cat err)" \
	'2 pillion analyze: no CAPTURE given, and none in this directory; see pillion analyze --help' 'no capture'
like "$(report analyze --help)" '^  gpu_idle ' '--help lists the rules'
LD_LIBRARY_PATH=$doubles PILLION_STATS=summary pillion -o told "$trouble" input >out 2>err
is "$(wc -l <err | awk '{ print ($1 <= 25) }')" 1 'the summary has at most 25 lines'
like "$(cat err)" "^FIX FIRST .*: cuda_trouble\.c:$(line 'usleep(8000)') input" \
	'the summary has the line of the worker that the input waits for'

LD_LIBRARY_PATH=$doubles PILLION_STATS=summary pillion -o all -s cpu --cudabacktrace=all:0 \
	"$doubles/cuda_launches" 1500 >out 2>err
is "$(wc -l <err | awk '{ print ($1 <= 25) }')
$(grep -cE '^([0-9.]+ m?s, |GPU +kern|memory +GPU|(GPU work|CUDA API|copies|OS calls)( |$)|lines |recording )' err)" '1
9' \
	'at most 25 lines also with every kind of content'
# The ellipsis of a truncated name takes three bytes and one column. A single line that fits stands beside its label.
# Where other programs hold the CPUs, more is found, and the lines may have no room.
pillion -o computes -s cpu --stats=false "$targets/time_parts" compute >out 2>err
for capture in all computes; do
	COLUMNS=80 report stats --summary $capture.pillion 2>&1
done >narrow
is "$(awk '/^[^ ]/ { is_line = /^lines / } is_line' narrow | sed 's/…/-/g' |
	awk 'length > 80 { n++ } END { print n + 0, (NR > 0) }')" '0 1' 'lines of source are not wider than 80 columns'

# ---- the real nsys ----

nsys=${NSYS:-$(command -v nsys)}
if [ -z "$nsys" ]; then
	skip "nsys's own rules" 'no nsys'
	done_testing
fi
# nsys rounds megabytes to three decimals; ours have six.
three_decimals() {
	awk -F, -v OFS=, '
		{ for (i = 1; i <= NF; i++) if ($i ~ /\.[0-9][0-9][0-9][0-9]+$/) $i = sprintf("%.3f", $i); print }'
}
record eight sh -c "for kind in copies input gap memset gap none gap gap; do '$trouble' \$kind & done; wait"
for kind in none input copies memset gap eight; do
	report export -q -t sqlite $kind.pillion
	for pair in cuda_memcpy_async:cuda-async-memcpy cuda_memcpy_sync:cuda-sync-memcpy \
		cuda_memset_sync:cuda-sync-memset \
		cuda_api_sync:cuda-sync-api gpu_gaps:gpu-starv gpu_time_util:gpu-low-util; do
		# With several processes, nsys attributes idle times to one of them.
		[ "$kind ${pair%:*}" = 'eight gpu_time_util' ] && continue
		case $(verdict $kind ${pair%:*}) in
		found) report analyze -q -r ${pair%:*} -f csv $kind.pillion | cut -d, -f3- | three_decimals ;;
		esac | sort >ours
		timeout "$patience" "$nsys" analyze -q -r ${pair#*:} -f csv -o - $kind.sqlite 2>nsys.err |
			sed '/^$/d' | sort >theirs
		ok "$kind: ${pair%:*} has nsys's rows ($(wc -l <theirs))" diff ours theirs
	done
done
done_testing
