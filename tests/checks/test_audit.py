"""The audit against what is known of the laws, and its counter-examples re-computed by hand."""

from fractions import Fraction
from itertools import product

import pytest
from flint import fmpq
from sympy import Integer, Symbol

from varlaw.checks.audit import audit, claims, derivable, sufficient, weakened
from varlaw.checks.finite.counter_examples import counter_example, models_tried
from varlaw.checks.finite.tables import FACTOR, NORMAL, OFFSET, SKEWED, SYMMETRIC, Table
from varlaw.derivations.catalogue import entries, find, parse_assumption
from varlaw.symbolic.arrays import arrays_in
from varlaw.symbolic.assumptions import Assumption, Kind
from varlaw.symbolic.terms import Expectation


def answers(name: str) -> dict[str, tuple[bool | None, str]]:
    return {r.name: (r.needed, r.scope) for r in audit(find(name))}


NEEDED, NOT = (True, "law"), (False, "none")


def test_lecun() -> None:
    found = answers("lecun")
    assert found["x: zero mean"] == NOT
    assert found["x: independent entries"] == NOT
    assert found["w: Gaussian"] == NOT
    for name in (
        "w: zero mean",
        "w: independent entries",
        "w independent of x",
        "w: identically distributed",
        "x: identically distributed",
    ):
        assert found[name] == NEEDED, name


def test_lecun_holds_for_weights_with_a_mean_if_inputs_are_centred_and_independent() -> None:
    sets = [set(group) for group in sufficient(find("lecun"))]
    assert any(
        {"x: zero mean", "x: independent entries"} <= s and "w: zero mean" not in s for s in sets
    )


def test_he_needs_symmetry_and_zero_mean_is_not_enough() -> None:
    found = answers("he")
    assert found["w: symmetric"] == NEEDED
    assert found["x: zero mean"] == NOT
    assert found["w: Gaussian"] == NOT
    report = next(r for r in audit(find("he")) if r.name == "w: symmetric")
    assert report.counterexample and "-4/5" in report.counterexample  # a centred, skewed law


def test_xavier_geometric() -> None:
    found = answers("xavier-geometric")
    assert found["w1 independent of w2"] == NEEDED
    assert found["w1: zero mean"] == NEEDED
    assert found["x: zero mean"] == NOT
    assert found["x: independent entries"] == NOT
    # the cross terms vanish by W1 already: in second moments W2 may have a mean
    assert found["w2: zero mean"] == NOT


def test_residual_sum_needs_zero_covariance_and_not_independence() -> None:
    found = answers("residual-sum")
    assert found["F uncorrelated with x"] == NEEDED
    assert found["F independent of x"] == NOT
    assert found["x: zero mean"] == NOT
    assert sufficient(find("residual-sum")) == (("F uncorrelated with x",),)


def test_kurtosis_needs_the_gaussian_law() -> None:
    assert answers("attention-qk-kurtosis")["q: Gaussian"] == NEEDED


@pytest.mark.parametrize("name", list(entries())[::4])
def test_every_assumption_has_an_answer(name: str) -> None:
    """Gaussian laws and the wide limit are never dropped on a finite model."""
    used = find(name).derivation.assumptions
    for report in audit(find(name)):
        assumption = parse_assumption(report.name)
        if assumption.kind is Kind.WIDE:
            assert (report.needed, report.scope) == (None, "not representable")
        if assumption.kind is Kind.GAUSSIAN and report.needed is False:
            assert assumption not in used  # the derivation itself does without it
        allowed = {"law": True, "derivation": None, "none": False, "not representable": None}
        assert report.needed is allowed[report.scope]
        assert (report.counterexample is not None) == (report.scope == "law")


def mean(values: list[Fraction], odds: tuple[int, ...], order: int) -> Fraction:
    return sum((v**order * o for v, o in zip(values, odds, strict=True)), Fraction(0)) / sum(odds)


@pytest.mark.parametrize(
    ("table", "moments"),
    [
        (SYMMETRIC, {1: 0, 2: 1, 3: 0}),
        (SKEWED, {1: 0, 2: 1, 3: Fraction(91, 125)}),
        (OFFSET, {1: Fraction(-2, 5), 2: 1}),
        (FACTOR, {2: 1}),
        (NORMAL, {1: 0, 2: 1, 3: 0, 4: 3, 5: 0}),
    ],
)
def test_the_tables_have_the_moments_they_are_used_for(table, moments: dict[int, Fraction]) -> None:
    values = [Fraction(int(v.p), int(v.q)) for v in table.values]
    for order, expected in moments.items():
        assert mean(values, table.odds, order) == expected
    assert len({v**2 for v in values}) > 1  # no two-point law with constant square


