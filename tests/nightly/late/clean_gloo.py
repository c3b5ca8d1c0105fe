# SPDX-License-Identifier: Apache-2.0
# All ranks train the same model on batches of the same size.
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

torch.set_num_threads(1)
dist.init_process_group("gloo")
model = DistributedDataParallel(torch.nn.Linear(256, 256))
for step in range(int(sys.argv[1])):
    model(torch.randn(512, 256)).square().mean().backward()
dist.destroy_process_group()
