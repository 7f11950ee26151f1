"""Rewrite rules: one function each, found by name in `varlaw.symbolic.derivation.RULES`."""

from varlaw.symbolic.rules import (
    analysis,
    averages,
    coincidences,
    equations,
    expectation,
    gaussian,
    indices,
    jensen,
    log_sums,
    numbers,
    recurrences,
    signs,
)

__all__ = [
    "analysis",
    "averages",
    "coincidences",
    "equations",
    "expectation",
    "gaussian",
    "indices",
    "jensen",
    "log_sums",
    "numbers",
    "recurrences",
    "signs",
]
