#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Report lines: the work of the backward pass belongs to the line of the forward pass that caused it; the columns add up
# to what the device executed; FLOPs by line; --inclusive has the time with callees.
set -u
. "$(dirname "$0")/lib.sh"
has_unwinder || skip_all 'built without the unwinder'

on_doubles
python=$(python3 -c 'import sys; print(sys.executable)') || skip_all 'no python3'
[ -e "$targets/nvtx_text.so" ] || skip_all "built without NVTX's headers"
job=$(cd "$tests_dir/../targets/python" && pwd)/autograd.py

pillion -o autograd -t cuda,nvtx "$python" "$job" 20 "$targets/nvtx_text.so" >wanted 2>err
is "$? $(wc -l <wanted)" '0 3' 'the job has run'
report stats -q -r lines -f json autograd.pillion >lines.json 2>err
is "$? $(cat err)" '0 ' 'the report'
total() { # REPORT COLUMN: of all rows
	report stats -q -r "$1" -f json autograd.pillion | "$python" -c 'import json, sys
print(sum(row[sys.argv[1]] or 0 for row in json.load(sys.stdin)))' "$2"
}
cell() { # LINE COLUMN
	"$python" -c 'import json, sys
print(sum(row[sys.argv[2]] or 0 for row in json.load(open("lines.json"))
    if row["Line"].endswith("autograd.py:" + sys.argv[1])))' "$@"
}
executed() { # KERNELS
	report stats -q -r cuda_gpu_kern_sum -f json autograd.pillion | "$python" -c 'import json, re, sys
print(sum(row["Total Time (ns)"] for row in json.load(sys.stdin) if re.fullmatch(sys.argv[1], row["Name"])))' "$1"
}
while read -r line launches kernels; do
	is "$(cell "$line" 'GPU Backward (ns)')" "$(executed "$kernels")" \
		"$kernels: the time of the backward pass is that of the line of the forward pass"
	is "$(cell "$line" Launches)" "$launches" "$kernels: its launches, too"
done <wanted
is "$(total lines 'GPU Time (ns)')" "$(total cuda_gpu_sum 'Total Time (ns)')" \
	'forward and backward time of all lines is the time of the device'
is "$(total lines Launches)" 180 'and the launches'
is "$(cell "$(awk 'NR == 1 { print $1 }' wanted)" FLOPs)" \
	$((20 * 3 * 2 * 32 * 64 * 16)) 'FLOPs of a product and of its two gradients'
is "$(cell "$(awk 'NR == 2 { print $1 }' wanted)" FLOPs)" $((20 * 3 * 2 * 8 * 64 * 128)) \
	'FLOPs of a product, its gradient, and the gradient of that'
is "$(report ops -f csv -c flops autograd.pillion | awk '{ sum += $1 } END { print sum }')" "$(total lines FLOPs)" \
	'FLOPs of all lines are those of pillion ops'
is "$(report stats --source autograd.py -f json autograd.pillion | "$python" -c 'import json, sys
print(*sorted(row["Line"] for row in json.load(sys.stdin) if row["GPU Backward (ns)"]))')" \
	"$(awk '{ print $1 }' wanted | sort -n | tr '\n' ' ' | sed 's/ $//')" '--source has the columns'

# ---- with callees ----

cat >nested.py <<'END'
import time
def inner():
    time.sleep(0.01)
def outer(depth):
    inner() if not depth else outer(depth - 1)
for i in range(5):
    outer(3)
    time.sleep(0.005)
END
pillion -o nested -t osrt --osrt-backtrace-threshold=0 "$python" nested.py >out 2>err
is "$? $(cat out)" '0 ' 'a job with callees'
report stats -q -r lines --inclusive -f json nested.pillion >inclusive.json
is "$("$python" -c 'import json
rows = {r["Line"].split(":")[-1]: r for r in json.load(open("inclusive.json")) if "nested.py" in r["Line"]}
total, inclusive = "Total Time (ns)", "Inclusive (ns)"
inner = rows["3"][total]
print(inner >= 5 * 10 ** 7, rows["3"][inclusive] == inner, rows["5"][total], rows["5"][inclusive] == inner,
    rows["7"][total], rows["7"][inclusive] == inner, rows["8"][inclusive] == rows["8"][total])')" \
	'True True 0 True 0 True True' 'a line has the time of what it calls, once if it is recursive'
is "$(report stats -q -r lines -f csv nested.pillion | head -n 1 | grep -c Inclusive)" 0 'only if requested'
is "$("$python" -c 'import json
times = [r["Inclusive (ns)"] for r in json.load(open("inclusive.json")) if "nested.py" in r["Line"]]
print(len(times) > 3, times == sorted(times, reverse=True))')" 'True True' 'the lines are in order of this time'
is "$(report stats -q -r lines --inclusive -f json autograd.pillion | "$python" -c 'import json, sys
rows = [row for row in json.load(sys.stdin) if "autograd.py" in row["Line"]]
own, inclusive = (sum(row[title] for row in rows if row["Function"] == "<module>")
    for title in ("GPU Time (ns)", "Inclusive GPU (ns)"))
print(own, inclusive, all(row["Inclusive GPU (ns)"] == row["GPU Time (ns)"]
    for row in rows if row["GPU Time (ns)"]))')" "0 $(executed 'forward|of_linear|of_wide') True" \
	'device time with callees, and of the backward pass that they caused'
done_testing
