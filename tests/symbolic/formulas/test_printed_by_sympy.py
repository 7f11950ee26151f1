"""What SymPy prints as LaTeX is read with SymPy's value: a reading checked from outside."""

import math
import operator
from collections.abc import Callable
from functools import reduce

import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from varlaw.symbolic.formulas import Head, Node, NotRead, plain, read_formula

VALUES = {"x": 1.25, "y": 0.5, "n_in": 3.0, "sigma_w": 0.75, "pi": math.pi, "e": math.e}
FUNCTIONS: dict[str, Callable[..., float]] = {
    "log": math.log, "exp": math.exp, "tanh": math.tanh, "sin": math.sin, "erf": math.erf,
    "max": max,
}  # fmt: skip
symbols = st.sampled_from([sp.Symbol(name, positive=True) for name in ("x", "y")])
named = st.sampled_from([sp.Symbol(name, positive=True) for name in ("n_in", "sigma_w")])
numbers = st.sampled_from([sp.Integer(2), sp.Integer(-3), sp.Rational(1, 2), sp.pi, sp.E])


def value(node: Node) -> float:
    """The value of a tree at VALUES."""
    parts = [value(part) for part in node.parts] if node.head is not Head.NAME else []
    match node.head:
        case Head.NUMBER:
            return float(node.text)
        case Head.NAME:
            return VALUES[plain(node)]
        case Head.ADD:
            return sum(parts)
        case Head.NEGATIVE:
            return -parts[0]
        case Head.MULTIPLY:
            return reduce(operator.mul, parts)
        case Head.DIVIDE:
            return parts[0] / parts[1]
        case Head.POWER:
            return parts[0] ** parts[1]
        case Head.ROOT:
            return parts[0] ** (1 / (parts[1] if len(parts) > 1 else 2))
        case Head.ABSOLUTE:
            return abs(parts[0])
        case Head.CALL:
            return FUNCTIONS[node.text](*parts)
    raise AssertionError(node.head)


def grown(inner: st.SearchStrategy[sp.Expr]) -> st.SearchStrategy[sp.Expr]:
    unary = st.sampled_from([sp.exp, sp.tanh, sp.sin, sp.erf, lambda a: sp.log(2 + a**2)])
    several = st.lists(inner, min_size=2, max_size=3)
    powers = st.sampled_from([2, -1, sp.Rational(-3, 2)])
    return st.one_of(
        several.map(lambda parts: sp.Add(*parts)),
        several.map(lambda parts: sp.Mul(*parts)),
        st.builds(lambda a, b: a / (1 + b**2), inner, inner),
        st.builds(lambda a, n: (1 + a**2) ** n, inner, powers),
        st.builds(lambda f, a: f(a), unary, inner),
        st.builds(sp.Max, inner, inner),
        inner.map(sp.Abs),
        inner.map(lambda a: sp.sqrt(1 + a**2)),
    )


@settings(deadline=None)
@given(st.recursive(symbols | named | numbers, grown, max_leaves=8))
def test_the_value_of_what_sympy_prints(expression: sp.Expr) -> None:
    text = sp.latex(expression)
    try:
        (node,) = read_formula(text).expressions
    except NotRead as error:  # SymPy writes 2 x/3 y and log^2 as nobody can tell apart
        assert error.reason
        return
    here = {symbol: VALUES[symbol.name] for symbol in expression.free_symbols}
    expected = expression.evalf(subs=here)
    if expected.is_Float and abs(expected) < 1e100:
        assert math.isclose(value(node), float(expected), rel_tol=1e-9, abs_tol=1e-9), text


def test_sympy_is_read_at_all() -> None:
    x = sp.Symbol("x", positive=True)
    text = sp.latex(sp.exp(-(x**2) / 2) / sp.sqrt(2 * sp.pi) + sp.log(1 + x) * sp.tanh(x) ** 2)
    (node,) = read_formula(text).expressions
    a = VALUES["x"]
    expected = math.exp(-a * a / 2) / math.sqrt(2 * math.pi) + math.log(1 + a) * math.tanh(a) ** 2
    assert math.isclose(value(node), expected)
