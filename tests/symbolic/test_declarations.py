"""What is declared or written wrongly is refused where it is written, with what is wrong in it."""

from collections.abc import Callable
from typing import Any

import pytest
from sympy import Integer, Rational, Symbol, nan

import varlaw as vl
from varlaw.symbolic.arrays import DeclarationError

m, n = vl.dimensions("m n")
i, j = vl.indices("i j")
k = Symbol("k")
x = vl.random_array("x", second_moment="q")
w = vl.random_array("w", mean=0, variance="s2")


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: vl.Sum(x[i], (i, m, 1)), ValueError, "limits of i run backwards, from m to 1"),
        (lambda: vl.Sum(x[i], (i, 3, 1)), ValueError, "limits of i run backwards, from 3 to 1"),
        (lambda: vl.Sum(x[i], (i, 1, m), (i, 1, n)), ValueError, "index i is given twice"),
        (lambda: vl.Sum(x[i] * x[j], (i, 1, m), (j, 1, i)), ValueError, "depends on the index i"),
        (
            lambda: vl.Sum(x[i] * vl.Sum(x[j], (j, 1, i)), (i, 1, m)),
            ValueError,
            "depends on the index i",
        ),
        (lambda: vl.Sum(x[i], (i, 1, i)), ValueError, "depends on the index i"),
        (lambda: vl.Sum(x[i], (i, 1, "m")), TypeError, "integers or dimensions, not 'm'"),
        (lambda: vl.Sum(x[i], (i, 1, 2.5)), TypeError, "integers or dimensions, not 2.5"),
        (lambda: vl.Sum(x[i], (i, 1, Rational(5, 2))), TypeError, "not 5/2"),
        (lambda: vl.Sum(x[i], (i, 1, vl.positive("t"))), TypeError, "not t"),
        (lambda: vl.Sum(x[i], ("i", 1, m)), TypeError, "index of a sum is a symbol, not 'i'"),
        (lambda: vl.Sum(x[i], (i, 1)), TypeError, "of the form (index, lower, upper)"),
        (lambda: vl.Sum(x[i]), TypeError, "(index, lower, upper)"),
        (lambda: vl.Sum("x", (i, 1, m)), TypeError, "Sum takes an expression, not 'x'"),
        (lambda: vl.E("x"), TypeError, "E takes an expression, not 'x'"),
        (lambda: vl.E(None), TypeError, "E takes an expression, not None"),
        (lambda: vl.Var("x"), TypeError, "Var takes an expression, not 'x'"),
        (lambda: vl.Cov(x[i], "y"), TypeError, "Cov takes an expression, not 'y'"),
        (lambda: vl.dimensions(3), TypeError, "not 3"),
        (lambda: vl.dimensions("m+n"), DeclarationError, "'m+n' is not the name of a symbol"),
        (lambda: vl.dimensions("2"), DeclarationError, "'2' is not the name of a symbol"),
        (lambda: vl.indices("i +"), DeclarationError, "'+' is not the name of a symbol"),
        (lambda: vl.indices(""), DeclarationError, "no name"),
        (lambda: x[2 * k], TypeError, "index of x is a symbol or an integer, not 2*k"),
        (lambda: x[i + 1], TypeError, "index of x is a symbol or an integer, not i + 1"),
        (lambda: x["i"], TypeError, "index of x is a symbol or an integer, not 'i'"),
        (lambda: w[i, 0.5], TypeError, "index of w is a symbol or an integer, not 0.5"),
        (
            lambda: vl.E(x[i] * x[i, j]).derive(),
            DeclarationError,
            "x[i, j] and x[i] have different",
        ),
        (
            lambda: vl.random_array("u", mean=2, second_moment=1),
            DeclarationError,
            "u: the second moment 1 is below the squared mean 4",
        ),
        (lambda: vl.random_array("u", variance=float("nan")), DeclarationError, "variance nan"),
        (lambda: vl.random_array("u", variance=nan), DeclarationError, "variance nan"),
        (lambda: vl.random_array("u", mean=float("inf")), DeclarationError, "mean inf"),
        (lambda: vl.random_array("u", moments={3: float("nan")}), DeclarationError, "order 3 nan"),
        (lambda: vl.random_array("u", variance=-1), DeclarationError, "variance -1 is negative"),
    ],
)
def test_refused(make: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        make()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_expectation_of_a_number_is_the_number() -> None:
    assert vl.E(3) == Integer(3)
    assert vl.E(0.5) == Rational(1, 2)


@pytest.mark.parametrize("names", ["m n", "m, n", "m,n", " m ,n "])
def test_names_are_told_apart_by_blanks_or_commas(names: str) -> None:
    assert vl.dimensions(names) == (m, n)


def test_a_single_name_is_a_symbol() -> None:
    assert vl.dimensions("m") == m


def test_what_is_allowed_beside_what_is_refused() -> None:
    assert vl.E(vl.Sum(x[i], (i, 1, 3))).derive().end == 3 * vl.E(x[i]).derive().end
    assert vl.Sum(x[i], (i, 2, 2)) != 0
    assert vl.Sum(x[i], (i, 0, m - 1)) != 0
    assert x[0] != x[i]
    assert vl.random_array("u", mean=2, second_moment=4).scale == "second_moment"
