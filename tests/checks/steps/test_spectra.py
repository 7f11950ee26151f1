"""Steps and samplers of spectra: against brute force, Catalan numbers, SVD, and forged steps."""

from dataclasses import replace
from math import comb

import numpy as np
import pytest
from scipy.linalg import eigvalsh_tridiagonal
from sympy import Eq, Integer, Poly, Rational, Symbol

from varlaw.checks.experiments.measuring import Task, measure_trial
from varlaw.checks.experiments.registry import Case, LimitTrial
from varlaw.checks.experiments.spectra import (
    bidiagonal,
    iid_gram_moments,
    largest_singular_value,
    limit_of,
    third_power,
)
from varlaw.checks.report import Proof
from varlaw.checks.statistics.sampling import LAWS
from varlaw.checks.statistics.verdicts import Verdict
from varlaw.checks.steps.proofs import prove_step
from varlaw.checks.steps.spectra import N, traces
from varlaw.derivations.catalogue import find
from varlaw.symbolic.arrays import arrays_in
from varlaw.symbolic.derivation import Step, relation
from varlaw.symbolic.sequences import Term

TRACY_WIDOM = (
    -1.2065335745820
)  # mean of the law of order 1: Bornemann, Math. Comp. 79 (2010), table
SHORTFALL = 2 ** (-2 / 3) * TRACY_WIDOM


@pytest.mark.parametrize(
    ("powers", "known"),
    [  # real Wishart matrices with n degrees of freedom: Graczyk, Letac and Massam (2003), table
        ((2,), 2 * N**3 + N**2),
        ((3,), 5 * N**4 + 6 * N**3 + 4 * N**2),
        ((1, 1), N**4 + 2 * N**2),  # a chi-square number with n^2 degrees of freedom
    ],
)
def test_means_of_traces(powers, known):
    assert traces(powers) == Poly(known, N)


@pytest.mark.parametrize("power", [1, 2, 3, 4, 5])
def test_the_limits_are_the_catalan_numbers(power):
    case = Case(find("iid-gram-moments"), LAWS["normal"], {"n": 8})
    assert limit_of(case, power) == Rational(comb(2 * power, power), power + 1)
    assert traces((power,)).LC() == limit_of(case, power)


def test_the_bidiagonal_form_has_the_law_of_the_singular_values():
    """Mean and mean square of the largest one, and of tr^3, within six standard errors."""
    rng = np.random.default_rng(5)
    size, count = 6, 20000
    drawn = rng.standard_normal((count, size, size)) / size**0.5
    direct = np.linalg.svd(drawn, compute_uv=False)
    squares = bidiagonal(rng, size, count)
    largest = largest_singular_value(squares)
    pairs = [
        (direct[:, 0], largest),
        (direct[:, 0] ** 2, largest**2),
        ((direct**6).sum(axis=1), third_power(squares)),
    ]
    for left, right in pairs:
        assert abs(left.mean() - right.mean()) < 6 * np.hypot(error_of(left), error_of(right))
    longer = largest_singular_value(1.05 * squares)
    assert abs(direct[:, 0].mean() - longer.mean()) > 6 * error_of(longer)


def error_of(values: np.ndarray) -> float:
    return float(values.std() / len(values) ** 0.5)


@pytest.mark.parametrize("size", [2, 7, 40])
def test_bisection_finds_the_largest_singular_value(size):
    squares = bidiagonal(np.random.default_rng(size), size, 5)
    found = largest_singular_value(squares)
    for column in range(5):
        beside = np.sqrt(squares[:, column])
        eigenvalues = eigvalsh_tridiagonal(np.zeros(2 * size), beside)
        assert found[column] == pytest.approx(eigenvalues[-1], abs=2e-7)


def test_the_order_and_the_constant_of_the_edge():
    """2 - E||w|| - 1/(2 n) at n = 32 is the Tracy-Widom term to 3 %, and no other's."""
    means = {}
    for size, count in ((8, 40000), (32, 40000)):
        rng = np.random.default_rng(size)
        means[size] = largest_singular_value(bidiagonal(rng, size, count)).mean()
    apart = {size: 2 - 1 / (2 * size) - mean for size, mean in means.items()}
    assert apart[32] * 32 ** (2 / 3) == pytest.approx(-SHORTFALL, rel=0.03)
    for wrong in (-TRACY_WIDOM, -TRACY_WIDOM / 2, 1.7711):  # of other scales; the complex law
        assert apart[32] * 32 ** (2 / 3) != pytest.approx(wrong, rel=0.1)
    order = np.log(apart[8] / apart[32]) / np.log(4)
    assert order == pytest.approx(2 / 3, abs=0.03)


def step_of(name: str, rule: str) -> Step:
    return next(step for step in find(name).derivation.steps if step.rule == rule)


def verdict(step: Step) -> Proof:
    return prove_step(step, arrays_in(step.before))[0]


k, n = Symbol("k", integer=True, nonnegative=True), Symbol("n", integer=True, positive=True)


@pytest.mark.parametrize(
    ("rule", "forge"),
    [
        ("loop", lambda after: after * Rational(21, 20)),
        ("loop", lambda after: after.xreplace({k: k + 1})),
        ("trace-limits", lambda after: Eq(after.lhs, after.rhs * Rational(21, 20))),
        ("trace-limits", lambda after: Eq(Term("c", k), after.rhs)),
        ("generating-function", lambda after: Eq(after.lhs, after.rhs + 1)),
        ("generating-function", lambda after: Eq(after.lhs, after.rhs * Rational(21, 20))),
        ("branch-point", lambda after: Eq(after.lhs, after.rhs * Rational(21, 20))),
        ("branch-point", lambda after: Eq(after.lhs, Rational(1, 2))),
        ("spectral-edge", lambda after: relation(after.lhs, after.rhs * Rational(21, 20), "->")),
        ("spectral-edge", lambda after: relation(after.lhs, Integer(1), "->")),
    ],
)
def test_forged_steps_are_refuted(rule, forge):
    step = step_of("iid-edge", rule)
    assert verdict(step) is Proof.PROVED
    assert verdict(replace(step, after=forge(step.after))) is Proof.REFUTED


@pytest.mark.parametrize("rule", ["loop", "trace-limits", "spectral-edge"])
def test_an_assumption_that_is_not_recorded(rule):
    step = step_of("iid-edge", rule)
    for lost in step.assumptions:
        fewer = replace(step, assumptions=step.assumptions - {lost})
        assert verdict(fewer) is Proof.REFUTED


def test_a_wrong_limit_is_refuted():
    """5.25 for the third power; the right one is verified by the same draws."""
    case = Case(find("iid-gram-moments"), LAWS["normal"], {"n": 8})
    trial = iid_gram_moments.build(case)
    assert isinstance(trial, LimitTrial)
    task = Task("iid-gram-moments", "c", "normal", (), 1e-3, 0.01, 0, 10**9)
    wrong = replace(trial, claimed=Rational(21, 4))
    assert measure_trial(task, trial).verdict is Verdict.VERIFIED
    assert measure_trial(task, wrong).verdict is Verdict.REFUTED
