"""The claim language: which line declares, which claims, and where mistakes stand."""

import pytest

from varlaw.checks.claims.declarations.language import read_statements
from varlaw.symbolic.formulas import show

BLOCK = """
    # a layer
    x[i] ~ iid(second_moment = q) for i = 1..m
    w[i,j] ~ iid(mean = 0, var = s2)
    y[j] = sum_i x[i] w[i,j]   # its outputs
    claim E[y[j]^2]
        = m q s2
    E[z^2] = 4 where z ~ N(0, 4)
    n = 768
"""


def test_lines_declare_or_claim() -> None:
    found = read_statements(BLOCK)
    assert not found.mistakes
    assert [show(claim.chains[0].sides[1]) for claim in found.claims] == ["m*q*s2", "4"]
    assert [variable.name for variable in found.context.variables] == ["x", "w"]
    assert found.context.value("n") is not None


def test_a_claim_has_its_place_and_its_own_context() -> None:
    first, second = read_statements(BLOCK).claims
    for claim, text in ((first, "E[y[j]^2]"), (second, "E[z^2]")):
        left = claim.chains[0].sides[0]
        start = claim.start + left.start
        assert BLOCK[start : claim.start + left.end] == text
    last = first.chains[0].sides[-1]
    assert BLOCK[first.start + last.start : first.start + last.end] == "m q s2"
    assert second.context.variable("z") is not None
    assert first.context.variable("z") is None


@pytest.mark.parametrize(
    ("line", "message", "place"),
    [
        ("claim E[z^2 = 4", "not closed", "["),
        ("claim E[z^2]", "it claims nothing", "claim"),
        ("claim E[z^2] = 4 where 3 + 4", "it declares nothing", "claim"),
        (r"claim \partial x = 4", "", "\\"),
    ],
)
def test_mistakes_have_their_place(line: str, message: str, place: str) -> None:
    text = f"z ~ N(0, 4)\n{line}\n"
    (mistake,) = read_statements(text).mistakes
    assert message in mistake.message
    assert text[mistake.start :].startswith(place), mistake


def test_a_bracket_behind_the_name_of_a_number_is_a_product() -> None:
    text = "x[i] ~ iid(mean = mu, var = v) for i = 1..m\nclaim v (1 - 1/m) + m (mu + 1) = v"
    assert not read_statements(text).mistakes
