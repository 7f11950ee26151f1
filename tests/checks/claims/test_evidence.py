"""What the verdict on a claim is where two kinds of evidence disagree."""

from dataclasses import replace

import pytest

from varlaw.checks.claims.declarations.language import read_statements
from varlaw.checks.claims.evidence import Derived, Evidence, gather
from varlaw.checks.claims.links.verdict import Judgement
from varlaw.checks.claims.measured import Settings
from varlaw.checks.report import Measurement, Proof, StepReport
from varlaw.checks.statistics.verdicts import Verdict
from varlaw.symbolic.declarations import random_variable
from varlaw.symbolic.formulas import read_plain
from varlaw.symbolic.strategy import normal_form
from varlaw.symbolic.terms import Expectation

((LEFT, SIGN, RIGHT),) = read_plain("E[z^2] = 1").chains[0].links
Z = random_variable("z", mean=0, variance=1)
MEASURED = Measurement("E[z^2]", "uniform", 1.0, 2.0, 1.9, 2.1, "proved", 1000, Verdict.REFUTED)


def evidence(verdict: Verdict | None, reason: str = "") -> Evidence:
    return Evidence("E[z^2] = 1", Judgement(LEFT, SIGN, RIGHT, verdict, reason=reason))


@pytest.mark.parametrize("verdict", [Verdict.VERIFIED, Verdict.UNDECIDED, Verdict.LOOSE, None])
def test_a_proved_interval_refutes(verdict: Verdict | None) -> None:
    found = replace(evidence(verdict), measured=(MEASURED,))
    assert found.verdict is Verdict.REFUTED
    assert found.reason == "measured 2 where it claims 1"


def test_an_asymptotic_interval_does_not() -> None:
    measured = replace(MEASURED, interval="asymptotic")
    found = replace(evidence(Verdict.VERIFIED), measured=(measured,))
    assert found.verdict is Verdict.VERIFIED


def test_an_asymptotic_interval_beside_a_proof_decides_nothing() -> None:
    """The mean is sqrt(50), but e^(0.49 z^2) has no variance: samples hardly see its tails."""
    text = "claim E[e^(0.49*z^2)] = sqrt(50) where z ~ N(0, 1)"
    (found,) = gather(read_statements(text), text, Settings(budget=10**7))
    assert found.verdict is Verdict.VERIFIED
    (measured,) = found.measured
    assert measured.verdict is Verdict.UNDECIDED
    assert measured.why


def test_no_measurement_proves() -> None:
    measured = replace(MEASURED, verdict=Verdict.VERIFIED)
    found = replace(evidence(Verdict.UNDECIDED, "too hard"), measured=(measured,))
    assert (found.verdict, found.reason) == (Verdict.UNDECIDED, "too hard")


def test_a_step_that_does_not_hold_leaves_it_undecided() -> None:
    steps = (StepReport("identical", Proof.REFUTED, "another moment"),)
    derived = Derived(normal_form(Expectation(Z**2)), steps, ())
    found = replace(evidence(Verdict.VERIFIED), derived=(derived,))
    assert found.verdict is Verdict.UNDECIDED
    assert "'identical'" in found.reason


def test_what_is_no_claim_is_undecided() -> None:
    found = evidence(None, "a definition or an assumption")
    assert found.verdict is Verdict.UNDECIDED
    assert found.reason == "not decided: a definition or an assumption"
