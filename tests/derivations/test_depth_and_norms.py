"""The laws of depth and of normalisation against numbers found otherwise."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from mpmath import diff, exp, log, mp, mpf, npdf, quad
from mpmath import pi as circle
from mpmath import psi as polygamma
from mpmath import sqrt as root
from mpmath import tanh as mp_tanh
from sympy import Expr, Rational

from varlaw.checks.experiments.depth import factor_moment, opposite_moment, pair_variance
from varlaw.checks.experiments.registry import Experiment, LimitTrial, experiments
from varlaw.checks.experiments.saturation import path
from varlaw.derivations.catalogue import Law, find
from varlaw.symbolic.sequences import Term


def at(name: str, **values: object) -> Expr:
    """A law's right-hand side at numbers; q_0 and r_0 are 1."""
    end = find(name).statement.rhs
    end = end.xreplace({term: Rational(1) for term in end.atoms(Term) if term.args[1] == 0})
    return end.subs({s: values[s.name] for s in end.free_symbols})


def test_layer_norm_of_small_inputs() -> None:
    """A std of 0.001, epsilon = 1e-5 inside and 1e-6 outside; embeddings of variance 0.0008."""
    small = {"v": Rational(1, 10**6), "gamma": 1, "beta": 0}
    inside = at("norm-moment", **small, epsilon=Rational(1, 10**5))
    outside = at("norm-epsilon-outside", v=small["v"], epsilon=Rational(1, 10**6))
    assert float(inside) ** 0.5 == pytest.approx(0.3015113445777636, rel=1e-14)
    assert float(outside) ** 0.5 == pytest.approx(0.999000999000999, rel=1e-14)
    embeddings = at(
        "norm-moment", v=Rational(8, 10**4), epsilon=Rational(1, 10**5), gamma=1, beta=0
    )
    assert float(embeddings) ** 0.5 == pytest.approx(0.9938079900, abs=1e-10)


@pytest.mark.parametrize("d", [2, 4, 768])
def test_the_divisor_d_minus_1(d: int) -> None:
    x = np.arange(d) ** 2.0
    y = (x - x.mean()) / x.std(ddof=1)
    assert float(at("norm-unbiased-divisor", d=d)) == pytest.approx(np.mean(y**2), rel=1e-12)
    z = (x - x.mean()) / x.std()
    pairs = (z.sum() ** 2 - (z**2).sum()) / (d * (d - 1))
    assert float(at("norm-correlation", d=d)) == pytest.approx(pairs, rel=1e-9)


def test_bert_divisors() -> None:
    """The divisors for branch variances between 0.01 and 0.0942, where rho = 0."""
    for variance, divisor in ((0.010025, 1.005), (0.094116, 1.046)):
        found = at("post-norm-divisor", s2=Rational(str(variance)), rho=0)
        assert float(found) == pytest.approx(divisor, abs=1e-6)
    assert at("post-norm-divisor", s2=1, rho=0) ** 2 == 2
    assert at("post-norm-divisor", s2=1, rho=1) == 2


def test_powers_with_depth() -> None:
    assert float(at("depth-power", c=Rational(11, 5), l=50)) == pytest.approx(117.390852879695)
    assert at("depth-lecun-relu", l=20) == Rational(1, 2**20)
    assert at("depth-he-spread", l=100, n=64) == Rational(69, 64) ** 100


def test_std_of_a_relu_output() -> None:
    assert float(find("relu-std").statement.rhs) == pytest.approx(0.825645271176556, rel=1e-14)


@pytest.mark.parametrize("name", ["sigmoid-backward", "tanh-backward"])
def test_slopes_by_quadrature(name: str) -> None:
    mp.dps = 25
    f: Callable[[mpf], mpf] = mp_tanh if name[0] == "t" else lambda z: 1 / (1 + exp(-z))
    value = quad(lambda z: diff(f, z) ** 2 * npdf(z), [-14, -6, -2, 0, 2, 6, 14])
    assert abs(value - mpf(str(find(name).statement.rhs.value))) < mpf(10) ** -14
    title = find(name).entry.title
    assert f"{float(value):.5f}" in title


def test_the_decay_of_tanh_by_iteration() -> None:
    q = path(4000)
    assert 4000 * q[4000] == pytest.approx(float(at("tanh-decay", l=4000)) * 4000, rel=0.002)
    assert 1 / q[32] == pytest.approx(62.2, abs=0.05)


def test_the_drift_from_chi_squared_laws() -> None:
    """Given k positive units S is 2/n times chi-squared with k degrees of freedom."""
    mp.dps = 20

    def scaled(n: int) -> mpf:
        return n * sum(
            mp.binomial(n, k) / mpf(2) ** n * (log(mpf(4) / n) + polygamma(0, mpf(k) / 2))
            for k in range(1, n + 1)
        )

    limit = 2 * scaled(512) - scaled(256)
    assert float(limit) == pytest.approx(float(find("depth-he-drift").statement.rhs), abs=2e-4)


def test_moments_of_a_layer_factor() -> None:
    """Of S = (2/n) Sum relu(g)^2: E[S^2] = 1 + 5/n, and by simulation at n = 3."""
    assert [factor_moment(n, 2) for n in (1, 4)] == [6, Fraction(9, 4)]
    g = np.random.default_rng(5).standard_normal((3, 400_000))
    up, down = (2 * np.mean(np.maximum(part, 0) ** 2, axis=0) for part in (g, -g))
    assert float(opposite_moment(3, 2, 2)) == pytest.approx(np.mean(up**2 * down**2), rel=0.05)
    assert float(factor_moment(3, 4)) == pytest.approx(np.mean(up**4), rel=0.1)
    logs = sum(np.log(np.where(s > 0, s, 1)) for s in (up, down))
    pair = 3 * (logs / 2 - ((up + down) / 2 - 1))
    assert pair_variance(3) == pytest.approx(pair.var(), rel=0.05)


def test_the_second_moment_of_relu_by_quadrature() -> None:
    mp.dps = 20
    for name, power in (("relu-square", 2), ("relu-fourth", 4)):
        value = quad(lambda z, k=power: z**k * exp(-z * z / 2), [0, 3, 14]) / root(2 * circle)
        assert abs(value - mpf(float(find(name).statement.rhs))) < mpf(10) ** -12


MINE = ("depth", "saturation", "normalisation", "norm_gradients")
TRIALS = [e for e in experiments() if e.build.__module__.rsplit(".", 1)[-1] in MINE]
NO_FACTOR = ("norm-radial-gradient", "depth-collapse")  # 0, and a whole number


@pytest.mark.parametrize("trial", TRIALS, ids=lambda e: e.law)
def test_a_factor_of_five_percent_leaves_the_tolerance(trial: Experiment) -> None:
    """What is claimed, or what is measured against it, moves by more than the tolerance."""
    if trial.law in NO_FACTOR:
        return
    law = find(trial.law)

    class Broken(Law):
        @property
        def statement(self) -> object:
            right = law.statement
            return right.func(right.lhs, right.rhs * Rational(21, 20), *right.args[2:])

    broken = Broken(law.entry, law.build)
    right, wrong = (
        trial.prepare(trial.weights[0], trial.defaults, given) for given in (law, broken)
    )
    rng = np.random.default_rng(7)
    if isinstance(right, LimitTrial) or float(right.claimed) != float(wrong.claimed):
        assert abs(float(wrong.claimed) / float(right.claimed) - 1) > 0.03
    else:
        first, second = right.draw(rng, 1000).mean(), wrong.draw(rng, 1000).mean()
        assert abs(first - second) > 0.02 * (abs(float(right.claimed)) or right.scale)
