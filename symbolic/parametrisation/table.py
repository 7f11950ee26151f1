"""The table of a parametrisation: what a configuration takes, as formulas and as numbers."""

from dataclasses import dataclass

from sympy import Expr, Integer

from varlaw.symbolic.parametrisation.layers import Exponents, Kind
from varlaw.symbolic.parametrisation.parametrisation import Parametrisation
from varlaw.symbolic.parametrisation.sizes import DEPTH, WIDTH
from varlaw.symbolic.printers.mathematics import latex

ONE = Integer(1)


@dataclass(frozen=True)
class Row:
    """Factors of one kind of layer in the width n and the depth L.

    A norm gain starts at its `std` instead of around 0.
    """

    kind: Kind
    multiplier: Expr
    std: Expr
    rate: Expr

    def at(self, width: Expr, depth: Expr = ONE) -> tuple[float, float, float]:
        """The factors as numbers; for ratios to a base these multiply the values of the base."""
        values = {WIDTH: width, DEPTH: depth}
        multiplier, std, rate = (
            float(factor.xreplace(values)) for factor in (self.multiplier, self.std, self.rate)
        )
        return multiplier, std, rate


def table(p: Parametrisation) -> list[Row]:
    """A row for each kind of layer."""
    return [
        Row(kind, *(_power(layer.width, layer.depth, name) for name in "abc"))
        for kind, layer in p.layers.items()
    ]


def branch(p: Parametrisation) -> Expr:
    """The multiplier of a residual branch."""
    return DEPTH**-p.branch


def rendered(p: Parametrisation) -> str:
    """The table in LaTeX, as an `array` for mathematics."""
    heads = " & ".join(
        rf"\text{{{head}}}" for head in ("layer", "multiplier", "initial std", "learning rate")
    )
    lines = [
        rf"\text{{{row.kind}}} & " + " & ".join(map(latex, (row.multiplier, row.std, row.rate)))
        for row in table(p)
    ]
    if p.residual:
        lines.append(rf"\text{{branch}} & {latex(branch(p))}")
    return "\n".join([r"\begin{array}{llll}", " \\\\\n".join([heads, *lines]), r"\end{array}"])


def _power(width: Exponents, depth: Exponents, name: str) -> Expr:
    if not getattr(width, name).is_finite:
        return Integer(0)
    return WIDTH ** -getattr(width, name) * DEPTH ** -getattr(depth, name)
