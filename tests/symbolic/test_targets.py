"""The moments that other systems were measured on, in closed form, against quadrature.

m1 = E[f], m2 = E[f^2], d2 = E[f'^2], z = E[x f]; the variance is s2, and a, b, m are parameters.
"""

import mpmath as mp
import pytest
from sympy import Expr, Integral, Rational, Sum, Symbol, lambdify

from varlaw.symbolic.gaussian.decimals import digits_of
from varlaw.symbolic.gaussian.moment import moment
from varlaw.symbolic.gaussian.pieces import pieces_of

VALUES = {"a": Rational(7, 10), "b": Rational(-2, 5), "s2": Rational(17, 10), "m": Rational(3, 10)}
POSITIVE = ("a",)

STANDARD = """relu(x); relu(x)^2; relu'(x)^2; leaky_relu(x, a); leaky_relu(x, a)^2;
leaky_relu'(x, a)^2; relu(x)^4; relu6(x); relu6(x)^2; abs(x); step(x)^2; hardtanh(x)^2;
hardsigmoid(x)^2; hardswish(x)^2; elu(x, a); elu(x, a)^2; elu'(x, a)^2; (b*elu(x, a))^2;
celu(x, a)^2; exp(a*x); bump(x)^2; erf(x); erf(x)^2; x*erf(x); gelu(x); gelu(x)^2; gelu'(x)^2;
sin(x)^2; cos(x); cos(x)^2; (x + sin(a*x)^2/a)^2; (x^3 - 3*x)^2; sigmoid(x); tanh(x)""".split(";")  # noqa: SIM905
WIDE = """relu(x)^2; x*prelu(x, a); (2*relu(x))^2; relu6(x)^2; x^2; hardtanh'(x)^2; hardtanh(x)^2;
hardswish(x)^2; elu(x, a)^2; exp(a*x)^2; bump'(x)^2; erf(x)^2; erf'(x)^2; gelu(x); gelu(x)^2;
sin(x)^2; (3*x^2 - 3)^2; sigmoid(x)""".split(";")  # noqa: SIM905
NOBODY_FINDS = """erf(a*x)^2; erf(x + b); erf(x + b)^2; Phi(x + b); erf(x); gelu(x); gelu(x)^2;
gelu'(x)^2; x*gelu(x)^2; Phi(x)*gelu'(x); x*sin(a*x)""".split(";")  # noqa: SIM905

CASES = [
    *((text.strip(), "0", "1") for text in STANDARD),
    *((text.strip(), "0", "s2") for text in WIDE),
    *((text.strip(), "m", "s2") for text in NOBODY_FINDS),
]


def expected(f: Expr, x: Symbol, mean: mp.mpf, deviation: mp.mpf) -> mp.mpf:
    total = mp.mpf(0)
    for piece in pieces_of(f, x):
        g = lambdify(x, piece.expression, "mpmath")
        ends = [
            (mp.mpf(str(e.evalf(40)).replace("oo", "inf")) - mean) / deviation
            for e in (piece.lower, piece.upper)
        ]
        low, high = max(ends[0], -14), min(ends[1], 14)
        points = [low, *(k for k in range(-13, 14) if low < k < high), high]
        if low < high:
            total += mp.quad(lambda t, g=g: g(mean + deviation * t) * mp.npdf(t), points)
    return total


@pytest.mark.parametrize(("text", "mean", "variance"), CASES)
def test_targets(text: str, mean: str, variance: str) -> None:
    found = moment(text, mean, variance, positive=POSITIVE)
    assert found.exact is not None, "no closed form"
    at = {s: VALUES[s.name] for s in found.exact.free_symbols | found.function.free_symbols
          if s.name in VALUES}  # fmt: skip
    with mp.workdps(30):
        centre = mp.mpf(str(VALUES.get(mean, Rational(0)).evalf(40)))
        deviation = mp.sqrt(mp.mpf(str(VALUES.get(variance, Rational(1)).evalf(40))))
        value = mp.mpf(digits_of(found.exact.subs(at), 25).digits)
        reference = expected(found.function.subs(at), found.variable, centre, deviation)
        assert abs(value - reference) < mp.mpf("1e-20") * (1 + abs(reference))


def test_no_closed_form_holds_something_unevaluated() -> None:
    for text, mean, variance in CASES:
        exact = moment(text, mean, variance, positive=POSITIVE).exact
        assert not exact.has(Integral, Sum)
