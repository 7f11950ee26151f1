"""Steps about gradients and compound growth: right ones are proved, forged ones refuted."""

from dataclasses import replace

import pytest
from sympy import Abs, Integer, Integral, Symbol, erf, exp, sqrt, tanh

from varlaw.checks.report import Proof
from varlaw.checks.steps.proofs import prove_step
from varlaw.derivations.catalogue import find
from varlaw.symbolic.activations import gelu, relu
from varlaw.symbolic.arrays import arrays_in
from varlaw.symbolic.declarations import dimensions, indices, positive, random_array
from varlaw.symbolic.derivation import RuleError, derive
from varlaw.symbolic.sequences import named
from varlaw.symbolic.terms import Expectation, Slope, Sum

d, n, L = dimensions("d n L")
i, j, k, r = indices("i j k r")
s2 = positive("s2")
x, u, w = (random_array(name) for name in ("x", "u", "w"))


def block(f):
    z = named("z", Sum(x[r] * u[r, j], (r, 1, d)), j)
    return named("y", x[i] + Sum(f(z) * w[j, i], (j, 1, n)), i)


def outcome(step):
    return prove_step(step, arrays_in(step.before) | arrays_in(step.after))[0]


@pytest.mark.parametrize("f", [relu, gelu, tanh])
@pytest.mark.parametrize("by", [u[k, j], w[j, k]], ids=str)
def test_the_chain_rule_is_proved_and_forgeries_are_refuted(f, by) -> None:
    (step,) = derive(Expectation(Slope(block(f), by) ** 2)).by("chain-rule").steps
    assert outcome(step) is Proof.PROVED
    ((head, value),) = step.certificate["gradients"].items()
    for wrong in (2 * value, -value, value**2, value * x[k], Integer(0)):
        forged = replace(
            step,
            after=step.before.xreplace({head: wrong}),
            certificate={"gradients": {head: wrong}},
        )
        assert outcome(forged) is Proof.REFUTED, wrong


def test_a_change_beside_the_gradients_is_refuted() -> None:
    (step,) = derive(Expectation(Slope(block(relu), w[j, k]) ** 2)).by("chain-rule").steps
    assert outcome(replace(step, after=2 * step.after)) is Proof.REFUTED


def test_the_slope_of_gelu_is_not_that_of_relu() -> None:
    (step,) = derive(Expectation(Slope(block(gelu), u[k, j]) ** 2)).by("chain-rule").steps
    (other,) = derive(Expectation(Slope(block(relu), u[k, j]) ** 2)).by("chain-rule").steps
    ((head, _),), ((_, wrong),) = (s.certificate["gradients"].items() for s in (step, other))
    forged = replace(
        step, after=step.before.xreplace({head: wrong}), certificate={"gradients": {head: wrong}}
    )
    assert outcome(forged) is Proof.REFUTED


def test_only_arrays_of_second_moment_zero_vanish() -> None:
    zero = random_array("v", mean=0, second_moment=0)
    (step,) = derive(Expectation((x[i] + gelu(zero[i])) ** 2)).by("vanish").steps
    assert step.after == Expectation(x[i] ** 2)
    assert outcome(step) is Proof.PROVED
    assert outcome(replace(step, after=Integer(0))) is Proof.REFUTED
    with pytest.raises(RuleError, match="changes nothing"):
        derive(Expectation(x[i] ** 2)).by("vanish")
    other = replace(step, before=Expectation(x[i] ** 2), after=Integer(0))
    assert outcome(other) is Proof.REFUTED


def test_compound_growth_and_its_forgeries() -> None:
    (step,) = derive((1 + 3 * s2 / L) ** L * s2).by("compound", variable=L).steps
    assert step.after == s2 * exp(3 * s2)
    assert outcome(step) is Proof.PROVED
    for wrong in (s2 * exp(s2), exp(3 * s2), s2 * exp(3 * s2) * 1.05, s2 * (1 + 3 * s2)):
        assert outcome(replace(step, after=wrong)) is Proof.REFUTED, wrong
    assert outcome(replace(step, relation="=")) is Proof.REFUTED
    slower = replace(step, before=s2 * (1 + 3 * s2 / L**2) ** L)
    assert outcome(slower) is not Proof.PROVED
    with pytest.raises(RuleError):
        derive((1 + s2 / L**2) ** L).by("compound", variable=L)


def test_a_factor_that_changes_with_the_layer_beside_an_added_term() -> None:
    """x_l behind Norms of any divisors: proved, and refuted where one factor is left out."""
    law = find("post-norm-identity-path")
    step = law.derivation.steps[-1]
    assert step.rule == "iterate"
    assert outcome(step) is Proof.PROVED
    value = step.after.rhs
    forged = replace(step, after=step.after.func(step.after.lhs, 2 * value, evaluate=False))
    assert outcome(forged) is Proof.REFUTED


def test_derivatives_by_a_symbol_through_sums_and_their_forgeries() -> None:
    """d/dc of sqrt(Sum (c x_k)^2) is sqrt(Sum x_k^2); a number of terms has no derivative."""
    c = positive("c")
    length = named("N", sqrt(Sum((c * x[k]) ** 2, (k, 1, n))))
    (step,) = derive(Slope(length, c)).by("chain-rule").steps
    assert outcome(step) is Proof.PROVED
    ((head, value),) = step.certificate["gradients"].items()
    for wrong in (2 * value, -value, value / c, value + 1, Integer(0)):
        forged = replace(step, after=wrong, certificate={"gradients": {head: wrong}})
        assert outcome(forged) is Proof.REFUTED, wrong
    with pytest.raises(RuleError, match="not covered"):
        derive(Slope(named("N", Sum(x[k], (k, 1, n))), n)).by("chain-rule")


def under_integral(function, low, high):
    (step,) = derive(Slope(Integral(function, (y, low, high)), s2)).by("chain-rule").steps
    return step


y = Symbol("y", real=True)
ERROR = (erf(y / s2) - 1 / (1 + exp(-y))) ** 2


def test_a_derivative_goes_under_an_integral_between_fixed_ends() -> None:
    step = under_integral(ERROR, -5, 5)
    assert outcome(step) is Proof.PROVED
    ((head, value),) = step.certificate["gradients"].items()
    for wrong in (Integral(2 * value.function, *value.limits), Integral(y, *value.limits)):
        forged = replace(step, after=wrong, certificate={"gradients": {head: wrong}})
        assert outcome(forged) is Proof.REFUTED


def test_other_ends_and_poles_are_not_covered() -> None:
    step = under_integral(ERROR, -5, 5)
    ((head, value),) = step.certificate["gradients"].items()
    other = Integral(value.function, (y, -4, 5))
    forged = replace(step, after=other, certificate={"gradients": {head: other}})
    assert outcome(forged) is Proof.UNCHECKED
    assert outcome(under_integral(s2**2 / y, -1, 1)) is Proof.UNCHECKED  # a pole
    with pytest.raises(RuleError, match="not covered"):
        under_integral(ERROR, -s2, s2)
    with pytest.raises(RuleError, match="not covered"):
        under_integral(Abs(s2 - y), 0, 1)
