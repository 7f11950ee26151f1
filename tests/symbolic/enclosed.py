"""What the tests of enclosures share: functions, pieces of them, and what an enclosure holds."""

from collections.abc import Iterator
from typing import Any

import mpmath
from sympy import Expr, Integer, Rational, Symbol, erf, exp, log, oo, pi, sqrt, tanh

from varlaw.symbolic.gaussian.decimals import Enclosed, ends
from varlaw.symbolic.gaussian.enclosure import enclose
from varlaw.symbolic.gaussian.pieces import Piece

x = Symbol("x")
ZERO, ONE = Integer(0), Integer(1)
SIGMOID = 1 / (1 + exp(-x))
SOFTPLUS = log(1 + exp(x))
SILU = x * SIGMOID
MISH = x * (1 - 2 / ((1 + exp(x)) ** 2 + 1))
GELU = x * (1 + erf(x / sqrt(2))) / 2
GELU_TANH = x * (1 + tanh(sqrt(2 / pi) * (x + Rational(8943, 200000) * x**3))) / 2
QUICK_GELU = x / (1 + exp(-Rational(851, 500) * x))
Pieces = list[Piece]


def sixty_digits() -> Iterator[None]:
    """A fixture for files of tests: mpmath's precision."""
    with mpmath.workdps(60):
        yield


def whole(f: Expr) -> Pieces:
    return [Piece(-oo, oo, f)]


def kinked(*parts: Any) -> Pieces:
    """Expressions and the points between them, in turn."""
    starts = [-oo, *(ZERO + start for start in parts[1::2])]
    return [
        Piece(a, b, ZERO + e) for a, b, e in zip(starts, [*starts[1:], oo], parts[::2], strict=True)
    ]


def expectation(pieces: Pieces, mean: Any = 0, variance: Any = 1, digits: int = 40) -> Enclosed:
    return enclose(pieces, x, ZERO + mean, ZERO + variance, digits)


def holds(found: Enclosed, number: Any) -> bool:
    """Whether both the ball and what is printed of it contain a number known to sixty digits."""
    low, high = (mpmath.mpf(end.numerator) / end.denominator for end in ends(found.value))
    slack = abs(mpmath.mpf(number)) * mpmath.mpf("1e-57")
    printed = abs(mpmath.mpf(found.digits) - number) <= mpmath.mpf(found.radius) + slack
    return bool(low - slack <= number <= high + slack and printed)


def number(e: Any) -> Any:
    return mpmath.mpf(str((ZERO + e).evalf(40)))


def phi(z: Any) -> Any:
    return mpmath.npdf(z)
