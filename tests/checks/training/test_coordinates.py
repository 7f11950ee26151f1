"""The coordinate check of parametrisations: measured exponents, and networks that are the same."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from sympy import Rational

from varlaw.checks.training import networks as training
from varlaw.checks.training.coordinates import TOLERANCE, Measured, measure
from varlaw.checks.training.networks import Network, backend_of, trained
from varlaw.symbolic.parametrisation.layers import ParametrisationError
from varlaw.symbolic.parametrisation.named import parametrisation

HALF = Rational(1, 2)
MATRICES = ("input", "hidden", "output")
SMALL = {"widths": (32, 64, 128, 256), "draws": 20}


def matrices(p):
    return replace(p, layers={k: v for k, v in p.layers.items() if k in MATRICES})


def path(p, steps=4, run=trained, width=24, depth=3):
    net = Network(matrices(p), width, depth)
    return run(net, net.weights(np.random.default_rng(7)), steps)[1]


def same(one, other):
    return all(np.allclose(x, y, rtol=1e-9, atol=1e-12) for x, y in zip(one, other, strict=True))


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "sign"])
@pytest.mark.parametrize("name", ["mup", "depth-mup", "ntp"])
def test_equivalent_forms_train_alike(name, optimizer):
    """The class is exact at any width: every form goes through the same functions."""
    p = parametrisation(name, optimizer)
    expected = path(p)
    for form in ("multiplier", "std", "rate"):
        assert same(path(p.form(form)), expected)
    assert same(path(p.shift("hidden", Rational(3, 4), Rational(-int(p.residual), 4))), expected)


def test_the_shift_of_another_optimiser_trains_otherwise():
    sgd = parametrisation("mup", "sgd")
    a, b, c = (getattr(sgd.layers["hidden"].width, name) for name in "abc")
    as_if_adam = parametrisation("mup", "sgd", hidden=(a + HALF, b - HALF, c - HALF))
    assert not same(path(as_if_adam), path(sgd))


def test_gradients_are_those_of_differences():
    net = Network(matrices(parametrisation("completep")), 6, 2)
    weights = net.weights(np.random.default_rng(1))

    def loss():
        outputs = training.forward(net, weights, np.tanh, training.INPUT)[-1]
        return float(training.TARGET @ outputs)

    for w, gradient in zip(weights, training.gradients(net, weights), strict=True):
        before, w[1, 2] = w[1, 2], w[1, 2] + 1e-6
        above, w[1, 2] = loss(), before - 1e-6
        assert (above - loss()) / 2e-6 == pytest.approx(gradient[1, 2], rel=1e-6)
        w[1, 2] = before


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "sign"])
@pytest.mark.parametrize("name", ["mup", "completep"])
def test_pytorch_trains_alike(name, optimizer):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    p = (
        parametrisation(name, optimizer)
        if name == "mup"
        else parametrisation("mup", optimizer, branch=1)
    )
    assert same(path(p, run=backend_of("torch")), path(p))


def test_without_pytorch(monkeypatch):
    monkeypatch.setitem(sys.modules, "varlaw.checks.training.torch_networks", None)
    with pytest.raises(ParametrisationError, match="PyTorch is not installed"):
        measure(parametrisation("mup"), backend="torch")


@pytest.mark.parametrize(
    ("name", "optimizer"),
    [
        ("mup", "adam"),
        ("ntp", "sgd"),
        ("sp", "sgd"),
        ("mean-field", "sgd"),
        ("u-mup", "adam"),
        ("completep", "adam"),
    ],
)
def test_derived_exponents_are_measured(name, optimizer):
    found = measure(parametrisation(name, optimizer), **SMALL)
    assert len(found) >= 5
    assert {one.verdict for one in found} == {"confirmed"}, found


def test_exponents_in_depth_are_measured():
    found = [one for one in measure(parametrisation("depth-mup"), **SMALL) if one.base == "L"]
    assert [one.derived for one in found] == [0, -0.5, 0]
    assert {one.verdict for one in found} == {"confirmed"}, found


def test_an_unstable_depth_is_seen():
    """muP without branch factors: the stream grows like sqrt(L), its change like L."""
    a, b, c = 0, HALF, 1
    p = parametrisation("mup", hidden=(a, b, c, 0, 0, 0), branch=0)
    found = {one.quantity: one for one in measure(p, **SMALL) if one.base == "L"}
    assert found["sum of the branches at the start"].derived == 0.5
    assert found["change by all blocks"].estimate > 0.5


def test_sizes_that_do_not_start_well_are_all_that_is_measured():
    found = measure(parametrisation("mup", hidden=(0, 0, 1)), **SMALL)
    assert [(one.layer, one.derived) for one in found] == [("input", 0), ("hidden", 0.5)]
    assert {one.verdict for one in found} == {"confirmed"}


def test_outputs_that_grow_through_the_features():
    """The standard one under Adam with the rates that muP has: outputs move like n^(1/2).

    The slope of the mean over 256 to 1024 is 0.44, and at smaller widths it is less.
    """
    rates = {"input": (0, 0, HALF), "hidden": (0, HALF, 1), "output": (0, HALF, 1)}
    p = parametrisation("sp", "adam", **rates)
    moved = measure(p, widths=(128, 256, 512, 1024), draws=8)[-1]
    assert (moved.quantity, moved.derived) == ("change after 1 step", 0.5)
    assert moved.interval[0] > TOLERANCE and moved.verdict != "refuted"


def test_what_is_too_small_to_measure():
    still = parametrisation("mup", input=(0, 0, 40), hidden=(0, HALF, 40), output=(1, 0, 40))
    with pytest.raises(ParametrisationError, match="too far out for double precision"):
        measure(still, **SMALL)


def test_the_exponents_of_another_are_refuted():
    """What NTP's features do, claimed of muP's: -1/2 for 0."""
    claims = {one.quantity: one for one in measure(parametrisation("ntp", "sgd"), **SMALL)}
    for one in measure(parametrisation("mup", "sgd"), **SMALL):
        if one.layer == "hidden" and "change" in one.quantity:
            claimed = replace(one, derived=-0.5)
            assert claimed.verdict == "refuted"
    assert claims


def test_a_wide_interval_decides_nothing():
    assert Measured("hidden", "", "n", 0.0, 0.0, 0.2).verdict == "undecided"


@pytest.mark.parametrize("sizes", [{"widths": (8, 16)}, {"depths": (1, 2, 4)}])
def test_three_sizes_are_needed(sizes):
    with pytest.raises(ParametrisationError, match="at least three sizes"):
        measure(parametrisation("mup"), **sizes)
