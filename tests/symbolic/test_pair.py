"""E[f(Z1) g(Z2)] from texts: closed forms, proved digits, edge cases, and random pairs."""

import random
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy import special
from sympy import N, Rational, Symbol, asin, pi

from varlaw.symbolic.gaussian.closed import Divergent
from varlaw.symbolic.gaussian.functions import NoMoment
from varlaw.symbolic.gaussian.pair import PairMoment, pair_moment
from varlaw.symbolic.language import read
from varlaw.symbolic.language_text import typed


def value(found: PairMoment, digits: int = 15) -> Any:
    return mp.mpf(found.digits(digits).digits)


@pytest.mark.parametrize(
    ("name", "most", "formula"),
    [
        # Cho and Saul (2009), section 2, degrees 0, 1, 2
        ("step", 30, "(pi - acos(rho))/(2*pi)"),
        ("relu", 47, "(sqrt(1-rho^2) + rho*(pi - acos(rho)))/(2*pi)"),
        ("relu(x)^2", 63, "(3 rho sqrt(1-rho^2) + (pi - acos(rho))(1 + 2 rho^2))/(2*pi)"),
        ("abs", 40, "2*(sqrt(1-rho^2) + rho*asin(rho))/pi"),
        ("erf", 18, "2*asin(2*rho/3)/pi"),  # Williams (1997)
        ("exp", 12, "exp(1+rho)"),
        ("sin", 35, "exp(-1)*sinh(rho)"),
        ("cos", 35, "exp(-1)*cosh(rho)"),
    ],
)
def test_known_kernels_are_written_shortly(name: str, most: int, formula: str) -> None:
    found = pair_moment(name, rho="rho")
    assert found.symbolic and found.exact is not None and len(typed(found.exact)) <= most
    again = read(typed(found.exact), real=True)
    rho = Symbol("rho", real=True)
    for r in (Rational(-9, 10), Rational(1, 3), Rational(99, 100)):
        expected = N(read(formula, real=True).subs(rho, r), 25)
        assert abs(N(again.subs(rho, r), 25) - expected) < 1e-20
        assert abs(value(pair_moment(name, rho=r), 20) - mp.mpf(str(expected))) < 1e-19


def test_leaky_relus_with_different_slopes() -> None:
    """relu and a line: a leaky ReLU is a x + (1 - a) relu(x)."""
    found = pair_moment("leaky_relu(x, a)", "leaky_relu(z, b)", rho="r")
    assert found.exact is not None and len(typed(found.exact)) < 80
    a, b, r = (Symbol(name, real=True) for name in "abr")
    numbers = {a: Rational(1, 5), b: Rational(-1, 3), r: Rational(7, 10)}
    relus = N(pair_moment("relu", rho=r).exact, 25, subs=numbers)
    expected = a * b * r + (a + b - 2 * a * b) * r / 2 + (1 - a) * (1 - b) * relus
    assert abs(N(found.exact - expected, 20, subs=numbers)) < 1e-18


def test_gelu_in_short() -> None:
    found = pair_moment("gelu", rho="rho")
    assert found.exact is not None and len(typed(found.exact)) < 60
    mehler = "0.162677219805644319530"  # a series of 35 digits
    assert pair_moment("gelu", rho=0.3).digits(21).digits == mehler


def test_variances_and_means() -> None:
    """E[Z1 Z2] = m n + rho s t; E[exp exp] by the sum's variance."""
    found = pair_moment("x", rho="r", variances=("v", "w"), means=("m", "n"))
    assert found.exact is not None
    expected = read("m*n + r*sqrt(v)*sqrt(w)", names={n: Symbol(n, positive=True) for n in "vw"})
    names = {s.name: s for s in found.exact.free_symbols}
    expected = expected.subs({s: names[s.name] for s in expected.free_symbols})
    assert (found.exact - expected).expand() == 0
    number = value(pair_moment("exp", rho=0.5, variances=(1, 4), means=(1, -1)))
    assert abs(number - mp.exp(mp.mpf(1 + 4 + 2 * 1) / 2)) < 1e-9


