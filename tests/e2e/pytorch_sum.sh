#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pytorch_sum as torch.profiler's key_averages(): groups, order, the summary; calls are those of torch.profiler.
set -u
. "$(dirname "$0")/lib.sh"

python=$(python3 -c 'import sys; print(sys.executable)') || skip_all 'no python3'
job=$(cd "$tests_dir/../targets/python" && pwd)/autograd.py

real=${PYTHON_TORCH:-}
[ -z "$real" ] && python3 -c 'import torch.profiler' 2>/dev/null && real=python3
if [ -n "$real" ]; then
	cat >net.py <<-'END'
		import json, sys, torch
		torch.set_num_threads(1)
		class Net(torch.nn.Module):
		    def __init__(self):
		        super().__init__()
		        self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)
		        self.encoder = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
		        self.linear = torch.nn.Linear(8 * 64, 32)
		    def forward(self, x):
		        return self.encoder(self.linear(torch.relu(self.conv(x)).flatten(1)).unsqueeze(1)).mean()
		def train():
		    net = Net()
		    optimizer = torch.optim.Adam(net.parameters())
		    for i in range(3):
		        optimizer.zero_grad()
		        net(torch.ones(2, 3, 8, 8)).backward()
		        optimizer.step()
		if len(sys.argv) > 1:
		    with torch.profiler.profile(record_shapes=True) as profiler:
		        train()
		    json.dump([[e.key, str(e.input_shapes) if e.input_shapes else "[]", e.count]
		               for e in profiler.key_averages(group_by_input_shape=True)], open(sys.argv[1], "w"))
		else:
		    train()
	END
	timeout "$patience" "$real" net.py torch.json >out 2>err
	is "$?" 0 "PyTorch's own profiler"
	pillion -o net -t nvtx --pytorch=autograd-shapes-nvtx "$real" net.py >out 2>err
	is "$? $(cat out)" '0 ' 'the same without it'
	report stats -q -r pytorch_sum -f json net.pillion >ours.json
	is "$(python3 -c 'import collections, json
ours, theirs = collections.Counter(), collections.Counter()
for row in json.load(open("ours.json")):
    ours[row["Operator"], row["Sizes"] or "[]"] += row["Calls"]
for name, sizes, calls in json.load(open("torch.json")):
    theirs[name, sizes] += calls
print(len(theirs) > 300, {key: (ours[key], theirs[key]) for key in ours | theirs if ours[key] != theirs[key]})')" \
		'True {}' 'calls by operator and sizes are those of torch.profiler'
	is "$(report stats -q -r pytorch_sum --group-by=phase -f json net.pillion | python3 -c 'import json, sys
print(*sorted({row["Phase"] for row in json.load(sys.stdin)}))')" 'backward forward optimizer' 'phases'
	like "$(report stats --summary net.pillion)" 'operators, own CPU time' 'the summary has the operators'

	cat >closure.py <<-'END'
		import torch
		torch.set_num_threads(1)
		net = torch.nn.Linear(8, 4)
		optimizer = torch.optim.Adam(net.parameters(), foreach=False)
		def closure():
		    loss = torch.relu(net(torch.ones(2, 8))).mean()
		    optimizer.zero_grad()
		    loss.backward()
		    return loss
		for i in range(3):
		    optimizer.step(closure)
	END
	pillion -o closure -t nvtx --pytorch=autograd-nvtx "$real" closure.py >out 2>err
	is "$? $(report stats -q -r pytorch_sum --group-by=phase -f json closure.pillion | python3 -c 'import json, sys
names = {"aten::linear": "", "aten::addcdiv_": "", "aten::threshold_backward": ""}
for row in json.load(sys.stdin):
    if row["Operator"] in names:
        names[row["Operator"]] += "%s=%d" % (row["Phase"], row["Calls"])
print(*names.values())')" '0 forward=3 optimizer=6 backward=3' \
		"phases of operators in an optimizer's closure"

	cat >group.py <<-'END'
		import os, torch
		import torch.distributed as dist
		dist.init_process_group("gloo", init_method="file://" + os.getcwd() + "/store", rank=0, world_size=1)
		dist.all_reduce(torch.ones(3))
		dist.all_reduce(torch.ones(5), group=dist.new_group([0]), async_op=True).wait()
		dist.barrier()
		print(dist.group.WORLD.group_name)
		dist.destroy_process_group()
	END
	pillion -o group -t nvtx --pytorch=autograd-shapes-nvtx "$real" group.py >out 2>err
	is "$?" 0 'collectives'
	report export -q -t chrome -o group.json group.pillion
	is "$(python3 -c 'import json
