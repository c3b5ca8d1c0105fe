# SPDX-License-Identifier: Apache-2.0
"""A small training job of PyTorch: convolutions, a linear layer, SGD, a DataLoader with worker processes. Prints "name
count bytes" lines as the programs beside it do, and the loss, which every run of one machine repeats.

python3 torch_train.py [--steps N] [--workers N] [--device cuda|cpu] [--window FIRST LAST --tool torch|range]
                       [--trace FILE] [--forever] [--oom] [--maps]
--window: steps FIRST to LAST-1 lie within a tool: torch.profiler, whose kernels are printed ("kernel:NAME count ns")
and whose trace goes to FILE, or cudaProfilerStart and Stop. --forever: until it is killed; a line after each step that
has ended on the device. --oom: asks for more memory than there is, and goes on. --maps: which libcupti is loaded,
before and after the profiler."""
import argparse
import collections
import json
import os
import statistics
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

SIZE, BATCH = 64, 32


class Pictures(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        source = torch.Generator().manual_seed(index)
        return torch.randn(3, SIZE, SIZE, generator=source), index % 10


def make_model():
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 32, 3, padding=1), torch.nn.BatchNorm2d(32), torch.nn.ReLU(),
        torch.nn.Conv2d(32, 64, 3, padding=1, stride=2), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(4),
        torch.nn.Flatten(), torch.nn.Linear(64 * 16, 10))


def synchronize(device):
    if device == "cuda":
        torch.cuda.synchronize()


class Window:
    """A tool around some of the steps."""

    def __init__(self, args):
        self.args, self.tool = args, None

    def begin(self):
        synchronize(self.args.device)
        if self.args.tool == "range":
            torch.cuda.cudart().cudaProfilerStart()
            return
        activities = [torch.profiler.ProfilerActivity.CPU]
        if self.args.device == "cuda":
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        self.tool = torch.profiler.profile(activities=activities)
        self.tool.__enter__()

    def end(self):
        synchronize(self.args.device)
        if self.args.tool == "range":
            torch.cuda.cudart().cudaProfilerStop()
            return
        self.tool.__exit__(None, None, None)
        path = self.args.trace or f"torch-{os.getpid()}.json"
        self.tool.export_chrome_trace(path)
        tell_kernels(path)


def tell_kernels(path):
    """Only the profiler's own trace lists each kernel with its times."""
    counts, times = collections.Counter(), collections.Counter()
    with open(path, encoding="utf-8") as file:
        for event in json.load(file)["traceEvents"]:
            if event.get("cat") == "kernel":
                counts[event["name"]] += 1
                times[event["name"]] += event["dur"] * 1000
    for name, count in counts.items():
        print(f"kernel:{name} {count} {times[name]:.0f}")
    print(f"profiled {sum(counts.values())} {sum(times.values()):.0f}", flush=True)


def tell_maps(when):
    with open("/proc/self/maps", encoding="utf-8") as file:
        for name in ("libcupti", "libcudart", "libcudnn.so", "libcublas.so", "libnccl"):
            file.seek(0)
            paths = sorted({line.split()[-1] for line in file if name in line})
            print(f"maps {when} {name} {' '.join(paths) or 'none'}")


def train(args):
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.deterministic = True
    model = make_model().to(args.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    steps = 1 << 30 if args.forever else args.steps
    loader = DataLoader(Pictures(BATCH * steps), batch_size=BATCH, num_workers=args.workers,
                        multiprocessing_context="fork" if args.workers else None, pin_memory=args.device == "cuda")
    window, times, loss = Window(args), [], None
    batches = iter(loader)
    for step in range(steps):
        pictures, labels = next(batches)
        if args.window and step == args.window[0]:
            window.begin()
        begin = time.perf_counter()
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(pictures.to(args.device)), labels.to(args.device))
        loss.backward()
        optimizer.step()
        synchronize(args.device)
        times.append(time.perf_counter() - begin)
        if args.window and step + 1 == args.window[1]:
            window.end()
        if args.forever:
            print(f"{step + 1} {time.monotonic_ns()}", flush=True)
    print(f"loss {loss.item():.6f}")
    later = times[args.window[0]:args.window[1]] if args.window else times[len(times) // 4:]
    print(f"us_per_step {statistics.median(later) * 1e6:.1f} 0")


def run_out_of_memory():
    try:
        torch.empty(1 << 48, dtype=torch.uint8, device="cuda")
    except torch.cuda.OutOfMemoryError:
        print("out of memory, as it should be")
        return
    sys.exit("256 TiB were there")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--window", type=int, nargs=2)
    parser.add_argument("--tool", choices=["torch", "range"], default="torch")
    parser.add_argument("--trace")
    for flag in ("forever", "oom", "maps"):
        parser.add_argument("--" + flag, action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(1)
    if args.maps:
        tell_maps("imported")
    if args.oom:
        run_out_of_memory()
    train(args)
    if args.maps:
        tell_maps("done")


if __name__ == "__main__":
    main()
