"""Macros of documents: definitions, arguments, places, and what is no definition."""

import pytest

from varlaw.symbolic.formulas import NotRead, read_formula, read_macros
from varlaw.symbolic.formulas.written import show


@pytest.mark.parametrize(
    ("definition", "text", "expected"),
    [
        (r"\newcommand{\half}{\frac12}", r"\half x", "1/2*x"),
        (r"\newcommand{\norm}[1]{\|#1\|}", r"\norm{x} + \norm y", "||(x)|| + ||(y)||"),
        (r"\newcommand\p[2][0]{x_{#1} + #2}", r"\p{y} + \p[1]{z}", "x_0 + y + x_1 + z"),
        (r"\renewcommand{\E}{\mathbb{E}}", r"\E[x]", "E[x]"),
        (r"\DeclareMathOperator{\gelu}{GELU}", r"\gelu(x)", "gelu(x)"),
        (r"\DeclareMathOperator*{\Cor}{Corr}", r"\Cor(x, y)", "Corr(x, y)"),
        (r"\def\s#1{\sigma_{#1}^2}", r"\s w = 1", "sigma_w^2 = 1"),
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
    assert text[exponent.start : exponent.end] == r"\sq"


@pytest.mark.parametrize("text", [r"\newcommand{x}{y}", "x = y", r"\newcommand{\a}{b", ""])
def test_what_defines_nothing_is_refused(text: str) -> None:
    with pytest.raises(NotRead, match="definition"):
        read_macros([text])


def test_a_macro_needs_its_arguments() -> None:
    with pytest.raises(NotRead, match="without its argument"):
        read_formula(r"1 + \a", macros=read_macros([r"\newcommand{\a}[1]{#1}"]))
