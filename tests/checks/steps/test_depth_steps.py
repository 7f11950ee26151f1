"""Steps about depth, series, decay and derivatives: right ones proved, forged ones refuted."""

from dataclasses import replace

import pytest
from mpmath import mp, mpf, quad
from mpmath import tanh as mp_tanh
from sympy import Integer, Rational, Symbol, log, sqrt, tanh

from varlaw.checks.report import Proof
from varlaw.checks.steps.depth import taylor
from varlaw.checks.steps.proofs import prove_step
from varlaw.derivations.catalogue import find
from varlaw.symbolic.activations import relu
from varlaw.symbolic.arrays import arrays_in
from varlaw.symbolic.assumptions import Kind
from varlaw.symbolic.declarations import (
    dimensions,
    indices,
    positive,
    random_array,
    random_variable,
)
from varlaw.symbolic.derivation import Derivation, RuleError, Step, derive, relation
from varlaw.symbolic.sequences import Term, named
from varlaw.symbolic.terms import Expectation, IndexSum, Slope, Sum, indicator

d, n = dimensions("d n")
i, j, k = indices("i j k")
c, q, r = positive("c q r")
L = Symbol("L", integer=True, positive=True)
l, t = (Symbol(name, integer=True, nonnegative=True) for name in "lt")  # noqa: E741
s = Symbol("s", real=True)


def verdict(step: Step) -> Proof:
    arrays = arrays_in(step.before) | arrays_in(step.after)
    return prove_step(step, arrays)[0]


def last(chain: Derivation) -> Step:
    return chain.steps[-1]


def without(step: Step, kind: Kind) -> Step:
    return replace(step, assumptions=frozenset(a for a in step.assumptions if a.kind is not kind))


# The first depth below a threshold


def collapse() -> Step:
    return last(find("depth-collapse").derivation)


def test_float32_collapses_at_253() -> None:
    """By halving in integers: 2^252 is not more than (2^126)^2, 2^253 is."""
    step = collapse()
    assert step.after.rhs == 253 and 2**252 <= (2**126) ** 2 < 2**253
    assert verdict(step) is Proof.PROVED


@pytest.mark.parametrize("depth", [1, 252, 254, 506])
def test_another_depth_is_refuted(depth: int) -> None:
    forged = replace(collapse(), after=relation(L, Integer(depth), "="))
    assert verdict(forged) is Proof.REFUTED


def test_a_sequence_that_does_not_fall_has_no_first_depth() -> None:
    with pytest.raises(RuleError, match="is not below"):
        derive(named("q", 2**L, L)).by("earlier").by("first-below", unknown=L, threshold=Integer(1))


# Series at small variance


def small() -> Derivation:
    z = random_variable("z", mean=0, variance=q, gaussian=True)
    return derive((Expectation(tanh(z) ** 2) - q) / q**2)


def test_the_series_of_tanh_squared() -> None:
    """tanh(x)^2 = x^2 - 2 x^4/3 + 17 x^6/45 - ..., with E[Z^4] = 3 and E[Z^6] = 15."""
    x = Symbol("x", real=True)
    assert taylor(tanh(x) ** 2, x, 4) == [0, 1, -2, Rational(17, 3)]


def test_the_limit_agrees_with_quadrature() -> None:
    mp.dps = 20
    v = mpf(1) / 1000
    value = quad(lambda z: mp_tanh(mp.sqrt(v) * z) ** 2 * mp.npdf(z), [-12, -6, -3, 0, 3, 6, 12])
    limit = small().by("small-variance", variance=q).end
    assert abs((value - v) / v**2 - int(limit)) < 6 * v


@pytest.mark.parametrize("wrong", [Rational(-2, 3), Integer(2), Rational(-19, 10), Integer(0)])
def test_another_coefficient_is_refuted(wrong: Rational) -> None:
    step = last(small().by("small-variance", variance=q))
    assert verdict(step) is Proof.PROVED
    assert verdict(replace(step, after=wrong)) is Proof.REFUTED


@pytest.mark.parametrize("kind", [Kind.GAUSSIAN, Kind.ZERO_MEAN])
def test_a_series_needs_its_assumptions(kind: Kind) -> None:
    step = last(small().by("small-variance", variance=q))
    assert verdict(without(step, kind)) is Proof.REFUTED


def test_a_function_without_bounded_derivatives_is_not_proved() -> None:
    z = random_variable("z", mean=0, variance=q, gaussian=True)
    forged = replace(
        last(small().by("small-variance", variance=q)), before=Expectation(z**2 * tanh(z)) / q
    )
    assert verdict(forged) is Proof.UNCHECKED


# Slow decay


def decay() -> Step:
    return last(find("tanh-decay").derivation)


