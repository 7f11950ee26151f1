"""Letters and signs that stand in papers and are pasted: Greek ones, small digits, roots."""

import pytest

from varlaw.symbolic.gaussian.moment import moment
from varlaw.symbolic.language import ReadingError, free_names, read, read_condition, read_function

LETTERS = "αβγδεζηθικλμνξρστυφχψωΓΔΘΛΞΦΨΩ"


@pytest.mark.parametrize(
    ("pasted", "typed"),
    [
        ("π*x²", "pi*x^2"),
        ("2·σ_w²x²", "2*sigma_w^2*x^2"),
        ("sin²(x)", "sin(x)^2"),
        ("√2·x²", "sqrt(2)*x^2"),
        ("√(x² + 1)³", "sqrt(x^2 + 1)^3"),
        ("|x² − 1|", "abs(x^2 - 1)"),
        ("2^x²", "2^(x^2)"),
        ("-x²", "-(x^2)"),
        ("x²y", "x^2*y"),
        ("x¹⁰ × x", "x^11"),
        ("Φ(x)φ(x)", "Phi(x)*phi(x)"),
        ("leaky_relu(x, α)²", "leaky_relu(x, alpha)^2"),
        ("1[x ≥ 1]", "1[x >= 1]"),
        ("x/σ²", "x/sigma^2"),
    ],
)
def test_what_is_pasted_is_read_as_what_is_typed(pasted: str, typed: str) -> None:
    assert read_function(pasted) == read_function(typed)


def test_a_greek_letter_is_its_name() -> None:
    assert free_names("+".join(LETTERS)) == tuple(map(_name, LETTERS))
    assert read("µ") == read("mu")


def _name(letter: str) -> str:
    import unicodedata

    _, case, _, name = unicodedata.name(letter).split()
    name = name.replace("LAMDA", "LAMBDA").lower()
    return name.capitalize() if case == "CAPITAL" else name


def test_conditions_and_laws_take_the_letters_too() -> None:
    assert read_condition("−1 < x ≤ π") == read_condition("-1 < x <= pi")
    assert str(moment("relu(x)²", "μ", "σ²")) == str(moment("relu(x)^2", "mu", "sigma^2"))
    assert moment("exp(-λ*x²)", positive=["λ"]).exact == (1 + 2 * read("lambda")) ** -(read("1/2"))
    assert moment("α*β²", variable="β").exact == read("alpha", real=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("αx", r"unexpected 'x' at column 2 of 'αx'; write \* for a product"),
        ("2 3²", "unexpected '3' at column 3"),
        ("x²'", 'unexpected "\'" at column 3'),
        ("ö", "unexpected 'ö' at column 1"),
        ("σ(x)", "unknown function 'sigma'"),
        ("10^9¹⁰⁰⁰", "more than 400 digits|out of range"),
    ],
)
def test_what_is_not_read_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(ReadingError, match=message):
        read(text)
