"""The checkers catch what is wrong: broken rules, wrong factors, forged steps."""

from dataclasses import replace
from itertools import islice

import pytest
from sympy import Add, Integer, Mul, Rational

from varlaw.checks.report import Proof
from varlaw.checks.steps.proofs import prove_law, prove_step
from varlaw.derivations import catalogue
from varlaw.derivations.catalogue import entries, find
from varlaw.symbolic import derivation as core
from varlaw.symbolic.arrays import RandomArray, arrays_in
from varlaw.symbolic.derivation import Derivation, Outcome, RuleError
from varlaw.symbolic.rules import expectation
from varlaw.symbolic.terms import Expectation, IndexSum


def forget() -> None:
    """Laws are derived anew from here on."""
    for law in catalogue._LAWS.values():
        law.__dict__.pop("derivation", None)


@pytest.fixture(autouse=True)
def derived_anew():
    """Laws derived by a broken rule are not kept, nor used by other laws."""
    forget()
    yield
    forget()


def outcomes(name: str) -> set[Proof]:
    """What the checkers say of a law that is derived anew."""
    reports, _ = prove_law(find(name).build)
    return {report.outcome for report in reports}


def broken(monkeypatch: pytest.MonkeyPatch, name: str, change) -> None:
    """Put a rule in the catalogue of rules whose result `change` falsifies."""
    find("lecun").build()
    forget()
    good = core.RULES[name]

    def apply(state, used, **options):
        result = good.apply(state, used, **options)
        if isinstance(result, Outcome):
            return replace(result, after=change(result.after))
        return change(result)

    monkeypatch.setitem(core.RULES, name, replace(good, apply=apply))


def without_a_term(position: int):
    def change(result):
        if not isinstance(result, Add):
            return result
        parts = sorted(result.args, key=str)
        return Add(*(p for k, p in enumerate(parts) if k != position % len(parts)))

    return change


@pytest.mark.parametrize(
    ("law", "terms"),
    [("attention-qk-fourth", 2), ("attention-qk-sixth", 4), ("attention-qk-eighth", 7)],
)
def test_a_forgotten_coincidence_is_caught(
    monkeypatch: pytest.MonkeyPatch, law: str, terms: int
) -> None:
    arrays = arrays_in(find(law).derivation.start)
    before = Derivation(find(law).derivation.start, find(law).derivation.steps[:4])
    for position in range(terms):
        with monkeypatch.context() as patch:
            broken(patch, "coincidence", without_a_term(position))
            step = before.by("coincidence").steps[-1]
            assert prove_step(step, arrays)[0] is Proof.REFUTED, position


def test_a_wrong_number_of_coincidences_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def change(result):
        return (
            result.replace(lambda e: e == 3, lambda e: Integer(4))
            if isinstance(result, Add)
            else result
        )

    broken(monkeypatch, "coincidence", change)
    assert Proof.REFUTED in outcomes("attention-qk-fourth")


def test_dependent_factors_taken_apart_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expectation, "linked", lambda *_: False)
    assert Proof.REFUTED in outcomes("residual-drop-path")


def test_dependent_entries_taken_apart_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expectation, "separable", lambda *_: True)
    assert Proof.REFUTED in outcomes("lecun")


def test_a_lost_mean_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """E x^2 taken for the variance of x, the mean forgotten."""
    monkeypatch.setattr(RandomArray, "_second", lambda self, mean: self.args[2].args[1])
    assert Proof.REFUTED in outcomes("residual-sum")


@pytest.mark.parametrize(
    "rule",
    [
        "expand",
        "linearity",
        "constants",
        "independence",
        "kronecker",
        "collapse",
        "identical",
        "count",
        "symmetry",
        "indicators",
        "moments",
        "coincidence",
    ],
)
def test_a_wrong_factor_in_any_rule_is_caught(monkeypatch: pytest.MonkeyPatch, rule: str) -> None:
    using = (
        name
        for name in entries()
        if any(s.rule == rule for s in find(name).derivation.steps)
        and find(name).derivation.end != 0
    )
    users = list(islice(using, 3))
    assert users
    broken(monkeypatch, rule, lambda result: result * Rational(21, 20))
    assert all(Proof.REFUTED in outcomes(name) for name in users)


def test_small_dimensions_alone_prove_nothing() -> None:
    """m (m - 1) (m - 2) (m - 3) vanishes for m <= 3, yet a forged step that adds it is refuted."""
    law = find("attention-qk-eighth").derivation
    step = next(s for s in law.steps if s.rule == "count")
    (d,) = step.after.free_symbols
    extra = Mul(*(d - k for k in range(4)))
    forged = replace(step, after=step.after + extra)
    outcome, _ = prove_step(forged, arrays_in(law.start))
    assert outcome is Proof.REFUTED


def test_a_chain_of_forged_steps_is_refused_when_built() -> None:
    law = find("lecun").derivation
    with pytest.raises(RuleError, match="does not begin"):
        Derivation(law.start, (law.steps[1],))


@pytest.mark.parametrize("folder", ["steps", "finite"])
def test_the_checkers_import_no_rule(folder: str) -> None:
    import ast
    from pathlib import Path

    import varlaw.checks

    for path in (Path(varlaw.checks.__file__).parent / folder).glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
        assert not any(
            (m or "").startswith(("varlaw.symbolic.rules", "varlaw.symbolic.strategy"))
            for m in imported
        ), path


def test_sums_of_expectations_are_told_from_their_neighbours() -> None:
    law = find("linear-fourth").derivation
    step = next(s for s in law.steps if s.rule == "coincidence")
    sums = [e for e in step.after.atoms(IndexSum)]
    assert len(sums) == 2 and all(e.has(Expectation) for e in sums)


def test_where_a_derivation_stops_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that covers too little, one that SymPy fails under, and a chain that is no chain."""
    start = find("stochastic-depth").derivation.start
    first = find("lecun").derivation.steps[0].rule

    def fail(*_: object) -> None:
        raise NotImplementedError("no limit is known")

    monkeypatch.setitem(core.RULES, first, replace(core.RULES[first], apply=fail))

    def too_little() -> Derivation:
        return core.derive(Rational(21, 20) * start).by("unfold expectation")

    def failing() -> Derivation:
        return find("lecun").build()

    def no_chain() -> Derivation:
        return core.derive(start.no_such_thing)

    for build, told in (
        (too_little, "stops at step 1 (unfold)"),
        (failing, f"stops at step 1 ({first}): rule {first!r} fails at"),
        (no_chain, "the definition cannot be derived from:"),
    ):
        steps, stopped = prove_law(build)
        assert steps == () and told in stopped and "\n" not in stopped
