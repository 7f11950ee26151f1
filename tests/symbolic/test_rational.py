"""Closed forms of rational functions of |x - mean|, against mpmath."""

from collections.abc import Callable
from typing import Any

import mpmath
import pytest
from sympy import Symbol

from varlaw.symbolic.gaussian.moment import moment


def softsign(z: Any) -> Any:
    return z / (1 + abs(z))


@pytest.mark.parametrize(
    ("text", "f"),
    [
        ("softsign(x)^2", lambda z: softsign(z) ** 2),
        ("softsign'(x)^2", lambda z: (1 + abs(z)) ** -4),
        ("softsign(2*x)^4", lambda z: softsign(2 * z) ** 4),
        ("x*relu(x)*softsign(x)", lambda z: z * max(z, 0) * softsign(z)),
        ("1/(1 + relu(x))", lambda z: 1 / (1 + max(z, 0))),
        ("1/((1 + |x|)*(3 + 2*|x|)^2)", lambda z: 1 / ((1 + abs(z)) * (3 + 2 * abs(z)) ** 2)),
    ],
)
@pytest.mark.parametrize("variance", [1, 4])
def test_closed_forms(text: str, f: Callable[[Any], Any], variance: int) -> None:
    found = moment(text, 0, variance)
    assert found.exact is not None
    with mpmath.workdps(30):
        s = mpmath.sqrt(variance)
        ends = [-14 * s, -3, 0, 3, 14 * s]
        value = mpmath.quad(lambda z: f(z) * mpmath.npdf(z, 0, s), ends)
        assert abs(mpmath.mpf(found.digits(25).digits) - value) < 1e-23


def test_it_reads_back_and_has_a_thousand_digits() -> None:
    found = moment("softsign(x)^2")
    again = moment(str(found.exact))
    assert again.digits(40).digits == found.digits(40).digits
    with mpmath.workdps(1010):
        half = mpmath.mpf(1) / 2
        first = mpmath.exp(-half) * (mpmath.pi * mpmath.erfi(mpmath.sqrt(half)) - mpmath.ei(half))
        value = mpmath.sqrt(2 / mpmath.pi) * (1 - first / 2)  # E[f^2] = sqrt(2/pi) (1 - G)
        assert abs(mpmath.mpf(found.digits(1000).digits) - value) < mpmath.mpf(10) ** -999


def test_off_the_kink_it_is_an_enclosure() -> None:
    found = moment("softsign(x)^2", "1/3")
    assert found.exact is None
    assert found.digits(15).digits.startswith("0.19")


def test_symbolic_variance() -> None:
    s = Symbol("s", positive=True)
    general = moment("softsign(x)^2", 0, "s^2").exact
    assert general is not None
    assert abs(general.subs(s, 2).evalf(20) - moment("softsign(x)^2", 0, 4).exact.evalf(20)) < 1e-18
