"""The audit of assumptions: which a law needs, which only its derivation, which neither."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache, lru_cache
from itertools import combinations

from sympy import Expr

from varlaw.checks.finite.counter_examples import beyond, counter_example
from varlaw.checks.report import AssumptionReport, Proof
from varlaw.checks.steps.algebra import equal, opened
from varlaw.checks.steps.proofs import prove
from varlaw.derivations.catalogue import Law, find
from varlaw.symbolic.arrays import RandomArray, arrays_in
from varlaw.symbolic.assumptions import Assumption, Kind
from varlaw.symbolic.derivation import Derivation, RuleError
from varlaw.symbolic.strategy import normal_form

Claim = tuple[Expr, Expr]
RESTARTS = ("gradient", "vanishing", "sums-to-one")  # after which a finite model can tell


def claims(derivation: Derivation) -> list[Claim]:
    """What a law claims before anything is required or solved: pairs of equal expressions.

    The first expression and the last one equal to it, from where gradients are worked out, zeros
    put in and sums of probabilities put to 1; and what the lemmas of a limit say.
    """
    first = last = derivation.start
    lemmas: list[Claim] = []
    for step in derivation.steps:
        if step.on_equations or step.relation != "=":
            lemmas = [
                (d.start, d.end) for key in ("centre", "spread") if (d := step.certificate.get(key))
            ]
            break
        last = step.after
        first = last if step.checker in RESTARTS else first
    return lemmas or [(first, last)]


@cache
def audit(law: Law) -> tuple[AssumptionReport, ...]:
    """One answer for every declared assumption and every one of the usual telling."""
    more = (AssumptionReport(str(a), False, "none") for a in law.usual if a not in law.declared)
    return (*answers(law.derivation, law.declared), *more)


def answers(proof: Derivation, declared: Collection[Assumption]) -> tuple[AssumptionReport, ...]:
    """One answer for every assumption that is declared where a derivation starts."""
    found, arrays = claims(proof), arrays_in(proof.start)
    broken = {a: _broken(a, found, arrays) for a in declared if _testable(a, found)}
    open_ = [a for a, text in broken.items() if not text and a.kind is not Kind.NO_ATOM]
    used = proof.assumptions
    spared = _spared(sorted(open_, key=lambda a: a in used), found, arrays)
    return tuple(_report(a, broken, spared) for a in declared)


def inherited(law: Law) -> tuple[AssumptionReport, ...]:
    """The audit of a law and of those it rests on, whose names stand behind theirs."""
    found = {report.name: report for report in audit(law)}
    for name in law.entry.rests_on:
        for report in inherited(find(name)):
            label = report.name if " (" in report.name else f"{report.name} ({name})"
            found.setdefault(label, replace(report, name=label))
    return tuple(found.values())


def counter_examples(law: Law) -> list[str]:
    """Finite models that keep all declarations and break the law; there should be none."""
    arrays = arrays_in(law.derivation.start)
    found = (counter_example(None, *claim, arrays) for claim in claims(law.derivation) if arrays)
    return [text for text in found if text]


def _testable(assumption: Assumption, found: list[Claim]) -> bool:
    return assumption.representable and not any(beyond(*claim, assumption) for claim in found)


def _broken(
    assumption: Assumption, found: list[Claim], arrays: Mapping[str, RandomArray]
) -> str | None:
    return next(filter(None, (counter_example(assumption, *c, arrays) for c in found)), None)


def _spared(
    candidates: list[Assumption], found: list[Claim], arrays: Mapping[str, RandomArray]
) -> frozenset[Assumption]:
    """Those that the claims are derived without: all at once where that goes, else by halves.

    What is derived without several assumptions is derived without each of them.
    """
    if not candidates:
        return frozenset()
    weaker = weakened(arrays, candidates)
    if all(derivable(*claim, weaker) for claim in found):
        return frozenset(candidates)
    if len(candidates) == 1:
        return frozenset()
    half = len(candidates) // 2
    return frozenset().union(
        *(_spared(part, found, arrays) for part in (candidates[:half], candidates[half:]))
    )


def _report(
    assumption: Assumption,
    broken: Mapping[Assumption, str | None],
    spared: frozenset[Assumption],
) -> AssumptionReport:
    name = str(assumption)
    if broken.get(assumption):
        return AssumptionReport(name, True, "law", broken[assumption])
    if assumption in spared:
        return AssumptionReport(name, False, "none")
    if assumption not in broken or assumption.kind is Kind.GAUSSIAN:
        return AssumptionReport(name, None, "not representable")
    return AssumptionReport(name, None, "derivation")


def weakened(
    arrays: Mapping[str, RandomArray], gone: list[Assumption], added: tuple[Assumption, ...] = ()
) -> dict[str, RandomArray]:
    """The arrays with some assumptions given up and others added."""
    result = dict(arrays)
    for a in gone:
        if a.kind is Kind.INDEPENDENT:
            first, second = (result[s] for s in a.subjects)
            result[first.name] = first.related(first.depends | {second.name}, first.uncorrelated)
        elif a.kind is Kind.UNCORRELATED:
            for s in a.subjects:
                other = set(a.subjects) - {s}
                array = result[s]
                result[s] = array.related(array.depends, array.uncorrelated - other)
        elif a.subjects[0] in result:
            result[a.subjects[0]] = result[a.subjects[0]].without(a.kind)
    for a in added:
        if a.subjects[0] in result and len(a.subjects) == 1:
            result[a.subjects[0]] = result[a.subjects[0]].with_property(a.kind)
    return result


def derivable(start: Expr, end: Expr, arrays: Mapping[str, RandomArray]) -> bool:
    """Whether the automatic strategy derives the same statement from other declarations, proved."""
    return _derives(_with(start, arrays), end)


@lru_cache(maxsize=256)
def _derives(start: Expr, end: Expr) -> bool:
    again = _derived(start)
    if again is None or not equal(opened(again.end), opened(end)):
        return False
    return all(step.outcome is Proof.PROVED for step in prove(again))


def rederived(start: Expr, arrays: Mapping[str, RandomArray]) -> Derivation | None:
    """The automatic derivation from weaker declarations, if the strategy covers it."""
    return _derived(_with(start, arrays))


def _derived(start: Expr) -> Derivation | None:
    try:
        return normal_form(start)
    except RuleError:
        return None


def _with(start: Expr, arrays: Mapping[str, RandomArray]) -> Expr:
    return start.xreplace({a: arrays[a.name] for a in start.atoms(RandomArray)})


def sufficient(law: Law) -> tuple[tuple[str, ...], ...]:
    """Minimal sets of assumptions found from which what the law claims is derived.

    The claim is the one before anything is required or solved, such as E[y^2] = m q s2. The first
    set is what is left of the declared assumptions; the others put usual assumptions in the place
    of a declared one. What no derivation can do without here (a wide limit, an event of
    probability zero) is in every set.
    """
    found = claims(law.derivation)
    arrays = arrays_in(law.derivation.start)
    pool = [a for a in law.declared if _droppable(a)]
    fixed = [a for a in law.declared if not _droppable(a)]
    if not law.declared:
        return ()

    def enough(kept: tuple[Assumption, ...], extra: tuple[Assumption, ...] = ()) -> bool:
        weaker = weakened(arrays, [a for a in pool if a not in kept], extra)
        return all(derivable(*claim, weaker) for claim in found)

    def least(kept: tuple[Assumption, ...], extra: tuple[Assumption, ...]) -> frozenset[Assumption]:
        for a in kept:
            fewer = tuple(b for b in kept if b != a)
            if enough(fewer, extra):
                kept = fewer
        return frozenset((*kept, *extra))

    base = least(tuple(pool), ())
    sets = [base]
    usual = [a for a in law.usual if len(a.subjects) == 1 and a.kind is not Kind.GAUSSIAN]
    for a in sorted(base):
        rest = tuple(b for b in pool if b in base and b != a)
        for size in range(1, len(usual) + 1):
            for extra in combinations(usual, size):
                if any(s <= {*rest, *extra} for s in sets) or not enough(rest, extra):
                    continue
                sets.append(least(rest, extra))
    return tuple(tuple(map(str, sorted({*group, *fixed}))) for group in dict.fromkeys(sets))


def _droppable(assumption: Assumption) -> bool:
    return assumption.kind not in (Kind.WIDE, Kind.NO_ATOM, Kind.SUMS_TO_ONE)
