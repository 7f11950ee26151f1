"""Networks of blocks as claims: laws in depth by hand, and what their regime allows to be said."""

import math

import pytest

from varlaw.checks.claims.declarations.language import read_statements
from varlaw.checks.claims.evidence import gather
from varlaw.checks.claims.links.decide import judge_chain
from varlaw.checks.claims.links.verdict import Judgement
from varlaw.checks.claims.measured import Settings

PRE_NORM = "repeat(prenorm(linear(d, 4*d, var=2/d) >> relu >> linear(4*d, d, var=2/(4*d))), L)"
RELU = "(linear(m, n, var=2/m) >> relu)"


def judged(claim: str) -> Judgement:
    statements = read_statements(f"claim {claim}")
    assert not statements.mistakes
    ((chain,), context) = statements.claims[0].chains, statements.claims[0].context
    return judge_chain(chain, context)[0]


@pytest.mark.parametrize(
    ("claim", "network", "verdict"),
    [
        # each residual branch adds 2 after a norm: He's 2/fan-in twice over a ReLU's 1/2
        ("E[y^2] = 2*L + q0", f"{PRE_NORM}(x), E[x^2] = q0", "verified"),
        ("E[y^2] -> 2*L + q0 as d -> oo", f"{PRE_NORM}(x), E[x^2] = q0", "verified"),
        ("E[y^2] -> 2*L + q0 as L -> oo", f"{PRE_NORM}(x), E[x^2] = q0", "undecided"),
        ("E[y] -> 1/sqrt(pi) as m -> oo", f"{RELU}(x), E[x^2] = 1", "verified"),
        ("E[y] -> 1/sqrt(pi) as n -> oo", f"{RELU}(x), E[x^2] = 1", "undecided"),  # m may be 1
        ("E[y^2] = L + q0", f"{PRE_NORM}(x), E[x^2] = q0", "refuted"),
        ("E[y^2] = q0", f"{RELU}(x), E[x^2] = q0", "verified"),
        ("E[y^2] = 1", "layernorm()(x), E[x^2] = q0, E[x] = 0", "verified"),
        ("E[y^2] = q0", "layernorm()(x), E[x^2] = q0, E[x] = 0", "refuted"),
        ("E[y^2] = E[x^2]", f"{RELU}(x), E[x^2] = q0", "verified"),
        ("E[y^2] = 3/2", f"{RELU}(x), x ~ N(1, 1/2)", "verified"),
        ("E[y^2] = 1/2", f"{RELU}(x), x ~ N(1, 1/2)", "refuted"),  # the variance for the moment
        # an activation of what is no Gaussian; its inputs have to come through a linear layer
        ("E[y^2] = q0/2", "(relu >> linear(m, n, var=1/m))(x), E[x^2] = q0", "undecided"),
        # beyond ReLU only the wide limit is known, which is no equation
        ("E[y^2] ~= 0.4252", "(linear(m, n, var=1/m) >> gelu)(x), E[x^2] = 1", "verified"),
        ("E[y^2] ~= 0.4254", "(linear(m, n, var=1/m) >> gelu)(x), E[x^2] = 1", "refuted"),
        # E[tanh(z)^2] by quadrature; tanh of it once more
        ("E[y^2] ~= 0.39429", "(linear(m, n, var=1/m) >> tanh)(x), E[x^2] = 1", "verified"),
        ("E[y^2] ~= 0.39431", "(linear(m, n, var=1/m) >> tanh)(x), E[x^2] = 1", "refuted"),
        (
            "E[y^2] -> 0.39429 as m -> oo",
            "(linear(m, m, var=1/m) >> tanh)(x), x ~ N(0, 1)",
            "verified",
        ),
        ("E[y^2] = 0.4252", "(linear(m, n, var=1/m) >> gelu)(x), E[x^2] = 1", "undecided"),
        ("E[y] ~= 0.3989", "(linear(m, n, var=1/m) >> relu)(x), E[x^2] = 1", "verified"),
        ("E[y] = 1/sqrt(2*pi)", "(linear(m, n, var=1/m) >> relu)(x), E[x^2] = 1", "undecided"),
        # backward a ReLU lets half of the gradient through, and n outputs of variance 2/m add up
        ("E[grad_x^2] = (n/m) E[grad_y^2]", f"{RELU}(x), x ~ N(0, 1)", "verified"),
        ("E[grad_x^2] = E[grad_y^2]", f"{RELU}(x), x ~ N(0, 1)", "refuted"),
        ("E[grad_x^2] = 1", f"{RELU}(x), x ~ N(0, 1)", "undecided"),
        ("E[grad_x] = 0", f"{RELU}(x), x ~ N(0, 1)", "undecided"),
        ("E[y^2] = 1", "(lineer(m, n, var=1/m) >> relu)(x), E[x^2] = 1", "undecided"),
        ("E[y^2] = 1", f"{RELU}(x)", "undecided"),  # of no declared input
    ],
)
def test_networks(claim: str, network: str, verdict: str) -> None:
    found = judged(f"{claim} where y = {network}")
    assert str(found.verdict) == verdict, found.reason
    assert found.reason


def test_the_regime_is_in_the_reason() -> None:
    exact = judged(f"E[y^2] = q0 where y = {RELU}(x), E[x^2] = q0")
    assert exact.reason == "exact at finite width, symmetric weights"
    wide = judged("E[y^2] ~= 0.4252 where y = (linear(m, n, var=1/m) >> gelu)(x), E[x^2] = 1")
    assert wide.reason.endswith("wide limit")


def test_networks_are_measured() -> None:
    text = f"claim E[y^2] = q0 where y = {RELU}(x), x ~ N(0, q0)"
    settings = Settings(tolerance=0.2, values={"m": "40", "n": "40", "q0": "2"})
    (found,) = gather(read_statements(text), text, settings)
    assert [one.weights for one in found.measured] == ["normal", "uniform"]
    assert all(str(one.verdict) == "verified" for one in found.measured)
    assert all(math.isclose(one.estimate or 0, 2, rel_tol=0.1) for one in found.measured)


def test_an_input_of_which_only_the_second_moment_is_declared_is_measured() -> None:
    """relu halves the second moment of symmetric features."""
    text = "claim E[y^2] = 1/2 where y = (linear(m, n, var=1/m) >> relu)(x), E[x^2] = 1"
    settings = Settings(tolerance=0.2, values={"m": "40", "n": "40"})
    (found,) = gather(read_statements(text), text, settings)
    assert all(str(one.verdict) == "verified" for one in found.measured)
