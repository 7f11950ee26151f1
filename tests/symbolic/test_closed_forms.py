"""Closed forms of Gaussian moments against independent quadrature and known formulas."""

import mpmath as mp
import pytest
from sympy import (
    Abs,
    Expr,
    Float,
    Integer,
    Max,
    Min,
    N,
    Rational,
    S,
    Symbol,
    asin,
    cos,
    diff,
    erf,
    exp,
    lambdify,
    pi,
    sin,
    sqrt,
    tanh,
)

from varlaw.symbolic.activations import (
    ACTIVATIONS,
    Activation,
    UnknownActivation,
    absolute,
    bump,
    celu,
    elu,
    gelu,
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    leaky_relu,
    named_activation,
    prelu,
    relu,
    relu6,
    relu_k,
    selu,
    softshrink,
    step,
    threshold,
)
from varlaw.symbolic.gaussian.closed import Divergent, closed_form
from varlaw.symbolic.gaussian.moment import NoMoment, moment
from varlaw.symbolic.gaussian.pieces import NotClosed, pieces_of
from varlaw.symbolic.gaussian.probabilities import Phi2
from varlaw.symbolic.selu import selu_constants

x = Symbol("x", real=True)
a, s = Symbol("a", positive=True), Symbol("s", positive=True)
mu = Symbol("mu", real=True)
VALUES = {a: Rational(7, 10), s: Rational(13, 10), mu: Rational(3, 10)}
PHI = (1 + erf(x / sqrt(2))) / 2


def number(closed: Expr) -> mp.mpf:
    """A closed form at numbers; the bivariate distribution function by quadrature."""
    closed = closed.subs(VALUES)

    def chance(h: Expr, k: Expr, rho: Expr) -> Expr:
        u, v, r = (mp.mpf(str(N(value, 35))) for value in (h, k, rho))
        steps = [-30, -10, *[p for p in (-3, -1, 0, 1, 3) if p < u], u]
        value = mp.quad(lambda t: mp.npdf(t) * mp.ncdf((v - r * t) / mp.sqrt(1 - r * r)), steps)
        return Float(str(value), 30)

    return mp.mpf(str(N(closed.replace(Phi2, chance), 30)))


def reference(f: Expr, mean: Expr, variance: Expr) -> mp.mpf:
    """E[f(Z)] by mpmath, on short intervals split at the kinks."""
    f, mean, variance = (S(e).subs(VALUES) for e in (f, mean, variance))
    centre, deviation = mp.mpf(str(N(mean, 35))), mp.sqrt(mp.mpf(str(N(variance, 35))))
    total = mp.mpf(0)
    for piece in pieces_of(f, x):
        g = lambdify(x, piece.expression, "mpmath")
        ends = [mp.mpf(str(N(e, 35))) if e.is_finite else None for e in (piece.lower, piece.upper)]
        low = centre - 14 * deviation if ends[0] is None else ends[0]
        high = centre + 14 * deviation if ends[1] is None else ends[1]
        if low >= high:
            continue
        grid = [low, *(centre + k * deviation for k in range(-13, 14)), high]
        steps = sorted(p for p in grid if low <= p <= high)
        total += mp.quad(lambda t, g=g: g(t) * mp.npdf(t, centre, deviation), steps)
    return total


