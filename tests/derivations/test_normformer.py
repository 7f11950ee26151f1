"""NormFormer, Pre-Norm's gradients and stochastic depth, by loops in exact fractions."""

from dataclasses import replace
from fractions import Fraction

import pytest
from sympy import Rational

from varlaw.checks.report import Proof
from varlaw.checks.steps.proofs import prove_step
from varlaw.derivations.catalogue import find
from varlaw.symbolic.sequences import Term


def at(name, **values):
    """The right-hand side of a law's statement at numbers, with v_0 = 1 and c_0 = 0."""
    end = find(name).derivation.end
    known = {term: 1 if term.name == "v" else 0 for term in end.atoms(Term)}
    end = end.subs(known)
    return end.subs({symbol: values[symbol.name] for symbol in end.free_symbols})


@pytest.mark.parametrize("layers", [1, 4, 54])
def test_stochastic_depth_by_summing_the_rates(layers):
    rates = [1 - Fraction(k, 2 * layers) for k in range(1, layers + 1)]
    assert at("stochastic-depth", L=layers) == Rational(str(sum(rates)))
    spread = sum(p * (1 - p) for p in rates)
    assert spread == Fraction((layers + 1) * (4 * layers - 1), 24 * layers)


def test_numbers_of_stochastic_depth():
    assert (at("stochastic-depth", L=54), at("stochastic-depth", L=4)) == (
        Rational(161, 4),
        Rational(11, 4),
    )


@pytest.mark.parametrize(("branches", "below"), [(24, 1), (24, 24), (3, 0)])
def test_gradients_of_pre_norm_layer_by_layer(branches, below):
    gradient = Fraction(1)
    for variance in range(branches, below, -1):  # of the stream where a branch leaves it
        gradient *= 1 + Fraction(1, variance)
    assert at("pre-norm-mismatch", L=branches, k=below) == Rational(str(gradient))


def test_numbers_of_normformer():
    assert at("normformer-stream", L=1, n=3072, s=Rational(1, 2500)) - 1 == Rational("2.2288")
    assert at("pre-norm-mismatch", L=24, k=1) == Rational(25, 2)
    small = Fraction(1)
    for k in range(1, 24):
        small *= 1 + Fraction(1, 10) / (1 + Fraction(k, 10))
    assert float(small) == pytest.approx(3.09, abs=5e-3)


@pytest.mark.parametrize("wrong", ["shifted", "scaled"])
def test_a_wrong_sum_of_powers_is_refuted(wrong):
    step = find("stochastic-depth").derivation.steps[-1]
    assert step.rule == "power-sum" and prove_step(step, {})[0] is Proof.PROVED
    value = {"shifted": step.after + 1, "scaled": step.after * 2}[wrong]
    forged = replace(step, after=value)
    assert prove_step(forged, {})[0] is Proof.REFUTED
