"""Laws of diffusion, graphs, recurrences, generated weights and maxout: numbers of the sources."""

import mpmath
import numpy as np
import pytest
from sympy import Rational, Symbol

from varlaw.derivations.catalogue import find


def at(law, **values):
    end = find(law).derivation.end
    named = {symbol.name: symbol for symbol in end.free_symbols}
    assert set(values) == set(named)
    return float(end.subs({named[name]: Rational(str(value)) for name, value in values.items()}))


@pytest.mark.parametrize("sigma", ["0.002", "0.5", "5", "80"])
def test_preconditioning_as_in_the_published_code(sigma):
    """c_skip, c_out and c_in of EDMPrecond in networks.py of NVlabs/edm, at sigma_data = 0.5."""
    s, data = float(sigma), 0.5
    level = {"r": "0.5", "s": sigma}
    assert at("edm-skip", **level) == pytest.approx(data**2 / (s**2 + data**2))
    assert at("edm-output", **level) == pytest.approx(s * data / (s**2 + data**2) ** 0.5)
    assert at("edm-input", **level) == pytest.approx(1 / (data**2 + s**2) ** 0.5)
    assert at("edm-output", **level) ** -2 == pytest.approx((s**2 + data**2) / (s * data) ** 2)


def test_pitfalls_of_diffusion():
    assert at("edm-output", r="0.5", s="80") == pytest.approx(0.49999, abs=5e-6)
    assert at("edm-output", r="0.5", s="5") ** -2 == pytest.approx(4.04)
    assert at("vp-noising", a="0.5", q="30.1401") == pytest.approx(15.57, abs=5e-3)
    assert pytest.approx(0.18215, abs=5e-5) == 1 / 5.49
    assert at("flow-path", t="0.5", q=1) == 0.5
    least = min(at("flow-path", t=Rational(k, 1000), q="2.5") for k in range(1001))
    assert least == pytest.approx(2.5 / 3.5, abs=1e-5)


def test_pitfalls_of_recurrences_and_graphs():
    assert at("lru-gain", a="0.99", c="0.01", v=1) == pytest.approx(0.0050, abs=5e-5)
    assert at("lru-gain", a="0.99", c=1, v=1) == pytest.approx(50.25, abs=5e-3)
    assert at("lru-gain", a="0.999", c=1, v=1) == pytest.approx(500.25, abs=5e-3)
    assert pytest.approx(0.141, abs=5e-4) == (1 - 0.99**2) ** 0.5
    assert at("gcn-aggregation", q=1, r="0.2") == pytest.approx(1 / 5)
    children = {0: range(1, 5)} | {k: range(3 * k + 2, 3 * k + 5) for k in range(1, 17)}
    weights = np.eye(53)  # a tree of four neighbours each, of depth 3, with loops
    for parent, others in children.items():
        for child in others:
            weights[parent, child] = weights[child, parent] = 1
    two = np.linalg.matrix_power(weights / 5, 2)[0]
    assert weights[0].sum() == weights[1].sum() == weights[5].sum() == 5
    assert (two**2).sum() == pytest.approx(0.0848)


def test_alpha_dropout_as_in_pytorch():
    """a = 1/sqrt((alpha^2 p + 1) (1 - p)) at the drop rate p, alpha = -1.7580993408473766."""
    alpha, drop = -1.7580993408473766, 0.1
    variance = at("alpha-dropout", k=alpha, p="0.9")
    factor = 1 / ((alpha**2 * drop + 1) * (1 - drop)) ** 0.5
    assert variance**-0.5 == pytest.approx(factor) == pytest.approx(0.92128, abs=5e-6)
    assert -factor * alpha * drop == pytest.approx(0.16197, abs=5e-6)


@pytest.mark.parametrize(("units", "told"), [(2, 1), (3, 0.78391), (4, 0.64461), (5, 0.55555)])
def test_the_table_of_maxout(units, told):
    """The recommended values of c of Tseran and Montufar (2023)."""
    with mpmath.workdps(20):
        second = mpmath.quad(
            lambda x: units * x**2 * mpmath.ncdf(x) ** (units - 1) * mpmath.npdf(x),
            [-12, -3, 0, 3, 12],
        )
    assert float(1 / second) == pytest.approx(told, abs=5e-6)
    if units == 3:
        assert float(find("maxout").derivation.end) == pytest.approx(float(1 / second))
        assert float(1 / second) == pytest.approx(2 * mpmath.pi / (2 * mpmath.pi + mpmath.sqrt(3)))


def test_batch_norm_over_fifty_layers():
    factor = float(find("batch-norm-relu-gradient").derivation.end)
    assert factor == pytest.approx(float(mpmath.pi / (mpmath.pi - 1)))
    assert factor**50 == pytest.approx(2.1e8, rel=5e-3)


def test_generated_and_complex_weights():
    (m,) = find("complex-weights").derivation.end.free_symbols
    assert find("complex-weights").derivation.end == 1 / (2 * m)
    assert at("hypernetwork", m=512, d=64, r=1) == pytest.approx(1 / 512 / 64)
    assert Symbol("m", integer=True, positive=True) == m
