# SPDX-License-Identifier: Apache-2.0
"""torch.compile with its C++ code generator: a small network, forward and backward."""
import torch


def main():
    torch.manual_seed(0)
    torch.set_num_threads(2)
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.GELU(), torch.nn.Linear(128, 1))
    compiled = torch.compile(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    x = torch.randn(512, 64)
    y = torch.sin(x[:, :1])
    values = []
    for _ in range(30):
        optimizer.zero_grad()
        value = torch.nn.functional.mse_loss(compiled(x), y)
        value.backward()
        optimizer.step()
        values.append(value.item())
    print(values[-1] < values[0], f"{values[-1]:.3f}")


main()
