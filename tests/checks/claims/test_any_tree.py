"""Whatever formula is read, its links are answered, and true and false never change places."""

from hypothesis import given, settings
from hypothesis import strategies as st

from varlaw.checks.claims.declarations.context import read_context
from varlaw.checks.claims.declarations.definitions import gathered
from varlaw.checks.claims.links.decide import judge_chain
from varlaw.checks.statistics.verdicts import Verdict
from varlaw.symbolic.formulas.tree import Chain, Head, Node

CONTEXT = read_context(["z ~ N(0, 1)", "x[i] ~ iid(mean = 0, var = v) for i = 1..n", "s > 0"])
NAMES = ("m", "n", "a", "z", "e", "pi", "sigma", "W")
FUNCTIONS = ("log", "exp", "tanh", "relu", "sigmoid", "gelu", "max", "f", "N", "erf", "Phi")
ONE = (Head.NEGATIVE, Head.ROOT, Head.FACTORIAL, Head.ABSOLUTE, Head.NORM)
TWO = (Head.ADD, Head.MULTIPLY, Head.DIVIDE, Head.POWER)
SIGNS = ("=", "~=", "!=", "<", ">", "<=", ">=", "->", "=>", "~", "eqq", "prop", "in")


def number(text: str) -> Node:
    return Node(Head.NUMBER, (), text)


def name(text: str, *subscripts: Node) -> Node:
    return Node(Head.NAME, subscripts, text)


LEAVES = st.one_of(
    st.integers(0, 12).map(lambda k: number(str(k))),
    st.sampled_from(["0.5", "1.25", "0.0361", "3.", "1e-3", "99999999999"]).map(number),
    st.sampled_from(["0.5", "1.6732"]).map(lambda text: Node(Head.DIGITS, (), text)),
    st.sampled_from(NAMES).map(name),
    st.sampled_from(NAMES).map(lambda text: name("x", name(text))),
    st.just(Node(Head.INFINITY)),
    st.just(Node(Head.PERCENT, (number("5"),))),
)


def larger(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    relations = st.builds(
        lambda a, sign, b: Node(Head.RELATION, (a, b), sign), inner, st.sampled_from(SIGNS), inner
    )
    return st.one_of(
        st.builds(lambda head, a: Node(head, (a,)), st.sampled_from(ONE), inner),
        st.builds(lambda head, a, b: Node(head, (a, b)), st.sampled_from(TWO), inner, inner),
        st.builds(lambda f, a: Node(Head.CALL, (a,), f), st.sampled_from(FUNCTIONS), inner),
        st.builds(
            lambda head, body, low, high: Node(head, (body, name("i"), low, high)),
            st.sampled_from((Head.SUM, Head.PRODUCT, Head.INTEGRAL)),
            inner,
            inner,
            inner,
        ),
        st.builds(
            lambda word, a: Node(Head.EXPECTATION, (a,), word),
            st.sampled_from(("E", "Var", "Std")),
            inner,
        ),
        st.builds(
            lambda a, given: Node(Head.EXPECTATION, (a, Node(Head.GIVEN, (given,))), "E"),
            inner,
            relations,
        ),
        st.builds(lambda event: Node(Head.EXPECTATION, (event,), "P"), relations),
        st.builds(lambda event: Node(Head.INDICATOR, (event,)), relations),
        st.builds(lambda a, where, b: Node(Head.CASES, (a, where, b)), inner, relations, inner),
        st.builds(lambda a, b: Node(Head.TUPLE, (a, b), "()"), inner, inner),
    )


TREES = st.recursive(LEAVES, larger, max_leaves=6)
OPPOSITES = {"<": ">=", ">": "<=", "<=": ">", ">=": "<", "=": "!=", "!=": "="}


@given(TREES, st.sampled_from(SIGNS), TREES)
@settings(max_examples=60, deadline=None)
def test_every_link_is_answered(left: Node, sign: str, right: Node) -> None:
    chain = Chain((left, right), (sign,))
    for context in (CONTEXT, read_context([])):
        (found,) = judge_chain(chain, context, gathered([chain]))
        assert found.verdict is None or isinstance(found.verdict, Verdict)
        assert "\n" not in found.reason


@given(TREES, st.sampled_from(sorted(OPPOSITES)), TREES)
@settings(max_examples=60, deadline=None)
def test_a_link_and_its_opposite_are_not_both_verified(left: Node, sign: str, right: Node) -> None:
    verdicts = [
        judge_chain(Chain((left, right), (one,)), CONTEXT)[0].verdict
        for one in (sign, OPPOSITES[sign])
    ]
    # 1/3 = 0.33 is a rounding, and 1/3 != 0.33 all the same
    if not (sign in ("=", "!=") and Verdict.REFUTED not in verdicts):
        assert verdicts.count(Verdict.VERIFIED) <= 1
