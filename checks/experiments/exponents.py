"""Experiments on exponents of the width: the coordinate check at a width of 16.

With weights +1 and -1, one input and no activation every product and sum is a power of the width
exactly, so that nothing is left to vary; `coordinate.slopes` measures other weights.
"""

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from sympy import Expr

from varlaw.checks.experiments.coordinate import Exponents, changes
from varlaw.checks.experiments.moments import Number, exact
from varlaw.checks.experiments.registry import (
    ANY,
    Case,
    Draws,
    Experiment,
    Trial,
    experiment,
)

SIGNS = ("rademacher",)
INPUT = np.ones(1)
HALF = Fraction(1, 2)
THIRD = Fraction(1, 3)


def near(value: Expr, width: int) -> dict[str, Number]:
    """The sizes that exponents off by 1/2 or by 1 would give."""
    return {
        f"exponent {sign}{shift}": value * exact(width) ** (shift if sign == "+" else -shift)
        for shift in (HALF, Fraction(1))
        for sign in "+-"
    }


def moved(case: Case, layer: str, optimiser: str, at: Mapping[str, Number], claimed: Expr) -> Trial:
    """The change of a layer by its own step, at given exponents, claimed to be a power of n."""
    width = case.size("n")
    a, c, A, B = (float(at.get(name, 0)) for name in ("a", "c", "A", "B"))
    own = Exponents(a, -a if layer == "input" else 0.5 - a, c)
    layers = {"input": Exponents(0, 0, 0), "readout": Exponents(A, B, c)}
    if layer != "readout":
        layers[layer] = own

    def draw(rng: Generator, replicates: int) -> Draws:
        made = changes(rng, width, replicates, layers, optimiser, case.weights, INPUT)
        return made[layer]

    numbers = width * (width + 2 if layer == "hidden" else 2)
    return Trial(draw, numbers, claimed, 0, near(claimed, width), work=2 * width**2)


def least_rate(law: str, layer: str, optimiser: str) -> Experiment:
    """At the least stable exponent of the rate the change is 1, whatever the width."""

    @experiment(
        law=law,
        quantity="size of the change at the least c",
        weights=SIGNS,
        n=16,
        a=THIRD,
        A=HALF,
        B=Fraction(1, 4),
    )
    def build(case: Case) -> Trial:
        exponents = {name: case.values[name] for name in ("a", "A", "B")}
        return moved(case, layer, optimiser, {**exponents, "c": case.claim()}, exact(1))

    return build


for _layer in ("input", "hidden", "readout"):
    least_rate(f"abc-sgd-{_layer}", _layer, "sgd")
    least_rate(f"abc-adam-{_layer}", _layer, "adam")


def instance(law: str, layer: str, optimiser: str, **at: Fraction | int) -> Experiment:
    """A parametrisation at its own exponents: the change is n to the exponent derived."""

    @experiment(law=law, quantity="size of the change", weights=SIGNS, n=16)
    def build(case: Case) -> Trial:
        return moved(case, layer, optimiser, at, exact(case.size("n")) ** case.law.statement.rhs)

    return build


instance("sp-sgd-hidden", "hidden", "sgd", B=HALF)
instance("sp-sgd-lazy", "hidden", "sgd", B=HALF, c=1)
instance("sp-adam-hidden", "hidden", "adam", B=HALF)
instance("ntp-sgd-hidden", "hidden", "sgd", a=HALF, A=HALF)
instance("mean-field-sgd-hidden", "input", "sgd", A=1, c=-1)
instance("mup-sgd-hidden", "hidden", "sgd", A=HALF, B=HALF)
instance("mup-sgd-input", "input", "sgd", a=-HALF, A=HALF, B=HALF)
instance("mup-adam-hidden", "hidden", "adam", A=HALF, B=HALF, c=1)


@experiment(law="abc-forward", quantity="E[z^2] at the least b", weights=ANY, n=16, a=THIRD)
def abc_forward(case: Case) -> Trial:
    """A pre-activation over signs h: its second moment is 1 at the least exponent."""
    width, a = case.size("n"), float(case["a"])
    scale = width ** (-a - float(case.claim()))

    def draw(rng: Generator, replicates: int) -> Draws:
        weights = case.weights.sample(rng, (width, replicates))
        signs = np.where(np.arange(width) % 3 == 0, -1.0, 1.0)
        return np.asarray((scale * np.einsum("i,ir->r", signs, weights)) ** 2)

    n = exact(width)
    spread = 2 + (case.weights.moment(4) - 3) / Fraction(width)
    wrong: dict[str, Number] = {"b smaller by 1/2": n, "b larger by 1/2": 1 / n}
    wrong |= {"b smaller by 1/4": n ** Fraction(1, 2)}
    return Trial(draw, width, 1, spread, wrong)


@experiment(law="mup-attention", quantity="size of q.k for k = q", weights=SIGNS, n=16)
def mup_attention(case: Case) -> Trial:
    width = case.size("n")

    def draw(rng: Generator, replicates: int) -> Draws:
        q = case.weights.sample(rng, (width, replicates))
        return np.asarray((q * q).sum(axis=0))

    claimed = exact(width) ** case.law.statement.rhs
    return Trial(draw, width, claimed, 0, near(claimed, width))
