"""Wrong steps that once passed for proved, and wrong answers once given: none may come back."""

from dataclasses import replace

import pytest
from sympy import Eq, Expr, Ge, Integer, Rational, Symbol, sqrt

from varlaw.checks.report import Proof
from varlaw.checks.steps.proofs import prove, prove_step
from varlaw.derivations.catalogue import find
from varlaw.symbolic.activations import leaky_relu, relu
from varlaw.symbolic.arrays import arrays_in
from varlaw.symbolic.declarations import (
    dimensions,
    indices,
    positive,
    random_array,
    random_variable,
)
from varlaw.symbolic.derivation import RuleError, Step, derive
from varlaw.symbolic.sequences import IndexProduct, named
from varlaw.symbolic.strategy import normal_form
from varlaw.symbolic.terms import (
    Covariance,
    Delta,
    Expectation,
    IndexSum,
    Sum,
    Variance,
    indicator,
)

m, n, d = dimensions("m n d")
i, j, k, a, b = indices("i j k a b")
s2, q = positive("s2 q")
x = random_array("x", mean=0, variance="s2")
f = random_array("f")
y = random_array("y", symmetric=True, second_moment="q")


def forged(start: Expr, rule: str, after: Expr, **options: object) -> Step:
    """A step by a rule with another result put in."""
    return replace(derive(start).by(rule, **options).steps[-1], after=after)


def verdict(step: Step) -> Proof:
    return prove_step(step, arrays_in(step.before))[0]


# Answers that were wrong


def test_powers_of_rectified_expectations() -> None:
    """Var relu(z)^2 = E relu^4 - (E relu^2)^2: the coefficient of (m q f2)^2 is 3/2 - 1/4."""
    g = random_array("g", mean=0, variance="v")
    z = named("z", Sum(g[i] * y[i], (i, 1, m)))
    end = normal_form(Variance(relu(z) ** 2)).end.expand()
    v = Symbol("v", positive=True)
    assert end.coeff(m, 2) == Rational(5, 4) * q**2 * v**2


def test_products_of_one_sided_expectations() -> None:
    up, down = (Expectation(y[1] ** 2 * indicator(y[1], sign)) for sign in "><")
    total = normal_form(up**2 + down**2).end
    assert total == q**2 / 2


@pytest.mark.parametrize(
    "expression",
    [
        Expectation(named("p", x[a]) * Sum(x[k], (k, 1, m)) * x[b]),
        Expectation((x[a] + Sum(x[k], (k, 1, m)) + x[1]) ** 3),
        Sum(Expectation(x[i] ** 2) * Expectation(Sum(x[i] * x[j], (j, 1, m))), (i, 1, n)),
        Expectation(x[1] * Sum(x[i], (i, 2, m))),
        Expectation(x[0] * Sum(x[i], (i, 1, m))),
        Expectation(Sum(f[i] ** Symbol("p", positive=True), (i, 1, m)) * Sum(f[i], (i, 1, m))),
    ],
)
def test_what_may_coincide_or_lies_outside_is_refused(expression: Expr) -> None:
    with pytest.raises(RuleError):
        normal_form(expression)


def test_a_common_cause_is_a_dependence_even_where_it_is_not_seen() -> None:
    c = random_array("c")
    u = random_array("u", mean="mu", depends_on=[c])
    w = random_array("w", mean="mw", depends_on=[c])
    end = normal_form(Expectation(u[1] * w[1])).end
    assert end == Expectation(u[1] * w[1])
    assert normal_form(Expectation(u[1] * w[1]) + Expectation(c[1])).end.has(end)


def test_null_events_take_only_their_own_terms_away() -> None:
    z = named("z", x[2])
    with pytest.raises(RuleError):
        derive(Expectation((x[1] + indicator(z, "=")) * x[1])).by("no-atom")


def test_a_declared_zero_moment_is_no_zero_mean() -> None:
    h = random_array("h", mean="mu", moments={3: 0})
    chain = derive(Expectation(h[1] ** 3)).by("identical")
    assert {str(used) for used in chain.assumptions} == {"h: identically distributed"}


# Steps that were wrong and passed


def test_the_value_may_not_change_with_the_name() -> None:
    step = find("lecun").derivation.steps[-1]
    wrong = replace(step, after=Eq(step.after.lhs, 2 * step.after.rhs, evaluate=False))
    assert prove_step(wrong, arrays_in(find("lecun").derivation.start))[0] is Proof.REFUTED


@pytest.mark.parametrize(
    ("name", "rule", "relation"),
    [
        ("means-inequality", "bound", "="),
        ("means-inequality", "bound", "<="),
        ("pre-norm-std", "asymptotic", "="),
        ("post-norm-layernorm", "concentrate", "="),
    ],
)
def test_the_relation_is_part_of_the_step(name: str, rule: str, relation: str) -> None:
    law = find(name).derivation
    step = next(s for s in law.steps if s.rule == rule)
    assert prove_step(replace(step, relation=relation), arrays_in(law.start))[0] is Proof.REFUTED


def test_a_choice_gives_a_name_to_the_value_found_and_nothing_else() -> None:
    law = find("pre-norm-share").derivation
    step = next(s for s in law.steps if s.rule == "equal")
    assert prove_step(step, {})[0] is Proof.PROVED
    for lhs, rhs in ((2 * step.after.lhs, step.after.rhs), (step.after.lhs, 2 * step.after.rhs)):
        wrong = replace(step, after=Eq(lhs, rhs, evaluate=False))
        assert prove_step(wrong, {})[0] is Proof.REFUTED
    with pytest.raises(RuleError, match="no name"):
        derive(Expectation(x[1] ** 2)).by("equal", to=2 * q)


