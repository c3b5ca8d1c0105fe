#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --memory=torch: the bytes of operators are those of torch.profiler with profile_memory. PYTHON_TORCH: a Python that
# has torch.
set -u
. "$(dirname "$0")/lib.sh"

export PYTHONPATH=${tests_dir%/tests/*}/python${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1
python=${PYTHON:-python3}
command -v "$python" >/dev/null || skip_all 'no Python 3'
memory=${library%.so}-memory.so
[ -e "$memory" ] || skip_all 'built without libpillion-memory.so'

# ---- a stand-in for libc10, on the CPU and on two devices ----

if "${CC:-cc}" -shared -fPIC -o libc10.so "$tests_dir/../targets/python/torch_c10.c" 2>/dev/null; then
	cat >blocks.py <<-'END'
		import ctypes, threading, pillion
		c10 = ctypes.CDLL("./libc10.so")
		c10.host_take.restype = ctypes.c_void_p
		def take(size):
		    return ctypes.c_void_p(c10.host_take(ctypes.c_size_t(size)))
		def use(address, size, device=0):
		    c10.device_use(ctypes.c_size_t(address), ctypes.c_int64(size), device)
		kept = []
		with pillion.annotate("aten::outer, seq = 1"):
		    kept.append(take(1000))
		    with pillion.annotate("aten::inner"):
		        kept.append(take(300))
		        use(0x7000, 4096)
		        use(0x7000, 512, 1)
		with pillion.annotate("aten::frees"):
		    c10.host_give(kept[1])
		    use(0x7000, -4096)
		    use(0x9000, -64)
		thread = threading.Thread(target=c10.host_give, args=(kept[0],))
		thread.start()
		thread.join()
		with pillion.annotate("aten::after"):
		    c10.host_give(take(50))
		c10.say_counts()
	END
	timeout "$patience" "$python" blocks.py >bare 2>err
	is "$? $(cat bare err)" '0 3 3 4 960' 'the stand-in alone'
	pillion -f -o blocks -t nvtx --memory=torch "$python" blocks.py >out 2>err
	is "$? $(cat out)" "0 $(cat bare)" "PyTorch's own functions get the same calls"
	report stats -q -r pytorch_sum --group-by=name --sort=self_cpu_memory_usage -f json blocks.pillion >rows
	is "$("$python" -c 'import json
for row in json.load(open("rows")):
    print(row["Operator"], row["Calls"], *[round(1e6 * row[place + " Mem " + what + " (MB)"])
          for place in ("CPU", "CUDA") for what in ("Self", "Total", "Peak")])')" \
		'aten::outer 1 1000 1300 1000 0 4608 0
aten::inner 1 300 300 300 4608 4608 4608
aten::after 1 0 0 0 0 0 0
aten::frees 1 -300 -300 0 -4160 -4160 0
[memory] 1 -1000 -1000 0 0 0 0' 'own bytes, with inner operators, at the peak; outside of all operators'
	is "$(report stats -q -r ledger -f csv blocks.pillion | grep -c 'tensors not recorded')" 0 'nothing is missing'
	is "$(report stats -q -r mem_alloc_sum -f csv blocks.pillion 2>/dev/null | tail -n +2)" '' \
		"they are not counted among the host's allocations"
	cat >sizes.py <<-'END'
		import ctypes, pillion
		c10 = ctypes.CDLL("./libc10.so")
		c10.host_take.restype = ctypes.c_void_p
		for size in 1, 32767, 32768, 2097151, 2097152, 1 << 32:
		    with pillion.annotate(f"aten::size_{size}"):
		        c10.device_use(ctypes.c_size_t(0x7f0000000000 + size), ctypes.c_int64(size), 0)
		        block = ctypes.c_void_p(c10.host_take(ctypes.c_size_t(size >> 8)))
		    with pillion.annotate(f"aten::freed_{size}"):
		        c10.device_use(ctypes.c_size_t(0x7f0000000000 + size), ctypes.c_int64(-size), 0)
		        c10.host_give(block)
	END
	pillion -f -o sizes -t nvtx --memory=torch "$python" sizes.py >out 2>err
	report stats -q -r pytorch_sum --group-by=name -f json sizes.pillion >rows
	is "$? $("$python" -c 'import json
own = {row["Operator"][6:]: [round(1e6 * row[place + " Mem Self (MB)"]) for place in ("CPU", "CUDA")]
       for row in json.load(open("rows"))}
def wanted(name):
    what, size = name.split("_")
    sign = 1 if what == "size" else -1
    return [sign * (int(size) >> 8), sign * int(size)]
print(len(own), [name for name, got in own.items() if got != wanted(name)])')" '0 12 []' \
		'sizes that share a slot with the address, and those that do not'
	pillion -f -o without -t nvtx "$python" blocks.py >out 2>err
	is "$? $(cat out) $(report stats -q -r pytorch_sum -f csv without.pillion | head -n 1 | grep -c Mem)" \
		"0 $(cat bare) 0" 'without the option: no columns'
	PILLION_MEMORY=torch PILLION_OUTPUT=$work/plain.pillion LD_PRELOAD=$library "$python" blocks.py >out 2>err
	is "$? $(cat out)" "0 $(cat bare)" 'the other library: status and output'
	like "$(report stats -q -r ledger -f csv plain.pillion)" \
		'no memory of PyTorch: --memory requires libpillion-memory.so' 'and the ledger says which one is needed'
	"${CC:-cc}" -shared -fPIC -Wl,-Bsymbolic -o libc10.so "$tests_dir/../targets/python/torch_c10.c"
	pillion -f -o bound -t nvtx --memory=torch "$python" blocks.py >out 2>err
	is "$? $(cat out) $(report stats -q -r ledger -f csv bound.pillion |
		grep -c 'memory of tensors not recorded')" \
		"0 $(cat bare) 1" 'a PyTorch whose calls are not passed through the loader is in the ledger'
else
	skip 'a stand-in for libc10' 'no C compiler'
fi

# ---- a real PyTorch ----

real=${PYTHON_TORCH:-}
[ -z "$real" ] && "$python" -c 'import torch.profiler' 2>/dev/null && real=$python
if [ -z "$real" ]; then
	skip "the bytes of torch.profiler" 'no torch for python3; PYTHON_TORCH names one'
	done_testing
	exit
fi
cat >theirs.py <<'END'
import json, sys, torch
from torch.profiler import profile
torch.set_num_threads(1)
nn = torch.nn
jobs = {
    "cnn": (lambda: nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
                                  nn.Conv2d(16, 32, 3), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 36, 10)),
            (4, 3, 16, 16)),
    "transformer": (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), 2),
                    (2, 10, 32)),
    "decoder": (lambda: nn.Sequential(nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.GELU(),
                                      nn.ConvTranspose2d(8, 1, 2, stride=2)), (2, 1, 8, 8))}
make, sizes = jobs[sys.argv[2]]
net = make()
optimizer = torch.optim.Adam(net.parameters())
with profile(record_shapes=True, profile_memory=True) as p:
    for step in range(3):
        optimizer.zero_grad()
        net(torch.ones(sizes)).pow(2).mean().backward()
        optimizer.step()
json.dump(sorted([e.key, str(e.input_shapes or []), e.count, e.self_cpu_memory_usage, e.cpu_memory_usage]
                 for e in p.key_averages(group_by_input_shape=True)), open(sys.argv[1], "w"))
END
sed 's/^from torch.profiler import/from pillion import/' theirs.py >ours.py
for job in cnn transformer decoder; do
	timeout "$patience" "$real" theirs.py theirs.json $job >out 2>err
	is "$?" 0 "$job: PyTorch's own profiler"
	pillion -f -o $job -t nvtx --pytorch=autograd-shapes-nvtx --memory=torch \
		"$real" ours.py ours.json $job >out 2>err
	is "$? $(cat out)" '0 ' "$job: the same with one import changed"
	is "$("$real" -c 'import json
theirs, ours = json.load(open("theirs.json")), json.load(open("ours.json"))
print(len(theirs) > 60, [row for row in theirs if row not in ours], [row for row in ours if row not in theirs])')" \
		'True [] []' "$job: calls and bytes of all operators, and outside of them"
done
done_testing
