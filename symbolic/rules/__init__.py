"""Rewrite rules: one function each, found by name in `varlaw.symbolic.derivation.RULES`."""

from varlaw.symbolic.rules import (
    analysis,
    averages,
    coincidences,
    depth,
    derivatives,
    equations,
    expectation,
    gaussian,
    indices,
    jensen,
    log_sums,
    numbers,
    orthogonality,
    recurrences,
    signs,
)

__all__ = [
    "analysis",
    "averages",
    "coincidences",
    "depth",
    "derivatives",
    "equations",
    "expectation",
    "gaussian",
    "indices",
    "jensen",
    "log_sums",
    "numbers",
    "orthogonality",
    "recurrences",
    "signs",
]