def test_a_solution_is_an_equation() -> None:
    law = find("lecun").derivation
    step = next(s for s in law.steps if s.rule == "solve")
    wrong = replace(step, after=Ge(step.after.lhs, step.after.rhs, evaluate=False))
    assert prove_step(wrong, arrays_in(law.start))[0] is Proof.REFUTED


def test_an_asymptotic_has_a_sign() -> None:
    step = find("pre-norm-std").derivation.steps[-1]
    assert prove_step(replace(step, after=-step.after), {})[0] is not Proof.PROVED


def test_concentration_is_refused_where_chebyshev_does_not_suffice() -> None:
    u = random_array("u", mean=0, variance=1)
    mean = named("S", Sum(u[i] ** 2, (i, 1, d)) / d)
    for state in (
        d * (mean - 1) ** 2,
        sqrt(d) * mean,
        Expectation(1 / mean),
        1 / (mean - 1),
        mean + 1,
    ):
        with pytest.raises(RuleError, match=r"not covered|tends to no positive number"):
            derive(state).by("concentrate", mean=mean, width=d)


def test_a_recurrence_is_one_of_its_own_sequence() -> None:
    law = find("post-norm-decay").derivation
    t = indices("t")
    other = named("x", (x[t] + f[t]) / 2, t + 1)
    chain = (
        derive(other)
        .by("unfold")
        .by("iterate", previous=f[t], index=t, steps=dimensions("l"), initial=Integer(7))
    )
    assert prove(chain)[-1].outcome is Proof.REFUTED
    assert {r.outcome for r in prove(law)} == {Proof.PROVED}


@pytest.mark.parametrize(
    "after",
    [
        2 ** (m - 1) * Symbol("mu", real=True),
        m * Symbol("mu", real=True) + Delta(m, Integer(4)),
        m * Symbol("mu", real=True) + IndexProduct(Integer(2), k, Integer(1), m),
    ],
)
def test_what_is_no_polynomial_is_not_proved_at_a_few_points(after: Expr) -> None:
    u = random_array("u", mean="mu")
    start = IndexSum(Symbol("mu", real=True), *Sum(u[i], (i, 1, m)).ranges)
    assert verdict(forged(start, "count", after)) is not Proof.PROVED


def test_declared_moments_count_towards_the_degree() -> None:
    u = random_array("u", mean=m**3)
    start = Sum(Expectation(u[i]), (i, 1, m))
    assert verdict(forged(start, "identical", 15 * m - 14)) is not Proof.PROVED


def test_only_powers_of_entries_are_written_out() -> None:
    start = Expectation(x[1] / (x[1] + x[2]) + x[1])
    step = derive(start).by("linearity").steps[-1]
    wrong = replace(step, after=Expectation(x[1]) / (x[1] + x[2]) + Expectation(x[1]))
    assert prove_step(wrong, arrays_in(start))[0] is not Proof.PROVED


def test_a_lost_expectation_is_seen() -> None:
    step = forged(Expectation(relu(y[1])), "activation", y[1] * indicator(y[1], ">"))
    assert verdict(step) is not Proof.PROVED


def test_assumptions_used_must_be_recorded() -> None:
    for name in ("lecun", "linear-fourth", "residual-sum"):
        law = find(name).derivation
        for step in law.steps:
            if step.checker == "moments" and step.assumptions:
                bare = replace(step, assumptions=frozenset())
                assert prove_step(bare, arrays_in(law.start))[0] is Proof.REFUTED, step.rule


def test_a_solution_is_positive() -> None:
    law = find("lecun").derivation
    step = next(s for s in law.steps if s.rule == "solve")
    (unknown,) = step.after.lhs.free_symbols
    gap = Eq(m * unknown + q, Integer(0), evaluate=False)
    wrong = replace(step, before=gap, after=Eq(unknown, -q / m, evaluate=False))
    assert prove_step(wrong, {})[0] is Proof.REFUTED


def test_what_stands_beside_a_product() -> None:
    product = IndexProduct((k + 1) / k, k, Integer(1), n)
    step = derive(product).by("telescope").steps[-1]
    wrong = replace(step, before=product + 5, after=step.after)
    assert prove_step(wrong, {})[0] is not Proof.PROVED


def test_naming_the_next_term_needs_a_second_moment() -> None:
    law = find("pre-norm-growth").derivation
    step = next(s for s in law.steps if s.rule == "call")
    assert prove_step(step, arrays_in(law.start))[0] is Proof.PROVED
    fourth = Eq(Expectation(x[1] ** 4), step.before.rhs, evaluate=False)
    assert prove_step(replace(step, before=fourth), arrays_in(law.start))[0] is not Proof.PROVED


# Right steps that were refuted or left open


@pytest.mark.parametrize(
    "expression",
    [
        Covariance(Sum(f[i] * x[j], (i, 1, m)), Sum(f[i] * x[k], (i, 1, m))),
        Expectation(f[j] * Sum(f[i], (i, 1, m))),
        Expectation(f[2] * Sum(f[i], (i, 1, m))),
        Expectation(Sum(f[i], (i, 3, m)) ** 2),
        Expectation(relu(y[1]) ** 2) * Expectation(relu(y[2]) ** 2),
        Variance(relu(y[1]) ** 2),
        Expectation(leaky_relu(y[1], Rational(1, 3)) * relu(-y[1])),
    ],
)
def test_right_derivations_are_proved(expression: Expr) -> None:
    reports = prove(normal_form(expression))
    assert {r.outcome for r in reports} == {Proof.PROVED}, [
        r for r in reports if r.outcome != "proved"
    ]


def test_scalars_are_single_variables() -> None:
    u = random_variable("u", mean="mu", variance="s2")
    assert normal_form(Variance(3 * u + 1)).end == 9 * s2
