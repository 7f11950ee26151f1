"""Closed forms of bivariate Gaussian moments against known kernels and quadrature."""

import mpmath as mp
import pytest
from sympy import Abs, Expr, N, Rational, S, Symbol, acos, asin, diff, erf, exp, pi, sin, sinh, sqrt

from varlaw.symbolic.activations import gelu, leaky_relu, relu, step
from varlaw.symbolic.gaussian.bivariate import kernel
from varlaw.symbolic.gaussian.closed import closed_form
from varlaw.symbolic.gaussian.pieces import NotClosed

x, rho = Symbol("x", real=True), Symbol("rho", real=True)
R = Rational(3, 10)

# Cho and Saul (2009), section 2, degrees 0 and 1; Williams (1997) for erf.
KNOWN = {
    "step": (step(x), (pi - acos(rho)) / (2 * pi)),
    "relu": (relu(x), (sqrt(1 - rho**2) + rho * (pi - acos(rho))) / (2 * pi)),
    "abs": (Abs(x), 2 * (sqrt(1 - rho**2) + rho * asin(rho)) / pi),
    "erf": (erf(x), 2 * asin(2 * rho / 3) / pi),
    "sin": (sin(x), exp(-1) * sinh(rho)),
    "exp": (exp(x), exp(1 + rho)),
    "cube": (x**3, 9 * rho + 6 * rho**3),
}


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("value", [Rational(-9, 10), Rational(0), R, Rational(99, 100)])
def test_known_kernels(name: str, value: Expr) -> None:
    f, formula = KNOWN[name]
    expected = N(formula.subs(rho, value), 25)
    assert abs(N(kernel(f, f, x, value), 25) - expected) < 1e-20
    assert abs(N(kernel(f, f, x, rho).subs(rho, value), 25) - expected) < 1e-20


@pytest.mark.parametrize(
    ("f", "value"),
    [
        (relu(x), "0.241372141917743810817"),
        (erf(x), "0.128188433697949863224"),
        (gelu(x), "0.162677219805644319530"),
    ],
)
def test_reference_values_at_three_tenths(f: Expr, value: str) -> None:
    """35-digit Mehler series."""
    assert abs(N(kernel(f, f, x, R), 25) - N(value, 25)) < 1e-20


@pytest.mark.parametrize(
    "f", [relu(x), relu(x) ** 2, leaky_relu(x, Rational(1, 5)), gelu(x), erf(x)]
)
def test_full_correlation_is_the_second_moment(f: Expr) -> None:
    second = closed_form(f**2, x, S(0), S(1))
    assert (kernel(f, f, x, S(1)) - second).simplify() == 0
    near = N(kernel(f, f, x, rho).subs(rho, 1 - Rational(1, 10**12)), 30)
    assert abs(near - N(second, 30)) < 1e-11


def test_the_slope_at_full_correlation_is_the_second_moment_of_the_slope() -> None:
    """d/drho E[f f] = E[f' f'] (Price); at rho = 1 for relu it is 1/2."""
    slope = diff(kernel(relu(x), relu(x), x, rho), rho)
    assert abs(N(slope.subs(rho, 1 - Rational(1, 10**12)), 20) - Rational(1, 2)) < 1e-5


def test_different_functions_and_variances() -> None:
    """E[relu(Z1) gelu(Z2)] at variances 2 and 1/2, by quadrature of the conditional mean."""
    first, second = S(2), Rational(1, 2)
    found = N(kernel(relu(x), gelu(x), x, R, (first, second)), 20)
    r, s1, s2 = mp.mpf("0.3"), mp.sqrt(2), mp.sqrt(mp.mpf("0.5"))

    def inner(u: mp.mpf) -> mp.mpf:
        """By Stein's lemma: E[Y Phi(Y)] = m Phi(m/w) + v phi(m/w)/w with w^2 = 1 + v."""
        centre, spread = r * s2 / s1 * u, s2 * mp.sqrt(1 - r**2)
        wide = mp.sqrt(1 + spread**2)
        return centre * mp.ncdf(centre / wide) + spread**2 * mp.npdf(centre / wide) / wide

    expected = mp.quad(lambda u: u * inner(u) * mp.npdf(u, 0, s1), [0, 2, 5, 12])
    assert abs(mp.mpf(str(found)) - expected) < mp.mpf("1e-11")


def test_refusals() -> None:
    from sympy import tanh

    with pytest.raises(NotClosed):
        kernel(tanh(x), tanh(x), x, R)
    with pytest.raises(ValueError, match="outside"):
        kernel(relu(x), relu(x), x, S(2))
