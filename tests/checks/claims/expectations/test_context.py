"""Expectations by what the context declares, against closed forms and published figures."""

import pytest

from varlaw.checks.claims.declarations.context import read_context
from varlaw.checks.claims.links.decide import judge_chain
from varlaw.checks.claims.links.verdict import Judgement
from varlaw.symbolic.formulas.reader import read_plain

STANDARD = "z ~ N(0, 1)"
LAYER = (
    "x[i] ~ iid(second_moment = q) for i = 1..m",
    "w[i,j] ~ iid(mean = 0, var = s2)",
    "y[j] = sum_i x[i] w[i,j]",
    "n > 0",
)
SCORES = (
    "q[i] ~ iid(mean = 0, var = 1) for i = 1..d",
    "k[i] ~ iid(mean = 0, var = 1)",
    "s = sum_i q[i] k[i]",
)
# One letter for two indices: each array runs as far as it was declared to.
TWO_RANGES = (*LAYER, "k[i] ~ N(0, 1) for i = 1..d", "t[i] ~ N(0, 1)")


def judged(text: str, *lines: str) -> Judgement:
    context = read_context(lines)
    assert not context.problems
    return judge_chain(read_plain(text).chains[0], context)[-1]


@pytest.mark.parametrize(
    ("lines", "text", "expected"),
    [
        ((STANDARD,), "E[gelu(z)^2] = 0.42522", "verified"),
        ((STANDARD,), "E[gelu(z)^2] = 0.42524", "refuted"),
        ((STANDARD,), "E[gelu(z)^2] = 1/3 + sqrt(3)/(6 pi)", "verified"),
        ((STANDARD,), "E[gelu(z)^2] = 1/3 + sqrt(3)/(5 pi)", "refuted"),
        ((STANDARD,), "E[tanh(z)^2] = 0.39429449039784", "verified"),
        ((STANDARD,), "E[tanh(z)^2] = 0.39429449039786", "refuted"),
        ((STANDARD,), "E[z^2 | abs(z) < 2] = 0.7737413", "verified"),
        ((STANDARD,), "Var[z | -2 < z < 2] = 0.7737413", "verified"),
        ((STANDARD,), "E[relu(z)^2] = 1/2", "verified"),
        ((STANDARD,), "Var(relu(z)) = 1/2 - 1/(2 pi)", "verified"),
        ((STANDARD,), "Var(relu(z)) = 1/2", "refuted"),
        ((STANDARD,), "P(abs(z) < 1) = 0.6827", "verified"),
        ((STANDARD,), "P[abs(z) < 1] = 0.6827", "verified"),
        (("u ~ U(-a, a)",), "Std(u) = a/sqrt(3)", "verified"),
        (("u ~ U(-a, a)",), "Std(u) = a/3", "refuted"),
        (("u ~ U(b, c)",), "Std(u) = (c - b)/sqrt(12)", "undecided"),  # b < c is not used
        (("u ~ U(b, c)",), "Std(u) = (c - b)/12", "refuted"),
        (("x ~ iid(mean = mu, second_moment = q)",), "Var(x) = abs(q - mu^2)", "undecided"),
        (("x ~ iid(mean = mu, second_moment = q)",), "Var(x) = q", "refuted"),
        ((STANDARD,), "E[1/z] = 0", "undecided"),
        ((STANDARD,), "E[exp(z^2)] = 3", "undecided"),
        ((STANDARD,), "E[w^2] = 3", "undecided"),
        (LAYER, "E[y[j]^2] = m q s2", "verified"),
        (LAYER, "E[y_j^2] = m q s2", "verified"),
        (LAYER, "E[y[j]^2] = n q s2", "refuted"),
        (LAYER, "E[y[j]^2] = m q s2^2", "refuted"),
        (LAYER, "Var(y[j]) = m q s2", "verified"),
        (LAYER, "E[y[j]] = 0", "verified"),
        (LAYER, "E[y[j]^2] = 1", "undecided"),  # what He asks for, and no claim
        (LAYER, "E[w[i,j]^2] = 1/m", "undecided"),
        (LAYER, "Var(y[j]) = E[x[i]^2]", "undecided"),
        (LAYER, "E[y[j]^2] = sum_i E[x[i]^2] E[w[i,j]^2]", "verified"),
        (LAYER, "sum_i E[x[i]^2] = m q", "verified"),
        (LAYER, "sum_i E[x[i]^2] = n q", "refuted"),
        (LAYER, "E[y[j]^2] = m E[x[i]^2] Var(w[i,j])", "verified"),
        (LAYER, "E[y[j]^2] = m q v", "undecided"),  # v is not declared
        ((*LAYER, "m = 10; q = 2; s2 = 1/20"), "E[y[j]^2] = 1.0", "verified"),
        ((*LAYER, "m = 10; q = 2; s2 = 1/20"), "E[y[j]^2] = 1.2", "refuted"),
        (TWO_RANGES, "E[y[j]^2] = m q s2", "verified"),
        (TWO_RANGES, "E[y[j]^2] = d q s2", "refuted"),
        (TWO_RANGES, "Var(sum_i k[i]) = d", "verified"),
        (TWO_RANGES, "Var(sum_i t[i]) = d", "verified"),  # as i was declared last
        (TWO_RANGES, "E[(sum_i k[i] x[i])^2] = d q", "undecided"),  # or m q
        (TWO_RANGES, "E[(sum_{i=1}^m k[i] x[i])^2] = m q", "verified"),
        (SCORES, "Var(s) = d", "verified"),
        (SCORES, "Var(s/sqrt(d)) = 1", "verified"),
        (SCORES, "Var(s/d) = 1", "refuted"),
        ((), "Var(U(-a, a)) = a^2/3", "verified"),
        ((), "Var(U(-a, a)) = a^2/12", "refuted"),
        ((), "Std(N(0, 4)) = 2", "verified"),
        (("u ~ U(0, 1)",), "E[u | u > 1/2] = 3/4", "verified"),
        (("u ~ U(0, 1)",), "E[exp(u)] = 1.71828", "verified"),
        (("u ~ U(-a, a)", "a > 0"), "E[u^4] = a^4/5", "verified"),
        (("b ~ Bernoulli(p)",), "Var(b) = p (1 - p)", "verified"),
        (("b ~ Bernoulli(p)",), "Var(b) = p", "refuted"),
        (("r ~ Rademacher()",), "E[relu(r)] = 1/2", "verified"),
        (("t ~ truncated(0, 1, -2, 2)",), "Var(t) = 0.7737413", "verified"),
        # Var(XY) = 61 and not 36 for X ~ N(1, 4), Y ~ N(-2, 9), independent
        (("X ~ N(1, 4); Y ~ N(-2, 9)",), "Var(X Y) = 61", "verified"),
        (("X ~ N(1, 4); Y ~ N(-2, 9)",), "Var(X Y) = 36", "refuted"),
        ((STANDARD, "w ~ N(0, 1)"), "E[relu(z) relu(w)] = 1/(2 pi)", "verified"),
        ((STANDARD, "w ~ N(0, 1)"), "E[z^2 relu(w)] = 1/sqrt(2 pi)", "verified"),
        ((STANDARD, "w ~ N(0, 1)"), "E[relu(z + w)] = 1/sqrt(pi)", "verified"),
        ((STANDARD, "w ~ N(0, 1)"), "Cov(z + w, z - w) = 0", "verified"),
        (("z ~ N(mu, v)", "mu real"), "E[z^2] = mu^2 + v", "verified"),
        (("z ~ N(mu, v)", "mu real"), "E[z^2] = v", "refuted"),
    ],
)
def test_expectations(lines: tuple[str, ...], text: str, expected: str) -> None:
    assert str(judged(text, *lines).verdict) == expected


