#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program that is written for torch.profiler runs with one import changed, and has the same operators, calls, columns
# and files. PYTHON_TORCH: a Python that has torch.
set -u
. "$(dirname "$0")/lib.sh"

export PYTHONPATH=${tests_dir%/tests/*}/python${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1
python=${PYTHON:-python3}
command -v "$python" >/dev/null || skip_all 'no Python 3'

# ---- the table, of rows that are given here ----

cat >table.py <<'END'
from pillion.averages import Averages
rows = [{"Operator": "aten::mm", "Calls": 2, "CPU Self (ns)": 3_000, "CPU Total (ns)": 4_000,
         "GPU Self (ns)": 2_000_000, "GPU Total (ns)": 2_000_000, "GFLOPs": 2e-6, "Sizes": "[[2, 3], []]"},
        {"Operator": "a" * 60, "Calls": 1, "CPU Self (ns)": 1_000_000_000, "CPU Total (ns)": 1_000_000_000,
         "CPU Mem Self (MB)": -0.0015, "CPU Mem Total (MB)": 2.097152}]
averages = Averages(rows, shows_flops=True)
print(averages.table(sort_by="cuda_time_total", row_limit=1, header="title"))
for line in averages.table(time_unit="ms", max_name_column_width=20).splitlines():
    print("|".join(line.split()))
one, total = averages[1], averages.total_average()
print(one.cpu_memory_usage, one.self_cpu_memory_usage, one.cuda_time, averages[0].input_shapes, total.count,
      total.flops)
print(Averages([], "why").table(), [Averages(rows[:1]).table().count("\n"), Averages([]).table()])
END
"$python" table.py >out 2>err
is "$? $(cat err)" '0 ' 'a table: status'
sed 's/~/100.00%/g' >wanted <<'END'
Name|Self|CPU|%|Self|CPU|CPU|total|%|CPU|total|CPU|time|avg|Self|CUDA|Self|CUDA|%|CUDA|total|CUDA|time|avg|+
CPU|Mem|Self|CPU|Mem|#|of|Calls|Input|Shapes|Total|KFLOPs
aten::mm|0.00%|0.003ms|0.00%|0.004ms|0.002ms|2.000ms|100.00%|2.000ms|1.000ms|0|B|0|B|2|[[2,|3],|[]]|2.000
aaaaaaaaaaaaaaaaa...|~|1000.000ms|~|1000.000ms|1000.000ms|0.000ms|0.00%|0.000ms|0.000ms|2.00|MB|-1.46|KB|1|[]|--
Self|CPU|time|total:|1000.003ms
Self|CUDA|time|total:|2.000ms
END
is "$(grep -E '^(Name|a|Self).*[|]' out | sed 's/|CPU|Mem|Self/|+\nCPU|Mem|Self/')" "$(cat wanted)" \
	"a table: torch.profiler's columns, units and totals"
is "$(tail -n 2 out)" "2097152 -1500 0.0 [[2, 3], []] 3 2000
why [7, '']" 'the numbers of an operator, all operators as one, and a table without operators'
is "$(sed -n '1s/^=*$/rule/p; 2p' out; grep -c '^  *aten::mm' out)" 'rule
title
1' 'a table: its header, and row_limit'

# ---- a real PyTorch ----

real=${PYTHON_TORCH:-}
[ -z "$real" ] && "$python" -c 'import torch.profiler' 2>/dev/null && real=$python
if [ -z "$real" ]; then
	skip 'a program for torch.profiler' 'no torch for python3; PYTHON_TORCH names one'
	done_testing
	exit
fi
cat >theirs.py <<'END'
import json, sys, torch
from torch.profiler import profile, record_function, ProfilerActivity, schedule, tensorboard_trace_handler
torch.set_num_threads(1)
net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.Flatten(),
                          torch.nn.Linear(512, 10))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
seen = []
write = tensorboard_trace_handler(sys.argv[1])
def ready(p):
    write(p)
    table = p.key_averages(group_by_input_shape=True).table(sort_by="count", row_limit=-1)
    seen.append([p.step_num, sorted([e.key, str(e.input_shapes or []), e.count]
                                    for e in p.key_averages(group_by_input_shape=True)),
                 sorted([e.key, e.count] for e in p.key_averages()), table.splitlines()[1].split("  ")])
for repeat, wait in (2, 1), (1, 0):
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=wait, warmup=1, active=2, repeat=repeat),
                 on_trace_ready=ready, record_shapes=True) as prof:
        for step in range(9):
            with record_function("forward"):
                y = net(torch.ones(2, 3, 8, 8)).sum()
            y.backward()
            optimizer.step()
            prof.step()
with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=0, warmup=0, active=2, repeat=2),
             on_trace_ready=ready, record_shapes=True) as prof:
    for step in range(5):
        net(torch.ones(1, 3, 8, 8))
        prof.step()
for one in seen:
    one[3] = [title.strip() for title in one[3] if title.strip()]
json.dump(seen, open(sys.argv[1] + ".json", "w"))
END
sed 's/^from torch.profiler import/from pillion import/' theirs.py >ours.py
timeout "$patience" "$real" theirs.py theirs >out 2>err
is "$?" 0 'a program that is written for torch.profiler'
same() { # TEXT
	is "$("$real" -c 'import json
theirs, ours = json.load(open("theirs.json")), json.load(open("ours.json"))
for a, b in zip(theirs, ours):
    for what in range(4):
        if a[what] != b[what]:
            print(a[0], [[y for y in x[what] if y not in z[what]] for x, z in ((a, b), (b, a))] if what else b[0])
            break
print(len(theirs), len(ours))')" '5 5' "$1: steps, operators with their shapes, calls, columns"
}
pillion -f -o ours --pytorch=autograd-shapes-nvtx "$real" ours.py ours >out 2>err
is "$? $(cat out)" '0 ' 'the same with one import changed'
same 'under pillion'
is "$(find ours -name '*.pt.trace.json' | wc -l) $(cat ours/*.pt.trace.json | grep -o '"ProfilerStep#[0-9]*"' |
	sort | uniq -c | tr -s ' \n' ' ')" \
	"$(find theirs -name '*.pt.trace.json' | wc -l) $(cat theirs/*.pt.trace.json | grep -o '"ProfilerStep#[0-9]*"' |
		sort | uniq -c | tr -s ' \n' ' ')" 'the files of tensorboard_trace_handler, with the same steps'
rm ours.json
PILLION_OUTPUT=$work/direct.pillion PILLION_PYTORCH=autograd-shapes-nvtx LD_PRELOAD=$library \
	timeout "$patience" "$real" ours.py direct >out 2>err
is "$?" 0 'the same without the launcher'
mv direct.json ours.json
same 'without the launcher'

# Two processes record into one capture at the same time: each reads its own.
cat >two.py <<'END'
import os, sys
child = os.fork()
import torch
from pillion import profile
with profile() as prof:
    for step in range(3 if child else 2):
        torch.ones(2, 2) @ torch.ones(2, 2)
if child:
    os.waitpid(child, 0)
print([e.count for e in prof.key_averages() if e.key == "aten::mm"])
END
pillion -f -o two --pytorch=autograd-nvtx "$real" two.py >out 2>err
is "$? $(tr '\n' ' ' <out)" '0 [2] [3] ' 'each process has its own operators'
done_testing
