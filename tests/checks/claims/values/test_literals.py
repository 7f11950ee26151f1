"""The rules of rounding, on the edges and on random numbers against exact fractions."""

from decimal import ROUND_HALF_UP, Context, Decimal, localcontext
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from varlaw.checks.claims.links.decide import judge_chain
from varlaw.symbolic.formulas.reader import read_formula


def verdict(text: str) -> str:
    (chain,) = read_formula(text).chains
    return str(judge_chain(chain)[-1].verdict)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"5/3 = 1.67", "verified"),
        (r"5/3 \approx 1.667", "verified"),
        (r"5/3 = 1.66", "loose"),
        (r"5/3 = 1.66\dots", "verified"),
        (r"5/3 = 1.67\dots", "loose"),
        (r"5/3 \approx 1.65", "refuted"),
        (r"1/3 = 0.33333333333333331", "loose"),  # as printed by repr(1/3) to 17 digits
        (r"1/3 = 0.33333333333333341", "refuted"),
        (r"-5/3 = -1.67", "verified"),
        (r"-5/3 = -1.66\dots", "verified"),
        (r"-5/3 = -1.67\dots", "loose"),
        (r"-5/3 = 1.67", "refuted"),
        (r"1/4 = 0.2", "loose"),
        (r"1/4 \approx 0.2", "verified"),
        (r"1/8 = 0.12", "verified"),  # exactly half a unit, either way
        (r"1/8 = 0.13", "verified"),
        (r"1/8 = 0.125\dots", "verified"),
        (r"1/8 = 0.124\dots", "loose"),
        (r"1/8 = 0.1250", "verified"),
        (r"1/8 = 0.1252", "refuted"),
        (r"0.02^2 = 0.00", "loose"),
        (r"2^{-20} \approx 0", "undecided"),
        (r"2/3 \approx 0", "refuted"),
        (r"1/2 - 2^{-1} = 0.00", "verified"),
        (r"1/3 = 0.3330", "refuted"),  # zeros at the end count
        (r"0.02930/1 \approx 0.0293", "verified"),
        (r"1/2 \approx 50\%", "verified"),
        (r"1/3 \approx 33\%", "verified"),
        (r"1/3 \approx 35\%", "refuted"),
        (r"1/3 \approx 33.3\%", "verified"),
        (r"1/3000 \approx 3.3\times10^{-4}", "verified"),
        (r"1/3000 \approx 3.5\times10^{-4}", "refuted"),
        (r"1/3000 \approx 3.3\times10^{-5}", "refuted"),
        (r"2^{10}/1 \approx 1000", "loose"),
        (r"768^2 \approx 589820", "loose"),
        (r"768^2 \approx 589830", "refuted"),
        (r"252.1/1 \approx 250", "refuted"),
        (r"10^2 \approx 100.3", "loose"),
        (r"10^2 \approx 1003", "refuted"),
        (r"2^{10}/1 \approx 10^3", "verified"),
        (r"2^{10}/1 = 10^3", "refuted"),
        (r"2^{10}/1 = 1000", "refuted"),
        (r"10^{1/2} \approx 10^0", "undecided"),  # the edge of an order of magnitude
        (r"\sqrt{11} \approx 10^0", "refuted"),
        (r"1.1^{50} = 117", "loose"),
        (r"\sqrt{2}=1", "refuted"),
        (r"e^{\pi\sqrt{163}} = 262537412640768744", "loose"),
        (r"\frac{1}{2} = 0.5 = \frac{2}{4}", "verified"),
        (r"0.35 \approx 1/3", "undecided"),
        (r"0.0257/1 \approx 0.02", "loose"),
        (r"0.0004/1 \approx 0.001", "refuted"),
        (r"\sqrt{2} \approx 17/12", "undecided"),
        (r"\pi > 3.14", "verified"),
        (r"\pi \le 3.14", "refuted"),
        (r"\sqrt{4} \le 2", "verified"),
        (r"\sqrt{4} < 2", "refuted"),
        (r"\sqrt{4} \ne 2", "refuted"),
        (r"1356/1 = 1{,}356", "verified"),
        (r"\ln 1000 = 3", "refuted"),
        (r"\log_{10} 1000 = 3", "verified"),
        (r"\sqrt{16} = 4", "verified"),
    ],
)
def test_digits_speak_as_they_are_written(text: str, expected: str) -> None:
    assert verdict(text) == expected


@given(
    st.integers(-9999, 9999).filter(bool), st.integers(1, 9999), st.integers(0, 12), st.booleans()
)
@settings(max_examples=80, deadline=None)
def test_rounded_quotients_are_verified_and_moved_digits_refuted(
    above: int, below: int, places: int, up: bool
) -> None:
    exact = Fraction(above, below)
    scaled = exact * 10**places
    figure = int(abs(scaled) + Fraction(1, 2)) * (1 if exact > 0 else -1)
    if places == 0 or figure == 0:
        return

    def literal(digits: int) -> str:
        text = str(Decimal(digits).scaleb(-places).quantize(Decimal(1).scaleb(-places)))
        return text if "E" not in text else f"{Decimal(text):f}"

    assert verdict(rf"\frac{{{above}}}{{{below}}} \approx {literal(figure)}") == "verified"
    moved = figure + (2 if up else -2)
    if moved * figure > 0:
        assert verdict(rf"\frac{{{above}}}{{{below}}} \approx {literal(moved)}") == "refuted"


@given(st.integers(2, 5000), st.integers(2, 9), st.integers(3, 14))
@settings(max_examples=40, deadline=None)
def test_roots_against_a_second_library(base: int, degree: int, places: int) -> None:
    with mpmath.workdps(60):
        root = mpmath.root(base, degree)
        text = mpmath.nstr(root, 55, strip_zeros=False)
    step = Decimal(1).scaleb(-places)
    with localcontext(Context(prec=60)):
        right = Decimal(text).quantize(step, rounding=ROUND_HALF_UP)
        above, below = right + 2 * step, right - 2 * step
    formula = rf"\sqrt[{degree}]{{{base}}} \approx"
    assert verdict(f"{formula} {right:f}") == "verified"
    # with 17 digits it may be the nearest double, printed in full
    wrong = ("refuted", "loose") if len(right.as_tuple().digits) == 17 else ("refuted",)
    assert verdict(f"{formula} {above:f}") in wrong
    assert verdict(f"{formula} {below:f}") in wrong
