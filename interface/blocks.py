"""Blocks of networks in Python: `blocks.linear("d", "4*d", var="2/d") >> blocks.relu`.

    import varlaw as vl
    from varlaw import blocks

    up, down = blocks.linear("d", "4*d", var="2/d"), blocks.linear("4*d", "d", var="1/(2*d)")
    branch = up >> blocks.relu >> down
    vl.explore(blocks.repeat(blocks.prenorm(branch), "L"))

The names are those of the notation of `varlaw explore`: blocks that take arguments are called, the
activations of the table stand by themselves, and `blocks.activation("leaky_relu(x, 1/5)")` is any
function of x. Arguments are numbers, text of the expression language, or SymPy expressions.
`blocks.read(text)` reads the whole notation.

    >>> from varlaw import blocks
    >>> net = blocks.linear("m", "n", var="2/m") >> blocks.relu
    >>> from varlaw.symbolic.blocks.block import start
    >>> net.forward(start()).second_moment
    q0
"""

from typing import Any

from varlaw.symbolic.blocks.activation import Activation
from varlaw.symbolic.blocks.reader import MAKERS
from varlaw.symbolic.blocks.reader import read_block as read
from varlaw.symbolic.language_functions import is_function
from varlaw.symbolic.names import suggestion

__all__ = ["read", *MAKERS]


def __getattr__(name: str) -> Any:
    if name in MAKERS:
        return MAKERS[name]
    if not name.startswith("_") and is_function(name):
        return Activation(name)
    raise AttributeError(f"unknown block {name!r}{suggestion(name, MAKERS)}")


def __dir__() -> list[str]:
    return sorted(__all__)
