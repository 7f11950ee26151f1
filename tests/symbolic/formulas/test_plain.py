"""Plain mathematics gives the same trees as LaTeX, and what is printed is read back."""

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from varlaw.symbolic.formulas import Head, Node, NotRead, read_formula, read_plain
from varlaw.symbolic.formulas.written import show


def shape(node: Node) -> object:
    """The node without its places."""
    return (node.head, node.text, *map(shape, node.parts))


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("E[gelu(z)^2] = 1/3 + sqrt(3)/(6 pi)", r"\E[\mathrm{gelu}(z)^2] = 1/3+\sqrt3/(6\pi)"),
        ("y[j] = sum_i x[i] w[i,j]", r"y_j = \sum_i x_i w_{i,j}"),
        ("Var[z | -2 < z < 2] = 0.77...", r"\mathrm{Var}[z \mid -2 < z < 2] = 0.77\dots"),
        ("sum_{i=1..n} i^2 -> oo", r"\sum_{i=1}^{n} i^2 \to \infty"),
        ("prod_{l=1}^L (1+1/l)", r"\prod_{l=1}^L (1+1/l)"),
        ("int_{-oo}^{oo} phi(x) dx <= 1", r"\int_{-\infty}^\infty \phi(x) dx \le 1"),
        ("lim_{n -> oo} n^-1 = 0", r"\lim_{n\to\infty} n^{-1} = 0"),
        ("2^-20 ~= 10^-6", r"2^{-20} \approx 10^{-6}"),
        ("x^(1/2) + x^n[i] + x_{t+1}", "x^{1/2} + x^{n_i} + x_{t+1}"),
        ("log_2(n) + log 1000", r"\log_2(n) + \log 1000"),
        ("|x| + ||x|| + n! + 50%", r"|x| + \|x\| + n! + 50\%"),
        ("P(z > 0) 1[z > 0]", r"\Pr(z > 0) 1[z > 0]"),
        ("w[i,j] ~ N(0, 1/n_in)", r"w_{i,j} \sim \mathcal{N}(0, 1/n_{in})"),
        ("σ² ≥ √2", r"\sigma^2 \ge \sqrt2"),
    ],
)
def test_plain_text_gives_the_tree_of_its_latex(text: str, latex: str) -> None:
    plain, formula = read_plain(text), read_formula(latex)
    assert [chain.signs for chain in plain.chains] == [chain.signs for chain in formula.chains]
    sides = [side for chain in plain.chains for side in chain.sides]
    others = [side for chain in formula.chains for side in chain.sides]
    assert [shape(node) for node in [*sides, *plain.expressions]] == [
        shape(node) for node in [*others, *formula.expressions]
    ]


def test_arguments_may_be_named() -> None:
    (chain,) = read_plain("x[i] ~ iid(mean = 0, second_moment = q)").chains
    assert show(chain) == "x_i ~ iid(mean = 0, second_moment = q)"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("sum(x[i], i = 1..n)", "the index before the terms"),
        ("prod (i) = 2", "the index before the terms"),
        ("1/2L", "below the slash"),
        ("x^y^z", "double superscript"),
        ("e^f(x)", "call in an exponent"),
        ("n!=120", "factorial or an inequality"),
        ("E|x|", "expectation without brackets"),
        (r"\frac12", "LaTeX"),
        ("x.__class__", "full stop"),
        ("__import__('os')", "nothing stands before _"),
        ("(x", "not closed"),
        ("", "nothing"),
    ],
)
def test_unclear_plain_text_is_not_read(text: str, reason: str) -> None:
    with pytest.raises(NotRead, match=reason):
        read_plain(text)


def leaf(head: Head, text: str = "") -> Node:
    return Node(head, (), text)


def name(core: str, *below: Node) -> Node:
    return Node(Head.NAME, below, core)


def flat(parts: list[Node]) -> Node:
    found = [inner for part in parts for inner in _factors(part)]
    return Node(Head.MULTIPLY, tuple(found))


def _factors(node: Node) -> tuple[Node, ...]:
    return node.parts if node.head is Head.MULTIPLY else (node,)


def relation(sign: str, left: Node, right: Node) -> Node:
    return Node(Head.RELATION, (left, right), sign)


letters = st.sampled_from([c for c in string.ascii_letters if c not in "dEPIefghFGHOok"])
names = letters | st.sampled_from(["sigma", "bar_x", "bold_W", "gain", "x'", "star_theta"])
below = st.one_of(
    letters.map(name),
    st.integers(0, 99).map(lambda n: leaf(Head.NUMBER, str(n))),
    st.just(leaf(Head.WORD, "in")),
    letters.map(lambda c: Node(Head.ADD, (name(c), leaf(Head.NUMBER, "1")))),
)
leaves = st.one_of(
    st.decimals(0, 999, places=2).map(lambda d: leaf(Head.NUMBER, str(d))),
    st.just(leaf(Head.DIGITS, "0.77")),
    st.just(leaf(Head.INFINITY)),
    st.builds(lambda core, parts: name(core, *parts), names, st.lists(below, max_size=3)),
)
signs = st.sampled_from(["<", "<=", ">", ">=", "=", "!="])


def grown(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    """All kinds of nodes over those that there are."""
    relations = st.builds(relation, signs, inner, inner)
    two = st.tuples(inner, inner)
    k, x = name("k"), name("x")
    pairs = [Head.DIVIDE, Head.POWER, Head.ROOT]
    singles = [Head.NEGATIVE, Head.ROOT, Head.FACTORIAL, Head.ABSOLUTE, Head.NORM]
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    given = relations.map(lambda holds: Node(Head.GIVEN, (holds,)))
    return st.one_of(
        several.map(lambda parts: Node(Head.ADD, parts)),
        several.map(flat),
        st.builds(Node, st.sampled_from(pairs), two),
        st.builds(Node, st.sampled_from(singles), st.tuples(inner)),
        two.map(lambda parts: Node(Head.CALL, parts, "max")),
        inner.map(lambda part: Node(Head.CALL, (part,), "log")),
        two.map(lambda ends: Node(Head.SUM, (k, k, *ends))),
        two.map(lambda ends: Node(Head.INTEGRAL, (ends[0], x, *ends))),
        st.tuples(inner, given).map(lambda parts: Node(Head.EXPECTATION, parts, "E")),
        relations.map(lambda holds: Node(Head.EXPECTATION, (holds,), "P")),
        st.lists(relations, min_size=1, max_size=2).map(lambda r: Node(Head.INDICATOR, tuple(r))),
        st.tuples(inner, relations, inner).map(lambda parts: Node(Head.CASES, parts)),
    )


@settings(deadline=None)
@given(st.recursive(leaves, grown, max_leaves=12))
def test_what_is_printed_is_read_back(node: Node) -> None:
    (expression,) = read_plain(show(node)).expressions
    assert shape(expression) == shape(node)
