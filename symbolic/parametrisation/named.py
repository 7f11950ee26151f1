"""Known parametrisations by name."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

from sympy import Expr, Integer, Rational, oo

from varlaw.symbolic.language import Text
from varlaw.symbolic.names import suggestion
from varlaw.symbolic.parametrisation.layers import (
    ZERO,
    Exponents,
    Kind,
    Layer,
    Optimizer,
    ParametrisationError,
    exponent,
)
from varlaw.symbolic.parametrisation.parametrisation import Parametrisation
from varlaw.symbolic.parametrisation.rates import depth_rate

HALF, ONE = Rational(1, 2), Integer(1)
Member = TypeVar("Member", bound=StrEnum)
Weights = Mapping[Kind, Exponents]
EVERY = tuple(Optimizer)
ADAPTIVE = (Optimizer.ADAM, Optimizer.SIGN)

ATTENTION = "attention divides its logits by the width of a head, not by the root of it"

_STANDARD = {
    Kind.INPUT: Exponents(),
    Kind.HIDDEN: Exponents(b=HALF),
    Kind.OUTPUT: Exponents(b=HALF),
}
_NTK = {
    Kind.INPUT: Exponents(),
    Kind.HIDDEN: Exponents(a=HALF),
    Kind.OUTPUT: Exponents(a=HALF),
}
_MEAN_FIELD = {Kind.INPUT: Exponents(), Kind.OUTPUT: Exponents(a=ONE)}
_MUP = {
    Kind.INPUT: Exponents(),
    Kind.HIDDEN: Exponents(b=HALF),
    Kind.OUTPUT: Exponents(a=ONE),
}
_UNIT = {
    Kind.INPUT: Exponents(c=HALF),
    Kind.HIDDEN: Exponents(a=HALF, c=HALF),
    Kind.OUTPUT: Exponents(a=ONE),
}


@dataclass(frozen=True)
class Named:
    """Weights by kind, which rates go with them, and the exponent of residual branches."""

    weights: Weights
    rates: str  # "as given", "fixed", "common" or "largest"
    source: str
    branch: Expr | None = None
    optimizers: tuple[Optimizer, ...] = EVERY
    note: str = ""


NAMED = {
    "sp": Named(_STANDARD, "fixed", "the default of libraries: one rate at every width"),
    "sp-stable": Named(_STANDARD, "common", "Yang and Hu 2021, section 3.1"),
    "ntp": Named(_NTK, "largest", "Jacot et al. 2018; Yang and Hu 2021, table 1"),
    "mean-field": Named(_MEAN_FIELD, "largest", "Yang and Hu 2021, table 1"),
    "mup": Named(
        _MUP, "largest", "Yang and Hu 2021, table 1; Yang et al. 2022, table 8", note=ATTENTION
    ),
    "u-mup": Named(
        _UNIT,
        "as given",
        "Blake et al. 2025 (ICLR), table 2; unit_scaling/optim.py, lr_scale_func_adam",
        branch=HALF,
        optimizers=ADAPTIVE,
        note=f"{ATTENTION}; the scales of the backward pass are not part of it; hidden and output"
        " are those of depth-mup, shifted, the rate of the input is smaller by sqrt(n)",
    ),
    "depth-mup": Named(
        _MUP, "largest", "Yang et al. 2023 (Tensor Programs VI)", branch=HALF, note=ATTENTION
    ),
    "completep": Named(
        _MUP, "largest", "Dey et al. 2025, table 1", branch=ONE, optimizers=ADAPTIVE, note=ATTENTION
    ),
}


def parametrisation(
    name: str = "custom",
    optimizer: str = "adam",
    *,
    branch: Text | None = None,
    residual: bool = False,
    **layers: tuple[Text, ...],
) -> Parametrisation:
    """A parametrisation by name, by its layers, or by name with some layers replaced.

    A layer is (a, b, c): effective weights n^-a w, w of standard deviation n^-b at the start, rate
    n^-c; three more exponents are those of the depth. `branch` is the exponent s of residual
    branches L^-s; `residual` says that there are some. Raises ParametrisationError.

    >>> parametrisation("mup").layers["hidden"].width
    Exponents(a=0, b=1/2, c=1)
    >>> parametrisation("sp", "sgd").analysis.regime.value
    'unstable'
    """
    rule = _member(Optimizer, optimizer, "optimizer")
    given = {_member(Kind, kind, "layer"): _exponents(kind, at) for kind, at in layers.items()}
    deep = residual or branch is not None or any(len(at) == 2 for at in given.values())
    scale = None if branch is None else exponent(branch)
    if name == "custom":
        own = {kind: Layer(*at) for kind, at in given.items()}
        return Parametrisation(name, rule, own, scale or ZERO, deep)
    if name not in NAMED:
        near = suggestion(name, NAMED)
        raise ParametrisationError(f"unknown parametrisation {name!r}{near}")
    known = NAMED[name]
    if rule not in known.optimizers:
        raise ParametrisationError(f"{name} is stated for {' and '.join(known.optimizers)} only")
    deep = deep or known.branch is not None
    found = _built(name, known, rule, known.branch if scale is None else scale, deep)
    if not given:
        return found
    layers_of = dict(found.layers)
    for kind, at in given.items():
        before = found.layers.get(kind, Layer())
        layers_of[kind] = Layer(at[0], at[1] if len(at) == 2 else before.depth)
    return replace(found, name=f"{name}, changed", layers=layers_of, source="", note="")


def _built(
    name: str, known: Named, optimizer: Optimizer, branch: Expr | None, deep: bool
) -> Parametrisation:
    """A named parametrisation with its embeddings, biases that start at zero and norm gains."""
    weights = {
        **known.weights,
        Kind.EMBEDDING: known.weights[Kind.INPUT],
        Kind.BIAS: Exponents(b=oo),
        Kind.GAIN: Exponents(),
    }
    layers = {kind: Layer(at) for kind, at in weights.items()}
    scale = branch or ZERO
    found = Parametrisation(name, optimizer, layers, scale, deep, known.source, known.note)
    if known.rates == "common":
        return found.stable_rates(common=True)
    if known.rates == "largest":
        return found.stable_rates()
    if known.rates == "as given":
        return replace(found, layers={k: _deep_rate(found, k, v) for k, v in layers.items()})
    return found


def _deep_rate(p: Parametrisation, kind: Kind, layer: Layer) -> Layer:
    return replace(layer, depth=depth_rate(p, kind, layer.depth))


def _exponents(kind: str, at: tuple[Text, ...]) -> tuple[Exponents, ...]:
    """The exponents of the width, and of the depth if there are six."""
    if len(at) not in (3, 6):
        raise ParametrisationError(f"{kind} has three exponents or six, not {len(at)}")
    found = [exponent(text) for text in at]
    return tuple(Exponents(*found[k : k + 3]) for k in range(0, len(found), 3))


def _member(of: type[Member], name: str, what: str) -> Member:
    try:
        return of(name)
    except ValueError:
        near = suggestion(name, map(str, of)) or f"; there are {', '.join(of)}"
        raise ParametrisationError(f"unknown {what} {name!r}{near}") from None
