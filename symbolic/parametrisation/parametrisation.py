"""A parametrisation: the exponents of all its layers, and its other forms."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

from sympy import Expr, oo

from varlaw.symbolic.parametrisation.layers import (
    ZERO,
    Exponents,
    Kind,
    Layer,
    Optimizer,
    ParametrisationError,
)

if TYPE_CHECKING:
    from varlaw.symbolic.parametrisation.regime import Analysis

FORMS = {
    "multiplier": "all multipliers 1",
    "std": "all initial weights of standard deviation 1",
    "rate": "all learning rates equal",
}


@dataclass(frozen=True)
class Parametrisation:
    """The exponents of each kind of layer under an optimiser, in width and in depth.

    `branch` is the exponent s of the multiplier L^-s of a residual branch, one layer deep; the
    depth exponents of layers come on top of it. `residual` says whether there are such branches.
    Constant factors are left out; for Adam's epsilon and weight decay see `adam`. Raises
    ParametrisationError.

    Source: Yang and Hu 2021, definition 3.2; in depth Yang et al. 2023 (Tensor Programs VI).
    """

    name: str
    optimizer: Optimizer
    layers: Mapping[Kind, Layer]
    branch: Expr = ZERO
    residual: bool = False
    source: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        for kind in (Kind.INPUT, Kind.OUTPUT):
            if kind not in self.layers:
                raise ParametrisationError(f"a parametrisation needs the layer {kind}")
        if self.residual and Kind.HIDDEN not in self.layers:
            raise ParametrisationError(f"{self.name} has no hidden layer to repeat in depth")
        for kind, layer in self.layers.items():
            if layer.depth != Exponents() and not (self.residual and kind.repeated):
                raise ParametrisationError(f"the layer {kind} is in no residual block: no depth")
        ordered = {kind: self.layers[kind] for kind in Kind if kind in self.layers}
        object.__setattr__(self, "layers", ordered)

    @cached_property
    def analysis(self) -> "Analysis":
        """What is derived from the exponents: sizes, stability and regime."""
        from varlaw.symbolic.parametrisation.regime import analyse

        return analyse(self)

    def stable_rates(self, *, common: bool = False) -> Self:
        """The same with the largest stable learning rates, by layer or `common` to all."""
        from varlaw.symbolic.parametrisation.rates import stable_rates

        return replace(self, layers=stable_rates(self, common=common))

    def shift(self, kind: str, theta: Expr, depth: Expr = ZERO) -> Self:
        """The member of the equivalence class at theta for one layer, in width and in depth.

        SGD: (a + theta, b - theta, c - 2 theta); Adam and signs: (a + theta, b - theta, c - theta).
        """
        layers = dict(self.layers)
        if kind not in layers:
            raise ParametrisationError(f"{self.name} has no layer {kind}")
        layer = layers[Kind(kind)]
        layers[Kind(kind)] = Layer(
            layer.width.shifted(theta, self.optimizer), layer.depth.shifted(depth, self.optimizer)
        )
        return replace(self, layers=layers)

    def form(self, of: str) -> Self:
        """The equivalent form of that kind, one of FORMS. Zero weights have no form of std 1."""
        theta: dict[str, Callable[[Exponents], Expr]] = {
            "multiplier": lambda e: -e.a,
            "std": lambda e: ZERO if e.b is oo else e.b,
            "rate": lambda e: e.c / (1 + self.optimizer.power),
        }
        if of not in theta:
            raise ParametrisationError(f"no form {of!r}: there are {', '.join(FORMS)}")
        found = self
        for kind, layer in self.layers.items():
            found = found.shift(kind, theta[of](layer.width), theta[of](layer.depth))
        return found

    def thetas(self, other: "Parametrisation") -> Mapping[Kind, tuple[Expr, Expr]] | None:
        """The shifts in width and depth that lead to an equivalent one; None if it is none."""
        alike = (self.optimizer.power, self.branch, self.residual, set(self.layers)) == (
            other.optimizer.power,
            other.branch,
            other.residual,
            set(other.layers),
        )
        if not alike:
            return None
        moves, found = {}, self
        for kind, layer in self.layers.items():
            theirs = other.layers[kind]
            moves[kind] = theirs.width.a - layer.width.a, theirs.depth.a - layer.depth.a
            found = found.shift(kind, *moves[kind])
        return moves if found.layers == other.layers else None

    def _repr_latex_(self) -> str:
        from varlaw.symbolic.parametrisation.table import rendered

        return f"${rendered(self)}$"
