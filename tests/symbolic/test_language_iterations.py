"""Means, iterations and products along them as text: values against loops and quadrature."""

from math import pi, sqrt

import mpmath
import pytest

from varlaw.symbolic.language import ReadingError, read
from varlaw.symbolic.language_text import typed


def loop(step, first, count):
    for _ in range(count):
        first = step(first)
    return first


def mean(f, m, v):
    with mpmath.workdps(20):
        density = mpmath.npdf
        return float(
            mpmath.quad(
                lambda x: f(x) * density(x, m, mpmath.sqrt(v)), [-mpmath.inf, -3, 0, 3, mpmath.inf]
            )
        )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("iterate(q -> q/2 + 1, 3, 4)", loop(lambda q: q / 2 + 1, 3, 4)),
        ("2*iterate(u -> u^2 + 1/10, 1/2, 3) + 1", 2 * loop(lambda u: u * u + 0.1, 0.5, 3) + 1),
        ("product(q -> q + 1, iterate(q -> 2*q, 1, 3))", 2 * 3 * 5),
        ("product(u -> u, iterate(q -> 2*q, 1, 3))", 1 * 2 * 4),
        ("iterate((q, c) -> (q + c, c/2), (1, 2), 3)[1]", 4.5),  # (3, 1), (4, 1/2), (9/2, 1/4)
        ("iterate((q, c) -> (q + c, c/2), (1, 2), 3)[2]", 0.25),
        (
            "backward((g, h) -> (g*q + h, h/2), (1, 1),"
            " iterate((q, c) -> (q + c, c/2), (1, 2), 2))[1]",
            4.5,
        ),
        (
            "E[relu(x)*relu(y) | x, y ~ N(0, 1), correlation 1/2]",  # Cho and Saul 2009, eq. 1
            (sqrt(3) / 2 + (pi - pi / 3) / 2) / (2 * pi),
        ),
        ("E[silu(x)^2 | x ~ N(0, 2)]", mean(lambda x: (x / (1 + mpmath.exp(-x))) ** 2, 0, 2)),
        ("E[tanh(x) | x ~ N(1/2, 1/4)]", mean(mpmath.tanh, 0.5, 0.25)),
        ("E[|x|*x^2 | x ~ N(0, iterate(q -> q/2, 4, 2))]", mean(lambda x: abs(x) ** 3, 0, 1)),
    ],
)
def test_values(text, value):
    found = read(text)
    assert float(found.evalf()) == pytest.approx(value, rel=1e-9)
    back = read(typed(found))
    assert back == found or float(back.evalf()) == pytest.approx(value, rel=1e-9)


def test_a_bound_name_hides_no_other():
    """The step adds a parameter q to its own variable."""
    found = read("iterate(u -> u + q, q, 3)")
    assert found.free_symbols == {read("q")}
    assert float(found.subs(read("q"), 2).evalf()) == 8
    assert float(read("iterate(q -> q + q, 1, 3)").evalf()) == 8


def test_the_printed_name_is_free():
    found = read("iterate(u -> u + q, 1, 3)").subs(read("q"), 2)
    clash = read("iterate(q -> q + a, 1, 3)", names={"a": read("q")})
    assert float(found.evalf()) == 7
    again = read(typed(clash))
    both = read("iterate((q, c) -> (q + c*a, c), (1, 2), 2)[1]", names={"a": read("c")})
    back = read(typed(both))
    assert {s.name for s in back.free_symbols} == {"c"}
    assert float(back.subs(read("c"), 3).evalf()) == 1 + 2 * 2 * 3
    assert float(again.subs(read("q"), 2).evalf()) == 7


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("iterate(q, 1, 2)", "it is written iterate"),
        ("iterate(q -> q, 1)", "it is written iterate"),
        ("product(q -> q, 2)", "it is written product"),
        ("relu(x -> x)", "arrows and rows belong"),
        ("E[x^2]", "unexpected"),
        ("E[x | x ~ 3]", "unexpected"),
    ],
)
def test_refused(text, message):
    with pytest.raises(ReadingError, match=message):
        read(text)
