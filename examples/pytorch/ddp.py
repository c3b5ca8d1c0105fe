#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains with DistributedDataParallel: one process for each GPU, or two on the CPU.

    torchrun --nproc-per-node=2 ddp.py"""
import gc

import torch
import torch.distributed as dist

STEPS, BATCH, WIDTH = 10, 32, 128


def main():
    has_gpu = torch.cuda.is_available()
    dist.init_process_group("nccl" if has_gpu else "gloo")
    rank = dist.get_rank()
    device = torch.device("cuda", rank % torch.cuda.device_count()) if has_gpu else torch.device("cpu")
    torch.manual_seed(rank)
    torch.set_num_threads(1)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(WIDTH, 1).to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(STEPS):
        inputs = torch.randn(BATCH, WIDTH, device=device)
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(inputs), inputs.mean(dim=1, keepdim=True)).backward()
        optimizer.step()
    if rank == 0:
        print(f"{dist.get_world_size()} ranks, {STEPS} steps each")
    # DistributedDataParallel is part of a reference cycle, and its threads must end before the interpreter does.
    del model, optimizer
    gc.collect()
    dist.barrier()
    dist.destroy_process_group()


main()
