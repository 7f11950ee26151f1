"""The constants of SELU, in closed form."""

from functools import cache

from sympy import Add, Expr, Rational, erf, exp, pi, sqrt

from varlaw.symbolic.abbreviations import Abbreviation


@cache
def selu_constants() -> tuple[Expr, Expr]:
    """SELU's alpha = 1.67326... and lambda = 1.05070... in closed form."""
    half, root = Rational(1, 2), exp(Rational(1, 2))
    wave = (root / 2, -root * erf(1 / sqrt(2)) / 2)  # the terms of E[e^z; z < 0]
    fall = Add(half, *(-term for term in wave))  # E[1 - e^z; z < 0]
    square = Add(half, exp(2) / 2, -exp(2) * erf(sqrt(2)) / 2, *(-2 * term for term in wave))
    alpha = fall**-1 / sqrt(2 * pi)
    return alpha, sqrt(2 * pi) * fall / sqrt(pi * fall**2 + square)


SELU_ALPHA = Abbreviation("alpha", lambda: selu_constants()[0])
SELU_LAMBDA = Abbreviation("lambda", lambda: selu_constants()[1])
