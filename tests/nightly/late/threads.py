# SPDX-License-Identifier: Apache-2.0
# Rank 1 has a thread that computes in Python without a pause, so that its main thread often waits for the interpreter.
import sys
import threading

import torch
import torch.distributed as dist


def statistics():
    count = 0
    while True:
        count += 1  # late: has the interpreter


def prepare(step):
    values = []
    for i in range(20000):
        values.append(i * step % 7)  # late
    return torch.tensor(values[:100], dtype=torch.float32)


torch.set_num_threads(1)
dist.init_process_group("gloo")
if dist.get_rank() == 1:
    threading.Thread(target=statistics, daemon=True).start()
for step in range(int(sys.argv[1])):
    dist.all_reduce(prepare(step))
dist.destroy_process_group()
