"""Rewrite rules: one function each, found by name in `varlaw.symbolic.derivation.RULES`."""

from varlaw.symbolic.rules import (
    analysis,
    coincidences,
    depth,
    derivatives,
    equations,
    expectation,
    gaussian,
    indices,
    numbers,
    orthogonality,
    recurrences,
    signs,
)

__all__ = [
    "analysis",
    "coincidences",
    "depth",
    "derivatives",
    "equations",
    "expectation",
    "gaussian",
    "indices",
    "numbers",
    "orthogonality",
    "recurrences",
    "signs",
]
