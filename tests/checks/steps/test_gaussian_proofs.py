"""The checkers of Gaussian integrals and of digits refuse what is wrong."""

from dataclasses import replace

import pytest
from sympy import Integer, Rational, exp, log, sqrt, tanh

from varlaw.checks.report import Proof
from varlaw.checks.steps.gaussian import prove_gaussian
from varlaw.checks.steps.proofs import prove_step
from varlaw.symbolic.activations import elu, gelu, relu6, sigmoid, silu
from varlaw.symbolic.arrays import arrays_in
from varlaw.symbolic.assumptions import Kind
from varlaw.symbolic.declarations import positive, random_variable
from varlaw.symbolic.derivation import Step, derive
from varlaw.symbolic.digits import Digits
from varlaw.symbolic.terms import Expectation, Slope, indicator

z = random_variable("z", mean=0, variance=1, gaussian=True)
y = random_variable("y", mean="m", variance="v", gaussian=True)
g, v, a = positive("g v a")

STEPS = {
    "parts": derive(Expectation(relu6(z) ** 2)).by("parts"),
    "parity": derive(1 + Expectation(gelu(z) ** 2)).by("parts parity"),
    "square": derive(Expectation(z**2 * exp(-(z**2) / 3 + z / 2))).by("complete-square"),
    "square, symbols": derive(Expectation(exp(a * y) * indicator(y, ">"))).by("complete-square"),
    "stein": derive(Expectation(y**2 * indicator(y - 1, "<"))).by("stein"),
    "stein, erf": derive(Expectation(gelu(y))).by("parts stein"),
    "normal": derive(Expectation(indicator(y - 1, "<"))).by("normal"),
    "pair": derive(Expectation(gelu(z) ** 2)).by("parts parity stein normal-pair"),
    "gaussian": derive(Expectation(elu(y) ** 2)).by("gaussian"),
    "condition": derive(Expectation(gelu(z + y))).by("condition", over=y),
}


def verdict(step: Step) -> Proof:
    return prove_step(step, arrays_in(step.before))[0]


def with_value(step: Step, change) -> Step:
    """The step with the value of each lemma, and so the result, changed."""
    lemmas = {
        part: replace(lemma, value=change(lemma.value))
        for part, lemma in step.certificate["lemmas"].items()
    }
    after = step.before.xreplace({part: lemma.value for part, lemma in lemmas.items()})
    return replace(step, after=after, certificate={"lemmas": lemmas})


@pytest.mark.parametrize("name", STEPS)
def test_right_steps_hold(name: str) -> None:
    assert verdict(STEPS[name].steps[-1]) in (Proof.PROVED, Proof.CHECKED)


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize(
    "change",
    [
        lambda value: value + Rational(1, 10**30),
        lambda value: value * Rational(21, 20) + Rational(1, 50),
        lambda value: -value - 1,
    ],
    ids=["a little more", "5 % more", "sign"],
)
def test_wrong_values_are_refuted(name: str, change) -> None:
    assert verdict(with_value(STEPS[name].steps[-1], change)) is Proof.REFUTED


@pytest.mark.parametrize("name", STEPS)
def test_a_step_has_to_say_that_the_variable_is_gaussian(name: str) -> None:
    step = STEPS[name].steps[-1]
    less = frozenset(a for a in step.assumptions if a.kind is not Kind.GAUSSIAN)
    assert verdict(replace(step, assumptions=less)) is Proof.REFUTED


@pytest.mark.parametrize("name", ["parity", "square", "pair"])
def test_a_step_has_to_say_that_the_mean_vanishes(name: str) -> None:
    step = STEPS[name].steps[-1]
    less = frozenset(a for a in step.assumptions if a.kind is not Kind.ZERO_MEAN)
    assert verdict(replace(step, assumptions=less)) is not Proof.PROVED


def test_independence_is_recorded() -> None:
    step = STEPS["condition"].steps[-1]
    less = frozenset(a for a in step.assumptions if a.kind is not Kind.INDEPENDENT)
    assert verdict(replace(step, assumptions=less)) is Proof.REFUTED


def test_a_result_that_is_not_what_the_lemmas_say() -> None:
    step = STEPS["stein"].steps[-1]
    assert verdict(replace(step, after=step.after + 1)) is Proof.REFUTED
    assert verdict(replace(step, certificate={})) is Proof.REFUTED


def test_a_wrong_certificate_does_not_prove() -> None:
    """The digits still speak for the value, which is right."""
    step = STEPS["stein"].steps[-1]
    (part, lemma), *_ = step.certificate["lemmas"].items()
    primitive, lower, upper = lemma.primitive
    wrong = replace(lemma, primitive=(2 * primitive, lower, upper))
    forged = replace(step, certificate={"lemmas": {part: wrong}})
    outcome, _ = prove_gaussian(forged, arrays_in(step.before))
    assert outcome is Proof.CHECKED


def test_wrong_slopes_are_refuted() -> None:
    u = random_variable("u", mean=0, variance="v", gaussian=True)
    step = derive(Slope(Expectation(gelu(u) ** 2), v)).by("slope").steps[-1]
    assert verdict(step) is Proof.PROVED
    assert verdict(with_value(step, lambda value: 2 * value)) is Proof.REFUTED
    assert verdict(with_value(step, lambda value: value + 1)) is Proof.REFUTED


@pytest.mark.parametrize(
    ("digits", "outcome"),
    [
        ("0.293379", Proof.PROVED),
        ("0.293380", Proof.REFUTED),
        ("0.2934", Proof.REFUTED),
        ("-0.293379", Proof.REFUTED),
    ],
)
def test_digits(digits: str, outcome: Proof) -> None:
    step = derive(Expectation(sigmoid(z) ** 2)).by("digits", places=6).steps[-1]
    assert verdict(replace(step, after=Digits(digits))) is outcome
    assert verdict(replace(step, assumptions=frozenset())) is Proof.REFUTED


def test_roots() -> None:
    chain = derive(Rational(25, 9) * Expectation(tanh(sqrt(v) * z) ** 2)).by("require", equals=v)
    step = chain.by("root", unknown=v, near=(1, 2), places=6).steps[-1]
    assert verdict(step) is Proof.PROVED
    for wrong in ("1.178481", "1.0", "0.178480"):
        forged = replace(step, after=step.after.func(v, Digits(wrong)))
        assert verdict(forged) is Proof.REFUTED


def test_strict_bounds() -> None:
    below = derive(Expectation(tanh(y) ** 2)).by("below", bound=Integer(1)).steps[-1]
    assert verdict(below) is Proof.PROVED
    for f, bound in ((tanh(y) ** 2, Rational(9, 10)), (silu(y), log(2)), (y**2, Integer(1))):
        step = derive(Expectation(f)).by("below", bound=bound).steps[-1]
        assert verdict(step) is not Proof.PROVED
    assert verdict(replace(below, relation="=")) is Proof.REFUTED