@pytest.mark.parametrize(
    "wrong", [1 / l, 1 / (4 * l), 10 / (21 * l), 1 / (2 * l**2), 1 / sqrt(2 * l)]
)
def test_another_decay_is_refuted(wrong: Rational) -> None:
    """The constant and the order, each by itself."""
    step = decay()
    assert verdict(step) is Proof.PROVED
    assert verdict(replace(step, after=relation(Term("q", l), wrong, "~"))) is Proof.REFUTED


@pytest.mark.parametrize("kind", [Kind.GAUSSIAN, Kind.ZERO_MEAN, Kind.WIDE])
def test_the_decay_needs_its_assumptions(kind: Kind) -> None:
    assert verdict(without(decay(), kind)) is Proof.REFUTED


def test_a_limit_is_no_equation() -> None:
    step = decay()
    equation = relation(step.after.lhs, step.after.rhs, "=")
    assert verdict(replace(step, after=equation)) is Proof.REFUTED
    assert verdict(replace(step, relation="=")) is Proof.REFUTED


def test_a_map_above_the_diagonal_is_not_proved_to_decay() -> None:
    """4 tanh(z)^2 has the slope 4 at 0: it does not fall to 0."""
    z = random_variable("z", mean=0, second_moment=Term("q", t), gaussian=True)
    with pytest.raises(RuleError):
        derive(Expectation((2 * tanh(z)) ** 2)).by("call", name=Term("q", t + 1)).by(
            "slow-decay", previous=Term("q", t), index=t, steps=l
        )


# The logarithm of a mean


def drift() -> Step:
    return last(find("depth-he-drift").derivation)


@pytest.mark.parametrize("wrong", [Rational(-5, 4), Integer(-5), Rational(5, 2), Integer(-1)])
def test_another_drift_is_refuted(wrong: Rational) -> None:
    assert verdict(drift()) is Proof.PROVED
    assert verdict(replace(drift(), after=wrong)) is Proof.REFUTED


@pytest.mark.parametrize(
    "kind", [Kind.GAUSSIAN, Kind.INDEPENDENT_ENTRIES, Kind.IDENTICAL, Kind.WIDE]
)
def test_the_drift_needs_its_assumptions(kind: Kind) -> None:
    assert verdict(without(drift(), kind)) is Proof.REFUTED


def test_a_mean_that_is_not_1_is_not_covered() -> None:
    g = random_array("g", mean=0, variance=1, gaussian=True)
    mean = named("S", Sum(relu(g[j]) ** 2, (j, 1, n)) / n)
    with pytest.raises(RuleError, match="not 1"):
        derive(n * Expectation(log(mean) * indicator(mean, ">"))).by(
            "log-of-mean", mean=mean, width=n
        )


def test_a_lemma_about_another_unit_is_refuted() -> None:
    step = drift()
    first, second = step.certificate["moments"]
    swapped = {**step.certificate, "moments": (second, second)}
    assert verdict(replace(step, certificate=swapped)) is not Proof.PROVED
    assert first.end == 1 and second.end == 6


# Derivatives through sums


def loss() -> Slope:
    p, z = (random_array(name, independent=False, identical=False) for name in "pz")
    size = sqrt(Sum((c * z[k]) ** 2, (k, 1, d)) / d)
    return Slope(named("L", Sum(p[k] * c * z[k], (k, 1, d)) / size), c)


def test_the_radial_slope_vanishes_step_by_step() -> None:
    chain = derive(loss()).by("chain-rule").by("scale-out")
    assert chain.end == 0
    assert [verdict(step) for step in chain.steps] == [Proof.PROVED] * 2


def test_a_forged_derivative_is_refuted() -> None:
    step = find("norm-weight-gradient").derivation.steps[0]
    assert verdict(step) is Proof.PROVED
    first, *_ = step.after.args
    for wrong in (2 * step.after, step.after + 1, step.after - first, -step.after):
        assert verdict(replace(step, after=wrong)) is Proof.REFUTED


def test_a_forged_scale_is_refuted() -> None:
    z = random_array("z", independent=False, identical=False)
    step = last(derive(Sum((c * z[k]) ** 2, (k, 1, d)) * r).by("scale-out"))
    assert verdict(step) is Proof.PROVED
    total = Sum(z[k] ** 2, (k, 1, d))
    assert isinstance(total, IndexSum)
    for wrong in (c * r * total, c**2 * total, c**2 * r * Sum(z[k], (k, 1, d))):
        assert verdict(replace(step, after=wrong)) is Proof.REFUTED


def test_squares_that_vanish_at_points_only_are_positive_almost_surely() -> None:
    """1/16 - sigmoid'(z)^2 is 0 at z = 0 alone; with a bound of 1/17 the sign is not clear."""
    step = last(find("sigmoid-backward-bound").derivation)
    assert verdict(step) is Proof.PROVED
    low = Rational(1, 17)
    forged = replace(step, after=low, certificate={"bound": low})
    assert verdict(forged) is Proof.UNCHECKED