@pytest.mark.parametrize(
    ("f", "g", "rho", "expected"),
    [
        ("relu", "relu", 1, "1/2"),
        ("relu", "relu", -1, "0"),
        ("step", "step", -1, "0"),
        ("relu", "relu", 0, "1/(2*pi)"),
        ("abs", "x^2", 0, "sqrt(2/pi)"),
    ],
)
def test_no_and_full_correlation(f: str, g: str, rho: int, expected: str) -> None:
    found = pair_moment(f, g, rho=rho)
    number = read(expected)
    assert found.exact is not None and abs(N(found.exact - number, 20)) < 1e-18


def test_full_correlation_by_quadrature() -> None:
    number = mp.quad(lambda z: z * z * mp.ncdf(z) * mp.npdf(z), [0, 3, 12])
    assert abs(value(pair_moment("gelu", "relu", rho=1)) - number) < 1e-13


def test_correlations_very_near_to_one() -> None:
    """P(Z1, Z2 > 0) = 1/2 - acos(rho)/(2 pi), where doubles would round rho to 1."""
    with mp.workdps(60):
        exact = mp.mpf(1) / 2 - mp.acos(1 - mp.mpf(10) ** -30) / (2 * mp.pi)
        assert abs(value(pair_moment("step(x)", rho="1 - 1e-30"), 40) - exact) < 1e-40
    for rho, near in (("1 - 1e-30", "1"), ("-0.9999999999", "-1")):
        with pytest.raises(NoMoment, match=f"a correlation as near to {near} takes too long"):
            pair_moment("tanh(x)", rho=rho).digits()


def test_a_variable_that_does_not_vary() -> None:
    found = pair_moment("tanh", "relu", rho=0.4, variances=(0, 1), means=(1, 0))
    assert abs(value(found) - mp.tanh(1) / mp.sqrt(2 * mp.pi)) < 1e-14
    found = pair_moment("tanh", "relu", rho=0.4, variances=(1, 0), means=(0, -2))
    assert value(found) == 0
    found = pair_moment("x^2", "relu", rho=1, variances=(0, 0), means=(3, 2))
    assert value(found) == 18


def test_convergence_depends_on_the_correlation() -> None:
    """E exp(Z1^2/4) exp(Z2^2/4) = det(1 - Sigma/2)^(-1/2)."""
    for r in (mp.mpf("0.4"), mp.mpf("0.99")):
        exact = 1 / mp.sqrt(mp.mpf(1) / 4 - r**2 / 4)
        assert abs(value(pair_moment("exp(x^2/4)", rho=str(r))) - exact) < 1e-11
    with pytest.raises(Divergent):
        pair_moment("exp(x^2/2)", rho=0.4)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"f": "relu", "rho": 2}, "between -1 and 1"),
        ({"f": "relu", "rho": "-1.0001"}, "between -1 and 1"),
        ({"f": "relu", "rho": 0.5, "variances": (1, -2)}, "-2 is negative"),
        ({"f": "relu(x)", "rho": "x"}, "may not depend"),
        ({"f": "tanh", "rho": "r"}, "parameters"),
        ({"f": "relo", "g": "relo(x)", "rho": 0.5}, "relo"),
    ],
)
def test_refusals_in_a_line(arguments: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match) as error:
        pair_moment(**arguments)
    assert "\n" not in str(error.value)


def test_digits_need_numbers() -> None:
    with pytest.raises(NoMoment, match="parameters"):
        pair_moment("relu", rho="r").digits()


# Random pairs against quadrature on rays, which no kink at zero disturbs, and on cells.