FUNCTIONS = {
    "relu": relu(x),
    "relu^2": relu(x) ** 2,
    "relu off centre": relu(x - Rational(1, 3)) ** 2,
    "relu turned": relu(1 - 2 * x),
    "leaky^2": leaky_relu(x, a) ** 2,
    "prelu x": x * prelu(x, a),
    "relu_k": relu_k(x, 3) * relu_k(x),
    "relu6^2": relu6(x) ** 2,
    "abs": absolute(x),
    "Abs": Abs(x - a) ** 3,
    "Max, Min": Max(x, 0) * Min(x, 1),
    "step": step(x - a),
    "hardtanh^2": hardtanh(x) ** 2,
    "hardsigmoid^2": hardsigmoid(x) ** 2,
    "hardswish^2": hardswish(x) ** 2,
    "elu^2": elu(x, a) ** 2,
    "celu^2": celu(x, a) ** 2,
    "selu^2": selu(x) ** 2,
    "gelu": gelu(x),
    "gelu^2": gelu(x) ** 2,
    "gelu'^2": diff(gelu(x).written_out[0][1], x) ** 2,
    "Phi gelu'": PHI * diff(gelu(x).written_out[0][1], x),
    "x gelu^2": x * gelu(x) ** 2,
    "erf^2": erf(a * x) ** 2,
    "erf(x + a)^2": erf(x + a) ** 2,
    "Phi(x + a)": PHI.subs(x, x + a),
    "sin^2": sin(a * x) ** 2,
    "x sin": x * sin(a * x),
    "cos": cos(3 * x),
    "snake^2": (x + sin(a * x) ** 2 / a) ** 2,
    "bump^2": bump(x) ** 2,
    "exp": exp(a * x),
    "hermite": (x**3 - 3 * x) ** 2,
    "shrink": hardshrink(x) * softshrink(x),
    "threshold": threshold(x, a, Rational(1, 5)) ** 2,
    "product": relu(x - Rational(1, 3)) * gelu(2 * x) * x**2,
    "nested": relu(relu(x) - 1) ** 2,
    "erf on a half line": step(x) * erf(x + a),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(("mean", "variance"), [(S(0), S(1)), (mu, s**2)])
def test_against_quadrature(name: str, mean: Expr, variance: Expr) -> None:
    f = FUNCTIONS[name]
    with mp.workdps(30):
        closed = number(closed_form(f, x, mean, variance))
        expected = reference(f, mean, variance)
        assert abs(closed - expected) < mp.mpf("1e-18") * (1 + abs(expected)), (closed, expected)


def test_known_forms() -> None:
    """E gelu^2 = 1/3 + sqrt(3)/(6 pi); E gelu'^2 = 1/3 + 2/(3 sqrt(3) pi), where SymPy errs."""
    one = S(1)
    second = closed_form(gelu(x) ** 2, x, S(0), one)
    assert (second - (Rational(1, 3) + sqrt(3) / (6 * pi))).simplify() == 0
    slope = closed_form(FUNCTIONS["gelu'^2"], x, S(0), one)
    assert (slope - (Rational(1, 3) + 2 / (3 * sqrt(3) * pi))).simplify() == 0
    assert closed_form(relu(x) ** 2, x, S(0), s**2) == s**2 / 2
    assert closed_form(erf(x) ** 2, x, S(0), one) == 2 * asin(Rational(2, 3)) / pi
    wave = closed_form(x * sin(a * x), x, S(0), one)
    assert (wave - a * exp(-(a**2) / 2)).simplify() == 0
    silent = closed_form(PHI * diff(gelu(x).written_out[0][1], x), x, S(0), one)
    assert abs(silent.evalf(20) - Float("0.379277", 6)) < 1e-6


def test_a_wrong_form_is_told_from_the_right_one() -> None:
    """The comparison itself can fail: SymPy 1.14's value for E gelu'^2 is not the reference's."""
    with mp.workdps(30):
        expected = reference(FUNCTIONS["gelu'^2"], S(0), S(1))
        assert abs(mp.mpf("0.363962716") - expected) > 0.09


def test_selu_keeps_mean_zero_and_variance_one() -> None:
    """Published: alpha = 1.6732632423543772848, lambda = 1.0507009873554804934 (Klambauer 2017)."""
    alpha, scale = selu_constants()
    assert str(alpha.evalf(20)).startswith("1.673263242354377284")
    assert str(scale.evalf(20)).startswith("1.050700987355480493")
    assert abs(closed_form(selu(x), x, S(0), S(1)).evalf(30)) < 1e-25
    assert abs(closed_form(selu(x) ** 2, x, S(0), S(1)).evalf(30) - 1) < 1e-25


def test_zero_variance_is_the_value_at_the_mean() -> None:
    assert closed_form(relu(x) ** 2, x, S(3), S(0)) == relu(3) ** 2


@pytest.mark.parametrize(
    ("f", "variance", "error", "reason"),
    [
        (exp(x**2 / 2), S(1), Divergent, "too fast"),
        (exp(x**2), S(1), Divergent, "too fast"),
        (exp(a * x**2), S(1), NotClosed, "not known"),
        (exp(x**2) * step(1 - x) * step(x + 1), S(1), NotClosed, "between two points"),
        (tanh(x) ** 2, S(1), NotClosed, "no closed form"),
        (1 / x, S(1), NotClosed, "no closed form"),
        (erf(x**2), S(1), NotClosed, "no closed form"),
        (relu(sin(x)), S(1), NotClosed, "a kink where sin"),
        (Abs(x**3 - x - 1), S(1), NotClosed, "roots without a closed form"),
        (relu(x**2 - mu), S(1), NotClosed, "sign of"),
        (relu(mu * x), S(1), NotClosed, "sign of mu"),
        (hardshrink(x, mu), S(1), NotClosed, "order of the kinks"),
        (erf(x) ** 4, S(1), NotClosed, "more error functions"),
        (x, S(-1), ValueError, "not known to be positive"),
        (x, mu, ValueError, "not known to be positive"),
        (x**70, S(1), NotClosed, "larger than"),
    ],
)
def test_refusals(f: Expr, variance: Expr, error: type[Exception], reason: str) -> None:
    with pytest.raises(error, match=reason):
        closed_form(f, x, S(0), variance)


def test_just_below_the_limit_of_convergence() -> None:
    assert closed_form(exp(Rational(49, 100) * x**2), x, S(0), S(1)) == sqrt(50)


@pytest.mark.parametrize("name", list(ACTIVATIONS))
def test_the_table(name: str) -> None:
    """Parity and homogeneity are those of the function, at points on all its parts."""
    row = ACTIVATIONS[name]
    assert row.__doc__ and row.label and len(row.defaults) == len(row.parameters)

    def at(point: Expr) -> Expr:
        made: Activation = row(point, *row.defaults)
        value = made.written_out[0][1]
        for start, expression in made.written_out[1:]:
            value = expression if point > start else value
        return value

    for point in (Rational(1, 7), Rational(3, 4), Rational(5, 2), Integer(8)):
        if row.parity:
            sign = 1 if row.parity == "even" else -1
            assert abs((at(-point) - sign * at(point)).evalf(20)) < 1e-15
        if row.homogeneity is not None:
            for side in (point, -point):
                assert abs((at(3 * side) - 3**row.homogeneity * at(side)).evalf(20)) < 1e-15
    starts = [start for start, _ in row(x, *row.defaults).written_out]
    assert starts == sorted(starts, key=lambda e: float(e))


@pytest.mark.parametrize(
    ("known", "name"),
    [
        ("ReLU", "relu"),
        ("swish", "silu"),
        ("Hardswish", "hardswish"),
        ("linear", "identity"),
        ("gelu", "gelu"),
    ],
)
def test_names_of_libraries(known: str, name: str) -> None:
    assert named_activation(known) is ACTIVATIONS[name]


def test_defaults_of_the_table() -> None:
    """PReLU starts at slope 1/4: E f^2 = (1 + 1/16) / 2."""
    assert closed_form(prelu(x) ** 2, x, S(0), S(1)) == Rational(17, 32)


def test_unknown_activations() -> None:
    with pytest.raises(UnknownActivation, match="did you mean 'relu'"):
        named_activation("rleu")


def test_two_error_functions_on_a_side_of_zero() -> None:
    """The integrand of an even power is even; the rest is left to Stein's lemma."""
    with mp.workdps(30):
        for text, power, other in (("gelu(relu(x))^2", 0, 0), ("relu(x)*gelu(x)*gelu(2*x)", 1, 1)):
            found = moment(text)
            assert found.exact is not None

            def value(t: mp.mpf, power: int = power, other: int = other) -> mp.mpf:
                second = 2 * t * mp.ncdf(2 * t) if other else t * mp.ncdf(t)
                return t**power * t * mp.ncdf(t) * second * mp.npdf(t)

            wanted = mp.quad(value, [0, 1, 2, 4, 8, 20])
            assert abs(mp.mpf(found.digits(25).digits) - wanted) < mp.mpf(10) ** -23
    with pytest.raises(NoMoment, match="more error functions"):
        moment("a*gelu(relu(x))^2", "m")  # at another mean nothing is even
