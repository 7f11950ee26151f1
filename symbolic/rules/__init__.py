"""Rewrite rules: one function each, found by name in `varlaw.symbolic.derivation.RULES`."""

from varlaw.symbolic.rules import (
    analysis,
    coincidences,
    compounding,
    equations,
    expectation,
    gaussian,
    gradients,
    indices,
    numbers,
    recurrences,
    signs,
)

__all__ = [
    "analysis",
    "coincidences",
    "compounding",
    "equations",
    "expectation",
    "gaussian",
    "gradients",
    "indices",
    "numbers",
    "recurrences",
    "signs",
]
