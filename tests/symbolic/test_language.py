"""The reader of small expressions: what it reads and what it refuses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sympy import Integer, Rational, Symbol, sqrt

from varlaw.symbolic.language import ReadingError, read

m, n, a = (Symbol(name, positive=True) for name in "mna")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2/(m+n)", 2 / (m + n)),
        ("m - n - a", m - n - a),
        ("m/n/a", m / n / a),
        ("2^3^2", Integer(2) ** 9),
        ("-m^2", -(m**2)),
        ("(-m)**2", m**2),
        ("2^-1", Rational(1, 2)),
        ("0.01", Rational(1, 100)),
        ("1e-6", Rational(1, 10**6)),
        ("sqrt(m*n)", sqrt(m * n)),
        ("m*-n", -m * n),
        ("  s2 ", Symbol("s2", positive=True)),
    ],
)
def test_reads(text: str, value: object) -> None:
    assert read(text) == value


def test_names_can_stand_for_values() -> None:
    assert read("m + 1", names={"m": Integer(4)}) == 5


def test_numbers_are_exact() -> None:
    assert read(0.1) == Rational(1, 10)
    assert read(3) == Integer(3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("m +", "ends too early"),
        ("m n", "unexpected 'n' at column 3"),
        ("m & n", "unexpected '&' at column 3"),
        ("__import__('os')", "unexpected"),
        ("f(x)", "'f' is not a function"),
        ("1/0", "division by zero"),
        ("0^-1", "division by zero"),
        ("9^9^9", "out of range"),
        ("9^9999", "digits"),
        ("1e999999999", "digits"),
        ("(" * 70 + "m" + ")" * 70 + "+" * 0, ""),
        ("m" * 2000, "characters"),
        ("lambda: 1", "unexpected"),
        ("m.real", "unexpected"),
    ],
)
def test_refuses(text: str, message: str) -> None:
    if message == "":
        assert read(text) == m  # brackets leave no trace in the tree
        return
    with pytest.raises(ReadingError, match=message):
        read(text)


def test_deep_expressions_are_refused() -> None:
    with pytest.raises(ReadingError, match="nested"):
        read("-" * 100 + "m")


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        read(text)
    except ReadingError as error:
        assert "\n" not in str(error).replace(repr(text), "")


@pytest.mark.parametrize("thing", [True, None, [1], object()])
def test_other_things_are_refused(thing: object) -> None:
    with pytest.raises(ReadingError):
        read(thing)  # type: ignore[arg-type]
