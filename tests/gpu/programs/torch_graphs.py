# SPDX-License-Identifier: Apache-2.0
"""python3 torch_graphs.py SIZES REPLAYS: a model is captured into a CUDA graph for each batch size, from the largest to
the smallest and with one memory pool, as inference servers do, and each graph is replayed. Prints what it did, and a
sum that every run of one machine repeats."""
import sys

import torch

WIDTH = 256


def make_graphs(model, sizes):
    graphs, pool = {}, None
    for size in sorted(sizes, reverse=True):
        inputs = torch.zeros(size, WIDTH, device="cuda")
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            model(inputs)  # libraries allocate at the first use
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=pool):
            outputs = model(inputs)
        pool = pool or graph.pool()
        graphs[size] = graph, inputs, outputs
    return graphs


@torch.inference_mode()
def main():
    sizes, replays = [1 << i for i in range(int(sys.argv[1]))], int(sys.argv[2])
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, WIDTH)).cuda()
    graphs, total = make_graphs(model, sizes), 0.0
    for round_number in range(replays):
        for size, (graph, inputs, outputs) in graphs.items():
            inputs.fill_(round_number / replays)
            graph.replay()
            total += float(outputs[0, 0])
    print(f"graph {len(sizes) * replays} 0")
    print(f"sum {total:.6f}")


main()
