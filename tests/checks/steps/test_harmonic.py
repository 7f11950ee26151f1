"""Steps of the integral test: harmonic sums grow like a logarithm, other sums do not."""

from dataclasses import replace

import pytest
from sympy import Integer, Rational, log, sqrt

from varlaw.checks.report import Proof
from varlaw.checks.steps.proofs import prove_step
from varlaw.symbolic.declarations import dimensions, indices
from varlaw.symbolic.derivation import RuleError, Step, derive
from varlaw.symbolic.terms import IndexSum, Sum

n = dimensions("n")
k = indices("k")


def harmonic(summand=1 / k, upper=n):
    return Sum(summand, (k, 1, upper))


def step(total, to) -> Step:
    return derive(total).by("integral-test", to=to, variable=n).steps[-1]


@pytest.mark.parametrize(
    ("total", "to"),
    [
        (harmonic(), log(n)),
        (harmonic(), log(7 * n)),
        (sqrt(harmonic(1 / (k + 1), 2 * n)), sqrt(log(2 * n))),
        (harmonic(1 / (k + 5)), log(n)),
    ],
)
def test_harmonic_sums(total, to):
    assert prove_step(step(total, to), {})[0] is Proof.PROVED


@pytest.mark.parametrize(
    ("total", "to"),
    [
        (harmonic(), 2 * log(n)),
        (harmonic(), sqrt(log(n))),
        (sqrt(harmonic()), Rational(21, 20) * sqrt(log(n))),
        (harmonic(), Integer(1)),
    ],
)
def test_the_rule_refuses_and_the_checker_refutes_something_else(total, to):
    with pytest.raises(RuleError):
        step(total, to)
    forged = replace(step(harmonic(), log(n)), before=total, after=to)
    assert prove_step(forged, {})[0] is not Proof.PROVED


def test_a_wrong_primitive_is_refuted():
    honest = step(harmonic(), log(n))
    forged = replace(honest, certificate={**honest.certificate, "primitive": 2 * log(k)})
    assert prove_step(forged, {})[0] is Proof.REFUTED


def test_rising_terms_are_not_covered():
    forged = replace(step(harmonic(), log(n)), before=harmonic(1 / (5 - k)))
    assert isinstance(forged.before, IndexSum)
    facts = {**forged.certificate, "sum": forged.before, "primitive": -log(5 - k)}
    assert prove_step(replace(forged, certificate=facts), {})[0] is not Proof.PROVED
