"""Experiments on bounds where they are attained, and on statements without weights of their own."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import sqrt

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize_scalar
from scipy.special import erf, expit, ndtri_exp
from sympy import Expr, Integer, Rational, exp, log, pi
from sympy import sqrt as root

from varlaw.checks.experiments.fans import draw_gains, gain_moments, other_fans
from varlaw.checks.experiments.moments import Number, exact
from varlaw.checks.experiments.optimiser import adam
from varlaw.checks.experiments.registry import ANY, AnyTrial, Case, Draws, Trial, experiment
from varlaw.symbolic.sequences import Term
from varlaw.symbolic.terms import IndexSum

NORMAL = ("normal",)
HUGE = 1000  # a standard deviation at which functions are saturated
SMALL = 1 / 64  # one at which the loss is log K up to 1/8192
MANY = 20000  # the logarithm of a number of logits
FEW = 1 << 14  # numbers that a value counts as: it is asked for a few times only
TINY = 1e-3  # the noise of a gradient, relative to its mean


def computed(claim: Number, value: float, wrong: Mapping[str, Number]) -> Trial:
    """A number that comes out of the real operation without anything random."""
    return Trial(lambda rng, replicates: np.full(replicates, value), 1, claim, 0, wrong, work=FEW)


def counted(claim: Number, count: int, wrong: Sequence[int]) -> Trial:
    """A whole number that comes out, less all but one of it, so that no other is near."""
    rest = count - 1
    return computed(exact(claim) - rest, 1, {f"{other}": other - rest for other in wrong})


def near(claim: Expr) -> dict[str, Number]:
    return {f"{factor} of it": claim * factor for factor in (Rational(9, 10), Rational(11, 10), 2)}


@experiment(law="xavier-harmonic", quantity="mean of both gains", weights=ANY, m=3, n=7)
def xavier_harmonic(case: Case) -> Trial:
    """At the variance claimed, the forward and the backward gain are 1 on average."""
    claim = case.claim()
    gains, moments = draw_gains(case, claim), gain_moments(case, claim)
    ends = {name: other_fans(case)[name] for name in ("1/m", "1/n", "1/sqrt(m n)")}

    def draw(rng: Generator, replicates: int) -> Draws:
        forward, back = gains(rng, replicates)
        return (forward + back) / 2

    square = (moments["ff"] + 2 * moments["fb"] + moments["bb"]) / 4
    mean = (moments["f"] + moments["b"]) / 2
    wrong = {f"variance {name}": claim / value for name, value in ends.items()}
    numbers = case.size("m") * case.size("n") + case.size("m") + case.size("n")
    return Trial(draw, numbers, 1, square - mean**2, wrong)


@experiment(law="xavier-harmonic", quantity="mean of both gains, narrowing", weights=ANY, m=7, n=3)
def xavier_harmonic_narrowing(case: Case) -> AnyTrial:
    """Where more than half of the claim comes from the fan-in."""
    return xavier_harmonic.build(case)


@experiment(
    law="means-inequality", quantity="contraharmonic mean of equal fans", weights=NORMAL, n=6
)
def means_inequality(case: Case) -> Trial:
    """At m = n the means are one."""
    fans = np.full(2, case.size("n"), dtype=float)
    claim = case.claim(m=case["n"])
    return computed(claim, float((fans**2).sum() / fans.sum()), near(exact(claim)))


@experiment(law="loss-zero-head", quantity="loss", weights=ANY, m=4, n=6)
def loss_zero_head(case: Case) -> Trial:
    """A head of zeros on drawn features, and a drawn label."""
    features, classes, claim = case.size("m"), case.size("n"), case.claim(K=case["n"])

    def draw(rng: Generator, replicates: int) -> Draws:
        x = case.weights.sample(rng, (features, replicates))
        z = np.einsum("ik,ir->kr", np.zeros((features, classes)), x)
        return loss(z, rng.integers(classes, size=replicates))

    wrong = {"K": case["n"], "log K - 1": claim - 1, "0": 0, "log K + 1/2": claim + Rational(1, 2)}
    return Trial(draw, features + 1, claim, 0, wrong)


def loss(z: Draws, label: Draws) -> Draws:
    """log Sum exp(z) - z_y over the first axis."""
    top = z.max(axis=0)
    spread = np.log(np.exp(z - top).sum(axis=0)) + top
    return np.asarray(spread - z[label, np.arange(z.shape[1])])


@experiment(law="loss-prior-bias", quantity="loss", weights=NORMAL)
def loss_prior_bias(case: Case) -> Trial:
    """Labels from the prior 1/2, 1/4, 1/8, 1/8, and logits that are its logarithms."""
    prior = [Rational(1, k) for k in (2, 4, 8, 8)]
    floats = np.array(prior, dtype=float)
    claim = over_classes(case.law.statement.rhs, prior)

    def draw(rng: Generator, replicates: int) -> Draws:
        z = np.log(floats)[:, None] + np.zeros((1, replicates))
        return loss(z, rng.choice(4, size=replicates, p=floats))

    second = sum(q * log(q) ** 2 for q in prior)
    wrong = {"log K": log(Integer(4)), "0": 0, "half of it": claim / 2}
    return Trial(draw, 1, claim, second - sum(q * log(q) for q in prior) ** 2, wrong)


def over_classes(e: Expr, prior: list[Rational]) -> Expr:
    """A sum over the classes at values of the prior."""

    def written(summand: Expr, *ranges: Expr) -> Expr:
        (label,) = ranges[0].args[0]
        terms = (summand.subs(label, k) for k in range(1, len(prior) + 1))
        return sum(t.xreplace({q: prior[int(q.args[1]) - 1] for q in t.atoms(Term)}) for t in terms)

    return exact(e.replace(IndexSum, written))


@experiment(law="loss-lower", quantity="loss of small logits", weights=NORMAL, n=5)
def loss_lower(case: Case) -> Trial:
    """The gradient of the loss at the logits is at most sqrt(2) long: Poincare."""
    classes, claim = case.size("n"), case.claim(K=case["n"])

    def draw(rng: Generator, replicates: int) -> Draws:
        z = SMALL * rng.standard_normal((classes, replicates))
        return loss(z, rng.integers(classes, size=replicates))

    wrong = {"log K - 1/2": claim - Rational(1, 2), "0": 0, "log K + 1": claim + 1}
    return Trial(draw, classes + 1, claim, 2 * SMALL**2, wrong)


@experiment(
    law="softmax-largest", quantity="E max of e^20000 logits", weights=NORMAL, s=Fraction(3, 2)
)
def softmax_largest(case: Case) -> Trial:
    """The chance of lying beyond the largest of n is E/n for large n, E exponential of mean 1.

    The mean lies below the bound by a share of log(4 pi log n)/(4 log n), which is 1.6e-4.
    """
    claim, std = case.claim(n=exp(Integer(MANY))), float(case["s"])

    def draw(rng: Generator, replicates: int) -> Draws:
        return np.asarray(-std * ndtri_exp(np.log(rng.standard_exponential(replicates)) - MANY))

    wrong = {
        "s sqrt(log n)": case["s"] * sqrt(MANY),
        "2 s sqrt(log n)": 2 * case["s"] * sqrt(MANY),
        "3 s": 3 * case["s"],
    }
    return Trial(draw, 1, claim, case["s"] ** 2 / MANY, wrong)


def saturated(case: Case, squares: float, wrong: Mapping[str, Number], sigmoid: bool) -> Trial:
    """The second moment of a function of pre-activations of a huge standard deviation."""

    def draw(rng: Generator, replicates: int) -> Draws:
        values = np.tanh(HUGE * rng.standard_normal(replicates))
        return np.asarray(((values + 1) / 2 if sigmoid else values) ** 2)

    return Trial(draw, 1, case.claim(), squares, wrong)


@experiment(law="tanh-no-variance", quantity="E[tanh(z)^2] at large v", weights=NORMAL)
def tanh_no_variance(case: Case) -> Trial:
    """1 - tanh^2 has a mean of at most the density 2/sqrt(2 pi v)."""
    wrong = {"1/2": Rational(1, 2), "0.394, at v = 1": Rational(394, 1000), "2": 2}
    return saturated(case, 1 / HUGE, wrong, sigmoid=False)


@experiment(law="sigmoid-no-variance", quantity="E[sigmoid(z)^2] at large v", weights=NORMAL)
def sigmoid_no_variance(case: Case) -> Trial:
    """sigmoid(z) = (1 + tanh(z/2))/2 is 0 or 1, each half of the time."""
    wrong = {
        "1": 1,
        "1/4, the squared mean": Rational(1, 4),
        "0.293, at v = 1": Rational(293, 1000),
    }
    return saturated(case, 0.2501, wrong, sigmoid=True)


@experiment(
    law="adam-bound", quantity="mean step at little noise", weights=ANY, eta=Fraction(3, 10)
)
def adam_bound(case: Case) -> Trial:
    """Ten steps of Adam; by the delta method the step's variance is that of the relative noise."""
    eta = float(case["eta"])

    def draw(rng: Generator, replicates: int) -> Draws:
        gradients = 5 * (1 + TINY * case.weights.sample(rng, (10, replicates)))
        return eta * adam(gradients, 0.5, 0.9)

    e = case["eta"]
    wrong = {"eta/2": e / 2, "2 eta": 2 * e, "eta/sqrt(2)": e / root(Integer(2)), "1": 1}
    return Trial(draw, 10, case.claim(), eta**2 * TINY**2, wrong)


