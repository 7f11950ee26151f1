"""Digits that would take too long are refused in one line that says what is possible."""

import re
from typing import Any

import mpmath
import pytest

from varlaw.commands.gain import activation_gain
from varlaw.commands.moment import gaussian_moment
from varlaw.symbolic.gaussian import trapezoid
from varlaw.symbolic.gaussian.decimals import MOST_DIGITS
from varlaw.symbolic.gaussian.functions import NoMoment
from varlaw.symbolic.gaussian.moment import moment


class Reached(Exception):
    """The values on the grid are about to be found."""


def test_a_logarithm_at_each_of_many_points_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = moment("softplus(x)", "1/3", 2)
    with pytest.raises(NoMoment, match=r"about \d+ minutes; ask for \d+$") as refused:
        asked.digits(20_000)
    possible = int(re.findall(r"\d+", str(refused.value))[-1])
    assert 2000 < possible < 20_000

    def reached(*_: Any) -> Any:
        raise Reached

    monkeypatch.setattr(trapezoid, "grid_values", reached)
    with pytest.raises(Reached):
        asked.digits(possible)
    with pytest.raises(NoMoment, match="minutes"):
        asked.digits(2 * possible)


def test_adaptive_quadrature_has_a_limit() -> None:
    asked = moment("sigmoid(x)*softsign(x)")
    density = lambda t: mpmath.exp(-t * t / 2) / mpmath.sqrt(2 * mpmath.pi)  # noqa: E731
    product = lambda t: t / (1 + abs(t)) / (1 + mpmath.exp(-t)) * density(t)  # noqa: E731
    expected = mpmath.quad(product, [-mpmath.inf, 0, mpmath.inf])
    assert abs(mpmath.mpf(asked.digits(60).digits) - expected) < 1e-12
    with pytest.raises(NoMoment, match="would take hours; ask for 2000"):
        asked.digits(2100)


@pytest.mark.parametrize("function", ["gelu(x)^2", "softplus(x)", "x"])
def test_digits_have_a_limit(function: str) -> None:
    with pytest.raises(NoMoment, match=f"at most {MOST_DIGITS} digits, not {MOST_DIGITS + 1}"):
        moment(function).digits(MOST_DIGITS + 1)


def test_the_options_have_the_same_limit() -> None:
    for command in (activation_gain, gaussian_moment):
        (option,) = (one for one in command.params if one.name == "digits")
        assert option.type.max == MOST_DIGITS


def test_as_many_digits_as_are_allowed_are_found() -> None:
    """E[gelu^2] = 1/3 + sqrt(3)/(6 pi)."""
    found = moment("gelu(x)^2").digits(MOST_DIGITS)
    assert len(found.digits) == MOST_DIGITS + 2 and found.radius.endswith(f"e-{MOST_DIGITS + 2}")
