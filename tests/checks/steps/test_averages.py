"""Steps about averages, Jensen and log-sum-exp: right ones pass, forged ones do not."""

import math
from dataclasses import replace

import pytest
from flint import arb, ctx
from scipy.integrate import quad
from sympy import Expr, Integer, Rational, Symbol, exp, log, sqrt

from varlaw.checks.report import Proof
from varlaw.checks.steps.log_sums import enclosed
from varlaw.checks.steps.proofs import prove_step
from varlaw.derivations.catalogue import find
from varlaw.symbolic.arrays import arrays_in
from varlaw.symbolic.derivation import Step
from varlaw.symbolic.digits import Digits

RULES = [
    ("softmax-participation", "out-of-sums"),
    ("softmax-participation", "averages"),
    ("softmax-participation", "large-numbers"),
    ("softmax-entropy", "logarithms"),
    ("softmax-largest", "jensen-weighted"),
    ("softmax-largest", "at-most-one"),
    ("softmax-largest", "best-rate"),
    ("loss-lower", "jensen-convex"),
    ("loss-upper", "jensen"),
    ("loss-delta", "delta-method"),
    ("loss-prior-bias", "sums-to-one"),
    ("attention-output-correlated", "out-of-sums"),
    ("attention-output-correlated", "sums-to-one"),
]


def step(law: str, rule: str) -> Step:
    return next(s for s in find(law).derivation.steps if s.rule == rule)


def verdict(made: Step) -> Proof:
    return prove_step(made, arrays_in(made.before) | arrays_in(made.after))[0]


@pytest.mark.parametrize(("law", "rule"), RULES)
def test_right_steps_pass_and_wrong_constants_and_powers_do_not(law: str, rule: str) -> None:
    right = step(law, rule)
    assert verdict(right) is Proof.PROVED
    assert verdict(replace(right, after=right.after * Rational(21, 20))) is Proof.REFUTED
    assert verdict(replace(right, after=right.after**2)) is Proof.REFUTED


@pytest.mark.parametrize(
    ("law", "name"), [("loss-prior-bias", "q"), ("attention-output-correlated", "p")]
)
def test_that_a_sequence_sums_to_one_is_recorded(law: str, name: str) -> None:
    right = step(law, "sums-to-one")
    assert {str(a) for a in right.assumptions} == {f"{name}: sums to 1"}
    assert verdict(replace(right, assumptions=frozenset())) is Proof.REFUTED


@pytest.mark.parametrize(("law", "rule"), [r for r in RULES if "jensen" in r[1]])
def test_jensen_the_wrong_way_round(law: str, rule: str) -> None:
    right = step(law, rule)
    turned = {"<=": ">=", ">=": "<="}[right.relation]
    assert verdict(replace(right, relation=turned)) is Proof.REFUTED


@pytest.mark.parametrize(
    ("law", "rule"),
    [
        ("softmax-participation", "large-numbers"),
        ("loss-delta", "delta-method"),
        ("loss-saturated", "log-sum"),
        ("softmax-largest", "jensen-weighted"),
    ],
)
def test_forgotten_assumptions(law: str, rule: str) -> None:
    assert verdict(replace(step(law, rule), assumptions=frozenset())) is Proof.REFUTED


def test_weights_of_another_mean_than_one() -> None:
    right = step("softmax-largest", "jensen-weighted")
    facts = dict(right.certificate)
    facts["primitive"] = facts["primitive"] * 2
    assert verdict(replace(right, certificate=facts)) is Proof.REFUTED


def test_the_largest_of_some_logits() -> None:
    """E max of two is 1/sqrt(pi), of 512 by quadrature; both below s sqrt(2 log n)."""

    def density(z: float) -> float:
        below = (1 + math.erf(z / math.sqrt(2))) / 2
        return 512 * z * below**511 * math.exp(-z * z / 2) / math.sqrt(2 * math.pi)

    value, _ = quad(density, -9, 9, points=[2, 3, 4], epsabs=1e-11)
    assert abs(float(find("softmax-largest-512").statement.rhs) - value) < 1e-9
    bound: Expr = find("softmax-largest").derivation.end
    at = {symbol: {"s": 1, "n": 512}[symbol.name] for symbol in bound.free_symbols}
    assert bound.subs(at) == sqrt(2) * sqrt(log(512))
    assert value < float(bound.subs(at))


# E[log Sum exp]


@pytest.mark.parametrize("std", [0.5, 1.0, 2.0])
def test_enclosures_of_the_expected_log_sum(std: float) -> None:
    """For two logits it is E[log(2 cosh(d/2))] over their difference d of variance 2 std^2."""

    def integrand(z: float) -> float:
        weight = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        return math.log(2 * math.cosh(std * z / math.sqrt(2))) * weight

    value, _ = quad(integrand, -12, 12, epsabs=1e-13)
    with ctx.workprec(120):
        found = enclosed(2, arb(std))
    assert abs(float(found.mid()) - value) < 1e-10
    assert float(found.rad()) < 1e-5


@pytest.mark.parametrize(
    ("law", "rule", "text"),
    [
        ("loss-saturated", "log-sum", "114.5728"),
        ("loss-saturated", "log-sum", "114.5726"),
        ("loss-one-nat", "log-sum-root", "1.4164301615"),
        ("loss-one-nat", "log-sum-root", "1.4164301613"),
    ],
)
def test_a_last_digit_off_by_one(law: str, rule: str, text: str) -> None:
    right = step(law, rule)
    wrong: Expr = Digits(text)
    after = right.after.func(right.after.lhs, wrong) if right.on_equations else wrong
    assert verdict(right) is Proof.PROVED
    assert verdict(replace(right, after=after)) is Proof.REFUTED


@pytest.mark.parametrize(("law", "width"), [("overflow-float16", 14), ("overflow-float32", 875)])
def test_the_first_width_that_overflows(law: str, width: int) -> None:
    right = step(law, "first-integer")
    assert right.after.rhs == width
    assert verdict(right) is Proof.PROVED
    for other in (width - 1, width + 1):
        after = right.after.func(right.after.lhs, Integer(other))
        assert verdict(replace(right, after=after)) is Proof.REFUTED


def test_the_delta_method_needs_moments_of_the_inverse() -> None:
    """A mean of squares is no mean of lognormal variables: its inverse may have no mean."""
    right = step("loss-delta", "delta-method")
    (z,) = {e for e in right.before.atoms(exp)}
    squared = z.args[0] ** 2
    names = {z: squared, z**2: squared**2}
    forged = replace(right, before=right.before.xreplace(names), after=right.after.xreplace(names))
    assert verdict(forged) is Proof.REFUTED
    assert Symbol("K", integer=True, positive=True) in right.before.free_symbols
