#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --pytorch=functions-trace: ranges of modules, the backward pass, optimizers and loaders, also beside a list of the
# user's. A package with the names of PyTorch's stands in for it; PYTORCH_PYTHON names a Python with the real one.
set -u
. "$(dirname "$0")/lib.sh"

python=$(command -v python3) || skip_all 'no python3'
"$python" -c 'import sys
sys.exit(sys.implementation.name != "cpython" or sys.version_info < (3, 8))' || skip_all 'no CPython 3.8 or newer'

mkdir fake && cd fake || exit 1
mkdir -p torch/nn/modules torch/autograd torch/optim torch/utils/data
touch torch/nn/__init__.py torch/nn/modules/__init__.py torch/utils/__init__.py torch/utils/data/__init__.py \
	torch/optim/__init__.py torch/__init__.py
echo 'class Module:
    def _wrapped(self, x):
        return self.forward(x)
    __call__ = _wrapped' >torch/nn/modules/module.py
echo 'def backward(x): return x' >torch/autograd/__init__.py
echo 'class SGD:
    def step(self): pass' >torch/optim/sgd.py
echo 'class _BaseDataLoaderIter:
    def __next__(self): return 1' >torch/utils/data/dataloader.py
echo 'def mine(): pass' >module.py
cd ..
cat >train.py <<'END'
import module
from torch.autograd import backward
from torch.nn.modules.module import Module
from torch.optim.sgd import SGD
from torch.utils.data.dataloader import _BaseDataLoaderIter

class Net(Module):
    def forward(self, x):
        return x

net, sgd, data = Net(), SGD(), _BaseDataLoaderIter()
for step in range(3):
    backward(net(next(data)))
    sgd.step()
module.mine()
print('done')
END
export PYTHONPATH=$work/fake

ranges() { # CAPTURE
	report stats -q -r nvtx_sum -f csv "$1.pillion" | awk -F, 'NR > 1 { print $3, $NF }' | sort -k 2 | paste -sd' '
}

pillion -o run --pytorch=functions-trace -t nvtx "$python" train.py >out 2>err
is "$? $(cat out)" '0 done' 'a program with these functions runs'
is "$(ranges run)" \
	'3 PyTorch:Module.__call__ 3 PyTorch:SGD.step 3 PyTorch:_BaseDataLoaderIter.__next__ 3 PyTorch:backward' \
	'each of its calls is a range'
is "$(grep -vc 'pillion view' err)" 0 'without a warning'
is "$(stat -c %a run.pillion/.functions.json)" 600 'the list in the capture is private'
"$python" -m json.tool run.pillion/.functions.json >out 2>err
is "$?" 0 'and is JSON'

echo '[{"module": "module", "functions": ["mine"]}] ' >mine.json
pillion -o both --pytorch=none,functions-trace-shapes --python-functions-trace=mine.json -t osrt "$python" train.py \
	>out 2>err
is "$? $(cat out)" '0 done' 'beside a list of the user'
like "$(ranges both)" '^3 PyTorch:Module.__call__ 3 .* 1 mine$' 'both have their ranges'
like "$(cat err)" 'functions-trace-shapes: ranges have no sizes' 'sizes are not recorded, and this is stated'
like "$(cat err)" '--pytorch records NVTX ranges: nvtx is added' 'nvtx is added'
like "$(report stats -q -r ledger -f csv both.pillion)" 'functions-trace-shapes: ranges have no sizes' \
	'and in the ledger'
pillion -o bad --pytorch=functions-traces true >out 2>err
is "$?" 2 'a misspelt word is refused'

if [ -n "${PYTORCH_PYTHON:-}" ]; then
	cat >real.py <<'END'
import torch
net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU())
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
compiled = torch.compile(net, backend='eager', fullgraph=True)
for step in range(3):
    compiled(torch.randn(4, 8)).sum().backward()
    sgd.step()
END
	PYTHONPATH='' pillion -o real --pytorch=functions-trace,autograd-nvtx "$PYTORCH_PYTHON" real.py >out 2>err
	is "$?" 0 'PyTorch itself, with a compiled module'
	like "$(ranges real)" '3 PyTorch:SGD.step' 'steps'
	like "$(ranges real)" '3 PyTorch:backward' 'backward passes'
else
	skip 'PyTorch itself' 'PYTORCH_PYTHON is not set'
fi
done_testing