def test_a_counter_example_is_a_counter_example() -> None:
    """LeCun with weights of mean -4/5: E y^2 by hand over all outcomes, against m q E[w^2]."""
    law = find("lecun")
    ((start, end),) = claims(law.derivation)
    text = counter_example(Assumption(Kind.ZERO_MEAN, ("w",)), start, end, arrays_in(start))
    assert text is not None and "m = 2" in text
    w = [Fraction(int(v.p), int(v.q)) * 2 for v in OFFSET.values]
    x = [Fraction(int(v.p), int(v.q)) * 4 for v in OFFSET.values]
    odds = (2, 2, 1, 1)
    total = Fraction(0)
    for (a, pa), (b, pb), (c, pc) in product(
        zip(w, odds, strict=True), zip(w, odds, strict=True), zip(x, odds, strict=True)
    ):
        total += Fraction(pa * pb * pc, 216) * (c * a + c * b) ** 2
    claimed = 2 * mean(x, odds, 2) * mean(w, odds, 2)
    assert total != claimed
    assert f"{total} and {claimed}" in text


def test_a_wrong_law_is_broken_by_a_finite_model() -> None:
    law = find("lecun")
    ((start, end),) = claims(law.derivation)
    assert counter_example(None, start, end, arrays_in(start)) is None
    assert counter_example(None, start, end * Integer(21) / 20, arrays_in(start)) is not None
    assert counter_example(
        None, start, end + Symbol("m", integer=True, positive=True) - 1, arrays_in(start)
    )


def test_models_keep_what_implies_nothing_of_the_dropped_assumption() -> None:
    """Dropping symmetry keeps the zero mean."""
    law = find("he")
    ((start, _),) = claims(law.derivation)
    weaker = arrays_in(start)["w"].without(Kind.SYMMETRIC)
    assert weaker.zero_mean and not weaker.has(Kind.SYMMETRIC)
    assert not arrays_in(start)["w"].without(Kind.ZERO_MEAN).has(Kind.SYMMETRIC)
    assert start.has(Expectation)


@pytest.mark.parametrize(
    "text", ["w: zero mean", "x independent of F", "F uncorrelated with x", "w: Gaussian"]
)
def test_assumptions_are_read_back(text: str) -> None:
    left, right = str(parse_assumption(text)), text
    assert sorted(left.split()) == sorted(right.split())


@pytest.mark.parametrize("second", ["5/6", "9/8", "7/6"])
@pytest.mark.parametrize(
    "table", [SYMMETRIC, SKEWED, OFFSET, NORMAL], ids=["symmetric", "skewed", "offset", "normal"]
)
def test_tables_take_any_second_moment_near_1(table: Table, second: str) -> None:
    wanted = Fraction(second)
    spread = table.spread(fmpq(wanted.numerator, wanted.denominator))
    values = [Fraction(int(v.p), int(v.q)) for v in spread.values]
    found = {order: mean(values, spread.odds, order) for order in range(1, 6)}
    assert min(spread.odds) > 0 and found[2] == wanted
    assert (found[1] == 0) == (table != OFFSET)
    if table == SYMMETRIC:
        assert found[3] == found[5] == 0
    if table == NORMAL:
        assert (found[3], found[4], found[5]) == (0, 3 * wanted**2, 0)


def test_tables_without_fitting_odds_are_left_out() -> None:
    assert SKEWED.spread(fmpq(2)) is None


@pytest.mark.parametrize("name", ["attention-correlated", "attention-causal", "attention-t5"])
def test_models_are_found_and_tell_where_variances_are_no_squares(name: str) -> None:
    ((start, end),) = claims(find(name).derivation)
    arrays = arrays_in(start)
    assert models_tried(start, end, arrays) >= 2
    assert counter_example(None, start, end, arrays) is None
    assert counter_example(None, start, end * Integer(21) / 20, arrays) is not None


def test_what_is_derived_without_several_assumptions_is_derived_without_each() -> None:
    law = find("fixup-features")
    found = claims(law.derivation)
    arrays = arrays_in(law.derivation.start)
    for report in audit(law):
        if report.scope in ("none", "derivation"):
            weaker = weakened(arrays, [parse_assumption(report.name)])
            alone = all(derivable(*claim, weaker) for claim in found)
            assert alone == (report.scope == "none"), report.name
