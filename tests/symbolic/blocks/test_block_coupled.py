"""Moments that go through depth together, against plain loops over numbers; what each rests on."""

import math

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from sympy import Integer, Rational, Symbol, harmonic, simplify

from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.lines import enclosure
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.recurrence import Recurrence
from varlaw.symbolic.blocks.state import ONE, Approximation, Gradient

L, q0, r0, T = (Symbol(name, positive=True) for name in ("L", "q0", "r0", "T"))
UNIFORM = "attention(16, 8, value=1/16, out=1/16)"
MLP = "linear(16, 16, var=1/8) >> relu >> linear(16, 16, var=1/16)"


def relu_product(rho: float) -> float:
    """E[relu(x) relu(x')] of unit variance (Cho and Saul 2009)."""
    return (math.sqrt(1 - rho**2) + rho * (math.pi - math.acos(rho))) / (2 * math.pi)


def test_attention_and_mlp_in_a_stream():
    """96 layers: x + attention(norm(x)), then x + mlp(norm(x)), token by token."""
    block = read_block(f"repeat(prenorm({UNIFORM}) >> prenorm({MLP}), 96)")
    state = start(1, Rational(1, 10))
    out = block.forward(state)
    path, q, c = [], 1.0, 0.1
    for _ in range(96):
        average = c / q + (1 - c / q) / 8
        a, b = q + average, c + average
        path.append((q, c, a, b))
        q, c = a + 1, b + 2 * relu_product(b / a)
    assert float(out.second_moment.evalf()) == pytest.approx(q, rel=1e-12)
    assert float(out.product.evalf()) == pytest.approx(c, rel=1e-12)
    g, h = 1.0, 0.0
    for q, _, a, b in reversed(path):
        g, h = g + g / a, h + h * (0.5 + math.asin(b / a) / math.pi) / a
        shared = (h + (g - h) / 8) / q
        g, h = g + shared, h + shared
    back = block.backward(Gradient(second_moment=ONE), state)
    assert float(back.second_moment.evalf()) == pytest.approx(g, rel=1e-12)
    assert float(back.product.evalf()) == pytest.approx(h, rel=1e-12)


def test_a_mean_that_changes_with_depth():
    """x + relu(W x): the mean of the stream grows, and with it the second moment."""
    out = read_block("repeat(residual(linear(9, 9, var=1/9) >> relu), 5)").forward(start(1))
    q, m = 1.0, 0.0
    for _ in range(5):
        mean = math.sqrt(q / (2 * math.pi))
        q, m = q + q / 2 + 2 * m * mean, m + mean
    assert float(out.second_moment.evalf()) == pytest.approx(q, rel=1e-12)
    assert float(out.mean.evalf()) == pytest.approx(m, rel=1e-12)


def test_correlation_through_tanh_without_a_closed_form():
    out = read_block("tanh >> linear(4, 4, var=3/4, bias=1/20)").forward(start(1, Rational(1, 3)))
    x = np.linspace(-9, 9, 181)  # the trapezoid rule is good to 15 digits
    one, two = np.meshgrid(x, x)
    weights = np.exp(-(one**2 + two**2) / 2)
    values = np.tanh(one) * np.tanh(one / 3 + math.sqrt(8) / 3 * two)
    mean = (weights * values).sum() / weights.sum()
    assert float(out.product.evalf(15)) == pytest.approx(3 * mean + 0.05, rel=1e-11)


@pytest.mark.parametrize(
    ("text", "second", "product"),
    [
        (f"residual({UNIFORM})", q0 * (1 - r0) * Rational(7, 8) + 2**L * q0 * (1 + 7 * r0) / 8,
         2**L * q0 * (1 + 7 * r0) / 8 - q0 * (1 - r0) / 8),
        (UNIFORM, q0 * (1 + 7 * r0) / 8, q0 * (1 + 7 * r0) / 8),
        ("prenorm(linear(9, 9, var=1/9))", q0 + L, r0 * (q0 + L)),
    ],
)  # fmt: skip
def test_closed_forms_of_two_moments(text, second, product):
    out = read_block(f"repeat({text}, L)").forward(start("q0", "r0"))
    assert simplify(out.second_moment - second) == 0
    assert simplify(out.product - product) == 0


def test_each_number_says_what_it_rests_on():
    wide, sign = Approximation.WIDE, Approximation.SYMMETRIC
    out = read_block("linear(m, n, var=v) >> relu").forward(start("q0", "r0"))
    assert out.regimes == {
        "second_moment": {sign},
        "mean": {wide},
        "product": {wide},
    }
    after = read_block("linear(m, n, var=v) >> relu >> linear(n, m, var=v)").forward(start(1))
    assert (after.regime, after.mean_regime) == ({sign}, set())
    assert read_block("linear(m, n, var=v) >> gelu >> layernorm").forward(start(1)).regime == set()


@pytest.mark.parametrize("order", [(), (2,), (3,)])
def test_balls_of_harmonic_numbers(order):
    exact = sum(fmpq(1, k ** sum(order or (1,))) for k in range(1, 41))
    found = enclosure(harmonic(Integer(40), *order, evaluate=False), {})
    with ctx.workprec(200):  # a ball for the fraction that is far smaller
        assert found.contains(arb(exact))
        assert not found.contains(arb(exact + fmpq(1, 10**9)))


def test_a_step_that_bends_is_seen_at_numbers():
    """A long rational step is not brought to one fraction to see that it is not linear."""
    q, b = Symbol("q", positive=True), Symbol("b", positive=True)
    assert Recurrence(b * q / (q + b), q, ONE).linear is None
    assert Recurrence(b**2 * q / (1 + b) + 1 / b, q, ONE).linear == (b**2 / (1 + b), 1 / b)


def test_a_correlation_that_tends_to_1():
    """Balls grow with each layer there, so that a low precision finds none; by floating point."""
    v, b = Rational(186704901472415, 702885400667882), Rational(99765358572130, 816268846547307)
    block = read_block(f"repeat(linear(192, 192, var={v / 192}, bias={b}) >> relu, 20)")
    found = float(block.forward(start(Rational(3, 2), Rational(3, 10))).followed)
    q, c = 1.5, 0.45
    for _ in range(20):
        q, c = float(v) * q + float(b), float(v) * c + float(b)
        r = min(c / q, 1.0)
        q, c = q / 2, q * (math.sqrt(1 - r * r) + r * (math.pi - math.acos(r))) / (2 * math.pi)
    assert found == pytest.approx(c, rel=1e-9)
