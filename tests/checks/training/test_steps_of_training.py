"""Steps about gradients, exponents, roots and bounds: the right ones pass, forged ones do not."""

from dataclasses import replace

import pytest
from sympy import Ge, Integer, Le, Rational, Symbol, asin, sqrt

from varlaw.checks.report import Proof
from varlaw.checks.steps.proofs import prove_step
from varlaw.derivations.catalogue import find
from varlaw.symbolic.arrays import arrays_in
from varlaw.symbolic.declarations import dimensions, indices, positive, random_array
from varlaw.symbolic.derivation import RuleError, derive, relation
from varlaw.symbolic.gradients import gradient
from varlaw.symbolic.orders import coherent, incoherent, order
from varlaw.symbolic.sequences import named
from varlaw.symbolic.terms import Slope, Sum

m, n = dimensions("m n")
i, j = indices("i j")
x, w = random_array("x"), random_array("w")
y = named("y", Sum(x[i] * w[i, j], (i, 1, m)), j)
c, eta, g = positive("c eta g")


def step_of(law, rule):
    return next(s for s in find(law).derivation.steps if s.rule == rule)


def verdict(step):
    return prove_step(step, arrays_in(step.before))[0]


def test_the_derivative_of_a_layer_by_a_weight():
    assert gradient(y, w[i, j]) == x[i]
    k = indices("k")
    step = derive(Slope(y, w[i, j]) ** 2).by("chain-rule").steps[-1]
    assert verdict(step) is Proof.PROVED
    for wrong in (x[i], 2 * x[i] ** 2, x[i] ** 2 + x[j], w[i, j] * x[i], x[k]):
        assert verdict(replace(step, after=wrong)) is not Proof.PROVED


def test_sums_with_a_wrong_part():
    step = step_of("scale-invariant-norm", "sums")
    assert verdict(step) is Proof.PROVED
    assert verdict(replace(step, after=step.after * Rational(21, 20))) is Proof.REFUTED


@pytest.mark.parametrize(
    ("size", "exponent"),
    [
        (coherent(1 / sqrt(n), n), Rational(1, 2)),
        (incoherent(n, n), Rational(3, 2)),
        (incoherent(coherent(n**-2, n), n), -Rational(1, 2)),
    ],
)
def test_exponents(size, exponent):
    step = derive(order(size, n)).by("exponent").steps[-1]
    assert step.after == exponent and verdict(step) is Proof.PROVED
    assert verdict(replace(step, after=exponent + Rational(1, 2))) is Proof.REFUTED


def test_stable_rates():
    step = step_of("abc-sgd-hidden", "stable")
    assert verdict(step) is Proof.PROVED
    rate, least = step.after.args
    for wrong in (Ge(rate, least + 1), Le(rate, least)):
        assert verdict(replace(step, after=wrong)) is Proof.REFUTED


def test_correlations_and_roots():
    for law in ("nngp-relu", "nngp-erf", "nngp-erf-slope"):
        step = step_of(law, "correlation")
        assert verdict(step) is Proof.PROVED
        wrong = relation(step.after.lhs, step.after.rhs * Rational(21, 20), "=")
        assert verdict(replace(step, after=wrong)) is Proof.REFUTED
    step = step_of("nngp-erf", "radicals")
    assert verdict(replace(step, after=2 * step.after)) is Proof.REFUTED


def test_changes_of_variable():
    step = step_of("adam-stationary", "variable")
    assert verdict(step) is Proof.PROVED
    wrong = relation(step.after.lhs, step.after.rhs * 2, "=")
    assert verdict(replace(step, after=wrong)) is Proof.REFUTED


def test_bounds_from_above():
    step = step_of("adam-bound", "at-most")
    assert verdict(step) is Proof.PROVED
    assert verdict(replace(step, after=step.after / 2)) is Proof.REFUTED
    with pytest.raises(RuleError, match="no certificate"):
        derive(eta * (1 + g)).by("at-most", bound=eta)


def test_small_quantities():
    step = step_of("scale-invariant-equilibrium", "small")
    assert verdict(step) is Proof.PROVED
    assert verdict(replace(step, after=step.after * Rational(21, 20))) is Proof.REFUTED
    assert (
        verdict(replace(step, after=step.after * Symbol("lambda", positive=True))) is Proof.REFUTED
    )


def test_published_kernels():
    """Cho and Saul's J_1/(2 pi) and Williams' arcsine at rho = 1/2, and the ends of both."""
    from sympy import acos, pi, sin

    at = {"q": Integer(1), "rho": Rational(1, 2)}
    relu_kernel = find("nngp-relu").derivation.end
    angle = acos(at["rho"])
    published = (sin(angle) + (pi - angle) * at["rho"]) / (2 * pi)
    values = {s: at[s.name] for s in relu_kernel.free_symbols}
    assert abs((relu_kernel.subs(values) - published).evalf(30)) < 1e-25
    erf_kernel = find("nngp-erf").derivation.end
    values = {s: at[s.name] for s in erf_kernel.free_symbols}
    assert abs((erf_kernel.subs(values) - 2 / pi * asin(Rational(1, 3))).evalf(30)) < 1e-25


def test_adam_on_noise_at_its_default():
    """0.2294157 = sqrt(1/19)."""
    digits = str(find("adam-noise-default").derivation.end)
    assert digits.startswith("0.2294157")
