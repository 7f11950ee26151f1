"""Laws of shaped activations against quadrature in the plane, and the numbers of their pitfalls."""

import mpmath
import pytest
from mpmath import acos, mpf, pi, sqrt
from sympy import Integer, Rational, Symbol

from varlaw.derivations.catalogue import find
from varlaw.derivations.gains import a
from varlaw.derivations.kernels import rho


def leaky(x, slope):
    return x if x > 0 else slope * x


def kernel(slope, c):
    """2 E[f(z) f(z_2)]/(1 + a^2): the mean over z_2 in closed form, that over z by quadrature."""
    rest = sqrt(1 - c**2)

    def inner(x):
        on, density = mpmath.ncdf(c * x / rest), mpmath.npdf(c * x / rest)
        return c * x * (on + slope * (1 - on)) + (1 - slope) * rest * density

    outer = mpmath.quad(lambda x: mpmath.npdf(x) * leaky(x, slope) * inner(x), [-12, -3, 0, 3, 12])
    return 2 * outer / (1 + slope**2)


def of_many(slope, layers, c=0):
    c = mpf(c)
    for _ in range(layers):
        c += (1 - slope) ** 2 / (1 + slope**2) * (sqrt(1 - c**2) - c * acos(c)) / pi
    return c


@pytest.mark.parametrize("c", ["-0.9", "0", "0.5", "0.99"])
@pytest.mark.parametrize("slope", ["0.01", "0.6"])
def test_the_correlation_map_by_quadrature(slope, c):
    with mpmath.workdps(25):
        added = find("tat-correlation").derivation.end.subs({a: Rational(slope), rho: Rational(c)})
        assert float(added) == pytest.approx(float(kernel(mpf(slope), mpf(c)) - mpf(c)), abs=1e-14)


def test_orthogonal_inputs_and_the_slope_at_one():
    with mpmath.workdps(25):
        zero = find("tat-orthogonal").derivation.end.subs(a, Rational(1, 2))
        assert float(zero) == pytest.approx(float(kernel(mpf("0.5"), mpf(0))), abs=1e-14)
        near = (1 - kernel(mpf("0.5"), 1 - mpf("1e-8"))) / mpf("1e-8")
    assert find("tat-slope").derivation.end == 1 == pytest.approx(float(near), abs=1e-4)


def test_numbers_of_the_pitfalls():
    with mpmath.workdps(25):
        assert float(of_many(mpf("0.43052"), 50)) == pytest.approx(0.9, abs=1e-5)
        assert float(of_many(mpf("0.01"), 50)) == pytest.approx(0.98741, abs=5e-6)
        assert float(of_many(mpf("0.5"), 10)) == pytest.approx(0.43225, abs=5e-6)
        assert float(of_many(mpf(0), 1, mpf("0.99")) - mpf("0.99")) == pytest.approx(3e-4, rel=2e-3)
        assert float(find("dks-relu-limit").derivation.end) == float(pi / (pi - 1))
    zeta = find("dks-depth").derivation.end
    target, layers = Symbol("T", positive=True), Symbol("L", integer=True, positive=True)
    each = zeta.subs({target: Rational(3, 2), layers: Integer(50)})
    assert float(each) == pytest.approx(1.0081423, abs=5e-8)
    assert pytest.approx(6.4e8, rel=5e-3) == 1.5**50
