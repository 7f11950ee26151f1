"""No text, however hostile, makes the readers fail, hang, or run anything."""

import gc
import re
import time
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from varlaw.symbolic.formulas import NotRead, Reading, read_formula, read_macros, read_plain

READERS = [read_formula, read_plain]
HOSTILE = {
    "bars in bars": r"\left." * 30 + " x " + r"x x x \right|_{x = x x x x}" * 30,
    "injection": "__import__('os').system('touch x')",
    "injection as a subscript": r"x_{__import__('os')}",
    "injection as an operator": r"\operatorname{__import__('os').system}(1)",
    "flat tower": "9^9^9^9",
    "factorials": "9" + "!" * 5000,
    "deep brackets": "(" * 9000 + "1" + ")" * 9000,
    "deep braces": "{" * 9000 + "1" + "}" * 9000,
    "deep fractions": r"\frac{1}{" * 2000 + "1" + "}" * 2000,
    "tower of powers": "2^{" * 1000 + "2" + "}" * 1000,
    "deep left and right": r"\left(" * 1500 + "1" + r"\right)" * 1000,
    "underbraces": r"\underbrace{" * 1500 + "x" + "}" * 1500,
    "commas": "," * 19_999,
    "bare fractions": r"\frac" * 4000,
    "spaces": "1" + " " * 19_990 + "1",
    "null": "1\x00+2",
    "unbalanced": r"\frac{1}{\sqrt{2}",
    "megabyte": "1+" * 500_000 + "1",
    "direction": "1+\u202e2=3",
    "arabic digits": "١+٢=٣",
    "full-width digits": "１+２",
    "long number": "9" * 10_001,
    "file": r"\input{/etc/passwd}",
    "bars": "|" * 5000,
    "logarithms": r"\log " * 3000 + "x",
    "sums": r"\sum_i " * 800 + "x_i",
    "slashes": "a/" * 2400 + "a",
    "accents": r"\bar" * 4000 + " x",
    "minuses": "-" * 5000 + "1",
}
HARMLESS = {  # what the evaluator has to cope with
    "tower": "9^{9^{9^{9}}}",
    "power": "10^{10^{10}}",
    "factorial": "(10^9)!",
    "long sum": "1+" * 2400 + "1",
    "long product": "a b " * 1200 + "a",
    "long chain": "a=" * 2400 + "a",
}


@pytest.fixture(autouse=True)
def uncollected() -> Iterator[None]:
    """What earlier tests left is not collected while a text is timed."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_is_refused_at_once(text: str, reader: Callable[[str], Reading]) -> None:
    start = time.process_time()
    with pytest.raises(NotRead):
        reader(text)
    assert time.process_time() - start < 1


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS.keys())
def test_large_values_are_only_trees_here(text: str) -> None:
    start = time.process_time()
    assert read_formula(text)
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    ("definitions", "text", "reason"),
    [
        ([r"\def\z{\z}"], r"\z", "nested deeper"),
        ([r"\def\a{\b\b}", r"\def\b{\a\a}"], r"\a", "nested deeper"),
        ([r"\newcommand\y[1]{#1#1#1#1}"], r"\y{" * 9 + "x" + "}" * 9, "too much"),
        ([r"\newcommand{\w}{" + "x" * 19_000 + "}"], r"\w " * 5000, "too much"),
    ],
)
def test_macro_bombs_are_refused(definitions: list[str], text: str, reason: str) -> None:
    start = time.process_time()
    with pytest.raises(NotRead, match=reason):
        read_formula(text, macros=read_macros(definitions))
    assert time.process_time() - start < 1


FRAGMENTS = re.findall(
    r"\S+",
    r"""\frac { } \sqrt [ ] ( ) | \| ^ _ \left( \right) 1 2.5 12 x n E P f d dx \sum \prod \int \lim
    \log \max = < \approx \to , . ; & \\ \quad \text{a} \text{ if } \mathbf \bar \mathbb{E} \{ \}
    \begin{cases} \end{cases} \dots ! ' % \% \mid \mathrm{Var} _{i=1} ^{(l)} ^T * \infty \Delta σ ²
    sum_i int_0 cases( if otherwise E[ || ~ -> in 0.5... \boxed{ \underbrace{ \mathrm{d}x \log_2""",
)


@settings(deadline=None)
@given(st.text() | st.lists(st.sampled_from(FRAGMENTS)).map(" ".join), st.sampled_from(READERS))
def test_any_text_is_read_or_refused_with_a_place(
    text: str, reader: Callable[[str], Reading]
) -> None:
    try:
        reading = reader(text)
    except NotRead as error:
        assert error.reason
        assert 0 <= error.start <= error.end
        return
    sides = [side for chain in reading.chains for side in chain.sides]
    for node in [*sides, *reading.expressions]:
        assert all(0 <= inner.start <= inner.end <= len(text) for inner in node.walk())
