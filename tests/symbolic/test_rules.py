"""Each rewrite rule by itself, its traps, and the records that hold its steps."""

import pytest
from sympy import Eq, Integer, Symbol, sqrt

from varlaw.symbolic.arrays import DeclarationError
from varlaw.symbolic.assumptions import Assumption, Kind
from varlaw.symbolic.declarations import dimensions, indices, positive, random_array
from varlaw.symbolic.derivation import RULES, Derivation, RuleError, Step, derive
from varlaw.symbolic.means import geometric_mean
from varlaw.symbolic.sequences import IndexProduct, Term
from varlaw.symbolic.terms import Delta, Expectation, IndexSum, Sum, Variance, indicator

m, n = dimensions("m n")
i, j, k = indices("i j k")
s2, q, t = positive("s2 q t")
x = random_array("x", second_moment="q")
w = random_array("w", mean=0, variance="s2")


def test_expansion_keeps_bound_and_free_indices_apart() -> None:
    total = Sum(x[i], (i, 1, m))
    chain = derive(Expectation(total * x[i])).by("expand")
    (inside,) = chain.end.args
    (bound,) = inside.bound
    assert bound != i and inside.summand == x[bound] * x[i]


def test_expansion_renames_sums_of_the_same_index() -> None:
    chain = derive(Expectation(Sum(x[i], (i, 1, m)) * Sum(w[i, j], (i, 1, n)))).by("expand")
    (inside,) = chain.end.args
    assert len(set(inside.bound)) == 2


def test_substitution_does_not_capture() -> None:
    total = Sum(w[i, j], (i, 1, m))
    moved = total.subs(j, i)
    assert moved.free_symbols == {m, i}
    assert moved.bound != (i,)


def test_kronecker_records_what_it_used() -> None:
    chain = derive(Expectation(w[i, j] * w[k, j])).by("kronecker")
    assert chain.end == Delta(i, k) * Expectation(w[i, j] ** 2)
    assert chain.assumptions == {
        Assumption(Kind.ZERO_MEAN, ("w",)),
        Assumption(Kind.INDEPENDENT_ENTRIES, ("w",)),
    }


@pytest.mark.parametrize(
    "weaker",
    [random_array("w", variance="s2"), random_array("w", mean=0, variance="s2", independent=False)],
)
def test_kronecker_needs_its_assumptions(weaker) -> None:
    with pytest.raises(RuleError, match="changes nothing"):
        derive(Expectation(weaker[i, j] * weaker[k, j])).by("kronecker")


def test_independence_does_not_separate_what_depends() -> None:
    h = random_array("h", depends_on=[x])
    with pytest.raises(RuleError, match="changes nothing"):
        derive(Expectation(x[i] * h[i])).by("independence")
    assert derive(Expectation(x[i] * h[i] * w[i, j])).by("independence").end == (
        Expectation(x[i] * h[i]) * Expectation(w[i, j])
    )


def test_entries_separate_only_where_their_indices_differ() -> None:
    with pytest.raises(RuleError, match="changes nothing"):
        derive(Expectation(x[i] ** 2 * x[k])).by("independence")
    assert derive(Expectation(x[1] * x[2])).by("independence").end == Expectation(
        x[1]
    ) * Expectation(x[2])


def test_counting_is_a_falling_factorial() -> None:
    chain = derive(Expectation(Sum(w[i, j] ** 2, (i, 1, m)) ** 2)).by(
        "expand linearity coincidence independence identical count"
    )
    fourth = w.moment(4)
    assert (chain.end - (m * fourth + m * (m - 1) * s2**2)).expand() == 0


def test_symmetry_needs_a_symmetric_array() -> None:
    z = random_array("z", mean=0)
    with pytest.raises(RuleError, match="changes nothing"):
        derive(Expectation(z[i] ** 2 * indicator(z[i], ">"))).by("symmetry")


