#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gloo_exit.py: ROUNDS (300) runs of a DDP job of two ranks on gloo, alternately bare and recorded, whose interpreter
exits while gloo's and autograd's threads exist. PyTorch itself aborts in some of such exits; prints TAP, and fails if
the recorded runs end differently from the bare ones more often than chance explains (Fisher's exact test, 1 %)."""
import collections
import math
import os
import socket
import subprocess
import sys
import tempfile

JOB = '''
import torch, torch.distributed as dist
torch.set_num_threads(1)
dist.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=.05)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.ones(4, 16)).mean().backward()
    optimizer.step()
dist.destroy_process_group()
'''


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def run(prefix, job, directory):
    """Returns the exit statuses of both ranks; a negative number is that of a signal."""
    environment = dict(os.environ, MASTER_ADDR='127.0.0.1', MASTER_PORT=str(free_port()), WORLD_SIZE='2',
                       GLOO_SOCKET_IFNAME='lo')
    ranks = [subprocess.Popen([*prefix, os.environ.get('PYTHON_TORCH', 'python3'), job], cwd=directory,
                              env=dict(environment, RANK=str(rank), LOCAL_RANK=str(rank)),
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for rank in range(2)]
    return [rank.wait() for rank in ranks]


def chance(bad, others, bad_recorded, recorded):
    """The probability that at least bad_recorded of the bad runs are among the recorded ones."""
    total = bad + others
    return sum(math.comb(bad, k) * math.comb(others, recorded - k)
               for k in range(bad_recorded, min(bad, recorded) + 1)) / math.comb(total, recorded)


def main():
    rounds = int(os.environ.get('ROUNDS', '300'))
    launcher = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../scripts/pillion')
    python = os.environ.get('PYTHON_TORCH', 'python3')
    if subprocess.run([python, '-c', 'import torch.distributed'], stderr=subprocess.DEVNULL).returncode:
        print('1..0 # SKIP no PyTorch; PYTHON_TORCH names a Python that has it')
        return 0
    bad = {'bare': 0, 'recorded': 0}
    ends = {kind: collections.Counter() for kind in bad}
    with tempfile.TemporaryDirectory() as directory:
        job = os.path.join(directory, 'job.py')
        with open(job, 'w') as file:
            file.write(JOB)
        for number in range(rounds):
            for kind in bad:
                prefix = [launcher, '-f', 'true', '-o', 'run', '--stats', 'false'] if kind == 'recorded' else []
                statuses = run(prefix, job, directory)
                ends[kind].update(128 - s if s < 0 else s for s in statuses)
                bad[kind] += any(statuses)
    p = chance(sum(bad.values()), 2 * rounds - sum(bad.values()), bad['recorded'], rounds)
    print('1..1')
    for kind, counter in ends.items():
        print(f'# {kind}: {bad[kind]} of {rounds} runs failed; exit statuses {dict(counter)}')
    print(f'{"ok" if p > 0.01 else "not ok"} 1 - recorded runs end as bare ones do (p = {p:.3f})')
    return int(p <= 0.01)


if __name__ == '__main__':
    sys.exit(main())