def first_overflow(format: type[np.floating]) -> int:
    """The least d at which the exponential of 3 sqrt(d) is infinite in a format."""
    d = np.arange(1, 2000)
    with np.errstate(over="ignore"):
        return int(d[np.isinf(np.exp((3 * np.sqrt(d)).astype(format)))][0])


@experiment(law="overflow-float16", quantity="least d with an infinite exponential", weights=NORMAL)
def overflow_float16(case: Case) -> Trial:
    return counted(case.claim(), first_overflow(np.float16), (13, 15, 42, 875))


@experiment(law="overflow-float32", quantity="least d with an infinite exponential", weights=NORMAL)
def overflow_float32(case: Case) -> Trial:
    return counted(case.claim(), first_overflow(np.float32), (14, 874, 876, 2625))


@experiment(law="sigmoid-erf", quantity="c - 2.4 of the least squared error", weights=NORMAL)
def sigmoid_erf(case: Case) -> Trial:
    """The squared error itself, by Gauss's nodes, is minimised; less 2.4, to see the range."""
    nodes, weights = np.polynomial.legendre.leggauss(80)
    x = 5 * nodes

    def error(c: float) -> float:
        return float(weights @ ((1 + erf(x / c)) / 2 - expit(x)) ** 2)

    least = minimize_scalar(error, bounds=(1, 5), method="bounded", options={"xatol": 1e-9}).x
    others: dict[str, Number] = {
        "4/sqrt(pi), the slope at 0": 4 / root(pi),
        "pi sqrt(2/3), the variance": pi * root(Rational(2, 3)),
        "1.702 sqrt(2)": Rational(1702, 1000) * root(Integer(2)),
        "2.4024, on [-5.25, 5.25]": Rational(24024, 10000),
    }
    part = Rational(12, 5)
    wrong = {name: other - part for name, other in others.items()}
    return computed(case.claim() - part, least - 2.4, wrong)