def test_solve_refuses_what_has_two_terms_of_the_unknown() -> None:
    chain = derive(t**2 + t).by("require", equals=Integer(1))
    with pytest.raises(RuleError, match="not of the form"):
        chain.by("solve", unknown=t)


def test_solve_takes_the_positive_root() -> None:
    chain = derive(m * n * t**2).by("require", equals=Integer(1)).by("solve", unknown=t)
    assert chain.statement == Eq(t, 1 / sqrt(m * n), evaluate=False)


def test_bound_needs_a_certificate() -> None:
    with pytest.raises(RuleError, match="no certificate"):
        derive((m + n) / 2).by("bound", by=m)
    with pytest.raises(RuleError, match="no certificate"):
        derive(geometric_mean(m, n).definition).by("bound", by=(m + n) / 2)


def test_iterate_at_ratio_one_is_a_plain_sum() -> None:
    v, layer, depth = (
        Term("v", Symbol("t", integer=True)),
        Symbol("t", integer=True),
        dimensions("l"),
    )
    chain = (
        derive(v + 1)
        .by("equal", to=Term("v", layer + 1))
        .by("iterate", previous=v, index=layer, steps=depth, initial=Integer(1))
    )
    assert chain.end == 1 + depth


def test_telescope_leaves_other_products_alone() -> None:
    product = IndexProduct(1 + 1 / (k + s2), k, Integer(0), n)
    assert derive(IndexProduct(k**2 + 1, k, Integer(0), n)).by_if("telescope").steps == ()
    assert not derive(product).by("telescope").end.has(IndexProduct)


def test_a_chain_checks_itself() -> None:
    first = derive(Expectation(x[i] + w[i, j])).by("linearity").steps[0]
    with pytest.raises(RuleError, match="does not begin"):
        Derivation(Expectation(x[i]), (first,))


def test_unknown_rules_are_named_with_the_nearest() -> None:
    with pytest.raises(RuleError, match="did you mean 'linearity'"):
        derive(Expectation(x[i])).by("linearty")


def test_a_rule_that_changes_nothing_is_an_error() -> None:
    with pytest.raises(RuleError, match="changes nothing"):
        derive(Expectation(x[i])).by("collapse")


def test_every_rule_has_a_checker_and_a_reason() -> None:
    from varlaw.checks.steps.proofs import CHECKERS

    derive(Expectation(x[i] + 1)).by("linearity")
    assert RULES
    for rule in RULES.values():
        assert rule.checker in CHECKERS and rule.reason and rule.apply.__doc__


def test_steps_are_frozen() -> None:
    step: Step = derive(Expectation(x[i] + 1)).by("linearity").steps[0]
    with pytest.raises(AttributeError):
        step.rule = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"variance": 1, "second_moment": 1}, "not both"),
        ({"mean": 1, "symmetric": True}, "mean 0"),
        ({"variance": -1}, "negative"),
        ({"moments": {2: 1}}, "order 1 and 2"),
    ],
)
def test_contradictory_declarations(declared: dict, message: str) -> None:
    with pytest.raises(DeclarationError, match=message):
        random_array("w", **declared)


def test_one_name_for_two_arrays() -> None:
    other = random_array("x", mean=0)
    with pytest.raises(DeclarationError, match="two different"):
        derive(Variance(x[i] + other[i])).by("moments expand linearity independence")


def test_sums_know_their_indices() -> None:
    total = Sum(x[i] * w[i, j], (i, 1, m))
    assert isinstance(total, IndexSum)
    assert total.free_symbols == {j, m}
    assert total.bound == (i,)


def test_moments_of_a_gaussian_with_a_mean() -> None:
    g = random_array("g", mean="mu", variance="s2", gaussian=True)
    mu = Symbol("mu", real=True)
    assert (g.moment(4) - (mu**4 + 6 * mu**2 * s2 + 3 * s2**2)).expand() == 0
    assert (g.moment(3) - (mu**3 + 3 * mu * s2)).expand() == 0
