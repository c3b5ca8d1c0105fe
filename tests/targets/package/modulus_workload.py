# SPDX-License-Identifier: Apache-2.0
"""A training loop as the tutorial of PhysicsNeMo's profilers has it; the arguments are the tools to enable."""
import sys

import torch
from physicsnemo.utils.profiling import Profiler, annotate, profile


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)

    @profile
    def forward(
        self,
        x,
    ):
        x = self.layer(x)  # one line

        # no line
        for _ in range(3):
            x = torch.relu(x)
        return x


@profile
def never_called():
    return 1


@profile
def workload():
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with Profiler() as p:
        for step in range(4):
            with annotate(domain="forward", color="blue"):
                loss = net(torch.ones(2, 8)).sum()
            with annotate(domain="backward", color="green"):
                loss.backward()
                optimizer.step()
            p.step()


@annotate("decorated", color="red")
def decorated():
    return 7


if __name__ == "__main__":
    torch.set_num_threads(1)
    profiler = Profiler()
    for tool in sys.argv[1:]:
        profiler.enable(tool)
    profiler.initialize()
    workload()
    print(decorated(), Profiler() is profiler, profiler.enabled)
