"""Steps of the catalogue with their results forged: none of them is proved, whatever its kind."""

from collections import defaultdict
from dataclasses import replace
from functools import cache

import pytest
from sympy import Eq, Rational

from varlaw.checks.report import Proof
from varlaw.checks.steps.proofs import CHECKERS, prove_step
from varlaw.derivations.catalogue import entries, find
from varlaw.symbolic.arrays import arrays_in
from varlaw.symbolic.derivation import RULES, Derivation, Step, named_rule

named_rule("expand")  # all rules are there once one is looked up
MORE = Rational(21, 20)
EACH = 3  # laws to forge the steps of a rule in


@cache
def users() -> dict[str, list[tuple[Derivation, Step]]]:
    """For each rule some steps by it, with their derivations."""
    found: dict[str, list[tuple[Derivation, Step]]] = defaultdict(list)
    for name in entries():
        law = find(name).derivation
        for step in law.steps:
            found[step.rule].append((law, step))
    return found


def forged(law: Derivation, step: Step) -> Step:
    """The step with a result that is 5 % larger, or 1 larger where it is 0."""
    if step.on_equations and step.checker == "naming":
        return replace(step, after=Eq(step.after.lhs * MORE, step.after.rhs, evaluate=False))
    if step.on_equations:
        return replace(step, after=Eq(step.after.lhs, step.after.rhs * MORE, evaluate=False))
    return replace(step, after=step.after + 1 if law.end == 0 else step.after * MORE)


@pytest.mark.parametrize("rule", sorted(RULES))
def test_a_forged_result_is_not_proved(rule: str) -> None:
    seen = users().get(rule, [])
    for law, step in seen[:: max(1, len(seen) // EACH)]:
        if step.checker == "requirement":
            continue
        arrays = arrays_in(law.start) | arrays_in(step.before)
        outcome, why = prove_step(forged(law, step), arrays)
        assert outcome is not Proof.PROVED, why


def test_every_kind_of_checker_is_used_by_some_law() -> None:
    assert {step.checker for steps in users().values() for _, step in steps} == set(CHECKERS)
