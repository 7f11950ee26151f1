"""Laws of shaped activations against quadrature in the plane, and the numbers of their pitfalls."""

import mpmath
import numpy as np
import pytest
from mpmath import acos, mpf, pi, sqrt
from scipy.optimize import fsolve
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


def shift(way, depth, target, start):
    """The input shift of tanh, by the conditions of the sources and Gauss-Hermite quadrature."""
    z, weight = np.polynomial.hermite_e.hermegauss(60)
    weight /= weight.sum()

    def dks(values):
        a, b = values
        h = np.tanh(a * z + b)
        h, slope = h - weight @ h, a * (1 - h**2)
        size = weight @ h**2
        return (weight @ (z * slope * h)) / size - 1, (weight @ slope**2) / size - target

    def tat(values):
        a, b, d = values
        h = np.tanh(a * z + b)
        slope, bend = a * (1 - h**2), -2 * a**2 * h * (1 - h**2)
        size, h = weight @ slope**2, h + d
        q, along = weight @ h**2 / size - 1, weight @ (z * slope * h) / size - 1
        return q / a**2, along / a**2, (weight @ bend**2) / size / target - 1

    return fsolve(dks if way == "dks" else tat, start, xtol=1e-10)[1]


def test_the_limit_of_the_shift():
    t = find("dks-shift-limit").derivation.end
    assert float(mpmath.atanh(t)) == pytest.approx(0.5493, abs=5e-5)
    for depth, told, scale in ((50, 0.5708, 0.13), (1000, 0.5504, 0.028)):
        zeta = 1.5 ** (1 / depth)
        assert shift("dks", depth, zeta, (scale, 0.55)) == pytest.approx(told, abs=5e-5)
    for sign, told, near in ((1, 0.51775, (0.52, -0.48)), (-1, 1.08245, (1.08, -0.79))):
        limit = float(mpmath.atanh(1 / sqrt(3 + sign * sqrt(2))))
        assert limit == pytest.approx(told, abs=5e-6)
        found = shift("tat", 10**4, 0.3 / 10**4, (0.005, *near))
        assert found == pytest.approx(limit, abs=5e-4)
        assert abs(found - 0.5493) > 0.02
