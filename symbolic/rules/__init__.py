"""Rewrite rules: one function each, found by name in `varlaw.symbolic.derivation.RULES`."""

from varlaw.symbolic.rules import (
    analysis,
    bounds,
    coincidences,
    equations,
    expectation,
    gaussian,
    gradients,
    indices,
    numbers,
    orders,
    radicals,
    recurrences,
    signs,
)

__all__ = [
    "analysis",
    "bounds",
    "coincidences",
    "equations",
    "expectation",
    "gaussian",
    "gradients",
    "indices",
    "numbers",
    "orders",
    "radicals",
    "recurrences",
    "signs",
]
