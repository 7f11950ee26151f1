"""Quotients of polynomials by FLINT are those of SymPy, to the letter."""

import random

import pytest
from sympy import Add, Dummy, Expr, Float, Integer, Rational, Symbol, cancel, exp, factor, symbols

from varlaw.symbolic.quotients import NoQuotient, Quotient, reduced

X, Y = symbols("x y", positive=True)
LIKE = Dummy("q", positive=True), Dummy("c", real=True), Dummy("c", real=True)
NAMES = (X, Y, Symbol("q0", positive=True), *LIKE)
NIL = (X + 1) ** 2 - X**2 - 2 * X - 1


def drawn(rng: random.Random, depth: int) -> Expr:
    """A random rational function."""
    if depth == 0 or rng.random() < 0.15:
        numbers = Integer(rng.randint(-3, 4)), Rational(1, rng.randint(1, 6))
        return rng.choice((*NAMES, *numbers))
    kind, one = rng.random(), drawn(rng, depth - 1)
    if kind < 0.8:
        other = drawn(rng, depth - 1)
        return one + other if kind < 0.45 else one * other
    return one ** rng.choice((-1, -1, -2, 2)) if one != 0 else one


@pytest.mark.parametrize("seed", range(5))
def test_forms_are_those_of_sympy(seed: int) -> None:
    rng, compared = random.Random(seed), 0
    while compared < 30:
        function = drawn(rng, 4)
        if not function.has(Add) or not function.is_finite:
            continue
        found = Quotient.of(function)
        assert found.cancelled() == cancel(function)
        assert found.factored() == factor(cancel(function))
        compared += 1


@pytest.mark.parametrize("function", [exp(X) + 1, X + Float("0.5"), 1 / NIL])
def test_what_is_no_quotient_is_told(function: Expr) -> None:
    with pytest.raises(NoQuotient):
        Quotient.of(function)


def test_decimals_are_left_to_sympy() -> None:
    function = (X**2 + Float("0.5") * X) / X
    assert reduced(function, 40)[0] == cancel(function)
    assert len(reduced(function, 0)) == 1


def test_factors_that_overflow() -> None:
    """FLINT refuses to factor this polynomial; it is a product of the two below."""
    d, e, f = symbols("d e f", positive=True)
    one = 28944180000 * (d - e) + 1007519650361
    two = 463106880000 * (d - e) + 7428234355200 * f + 16160615156401
    polynomial = (one * two).expand()
    expanded, factored = reduced(polynomial, 1000)
    assert (expanded - polynomial).expand() == (factored - polynomial).expand() == 0
