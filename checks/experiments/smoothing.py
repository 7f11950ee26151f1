"""Experiments on label smoothing and biases: the loss at step 0, and where training ends."""

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from scipy.special import expit, logsumexp, softmax
from sympy import Integer, Rational, log

from varlaw.checks.experiments.head import NORMAL
from varlaw.checks.experiments.moments import Number
from varlaw.checks.experiments.registry import Case, Draws, Trial, experiment
from varlaw.symbolic.declarations import dimensions, positive
from varlaw.symbolic.derivation import derive
from varlaw.symbolic.terms import Expectation

SHARE = Fraction(1, 4)
MANY = 1 << 12  # as if so many numbers were held: a few replicates do, and each takes many steps
STEPS, RATE = 600, 2.0  # of gradient descent on the logits; the error falls by 0.8 a step


def targets(rng: Generator, classes: int, share: float, replicates: int) -> Draws:
    """Smoothed labels, one a column."""
    label = np.eye(classes)[rng.integers(0, classes, replicates)].T
    return np.asarray((1 - share) * label + share / classes)


@experiment(
    law="loss-smoothed", quantity="loss", weights=NORMAL, K=7, s=Fraction(2), epsilon=SHARE
)
def loss_smoothed(case: Case) -> Trial:
    """The gradient of the loss at the logits is at most sqrt(2) long: Poincare."""
    classes, std, share = case.size("K"), float(case["s"]), float(case["epsilon"])
    rhs = case.law.statement.rhs
    (mean,) = rhs.atoms(Expectation)
    at = {dimensions("K"): case["K"], positive("s"): case["s"]}
    found = derive(mean.xreplace(at)).by("log-sum", places=9)
    claim = case.at(rhs.xreplace({mean: found.end}))

    def draw(rng: Generator, replicates: int) -> Draws:
        z = std * rng.standard_normal((classes, replicates))
        crossed = np.sum(targets(rng, classes, share, replicates) * z, axis=0)
        return np.asarray(logsumexp(z, axis=0) - crossed)

    least = log(case["K"])
    wrong = {
        "(1 - epsilon) log K": (1 - case["epsilon"]) * least,
        "log K + epsilon": least + case["epsilon"],
        "(1 + epsilon) log K": (1 + case["epsilon"]) * least,
    }
    return Trial(draw, classes + 1, claim, 2 * std**2, wrong)


def trained(rng: Generator, case: Case, replicates: int) -> tuple[Draws, Draws]:
    """Smoothed labels, and logits behind gradient descent on the loss from drawn ones."""
    classes, share = case.size("K"), float(case["epsilon"])
    goal = targets(rng, classes, share, replicates)
    z = case.weights.sample(rng, (classes, replicates))
    for _ in range(STEPS):
        z = z - RATE * (softmax(z, axis=0) - goal)
    return goal, z


@experiment(
    law="label-smoothing-entropy", quantity="least loss", weights=NORMAL, K=4, epsilon=SHARE
)
def least_loss(case: Case) -> Trial:
    K, share = case["K"], case["epsilon"]

    def draw(rng: Generator, replicates: int) -> Draws:
        goal, z = trained(rng, case, replicates)
        return np.asarray(logsumexp(z, axis=0) - np.sum(goal * z, axis=0))

    claim = case.claim(p=1 - share + share / K)
    wrong: Mapping[str, Number] = {
        "0, as with hard labels": 0,
        "log K, of equal logits": log(K),
        "epsilon": share,
        "-log(1 - epsilon)": -log(1 - share),
        "the label's part alone": -(1 - share + share / K) * log(1 - share + share / K),
    }
    return Trial(draw, case.size("K") + 1, claim, Rational(1, 10**12), wrong, work=MANY)


@experiment(law="label-smoothing-margin", quantity="e^a", weights=NORMAL, K=4, epsilon=SHARE)
def margin(case: Case) -> Trial:
    K, share = case["K"], case["epsilon"]

    def draw(rng: Generator, replicates: int) -> Draws:
        _, z = trained(rng, case, replicates)
        return np.asarray(np.exp(z.max(axis=0) - z.min(axis=0)))

    wrong: Mapping[str, Number] = {
        "1/epsilon": 1 / share,
        "(1 - epsilon)/epsilon": (1 - share) / share,
        "K (1 - epsilon)/epsilon, without 1": K * (1 - share) / share,
        "K/epsilon": K / share,
        "1": Integer(1),
    }
    return Trial(draw, case.size("K") + 1, case.claim(), Rational(1, 10**9), wrong, work=MANY)


@experiment(law="sigmoid-prior-bias", quantity="e^b", weights=NORMAL, K=9, least={"K": 5})
def prior_bias(case: Case) -> Trial:
    """Behind gradient descent on the bias alone, with two positives among K labels."""
    K = case["K"]
    labels, p = np.arange(case.size("K")) < 2, 2 / K

    def draw(rng: Generator, replicates: int) -> Draws:
        b = case.weights.sample(rng, (replicates,))
        for _ in range(STEPS):
            b = b - RATE * np.mean(expit(b) - labels[:, None], axis=0)
        return np.exp(b)

    wrong: Mapping[str, Number] = {
        "p": p,
        "1, of bias 0": Integer(1),
        "1/p": 1 / p,
        "(1 - p)/p, of the other sign": (1 - p) / p,
    }
    return Trial(draw, 1, case.claim(p=p), Rational(1, 10**9), wrong, work=MANY)
