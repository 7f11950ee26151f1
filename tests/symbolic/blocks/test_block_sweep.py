"""Sweeps over settings: against ball arithmetic at each, SciPy's quadrature, and a clock."""

import itertools
import time

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import polygamma as trusted
from sympy import Lambda, Rational, Symbol, harmonic, log, polygamma, tanh

from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.state import ONE, BlockError, Gradient
from varlaw.symbolic.blocks.sweep import sweep
from varlaw.symbolic.blocks.sweep_means import mean, pair
from varlaw.symbolic.gaussian.compiled import NotCompiled, compiled

FEED = "linear(d, 4*d, var=v/d) >> {} >> linear(4*d, d, var=w/(4*d))"
ATTENTION = "attention(d, 16, value=1/d, out=1/d)"
CAUSAL = "attention(d, 16, heads=4, query=1/d, key=1/d, value=1/d, out=v/d, causal=1)"
BLOCKS = {
    "tanh": ("repeat(tanh >> linear(d, d, var=w/d, bias=v), 6)", None),
    "swiglu": ("repeat(prenorm(swiglu(d, 4*d, var=v/d, out=w/(4*d))), 12)", None),
    "mish": (f"repeat(residual({FEED.format('mish')}, 1, 1/2), 4)", None),
    "silu after attention": (
        f"repeat(prenorm({ATTENTION}) >> prenorm({FEED.format('silu')}), 3)", Rational(1, 10)),
    "gelu after causal attention": (
        f"repeat(prenorm({CAUSAL}) >> prenorm({FEED.format('gelu')}), 2)", Rational(1, 10)),
    "silu in a post-norm": (f"repeat(postnorm({FEED.format('silu')}), 3)", Rational(3, 10)),
    "two inputs of tanh": ("repeat(tanh >> linear(d, d, var=w/d, bias=v), 3)", Rational(3, 10)),
}  # fmt: skip


def drawn(number):
    rng = np.random.default_rng(7)
    v, w = rng.uniform(0.1, 1, number), rng.uniform(0.5, 2, number)
    return [rng.integers(16, 512, number) * 4, np.round(v * 64) / 64, np.round(w * 64) / 64]


@pytest.mark.parametrize("name", BLOCKS)
def test_ten_settings_against_each_of_them_alone(name):
    """Among 40, so that polynomials are used; alone they are found in ball arithmetic."""
    text, correlation = BLOCKS[name]
    state = start(1, correlation)
    arrays = drawn(40)
    found = sweep(read_block(text), ["d", "v", "w"], arrays, state)
    for place in range(10):
        names = {k: Rational(float(a[place])) for k, a in zip("dvw", arrays, strict=True)}
        block = read_block(text, names)
        out, back = block.forward(state), block.backward(Gradient(second_moment=ONE), state)
        expected = {"forward": out.second_moment, "backward": back.second_moment}
        if correlation is not None:
            expected["product"] = out.product
        assert set(found) == set(expected)
        for what, value in expected.items():
            assert found[what][place] == pytest.approx(float(value.evalf(12)), rel=1e-8), what


X = Symbol("x", real=True)


@pytest.mark.parametrize("square", [tanh(X) ** 2, (1 - tanh(X) ** 2) ** 2])
def test_means_at_variances_from_1e_4_to_1e4(square):
    v = np.exp(np.linspace(np.log(1e-4), np.log(1e4), 101))
    found = mean(Lambda(X, square), np.zeros(()), v)
    for at, value in zip(v[::10], found[::10], strict=True):
        spread = np.sqrt(at)

        def integrand(x, spread=spread):
            f = np.tanh(x) ** 2 if square == tanh(X) ** 2 else (1 - np.tanh(x) ** 2) ** 2
            return 2 * f * np.exp(-((x / spread) ** 2) / 2) / (spread * np.sqrt(2 * np.pi))

        ends = [0, *sorted({min(a, 12 * spread) for a in (1, 5, 20)}), 12 * spread]
        parts = [quad(integrand, a, b, epsabs=0, epsrel=1e-12, limit=200)[0]
                 for a, b in itertools.pairwise(ends) if b > a]  # fmt: skip
        assert value == pytest.approx(sum(parts), rel=1e-9)


def test_a_mean_and_a_pair_do_not_depend_on_the_other_settings():
    """Within 1e-9; at a correlation of 1 a pair is a square, and at 0 that of two means."""
    law, v = Lambda(X, tanh(X + 1)), np.geomspace(0.01, 30, 60)
    m = np.full(60, 0.25)
    many, alone = mean(law, m, v), [mean(law, m[:1], v[k : k + 1])[0] for k in range(60)]
    assert many == pytest.approx(alone, rel=1e-9)
    square = mean(Lambda(X, law.expr**2), m, v)
    assert pair(law, m, v, np.ones(60)) == pytest.approx(square, rel=1e-9)
    assert pair(law, m, v, np.zeros(60)) == pytest.approx(many**2, rel=1e-9)
    assert pair(law, m, v, np.full(60, 0.999)) != pytest.approx(square, rel=1e-9)


def test_what_is_not_found_is_nan_or_refused():
    """Variances at which a step would be too small, no variances, several means, and kinks."""
    zero = np.zeros(())
    found = mean(Lambda(X, tanh(X) ** 2), zero, np.array([0.0, 1.0, 1e16, -1.0, np.nan]))
    assert found[0] == 0 and np.isfinite(found[1]) and np.isnan(found[2:]).all()
    assert np.isnan(pair(Lambda(X, tanh(X)), zero, np.full(30, 1e12), np.full(30, 0.5))).all()
    with pytest.raises(BlockError, match="one mean"):
        pair(Lambda(X, tanh(X)), np.array([0.0, 1.0]), np.ones(2), np.zeros(2))
    with pytest.raises(BlockError, match="smooth"):
        mean(Lambda(X, log(1 + abs(X))), zero, np.ones(2))


@pytest.mark.parametrize("name", BLOCKS)
def test_ten_thousand_settings_in_a_second(name):
    """The CPU time of a second sweep, as a first one reads formulas; the least of two."""
    text, correlation = BLOCKS[name]
    state = start(1, correlation)
    block, arrays, taken = read_block(text), drawn(10_000), []
    for _ in range(3):
        began = time.process_time()
        found = sweep(block, ["d", "v", "w"], arrays, state)
        taken.append(time.process_time() - began)
    assert all(np.isfinite(values).all() for values in found.values())
    assert min(taken[1:]) < 1


def test_sums_over_positions_on_arrays():
    x = Symbol("x", positive=True)
    at = np.geomspace(1e-3, 1e6, 300)
    sums = [polygamma(1, x), polygamma(2, x), harmonic(x), harmonic(x, 2)]
    one, two, first, second = compiled(sums, [x], real=True)(at)
    assert one == pytest.approx(trusted(1, at), rel=1e-12)
    assert two == pytest.approx(trusted(2, at), rel=1e-12)
    whole = np.arange(1, 6, dtype=float)
    first, second = compiled(sums[2:], [x], real=True)(whole)
    assert first == pytest.approx(np.cumsum(1 / whole), rel=1e-12)
    assert second == pytest.approx(np.cumsum(1 / whole**2), rel=1e-12)
    with pytest.raises(NotCompiled, match="harmonic"):
        compiled([harmonic(x)], [x])
