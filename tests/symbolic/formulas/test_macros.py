"""Macros of documents: definitions, arguments, places, and what is no definition."""

import pytest

from varlaw.symbolic.formulas import NotRead, document_macros, read_formula, read_macros
from varlaw.symbolic.formulas.written import show


@pytest.mark.parametrize(
    ("definition", "text", "expected"),
    [
        (r"\newcommand{\half}{\frac12}", r"\half x", "1/2*x"),
        (r"\newcommand{\norm}[1]{\|#1\|}", r"\norm{x} + \norm y", "||(x)|| + ||(y)||"),
        (r"\newcommand\p[2][0]{x_{#1} + #2}", r"\p{y} + \p[1]{z}", "x_0 + y + x_1 + z"),
        (r"\renewcommand{\E}{\mathbb{E}}", r"\E[x]", "E[x]"),
        (r"\DeclareMathOperator{\gelu}{GELU}", r"\gelu(x)", "gelu(x)"),
        (r"\DeclareMathOperator*{\Cor}{Corr}", r"\Cor(x, y)", "Corr[x, y]"),
        (r"\def\s#1{\sigma_{#1}^2}", r"\s w = 1", "sigma_w^2 = 1"),
        (r"\let\eps=\varepsilon", r"\eps > 0", "varepsilon > 0"),
        (
            r"\DeclarePairedDelimiter{\size}{\lvert}{\rvert}",
            r"\size{x} + \size*{y} + \size[\big]{z}",
            "abs(x) + abs(y) + abs(z)",
        ),
    ],
)
def test_macros_are_replaced(definition: str, text: str, expected: str) -> None:
    reading = read_formula(text, macros=read_macros([definition]))
    assert "; ".join(map(show, [*reading.chains, *reading.expressions])) == expected


def test_what_comes_from_a_macro_has_the_place_of_its_call() -> None:
    macros = read_macros([r"\newcommand{\sq}[1]{#1^2}"])
    text = r"1 + \sq{y}"
    (node,) = read_formula(text, macros=macros).expressions
    _, exponent = node.parts[1].parts
    assert text[exponent.start : exponent.end] == r"\sq{y}"


@pytest.mark.parametrize("text", [r"\newcommand{x}{y}", "x = y", r"\newcommand{\a}{b", ""])
def test_what_defines_nothing_is_refused(text: str) -> None:
    with pytest.raises(NotRead, match="definition"):
        read_macros([text])


def test_a_macro_needs_its_arguments() -> None:
    with pytest.raises(NotRead, match="without its argument"):
        read_formula(r"1 + \a", macros=read_macros([r"\newcommand{\a}[1]{#1}"]))


@pytest.mark.parametrize(
    ("definitions", "reason"),
    [
        ([r"\newcommand{\a}{2}", r"\renewcommand{\a}{3}"], "defined in two ways"),
        ([r"\newcommand{\a}{2}", r"\renewcommand\a[1][]{3}{4"], "not a definition"),
        ([r"\newcommand{\a}{\u202e2}".replace("\\u202e", "\u202e")], "a hidden character"),
    ],
)
def test_a_document_whose_macro_is_not_clear_is_not_read(
    definitions: list[str], reason: str
) -> None:
    macros = document_macros([*definitions, r"\newcommand{\b}{2}", r"\newcommand{\b}{2}"])
    with pytest.raises(NotRead, match=reason):
        read_formula(r"\a + 1 = 3", macros=macros)
    assert read_formula(r"\b + 1 = 3", macros=macros).chains


@pytest.mark.parametrize(
    "text", [r"\size{a} \le \size*{a + b}.", r"\left(a\right)^2 = \left|b\right|."]
)
def test_a_link_is_shown_whole(text: str) -> None:
    macros = read_macros([r"\DeclarePairedDelimiter{\size}{\lvert}{\rvert}"])
    (chain,) = read_formula(text, macros=macros).chains
    assert text[chain.sides[0].start : chain.sides[-1].end] == text[:-1]
