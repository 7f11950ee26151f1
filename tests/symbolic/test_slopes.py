"""Derivatives by the chain rule, against numerical ones; powers of products, against SymPy's."""

import random

import mpmath
import pytest
from flint import ctx
from sympy import Abs, Integer, Mul, Rational, Symbol, erf, exp, log, pi, simplify, sqrt, tanh

from varlaw.symbolic.activations import ACTIVATIONS, gelu_tanh
from varlaw.symbolic.gaussian.balls import ball
from varlaw.symbolic.slopes import raised, slope

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


FACTORS = [x, 1 + x, 1 - x, 2 + 2 * x, exp(x), exp(-(x**2) / 2), sqrt(2), sqrt(pi), Integer(-1)]
FACTORS += [Rational(2, 3), tanh(x), log(1 + x**2), 1 / (1 + x), (1 + exp(x)) ** -2, Abs(x), 1 / x]
FACTORS += [sqrt(1 + x**2), erf(x / sqrt(2)), Symbol("a", positive=True), Symbol("b")]


@pytest.mark.parametrize("exponent", [-3, -2, -1, 2, 3, 4])
def test_powers_of_products_are_those_of_sympy(exponent):
    rng = random.Random(7)
    for _ in range(200):
        product = Mul(*rng.sample(FACTORS, rng.randint(1, 6)))
        found, wanted = raised(product, Integer(exponent)), product**exponent
        assert (found, found.args) == (wanted, wanted.args)
    assert raised(x * exp(x), Integer(2)) != (x * exp(x)) ** 3


WRITTEN = [kind for kind in ACTIVATIONS.values() if kind.slopes(x, *kind.defaults)]


@pytest.mark.parametrize("kind", WRITTEN)
def test_derivatives_of_rows_are_those_of_their_parts(kind):
    """On balls at 200 bits: both hold the derivative, so they overlap, tightly."""
    parts, written = kind(x).written_out, kind.slopes(x, *kind.defaults)
    assert len(parts) == len(written)
    for (_, part), first in zip(parts, written, strict=True):
        assert _agree(part.diff(x), first)
        assert not _agree(part.diff(x), first + x * Rational(1, 10**30))


def _agree(one, other):
    with ctx.workprec(200):
        points = [Rational(k, 7) for k in range(-60, 61, 8)]
        return all(abs(ball((one - other).subs(x, point))) < 1e-45 for point in points)


@pytest.mark.parametrize("kind", [kind for kind in WRITTEN if kind.__name__ != "gelu_tanh"])
def test_derivatives_of_rows_are_so_by_algebra(kind):
    """With a parameter where the row has one; gelu_tanh has its own test."""
    parameters = tuple(Symbol(name, positive=True) for name in kind.parameters)
    (_, part), (first,) = kind(x, *parameters).written_out[0], kind.slopes(x, *parameters)
    assert simplify(part.diff(x) - first) == 0


def test_derivative_of_gelu_tanh_is_so_by_algebra():
    (_, part), (first,) = gelu_tanh(x).written_out[0], gelu_tanh.slopes(x)
    assert (part.diff(x) - first).expand() == 0
