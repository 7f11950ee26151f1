"""The samplers of deep nets: same law, known laws of q_L, ranges, and what tells them wrong.

Two-sample tests by Kolmogorov and Smirnov, whose null law is exact at these sizes. The seed is
fixed; over all seeds this file would fail with probability FALSE_ALARM.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special, stats

from varlaw.checks.simulate import (
    Conditional,
    Direct,
    Net,
    Sampler,
    constant,
    linear,
    relu,
    second_moments,
    tanh,
)
from varlaw.checks.simulate.nets import Values
from varlaw.checks.simulate.samplers import Source, Squares
from varlaw.checks.statistics.sampling import LAWS, stream
from varlaw.checks.statistics.verdicts import CatoniSequence

FALSE_ALARM = 1e-6
TESTS = 200  # at most, in this file, which share it
ALPHA = FALSE_ALARM / TESTS
NETWORKS = 3000
Statistics = dict[str, NDArray[Any]]


def inputs(units: int, nearly: float) -> NDArray[Any]:
    """Four inputs of second moment about 1; the first two are `nearly` apart, 0 being the same."""
    h = stream(7, "inputs").standard_normal((4, units))
    h[1] = h[0] + nearly * h[1]
    return h


def statistics(sampler: Sampler, given: NDArray[Any], count: int = NETWORKS) -> Statistics:
    """Per network, at the last layer: what a wrong joint law of the batch would change.

    Of mirrored pairs, the mirror images.
    """
    *_, (h, q) = sampler.layers(stream(11, sampler.name), given, count * sampler.copies)
    rows, q = h[-count:].astype(np.float64), q[-count:]
    norms = np.sqrt((rows**2).sum(axis=2))
    unit = rows / np.maximum(norms, 1e-9)[..., None]  # a dead network has no direction
    return {
        "q_0": q[:, 0],
        "batch mean": q.mean(axis=1),
        "near": ((unit[:, 0] - unit[:, 1]) ** 2).sum(axis=1),  # 2 - 2 cosine
        "far": ((unit[:, 0] - unit[:, -1]) ** 2).sum(axis=1),
        "maximum": np.abs(rows[:, 0]).max(axis=1),
        "first unit": rows[:, 0, 0] - rows[:, -1, 0],
    }


def disagree(one: Statistics, other: Statistics) -> set[str]:
    """The statistics whose laws differ."""
    return {name for name in one if stats.ks_2samp(one[name], other[name]).pvalue < ALPHA}


NETS = {
    "relu": Net((24, 32, 32, 16, 32, 32), relu, 2.0),
    "tanh": Net((24, 16, 24, 32, 16, 16, 16, 16), tanh, 2.5),
    "linear": constant(16, 4, linear, 1.0),
    "narrow": Net((24, 3, 8, 3, 6), tanh, 2.0),  # fewer units than inputs
}


@pytest.fixture(scope="module")
def drawn() -> Callable[[str, float], Statistics]:
    """The statistics of the direct sampler, which serve several tests."""
    known: dict[tuple[str, float], Statistics] = {}

    def find(name: str, nearly: float) -> Statistics:
        if (name, nearly) not in known:
            net = NETS[name]
            given = inputs(net.widths[0], nearly)
            known[name, nearly] = statistics(Direct(net), given)
        return known[name, nearly]

    return find


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("nearly", [1.0, 0.5, 1e-3])
@pytest.mark.parametrize("name", NETS)
def test_both_samplers_have_one_law(drawn: Any, name: str, nearly: float, mirrored: bool) -> None:
    given = inputs(NETS[name].widths[0], nearly)
    sampler = Conditional(NETS[name], mirrored=mirrored)
    assert not disagree(drawn(name, nearly), statistics(sampler, given))


class Independent(Conditional):
    """Forgets that the inputs share their weights."""

    def _multiply(self, source: Source, h: Values, q: Squares, std: float, out: Values) -> None:
        for k in range(h.shape[1]):
            alone = np.empty((len(h), 1, out.shape[-1]), dtype=out.dtype)
            super()._multiply(source, h[:, k : k + 1], q[:, k : k + 1], std, alone)
            out[:, k : k + 1] = alone


class Rescaled(Conditional):
    """Draws weights that are 3 % too large."""

    def _multiply(self, source: Source, h: Values, q: Squares, std: float, out: Values) -> None:
        super()._multiply(source, h, q, 1.03 * std, out)


class Transposed(Conditional):
    """Takes the wrong factor of the Gram matrix, R for R^T: same trace, other entries."""

    def _multiply(self, source: Source, h: Values, q: Squares, std: float, out: Values) -> None:
        factor = np.linalg.qr(h.swapaxes(1, 2), mode="r")
        g = source.standard_normal((len(h), h.shape[1], out.shape[-1]))  # type: ignore[union-attr]
        out[...] = std * factor @ g


class Jittered(Conditional):
    """Cholesky of the Gram matrix, with the jitter that it needs in float32."""

    def _multiply(self, source: Source, h: Values, q: Squares, std: float, out: Values) -> None:
        jitter = 1e-6 * h.shape[-1] * q.mean(axis=1)[:, None, None] * np.eye(h.shape[1])
        factor = np.linalg.cholesky(h @ h.swapaxes(1, 2) + jitter)
        g = source.standard_normal((*h.shape[:2], out.shape[-1]))  # type: ignore[union-attr]
        out[...] = std * factor @ g


@pytest.mark.parametrize(
    ("wrong", "nearly", "noticed"),
    [
        (Independent, 0.5, {"near", "far"}),
        (Rescaled, 0.5, {"q_0"}),
        (Transposed, 0.5, {"q_0", "near"}),
        (Jittered, 1e-3, {"near"}),
    ],
)
def test_a_wrong_sampler_is_noticed(
    drawn: Any, wrong: type[Conditional], nearly: float, noticed: set[str]
) -> None:
    given = inputs(NETS["tanh"].widths[0], nearly)
    assert noticed <= disagree(drawn("tanh", nearly), statistics(wrong(NETS["tanh"]), given))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_same_input_twice_stays_the_same(dtype: Any) -> None:
    """Cholesky's decomposition fails here: the batch has rank one."""
    net = constant(64, 100, relu, 2.0)
    given = np.ones((3, 64), dtype=dtype)
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(given @ given.T)
    *_, (_, q) = Conditional(net, dtype=dtype).layers(stream(3), given, 50)
    assert (q > 0).all()
    np.testing.assert_allclose(q, q[:, :1].repeat(3, axis=1), rtol=1e-4)


