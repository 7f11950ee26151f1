"""Gated linear units as feed-forward layers, width -> hidden -> width (Shazeer 2020, section 2)."""

from collections.abc import Callable

from varlaw.symbolic.blocks.activation import Activation
from varlaw.symbolic.blocks.block import Block
from varlaw.symbolic.blocks.linear import Linear
from varlaw.symbolic.blocks.residual import Gate
from varlaw.symbolic.language import Text

UNITS = {
    "sigmoidglu": "sigmoid",
    "reglu": "relu",
    "geglu": "gelu",
    "swiglu": "silu",
    "bilinear": "",
}


def gated(function: str) -> Callable[..., Block]:
    """What makes W2 (f(W x) * (V x)) with the activation f, or with none."""

    def unit(width: Text, hidden: Text, *, var: Text, out: Text = "", bias: Text = 0) -> Block:
        """`var` is that of W and V, and of W2 unless `out` says otherwise."""
        gate: Block = Linear(width, hidden, var=var, bias=bias)
        left = gate >> Activation(function) if function else gate
        return Gate(left, gate) >> Linear(hidden, width, var=out if out != "" else var, bias=bias)

    return unit
