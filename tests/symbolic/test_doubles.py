"""Moments of pairs in double precision, against proved digits and published values."""

import numpy as np
import pytest
from sympy import Symbol, exp

from varlaw.symbolic.gaussian.compiled import NotCompiled, compiled
from varlaw.symbolic.gaussian.doubles import PairFunction
from varlaw.symbolic.gaussian.pair import pair_moment


def proved(f: str, g: str, rho: float, v: float, w: float) -> float:
    return float(pair_moment(f, g, rho=rho, variances=(v, w)).digits(17).digits)


@pytest.mark.parametrize(
    ("f", "value"),
    [
        # 35-digit Mehler series at rho = 0.3
        ("relu", 0.241372141917743810817),
        ("erf", 0.128188433697949863224),
        ("gelu", 0.162677219805644319530),
        ("tanh", 0.110668385547446333280),
    ],
)
def test_reference_values(f: str, value: float) -> None:
    assert abs(float(PairFunction(f)(0.3)) - value) < 4e-16


@pytest.mark.parametrize(
    ("f", "g"),
    [
        ("tanh", "silu"),
        ("gelu", "mish"),
        ("erf", "softplus"),
        ("exp", "x^3"),
        ("sin(3*x)", "exp(x/2)"),
        ("relu", "relu"),
        ("leaky_relu(x, 1/5)", "abs"),
        ("relu(x)^2", "step"),
        ("relu", "gelu"),
    ],
)
def test_random_correlations_and_variances(f: str, g: str) -> None:
    chance = np.random.default_rng(7)
    rho = np.array([-1, -0.999, 0.99, 0, 1, *chance.uniform(-1, 1, 2)])
    v, w = chance.uniform(0.05, 4, (2, len(rho)))
    found = PairFunction(f, g)(rho, (v, w))
    for value, r, a, b in zip(found, rho, v, w, strict=True):
        size = np.sqrt(proved(f, f, 1.0, a, a) * proved(g, g, 1.0, b, b))
        assert abs(value - proved(f, g, r, a, b)) < 2e-14 * size


def test_relu_by_its_formula_on_an_array() -> None:
    """Cho and Saul (2009); scipy.dblquad errs 8e-6 at 0.99 with the kink given as a limit."""
    rho = np.linspace(-1, 1, 201)
    formula = (np.sqrt((1 - rho) * (1 + rho)) + rho * (np.pi - np.arccos(rho))) / (2 * np.pi)
    found = PairFunction("relu")(rho)
    assert found.shape == (201,) and np.max(np.abs(found - formula)) < 5e-16
    scaled = PairFunction("relu")(rho[:, None], (np.array([1.0, 4.0]), 9.0))
    assert np.allclose(scaled, formula[:, None] * [3, 6], atol=1e-14)


@pytest.mark.parametrize(
    ("f", "rho", "variance"),
    [
        ("hardtanh", 0.5, 1.0),  # no elementary closed form
        ("softsign", 0.5, 1.0),
        ("cos(25.132741228718345*x)", 0.5, 1.0),  # the coarse grid takes it for the constant 1
        ("cos(50.26548245743669*x)", 0.5, 1.0),
        ("tanh", 0.5, 400.0),
        ("exp(2*x)", 0.5, 4.0),
    ],
)
def test_traps_are_switched_to_something_slower(f: str, rho: float, variance: float) -> None:
    found = float(PairFunction(f)(rho, (variance, variance)))
    expected = proved(f, f, rho, variance, variance)
    assert abs(found - expected) <= 1e-13 * abs(expected) + 1e-15


@pytest.mark.parametrize("sign", [1, -1])
def test_close_to_full_correlation(sign: int) -> None:
    """d/d rho E[f f] = E[f' f'], and both sides of the switch agree."""
    tanh, slope = PairFunction("tanh"), PairFunction("tanh'(x)")
    gap = 1e-8
    change = sign * (float(tanh(sign)) - float(tanh(sign * (1 - gap)))) / gap
    assert abs(change - float(slope(1))) < 1e-6
    rho = sign * (1 - 1e-6 + np.array([-1e-10, 1e-10]))  # on the grid, and by the series
    on_grid, by_series = tanh(rho)
    assert abs(by_series - on_grid - sign * 2e-10 * float(slope(1))) < 1e-15
    near = proved("tanh", "tanh", sign * 0.9999, 1, 1)
    assert abs(float(tanh(sign * 0.9999)) - near) < 1e-15
    relu = PairFunction("relu")(sign * (1 - 1e-9))
    assert abs(float(relu) - proved("relu", "relu", sign * (1 - 1e-9), 1, 1)) < 1e-15


def test_kinks_never_go_on_a_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(PairFunction, "_on_grid", forbidden)
    assert PairFunction("relu")(0.5) > 0
    with pytest.raises(AssertionError):
        PairFunction("tanh")(0.5)


def test_refusals() -> None:
    with pytest.raises(ValueError, match="between -1 and 1"):
        PairFunction("relu")([0.5, 1.5])
    with pytest.raises(ValueError, match="not negative"):
        PairFunction("relu")(0.5, (1.0, -1.0))
    with pytest.raises(ValueError, match="between -1 and 1"):
        PairFunction("relu")(float("nan"))
    with pytest.raises(ValueError, match="too fast"):
        PairFunction("exp(x^2)")(0.5)


def test_names_are_harmless() -> None:
    evil = Symbol("__import__('os').abort()")
    assert compiled([exp(evil)], [evil])(np.zeros(2))[0].tolist() == [1, 1]
    with pytest.raises(NotCompiled, match="parameters"):
        compiled([exp(evil)], [])