@pytest.mark.parametrize(
    ("lines", "text", "hint"),
    [
        ((STANDARD,), "Var[z | -2 < z < 2] = 0.87962566", "this is the std, not the variance"),
        ((STANDARD,), "Var(relu(z)) = 1/2", "this is the second moment, not the variance"),
        (("w ~ N(0, 0.02)",), "Var(w) = 0.0004", "if N(mean, s) gave the std"),
        (SCORES, "Std(s) = d", "this is the variance, not the std"),
        (LAYER, "E[y[j]^2] = n q s2", "right with m for n"),
    ],
)
def test_refuted_links_say_which_slip_it_is(lines: tuple[str, ...], text: str, hint: str) -> None:
    found = judged(text, *lines)
    assert str(found.verdict) == "refuted"
    assert hint in found.reason


def test_the_second_parameter_of_a_normal_law_is_the_variance() -> None:
    assert str(judged("Std(w) = 0.02", "w ~ N(0, std=0.02)").verdict) == "verified"
    assert str(judged("Std(w) = 0.02", "w ~ N(0, 0.02)").verdict) == "refuted"


@pytest.mark.parametrize(
    ("lines", "text", "law"),
    [
        ((STANDARD,), "E[relu(z)^2] = 1/2", "law relu-square"),
        (("z ~ N(0, 1)",), "E[gelu(z)^2] = 0.4252", "law gelu-second-moment"),
        ((STANDARD,), "E[sigmoid(z)^2] = 0.2934", "law sigmoid-second-moment"),
        (("z ~ N(0, 2)",), "E[sigmoid(z)^2] = 0.3263", "enclosure"),
        ((STANDARD,), "E[z^2] = 1", "enclosure"),
        ((STANDARD,), "E[relu(z)^2] = 2", "enclosure"),
    ],
)
def test_laws_of_the_catalogue_are_cited(lines: tuple[str, ...], text: str, law: str) -> None:
    assert judged(text, *lines).rule == law


