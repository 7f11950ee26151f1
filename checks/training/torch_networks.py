"""The networks of `training` in PyTorch: its gradients and its optimisers."""

from typing import Any

import torch

from varlaw.checks.training.networks import BETAS, INPUT, TARGET, Array, Network, forward
from varlaw.symbolic.parametrisation.layers import Optimizer

TINY = 1e-300  # Adam's epsilon, which the exponents leave out


def trained(net: Network, weights: list[Array], steps: int) -> tuple[list[Array], list[Array]]:
    """What `forward` gives before and after some steps."""
    parameters = [torch.nn.Parameter(torch.tensor(w)) for w in weights]
    rates = [net.factors[kind][2] for kind in net.kinds()]
    groups = [{"params": [p], "lr": lr} for p, lr in zip(parameters, rates, strict=True)]
    optimizer: Any
    if net.parametrisation.optimizer is Optimizer.SGD:
        optimizer = torch.optim.SGD(groups, lr=0.0)
    else:
        betas = BETAS if net.parametrisation.optimizer is Optimizer.ADAM else (0.0, 0.0)
        optimizer = torch.optim.Adam(groups, lr=0.0, betas=betas, eps=TINY)
    inputs, target = torch.tensor(INPUT), torch.tensor(TARGET)

    def seen() -> list[Array]:
        with torch.no_grad():
            return [x.numpy().copy() for x in forward(net, parameters, torch.tanh, inputs)]

    before = seen()
    for _ in range(steps):
        optimizer.zero_grad()
        loss = target @ forward(net, parameters, torch.tanh, inputs)[-1]
        loss.backward()
        optimizer.step()
    return before, seen()