@pytest.mark.parametrize("sampler", [Direct, Conditional])
def test_a_dead_network_stays_dead(sampler: Any) -> None:
    """At width 1 half of all ReLU layers give 0, and a batch of zeros is drawn from as well."""
    for batch in (1, 3):
        q = second_moments(sampler(constant(1, 6, relu, 2.0)), stream(4), np.ones((batch, 1)), 4000)
        dead = (q == 0).mean(axis=(1, 2))
        assert np.isfinite(q).all()
        for layer, share in enumerate(dead):
            alive = 0.5**layer  # binomial, at six standard deviations
            assert abs(share - (1 - alive)) < 6 * math.sqrt(alive * (1 - alive) / 4000) + 1e-9


def exact_relu(width: int, depth: int, count: int) -> NDArray[Any]:
    """q_L, where q_(l+1)/q_l = (2/n) chi2_K with the number K ~ Bin(n, 1/2) of units alive."""
    rng = stream(5, "exact")
    alive = rng.binomial(width, 0.5, (depth, count))
    return np.prod(2 / width * rng.chisquare(np.maximum(alive, 1e-12)), axis=0)


@pytest.mark.parametrize("sampler", [Direct, Conditional])
def test_relu_has_its_exact_law(sampler: Any) -> None:
    q = second_moments(sampler(constant(24, 8, relu, 2.0)), stream(6), np.ones(24), NETWORKS)
    assert stats.ks_2samp(q[-1, :, 0], exact_relu(24, 8, NETWORKS)).pvalue > ALPHA
    assert stats.ks_2samp(q[-1, :, 0], exact_relu(24, 12, NETWORKS)).pvalue < ALPHA


def test_other_weights_have_another_law() -> None:
    """The conditional sampler is for Gaussian weights only; the direct one tells them apart."""
    net, given = constant(4, 2, relu, 2.0), np.eye(4)[:1]
    law = {
        name: second_moments(Direct(net, weights), stream(8), given, NETWORKS)[-1, :, 0]
        for name, weights in LAWS.items()
    }
    for one, other in pairwise(law):
        assert stats.ks_2samp(law[one], law[other]).pvalue < ALPHA


@pytest.mark.parametrize("law", LAWS.values(), ids=lambda law: law.name)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_filled_arrays_have_the_moments_of_their_law(law: Any, dtype: Any) -> None:
    """Within six standard errors: 6 laws, 2 precisions, 4 moments, together below 1e-6."""
    out = np.empty((500, 800), dtype=dtype)
    law.fill(stream(9, law.name), out)
    for k in range(1, 5):
        error = math.sqrt(float(law.moment(2 * k) - law.moment(k) ** 2) / out.size)
        found = np.power(out, k, dtype=np.float64).mean()
        assert abs(found - float(law.moment(k))) <= 6 * error + 1e-6


