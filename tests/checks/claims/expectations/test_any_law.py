"""Equations of moments that need no declaration, and those that do."""

import pytest
from judging import verdict


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\mathrm{Var}(X) = \mathbb{E}[X^2] - (\mathbb{E}[X])^2", "verified"),
        (r"\mathrm{Var}(x) = \mathbb{E}[(x - \mathbb{E}[x])^2]", "verified"),
        (r"\mathbb{E}[aX + b] = a\,\mathbb{E}[X] + b", "verified"),
        (r"\mathrm{Var}(aX + b) = a^2 \mathrm{Var}(X)", "verified"),
        (
            r"\mathrm{Var}(X+Y) = \mathrm{Var}(X) + \mathrm{Var}(Y) + 2\mathrm{Cov}(X, Y)",
            "verified",
        ),
        (r"\mathrm{Var}(X+Y) = \mathrm{Var}(X) + \mathrm{Var}(Y)", "undecided"),
        (r"\mathbb{E}[XY] = \mathbb{E}[X]\mathbb{E}[Y]", "undecided"),
        (r"\mathbb{E}[XY] = X\mathbb{E}[Y]", "undecided"),
        (r"\mathbb{E}[X] = X", "undecided"),
        (r"\mathbb{E}[(W x)^2] = \mathbb{E}[W^2] x^2", "undecided"),
        (r"\mathrm{Var}(aX) = a\mathrm{Var}(X)", "undecided"),
        (r"\mathrm{Var}(x) = \mathbb{E}[x^2]", "undecided"),
    ],
)
def test_what_holds_for_every_law_needs_no_declaration(text: str, expected: str) -> None:
    assert verdict(text) == expected