events = [e for e in json.load(open("group.json"))["traceEvents"] if e.get("name", "").startswith(("c10d::", "gloo:"))]
def groups(of):
    args = [e["args"] for e in events if of in e["name"] and "Input Dims" in e.get("args", ())]
    return {str(one["Input Dims"][0]): one.get("Process Group Name") for one in args}
ours, gloo = groups("c10d"), groups("gloo:all_reduce")
print(ours.get("[3]") == open("out").read().strip(), ours.get("[5]") not in (None, ours.get("[3]")),
      all(", " not in e["name"] for e in events), {key: gloo.get(key) == ours[key] for key in ("[3]", "[5]")})')" \
		"True True True {'[3]': True, '[5]': True}" "groups of c10d's and gloo's collectives in chrome's format"
	is "$(report stats -q -r pytorch_sum -f json group.pillion | python3 -c 'import json, sys
print(sum(row["Calls"] for row in json.load(sys.stdin) if row["Operator"] == "gloo:all_reduce"))')" 2 \
		"pytorch_sum has collectives of all groups"
else
	skip 'the calls of a real PyTorch' 'no torch for python3; PYTHON_TORCH names one'
fi

# ---- what was launched, on the simulated device ----

on_doubles
[ -e "$targets/nvtx_text.so" ] || { skip 'groups' "built without NVTX's headers"; done_testing; exit; }
pillion -o autograd -t cuda,nvtx "$python" "$job" 20 "$targets/nvtx_text.so" >out 2>err
is "$?" 0 'a forward and a backward pass'
groups() { # OPTION...: the last column of aten::mm with its calls
	report stats -q -r pytorch_sum -f json "$@" autograd.pillion | "$python" -c 'import json, sys
print(*sorted("%s=%d" % (list(row.values())[-1].split("/")[-1].rstrip(")"), row["Calls"])
    for row in json.load(sys.stdin) if row["Operator"] == "aten::mm"))'
}
! has_unwinder || is "$(groups --group-by=line)" 'autograd.py:40=60 autograd.py:45=60' \
	'--group-by=line: forward and backward calls at the line of the forward pass'
is "$(groups --group-by=phase)" 'backward=80 forward=40' '--group-by=phase'
! has_unwinder || is "$(groups --group-by=stack:2)" "$(sed -n '/^    \(linear\|wide\)(10 \* step/=' "$job" |
	sed 's/.*/autograd.py:&=60/' | tr '\n' ' ' | sed 's/ $//')" \
	'--group-by=stack: the innermost frame and its caller'
is "$(groups --group-by=name)" 'aten::mm=120' '--group-by=name'
is "$(report stats -q -r pytorch_sum --group-by=name --sort=count -f json autograd.pillion | "$python" -c '
import json, sys
calls = [row["Calls"] for row in json.load(sys.stdin)]
print(calls == sorted(calls, reverse=True), calls[0])')" 'True 120' '--sort=count'
total() { # REPORT COLUMN
	report stats -q -r "$1" --group-by=name -f json autograd.pillion | "$python" -c 'import json, sys
print(round(sum(row[sys.argv[1]] or 0 for row in json.load(sys.stdin)) * float(sys.argv[2])))' "$2" "${3:-1}"
}
is "$(total pytorch_sum GFLOPs 1e9)" "$(report ops -f csv -c flops autograd.pillion |
	awk '{ sum += $1 } END { print sum }')" 'the operations are those of pillion ops'
like "$(report stats --summary autograd.pillion)" 'operators, own GPU time' 'the summary has the operators'
for bad in --group-by=shapes --group-by=line:3 --group-by=stack:0 --group-by=stack:x --sort=calls; do
	report stats -r pytorch_sum "$bad" autograd.pillion >out 2>err
	is "$?" 2 "$bad is refused"
	like "$(cat err)" "${bad%=*} takes " "$bad: why"
done
done_testing
