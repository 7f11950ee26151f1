"""Laws of which all raw moments are known in closed form, and functions of them are not.

E[x^k] by Johnson, Kotz, Kemp: Univariate Discrete Distributions, chapters 3 and 4, and Johnson,
Kotz, Balakrishnan: Continuous Univariate Distributions, chapters 14, 17 to 19, 24, 25 and 28.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sympy import Add, Expr, Integer, Mul, binomial, exp, factorial, ff, rf
from sympy.functions.combinatorial.numbers import stirling

from varlaw.checks.claims.values.functions import NoValue

Given = Mapping[str, Expr]


@dataclass(frozen=True)
class Law:
    """The parameters in their order, those that are positive, and E[x^k].

    `named` says that the last one has to be named, unless it is 1: authors differ in what it is.
    """

    keys: tuple[str, ...]
    positive: tuple[str, ...]
    moment: Callable[[Given, int], Expr]
    named: bool = False


def _laplace(given: Given, k: int) -> Expr:
    mean, scale = given["mean"], given["scale"]
    even = range(0, k + 1, 2)
    return Add(*(binomial(k, j) * factorial(j) * scale**j * mean ** (k - j) for j in even))


def _poisson(given: Given, k: int) -> Expr:
    return Add(*(stirling(k, j) * given["rate"] ** j for j in range(k + 1)))


def _binomial(given: Given, k: int) -> Expr:
    n, p = given["n"], given["p"]
    return Add(*(stirling(k, j) * falling(n, j) * p**j for j in range(k + 1)))


def falling(n: Expr, k: int) -> Expr:
    """n (n - 1) ... (n - k + 1)."""
    return ff(n, k) if n.is_Integer else Mul(*(n - j for j in range(k)))


def _student(given: Given, k: int) -> Expr:
    degrees = given["df"]
    if not (degrees - k).is_positive:
        raise NoValue(f"the moment of order {k} is known for a number df > {k} only")
    if k % 2:
        return Integer(0)
    half = range(1, k // 2 + 1)
    return degrees ** (k // 2) * Mul(*((2 * i - 1) / (degrees - 2 * i) for i in half))


def _chi_squared(given: Given, k: int) -> Expr:
    return 2**k * rf(given["df"] / 2, k)


def _beta(given: Given, k: int) -> Expr:
    return rf(given["a"], k) / rf(given["a"] + given["b"], k)


LAWS = {
    "exponential": Law(("rate",), ("rate",), lambda g, k: factorial(k) / g["rate"] ** k, True),
    "laplace": Law(("mean", "scale"), ("scale",), _laplace),
    "poisson": Law(("rate",), ("rate",), _poisson),
    "binomial": Law(("n", "p"), ("n",), _binomial),
    "gamma": Law(
        ("shape", "scale"),
        ("shape", "scale"),
        lambda g, k: g["scale"] ** k * rf(g["shape"], k),
        True,
    ),
    "chi squared": Law(("df",), ("df",), _chi_squared),
    "beta": Law(("a", "b"), ("a", "b"), _beta),
    "log-normal": Law(
        ("log_mean", "log_var"),
        ("log_var",),
        lambda g, k: exp(k * g["log_mean"] + k**2 * g["log_var"] / 2),
    ),
    "student": Law(("df",), ("df",), _student),
}
NAMES = {
    **dict.fromkeys(("Exponential", "exponential", "Exp", "Expo"), "exponential"),
    **dict.fromkeys(("Laplace", "laplace"), "laplace"),
    **dict.fromkeys(("Poisson", "poisson", "Poi", "Pois"), "poisson"),
    **dict.fromkeys(("Binomial", "binomial", "Bin", "Binom"), "binomial"),
    **dict.fromkeys(("Gamma", "gamma"), "gamma"),
    **dict.fromkeys(("ChiSquared", "ChiSquare", "chi2", "Chi2", "chisquared"), "chi squared"),
    **dict.fromkeys(("Beta", "beta"), "beta"),
    **dict.fromkeys(("LogNormal", "Lognormal", "lognormal"), "log-normal"),
    **dict.fromkeys(("StudentT", "Student", "student_t", "t"), "student"),
}