@pytest.mark.parametrize(
    ("line", "text", "wrong"),
    [
        ("z ~ N(x, 1)", "E[(z - x)^2] = 1", "E[(z - x)^2] = 0"),
        ("z ~ N(x, 1)", "E[x z] = x^2", "E[x z] = x^2 + 1"),
        ("u ~ U(0, x)", "E[u x] = x^2/2", "E[u x] = x^2/3"),
        ("b ~ Bernoulli(x)", "E[b x] = x^2", "E[b x] = x"),
    ],
)
def test_a_parameter_called_x_is_not_the_variable(line: str, text: str, wrong: str) -> None:
    assert [str(judged(one, line).verdict) for one in (text, wrong)] == ["verified", "refuted"]


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (("z ~ N(0, 1)", "x ~ N(0, 4)", "z = 3 x"), "E[z^2] = 36"),
        (("n = 3", "n ~ N(0, 1)"), "E[n^2] = 1"),
        (("z ~ N(0, 1)", "y ~ N(0, 1)", "z = 3"), "E[z^2 y^2] = 9"),
        (("x ~ N(0, 1)", "y = x^2", "y ~ N(0, 2)"), "Cov(x^2, y) = 0"),
    ],
)
def test_what_is_declared_last_holds(lines: tuple[str, ...], text: str) -> None:
    assert str(judged(text, *lines).verdict) == "verified"
    *others, last = lines
    joined = read_context(others).joined(read_context([last], before=read_context(others)))
    assert str(judge_chain(read_plain(text).chains[0], joined)[-1].verdict) == "verified"


@pytest.mark.parametrize("text", ["E[sum_{k=1}^3 k] = 0", "sum_{k=1}^3 E[k^2] = 3"])
def test_an_index_with_the_name_of_a_random_variable_is_not_decided(text: str) -> None:
    found = judged(text, "k ~ N(0, 1)")
    assert str(found.verdict) == "undecided"
    assert "rename one of them" in found.reason


@pytest.mark.parametrize(
    ("line", "text", "expected"),
    [
        (STANDARD, "P[z = 0] = 0", "verified"),
        (STANDARD, "P[z = 0] = 1", "refuted"),
        (STANDARD, "P[relu(z) = 0] = 1/2", "verified"),
        (STANDARD, "E[z | z = 1] = 0", "undecided"),
        ("b ~ Bernoulli(p)", "P[b = 1] = p", "verified"),
        ("b ~ Bernoulli(p)", "P[b = 1] = 1 - p", "refuted"),
        ("x ~ Poisson(2)", "P[x = 0] = 0", "refuted"),  # not so
        ("x ~ truncated(0, 1, 40, 41)", "E[x] = 40.024968847", "verified"),  # by quadrature
        ("x ~ truncated(0, 1, -41, -40)", "E[x] = 40.024968847", "refuted"),
    ],
)
def test_probabilities_of_single_values_and_means_far_out(
    line: str, text: str, expected: str
) -> None:
    assert str(judged(text, line).verdict) == expected


def test_comments_and_several_declarations_in_a_line() -> None:
    text = """
    z ~ N(0, 1)        # the variance
    u ~ U(-a, a); b ~ Bernoulli(p); r ~ Rademacher()
    n = 768; sigma > 0; mu, nu real
    # nothing
    """
    context = read_context(text.splitlines())
    assert not context.problems
    assert [variable.name for variable in context.variables] == ["z", "u", "b", "r"]
    assert dict(context.signs) == {"sigma": True, "mu": False, "nu": False}
    assert context.value("n") is not None


@pytest.mark.parametrize(
    "line",
    [
        "z ~",
        "z ~ Q(1)",
        "3 ~ N(0, 1)",
        "z ~ 4",
        "x = x + 1",
        "what is this",
        "a, b = 3",
        "f(x) = 2",
    ],
)
def test_lines_that_declare_nothing_are_told(line: str) -> None:
    assert [text for text, _ in read_context([line]).problems] == [line]


def test_what_is_said_of_a_list_holds_for_each() -> None:
    context = read_context(["x, y ~ N(0, 1)", "a, b > 0"])
    assert not context.problems
    assert [variable.name for variable in context.variables] == ["x", "y"]
    assert dict(context.signs) == {"a": True, "b": True}


@pytest.mark.parametrize("line", ["z > 0", "y >= 0", "0 < z"])
def test_what_is_random_is_not_declared_positive(line: str) -> None:
    """E[z] = 0 and z > 0 of a normal z cannot both be meant."""
    (problem,) = read_context([STANDARD, "y = z^2", line]).problems
    assert "is random: say E[... |" in problem[1]


@pytest.mark.parametrize(
    "law", ["N(0, 1, 2, 3)", "N(0, -1)", "U(2, 1)", "Bernoulli(2)", "N(0, var=1, var=2)"]
)
def test_laws_that_are_none_leave_the_link_undecided(law: str) -> None:
    assert str(judged("E[z^2] = 1", f"z ~ {law}").verdict) == "undecided"
