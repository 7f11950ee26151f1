"""What the numbers of a compiled experiment may hold, and what it says of them."""

import math
from typing import Any

import numpy as np
import pytest
from sympy import cosh, exp, log, sqrt, tanh

from varlaw.checks.compiled.backends import Backend
from varlaw.checks.compiled.trials import measure_claim
from varlaw.checks.experiments import Settings, plan
from varlaw.checks.experiments.run import attempt
from varlaw.checks.statistics.verdicts import Verdict
from varlaw.symbolic.activations import relu
from varlaw.symbolic.declarations import (
    random_variable,
)
from varlaw.symbolic.terms import Expectation, indicator

QUICK: dict[str, Any] = {"tolerance": 0.02, "error_rate": 1e-4}


def measured(function: Any, claimed: Any, weights: str = "uniform", **more: Any) -> Any:
    x = random_variable("x", mean=0, variance=1)
    return measure_claim(Expectation(function(x)), claimed=claimed, weights=weights, **more)


def test_no_bound_on_the_variance_means_an_asymptotic_interval() -> None:
    """E[cosh(x)] = sinh(sqrt(3))/sqrt(3) for x uniform on +-sqrt(3); no rule knows it."""
    value = math.sinh(math.sqrt(3)) / math.sqrt(3)
    found = measured(cosh, value, **QUICK)
    assert found.interval == "asymptotic" and found.verdict is Verdict.VERIFIED
    assert measured(cosh, 1.1 * value, **QUICK).verdict is Verdict.REFUTED


def test_nan_is_undecided() -> None:
    for function in (log, sqrt, lambda x: relu(sqrt(x)), lambda x: indicator(log(x), ">")):
        found = measured(function, 1)
        assert found.verdict is Verdict.UNDECIDED and found.why


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_overflow_is_undecided(dtype: str) -> None:
    found = measured(lambda x: exp(1000 * x), 1, backend=Backend(dtype=dtype))
    assert found.verdict is Verdict.UNDECIDED and "usable number" in found.why


def test_overflow_in_half_precision_is_undecided() -> None:
    """(300 x)^2 reaches 270,000; the largest number in half precision is 65,504."""
    half = Backend(dtype="float16")
    found = measured(lambda x: (300 * x) ** 2, 90_000, backend=half, tolerance=0.1)
    assert found.verdict is Verdict.UNDECIDED and "usable number" in found.why
    found = measured(lambda x: (3 * x) ** 2, 9, backend=half, tolerance=0.1)
    assert found.verdict is Verdict.VERIFIED and found.backend == "numpy, float16"


def test_numbers_too_coarse_for_the_tolerance_are_undecided() -> None:
    found = measured(lambda x: x**2, 1, backend=Backend(dtype="float16"))
    assert found.verdict is Verdict.UNDECIDED
    assert found.why == "float16 is too coarse for a tolerance of 0.01"


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_constant_samples(dtype: str) -> None:
    """x^2 = 1 for a sign x: no spread at all, and the bound on it says so."""
    backend = Backend(dtype=dtype)
    assert measured(lambda x: x**2 / 3, "1/3", "rademacher", backend=backend).verdict == "verified"
    assert measured(lambda x: x**2 / 3, "0.34", "rademacher", backend=backend).verdict == "refuted"


def test_constant_samples_without_a_bound_are_undecided() -> None:
    found = measured(cosh, math.cosh(1), "rademacher")
    assert found.verdict is Verdict.UNDECIDED and "without any spread" in found.why


def test_one_replicate_is_undecided() -> None:
    for function in (lambda x: x**4, tanh, cosh):
        found = measured(function, 1, budget=1)
        assert found.verdict is Verdict.UNDECIDED and "over the budget" in found.why


def test_a_width_beyond_the_budget_is_undecided_before_anything_is_drawn() -> None:
    tasks = plan(["lecun"], Settings(backend=Backend(), overrides={"m": 10**12}))
    found = attempt(next(t for t in tasks if t.backend))
    assert found.verdict is Verdict.UNDECIDED and "over the budget" in found.why


def test_sums_in_single_precision_are_accumulated_in_double() -> None:
    """A plain sum of 2^24 + 2^22 ones in single precision stops at 2^24."""
    ones = np.ones(2**22 + 2**24, dtype=np.float32)
    assert float(np.cumsum(ones)[-1]) == 2**24
    assert float(Backend(dtype="float32").sum(ones, 0)[0]) == ones.size
