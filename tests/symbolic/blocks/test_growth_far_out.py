"""Growth of streams of activations that are not homogeneous: by limits, against iteration.

The iteration is by sums over a grid of a normal variable, and knows no limit.
"""

import math

import numpy as np
import pytest
from flint import arb
from sympy import Symbol, exp, pi, sqrt

from varlaw.exploration import explore
from varlaw.symbolic.blocks.asymptotics import Ends, Term
from varlaw.symbolic.blocks.lines import _erfc
from varlaw.symbolic.blocks.state import ONE

Z = np.linspace(-12, 12, 20_001)
WEIGHTS = np.exp(-(Z**2) / 2) / np.exp(-(Z**2) / 2).sum()
L = Symbol("l", positive=True)
FUNCTIONS = {
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "softplus": lambda x: np.logaddexp(0, x),
    "softsign": lambda x: x / (1 + np.abs(x)),
}
ZETA3 = sum(1 / k**3 for k in range(1, 100_000))


def march(name, gain, layers):
    """q after so many layers of q -> gain E[f^2], from 1, and the product of gain E[f'^2]."""
    f, step, q, gradient = FUNCTIONS[name], 1e-5, 1.0, 1.0
    for _ in range(layers):
        x = math.sqrt(gain * q) * Z
        slope = (f(x + step) - f(x - step)) / (2 * step)
        gradient *= gain * float((slope**2) @ WEIGHTS)
        q = float((f(x) ** 2) @ WEIGHTS)
    return q, gradient


@pytest.mark.parametrize(
    ("name", "gain", "kind", "power", "back", "back_power"),
    [
        ("elu", 2, "linear", 1, "subexponential", 0.5),
        ("elu", 1, "polynomial", -2, "polynomial", -2),
        ("softsign", 1, "polynomial", -2, "polynomial", -2),
        ("softplus", 2, "polynomial", 2 / 3, "subexponential", 2 / 3),
    ],
)
def test_layers_at_a_neutral_gain(name, gain, kind, power, back, back_power):
    found = explore(f"repeat(linear(64, 64, var={gain}/64) >> {name}, L)", second_moment=1)
    forward, backward = found.growth, found.depth.backward
    assert (forward.kind, backward.kind) == (kind, back)
    near, far = march(name, gain, 100), march(name, gain, 400)
    assert math.log(far[0] / near[0], 4) == pytest.approx(power, abs=0.12)
    rate = 1 if forward.kind == "linear" else float(forward.rate)
    assert rate == pytest.approx(power)
    assert float(backward.rate) == pytest.approx(back_power)
    if back == "polynomial":
        assert math.log(far[1] / near[1], 4) == pytest.approx(back_power, abs=0.15)
    else:
        claimed = [float(backward.asymptotic.subs(L, n).evalf()) for n in (100, 400)]
        logs = math.log(far[1] / near[1]), math.log(claimed[1] / claimed[0])
        assert logs[0] == pytest.approx(logs[1], rel=0.1)


def test_rates_in_closed_form():
    """By hand: E[elu^2] = q/2 + 1/2 + ..., and the integral of softplus^2 - relu^2 is 2 zeta(3)."""
    grown = explore("repeat(linear(64, 64, var=2/64) >> elu, L)", second_moment=1)
    assert grown.growth.rate == ONE / 2
    assert grown.depth.backward.asymptotic == exp(sqrt(2) * sqrt(L) / sqrt(pi))
    slow = explore("repeat(linear(64, 64, var=2/64) >> softplus, L)", second_moment=1).growth
    expected = (1.5 * 2 * ZETA3 / math.sqrt(4 * math.pi)) ** (2 / 3)
    assert float(slow.asymptotic.subs(L, 1)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["elu", "celu", "softplus", "hardswish", "selu"])
def test_residual_stacks(name):
    """Far out x^2/2 is left of f^2 (1.0507^2/2 of selu), and 1/2 of the slope's square."""
    text = f"repeat(residual(linear(64, 64, var=1/64) >> {name} >> linear(64, 64, var=1/64)), L)"
    found = explore(text, second_moment=1)
    rate = 1 + 1.0507009873554805**2 / 2 if name == "selu" else 1.5
    for growth in (found.growth, found.depth.backward):
        assert growth.kind == "exponential"
        assert float(growth.rate) == pytest.approx(rate, rel=1e-10)


def test_a_bounded_function_adds_what_it_tends_to():
    text = "repeat(residual(linear(64, 64, var=1/64) >> softsign >> linear(64, 64, var=1/64)), L)"
    assert explore(text, second_moment=1).growth.rate == 1


def test_a_wrong_term_is_not_confirmed():
    q = Symbol("q", positive=True)
    ends = Ends(q + 1 / sqrt(q), q)
    assert ends._far(Term(ONE, ONE))
    assert not ends._far(Term(2 * ONE, ONE))


def test_complementary_error_functions_of_balls():
    """Both ends are held, and relative to it the ball is small far out."""
    for middle in (1.5, 3, 8, 30):
        found = _erfc(arb(middle, 0.01))
        assert all(found.contains(arb(end).erfc()) for end in (middle - 0.01, middle + 0.01))
        assert not found.contains(arb(middle - 0.1).erfc())
    assert _erfc(arb(2**20, 2.0**-300)).rel_accuracy_bits() > 40