def test_mean_and_typical_value_are_different_laws() -> None:
    """He's variance keeps E[q_50] at 1 and lets a typical network's q_50 decay.

    The mean by an interval that holds whatever the tail, from the variance (1 + 5/n)^L - 1 = 42
    that the law of the sampler gives; the median from the binomial law of how many lie below it.
    """
    width, depth, count = 64, 50, 20_000
    nets = Conditional(constant(width, depth, relu, 2.0))
    q = np.concatenate(
        [second_moments(nets, stream(10, k), np.ones(width), 500)[-1, :, 0] for k in range(40)]
    )
    spread = float((1 + Fraction(5, width)) ** depth - 1)
    mean = CatoniSequence(ALPHA, spread, count)
    mean.update(q)
    interval = mean.interval()
    assert 1 in interval and interval.low > 0.5
    last = int(stats.binom.isf(ALPHA / 2, count, 0.5))
    low, high = np.sort(q)[[count - last - 1, last]]
    assert 0.1 < low < high < 0.25 < interval.low
    # E[log ratio] = E[log(2/n) + log 2 + psi(K/2)], K ~ Bin(n, 1/2), which is -5/(2n) + O(1/n^2)
    alive = np.arange(1, width + 1)
    weights = stats.binom.pmf(alive, width, 0.5)
    drift = float(weights @ (np.log(4 / width) + special.digamma(alive / 2)))
    assert drift == pytest.approx(-5 / (2 * width), rel=0.1)
    logs = np.log(q)
    assert abs(logs.mean() - depth * drift) < 6 * logs.std() / math.sqrt(count)
    assert abs(logs.mean()) > 60 * logs.std() / math.sqrt(count)  # not 0, as for the mean


@pytest.mark.parametrize("batch", [1, 3])
def test_pairs_of_an_odd_function_are_mirror_images(batch: int) -> None:
    given = inputs(24, 1.0)[:batch]
    nets = Conditional(NETS["tanh"], mirrored=True)
    h = [h for h, _ in nets.layers(stream(13), given, 8)][1]
    np.testing.assert_array_equal(h[:4], -h[4:])
    odd = Conditional(constant(24, 3, tanh, 2.0), mirrored=True)
    q = second_moments(odd, stream(13), given[:1], 8)[-1, :, 0]
    np.testing.assert_array_equal(odd.replicates(q), q[:4])


@pytest.mark.parametrize("sampler", [Direct, Conditional])
@pytest.mark.parametrize("batch", [1, 3])
def test_a_stream_for_each_network_makes_grouping_irrelevant(sampler: Any, batch: int) -> None:
    net, given = NETS["relu"], inputs(24, 1.0)[:batch]
    together = second_moments(sampler(net), [stream(1, k) for k in range(12)], given, 12)
    for parts in ((5, 7), (1,) * 12):
        nets, first, found = sampler(net), 0, []
        for count in parts:
            streams = [stream(1, k) for k in range(first, first + count)]
            found.append(second_moments(nets, streams, given, count))
            first += count
        np.testing.assert_array_equal(np.concatenate(found, axis=1), together)


def test_layers_are_views_of_two_buffers() -> None:
    places = [h.ctypes.data for h, _ in Direct(NETS["relu"]).layers(stream(1), np.ones(24), 2)]
    assert len(set(places)) <= 3


def test_second_moments_are_accumulated_in_float64() -> None:
    """A float32 dot product of 2^24 squares is off by 6e-5 (relative); these are right to 1e-7."""
    net = Net((1 << 20, 1), linear, 1.0)
    h = stream(2).standard_normal(1 << 20, dtype=np.float32)
    _, q = next(Conditional(net).layers(stream(1), h, 1))
    assert q[0, 0] == pytest.approx(math.fsum(h.astype(float) ** 2) / h.size, rel=1e-12)


@pytest.mark.parametrize("sampler", [Direct, Conditional])
@pytest.mark.parametrize(("s2", "ends"), [(0.01, 60), (100.0, 60), (1e-70, 1), (1e70, 1)])
def test_the_range_of_floats_is_watched(sampler: Any, s2: float, ends: int) -> None:
    net = constant(8, ends, linear, s2)
    with pytest.raises(FloatingPointError, match="left the range of float32"):
        second_moments(sampler(net), stream(1), np.ones(8), 3)
    q = second_moments(sampler(net, dtype=np.float64), stream(1), np.ones(8), 3)
    assert (q > 0).all() and np.isfinite(q).all()


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_inputs_that_are_not_finite(bad: float) -> None:
    with pytest.raises(FloatingPointError):
        second_moments(Conditional(NETS["relu"]), stream(1), np.full(24, bad), 3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Net((8,), relu, 2.0), "two or more positive widths"),
        (lambda: Net((8, 0), relu, 2.0), "two or more positive widths"),
        (lambda: Net((8, 8), relu, -1.0), "s2 is a positive number, not -1.0"),
        (lambda: Net((8, 8), relu, math.nan), "s2 is a positive number, not nan"),
        (lambda: Direct(NETS["relu"], dtype=np.float16), "float32 or float64, not float16"),
        (lambda: second_moments(Direct(NETS["relu"]), stream(1), np.ones(9), 2), "do not fit"),
        (lambda: second_moments(Direct(NETS["relu"]), [stream(1)], np.ones(24), 2), "1 streams"),
        (
            lambda: second_moments(
                Conditional(NETS["relu"], mirrored=True), stream(1), np.ones(24), 3
            ),
            "groups of 2, which 3 are not",
        ),
    ],
)
def test_what_is_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
