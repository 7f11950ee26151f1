"""Claims about names that are declared: between bounds, or for all values of them."""

import pytest

from varlaw.checks.claims.declarations.language import read_statements
from varlaw.checks.claims.links.decide import judge_chain


def verdict(declared: str, text: str) -> str:
    (claim,) = read_statements(f"{declared}\nclaim {text}").claims
    return str(judge_chain(claim.chains[0], claim.context)[-1].verdict)


@pytest.mark.parametrize(
    ("declared", "text", "expected"),
    [
        ("0 < p < 1", "p^2 < p", "verified"),
        ("0 < p < 1", "p^2 > p", "refuted"),
        ("p >= 0; p <= 1", "p^2 <= p", "verified"),
        ("p >= 0; p <= 1", "p^2 < p", "undecided"),  # not so at its ends
        ("0 < p < 1", "p (1 - p) <= 1/4", "verified"),
        ("0 < p < 1", "p (1 - p) > 1/4", "refuted"),
        ("|r| < 1", "r^2 < 1", "verified"),
        ("|r| < 1", "r > 0", "refuted"),
        ("|r| < 1", "sum_{k=0}^oo r^k = 1/(1 - r)", "verified"),
        ("|r| < 1", "sum_{k=0}^oo r^k = 1/(1 + r)", "refuted"),
        ("x > 1", "x^2 > x", "verified"),
        ("x > 0", "x^2 > x", "refuted"),
        ("x >= 1", "x^2 >= x", "verified"),
        ("x >= 1", "x^2 > x", "undecided"),
        ("x < 0", "abs(x) = -x", "verified"),
        ("x < 0", "sqrt(x^2) = x", "refuted"),
        ("-1 < x < 1", "1/(1 - x^2) >= 1", "verified"),
        ("n >= 1", "sum_{k=1}^n k = n (n + 1)/2", "verified"),
        ("0 < p < 1", "floor(p) + p = p", "undecided"),
        ("x > 2; x < 1", "x^2 > 0", "undecided"),  # there is none
        ("n natural", "(-1)^(2 n) = 1", "verified"),
        ("n natural", "(-1)^n = 1", "refuted"),
        ("n natural", "sin(pi n) = 0", "verified"),
        ("n natural", "n^2 >= n", "verified"),
        ("n natural", "n^2 > n", "refuted"),  # at 1
    ],
)
def test_bounds_hold(declared: str, text: str, expected: str) -> None:
    assert verdict(declared, text) == expected


@pytest.mark.parametrize(
    ("declared", "text", "expected"),
    [
        ("x real", "sqrt(x^2) = x", "refuted"),
        ("x real", "relu(x) = x", "refuted"),
        ("x real", "sqrt(x)^2 = x", "undecided"),  # so for x >= 0
        ("x > 0", "sqrt(x)^2 = x", "verified"),
        ("x real", "e^(log(x)) = x", "undecided"),
        ("r real", "sum_{k=0}^oo r^k = 1/(1 - r)", "undecided"),  # so for |r| < 1
        ("|r| <= 1", "sum_{k=0}^oo r^k = 1/(1 - r)", "undecided"),
        ("a real; |r| < 1", "sum_{k=0}^oo a r^k = a/(1 - r)", "verified"),
        ("x real", "x^2 >= x", "refuted"),
        ("x positive", "x^2 >= x", "refuted"),
        ("x real", "x^2 = 1", "refuted"),
        ("n > 0", "2^n >= n + 1", "undecided"),  # so for whole numbers
        ("z ~ N(mu, v)", "Var[2 z] = 2 Var[z]", "refuted"),
        ("z ~ N(mu, v)", "E[abs(z)] = abs(E[z])", "refuted"),
        ("n > 0", "n > m", "undecided"),  # nobody says what m is
    ],
)
def test_what_is_claimed_of_declared_names_is_no_condition(
    declared: str, text: str, expected: str
) -> None:
    assert verdict(declared, text) == expected


@pytest.mark.parametrize(
    ("declared", "text", "expected"),
    [
        ("x real", "e^x >= 1 + x", "verified"),
        ("x real", "e^x > 1 + x", "refuted"),  # equal at 0
        ("x real", "e^x >= 1 + x + x^2/2", "refuted"),
        ("x > 0", "e^x >= 1 + x + x^2/2", "undecided"),  # its slope's slope is zero, too
        ("x > 0", "log(x) <= x - 1", "verified"),
        ("x > 0", "log(x) <= x - 1.001", "refuted"),  # at 1
        ("x > 0", "log(1 + x) <= x", "verified"),
        ("x > 0", "x log(x) >= x - 1", "verified"),
        ("x real", "cosh(x) >= 1", "verified"),
        ("x > 0", "log(x) >= 1 - x", "refuted"),
        ("x real; y real", "x^2 + y^2 > 2 x y", "refuted"),  # all of these at single points
        ("x > 0", "x + 1/x > 2", "refuted"),
        ("x real", "(3 x - 1)^2 > 0", "refuted"),
        ("0 < p < 1", "p (1 - p) < 1/4", "refuted"),
        ("x real; y real", "abs(x + y) < abs(x) + abs(y)", "refuted"),
        ("x > 1", "x + 1/x > 2", "verified"),
    ],
)
def test_inequalities_by_convexity(declared: str, text: str, expected: str) -> None:
    assert verdict(declared, text) == expected
