"""Rewrite rules: one function each, found by name in `varlaw.symbolic.derivation.RULES`."""

from varlaw.symbolic.rules import (
    analysis,
    bounds,
    coincidences,
    depth,
    derivatives,
    equations,
    expectation,
    gaussian,
    gradients,
    indices,
    numbers,
    orthogonality,
    orders,
    radicals,
    recurrences,
    signs,
)

__all__ = [
    "analysis",
    "bounds",
    "coincidences",
    "depth",
    "derivatives",
    "equations",
    "expectation",
    "gaussian",
    "gradients",
    "indices",
    "numbers",
    "orthogonality",
    "orders",
    "radicals",
    "recurrences",
    "signs",
]