FUNCTIONS: dict[str, Any] = {
    "leaky_relu(x, 1/5)": lambda z: np.where(z > 0, z, z / 5),
    "hardtanh(x)": lambda z: np.clip(z, -1, 1),
    "elu(x)": lambda z: np.where(z > 0, z, np.expm1(np.minimum(z, 0))),
    "gelu(x)": lambda z: z * special.ndtr(z),
    "erf(x)": special.erf,
    "relu6(x)": lambda z: np.clip(z, 0, 6),
    "step(x)": lambda z: (z > 0) * 1.0,
    "x^3 - x": lambda z: z**3 - z,
    "exp(x/2)": lambda z: np.exp(z / 2),
    "tanh(x)": np.tanh,
    "softplus(x)": lambda z: np.logaddexp(0, z),
    "relu(x - 1/3)*x": lambda z: np.maximum(z - 1 / 3, 0) * z,
    "gelu(x)*relu(x)": lambda z: z * special.ndtr(z) * np.maximum(z, 0),
    "1[x > 1]*x^2": lambda z: (z > 1) * z**2,
    "sin(2*x)": lambda z: np.sin(2 * z),
}
KINKS = (-1, 0, 1 / 3, 1, 6)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)


def on_cells(f: Any, g: Any, r: float, v: float, w: float) -> float:
    """E[f(Z1) g(Z2)] by Gauss-Legendre quadrature between all kinks, Z2 given Z1."""
    s, t, narrow = np.sqrt(v), np.sqrt(w), np.sqrt((1 - r) * (1 + r))

    def pieces(cuts: Any) -> tuple[Any, Any]:
        ends = np.unique(np.concatenate([np.linspace(-9, 9, 13), np.clip(cuts, -9, 9)]))
        half = np.diff(ends)[:, None] / 2
        return (ends[:-1, None] + half * (1 + NODES)).ravel(), (half * WEIGHTS).ravel()

    near = [(k / t + side * narrow * d) / r for k in KINKS for side in (-1, 1) for d in (0, 3, 9)]
    total, (us, weights) = 0.0, pieces(np.array([k / s for k in KINKS] + near))
    for u, weight in zip(us, weights, strict=True):
        ds, inner = pieces(np.array([(k / t - r * u) / narrow for k in KINKS]))
        given = np.sum(inner * g(t * (r * u + narrow * ds)) * np.exp(-(ds**2) / 2))
        total += weight * float(f(s * u)) * np.exp(-u * u / 2) * given
    return float(total / (2 * np.pi))


@pytest.mark.parametrize("seed", range(12))
def test_random_pairs(seed: int) -> None:
    chance = random.Random(seed)
    f, g = chance.choice(list(FUNCTIONS)), chance.choice(list(FUNCTIONS))
    r = chance.choice(["0.3", "-0.8", "0.99", "-0.999", "0.05", "0.9999"])
    v, w = (chance.choice(["1", "1/3", "2", "7/5"]) for _ in range(2))
    number = value(pair_moment(f, g, rho=r, variances=(v, w)))
    variances = [float(Rational(s)) for s in (v, w)]
    expected = on_cells(FUNCTIONS[f], FUNCTIONS[g], float(r), *variances)
    size = np.sqrt(
        on_cells(FUNCTIONS[f], FUNCTIONS[f], 0.999999, variances[0], variances[0])
        * on_cells(FUNCTIONS[g], FUNCTIONS[g], 0.999999, variances[1], variances[1])
    )
    assert abs(float(number) - expected) < 1e-9 * size
    wrong = on_cells(FUNCTIONS[f], FUNCTIONS[g], float(r) * 0.9, *variances)
    assert abs(wrong - expected) > 1e-9 * size  # the reference sees the correlation


def test_a_derivative_alone_is_that_of_the_variable() -> None:
    rho = Symbol("rho", real=True)
    assert (pair_moment("relu'", rho="rho").exact - asin(rho) / (2 * pi) - Rational(1, 4)) == 0
    assert pair_moment("gelu'", rho="1/2") == pair_moment("gelu'(x)", rho="1/2")


def test_a_refusal_names_no_variable_of_ours() -> None:
    with pytest.raises(NoMoment, match=r"with tanh\([a-z]\)"):
        pair_moment("tanh", rho="rho")
