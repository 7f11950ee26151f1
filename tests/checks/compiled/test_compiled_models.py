"""Arrays that depend on one another are sampled so, or refused."""

import math
from typing import Any

import pytest
from sympy import Rational

from varlaw.checks.compiled.models import Unmeasurable
from varlaw.checks.compiled.trials import compiled, prepare
from varlaw.checks.statistics.sampling import stream
from varlaw.symbolic.declarations import (
    dimensions,
    indices,
    random_array,
    random_variable,
)
from varlaw.symbolic.terms import Expectation, Sum, Variance

m = dimensions("m")
i, j = indices("i j")


def drawn(trial: Any, count: int = 20_000) -> Any:
    return trial.draw(stream(1, "test"), count)


def test_what_is_dependent_is_sampled_dependent() -> None:
    made = prepare("residual-sum")
    assert "F is a random factor times x" in made.notes
    x = random_variable("x", mean=0, variance=1)
    f = random_variable("F", mean=0, variance=1, uncorrelated_with=[x.array])
    values = drawn(compiled(Expectation(x * f), claimed=0))
    assert abs(values.mean()) < 5 * values.std() / math.sqrt(values.size)
    squares = drawn(compiled(Expectation(x**2 * f**2), claimed=1))
    assert squares.mean() > 1.5  # E[x^2] E[F^2] = 1, were they independent; here E[x^4] = 9/5
    g = random_variable("g", mean=0, variance=4, depends_on=[x.array])
    assert drawn(compiled(Expectation(x * g), claimed=2)).mean() == pytest.approx(2, abs=0.1)


def test_dependence_that_no_model_meets_is_refused() -> None:
    x = random_variable("x", mean=0, variance=1)
    h = random_array("h", mean=0, variance=1, depends_on=[x.array])
    with pytest.raises(Unmeasurable, match="h, with independent entries that all depend on x"):
        compiled(Expectation(x * Sum(h[i], (i, 1, m))), claimed=0)
    g = random_variable("g", mean=0, variance=1, gaussian=True, depends_on=[x.array])
    with pytest.raises(Unmeasurable, match="Gaussian g"):
        compiled(Expectation(x * g), claimed=0)


def test_a_mean_that_rounding_does_not_see_past_is_refused() -> None:
    """Above 2^63 neighbouring numbers are 2048 apart: z - E[z] would be 0."""
    for mean, seen in ((10**8, True), (10**20, False)):
        z = random_variable("z", mean=mean, variance=1, gaussian=True)
        if seen:
            assert drawn(compiled(Variance(z), claimed=1)).mean() == pytest.approx(1, abs=0.1)
        else:
            with pytest.raises(Unmeasurable, match="float64 is too coarse for z"):
                compiled(Variance(z), claimed=1)


def test_declarations_are_met_or_refused() -> None:
    x = random_variable("x", mean=0, variance=1, moments={4: "9/5"})
    assert compiled(Expectation(x**4)).claimed == Rational(9, 5)
    with pytest.raises(Unmeasurable, match="has not the moment of order 4 declared of x"):
        compiled(Expectation(x**4), weights="skewed")
    y = random_variable("y", mean=2, second_moment="q")
    with pytest.raises(Unmeasurable, match="second moment 1 and the mean 2, which cannot be"):
        compiled(Expectation(y**2), q=1)
