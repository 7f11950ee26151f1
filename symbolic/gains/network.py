"""Networks that shapes are made for, beside plain ones: residual networks in groups of blocks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from sympy import Integer, Rational

X = TypeVar("X")


@dataclass(frozen=True)
class Residual:
    """Groups of residual blocks x -> w^2 x + (1 - w^2) r(r(.. r(x))), one more layer r at the end.

    `branch` layers are in a block and `kept` is w^2, for the weight w of the shortcut; that of the
    first block of a group holds a layer as well: the modified ResNets of Martens et al. 2021 (arXiv
    2110.01765), as in the tests of google-deepmind/dks. As r(x) >= x no subnetwork does more to a
    correlation than the whole network.
    """

    groups: tuple[int, ...]
    branch: int
    kept: Rational

    def through(self, x: X, layer: Callable[[X], X], share: Callable[[Rational], Any]) -> X:
        """What becomes of x, such as a correlation; `share` makes numbers of the weights."""
        kept, added = share(self.kept), share(1 - self.kept)
        for blocks in self.groups:
            for block in range(blocks):
                behind = x
                for _ in range(self.branch):
                    behind = layer(behind)
                x = kept * (layer(x) if block == 0 else x) + added * behind
        return layer(x)

    @property
    def layers(self) -> Rational:
        """How many plain layers bend C_f at 1 as much, each with C'(1) = 1."""
        return self.through(Integer(0), lambda total: total + 1, lambda weight: weight)
