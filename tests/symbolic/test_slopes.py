"""Derivatives by the chain rule, against numerical ones."""

import mpmath
import pytest
from sympy import Symbol, erf, exp, log, sqrt, tanh

from varlaw.symbolic.slopes import slope

x = Symbol("x", real=True)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize(
    ("f", "value"),
    [
        (x * tanh(x + x**3), lambda t: t * mpmath.tanh(t + t**3)),
        (log(1 + exp(-2 * x)) ** 2, lambda t: mpmath.log(1 + mpmath.exp(-2 * t)) ** 2),
        (erf(x) / sqrt(1 + x**2), lambda t: mpmath.erf(t) / mpmath.sqrt(1 + t * t)),
        ((1 + x**2) ** x, lambda t: (1 + t * t) ** t),
        (x**0 * 7, lambda t: 7),
    ],
)
def test_derivatives_are_the_numerical_ones(f, value, order):
    with mpmath.workdps(40):
        wanted = mpmath.diff(value, mpmath.mpf(3) / 7, order)
        found = mpmath.mpf(str(slope(f, x, order).subs(x, mpmath.mpf(3) / 7).evalf(30)))
        assert abs(found - wanted) < 1e-12
