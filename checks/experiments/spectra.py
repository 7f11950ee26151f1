"""Experiments on the singular values of square matrices of normal weights.

Householder reflections take such a matrix to a bidiagonal one with independent chi variables for
entries and the same singular values: Dumitriu and Edelman, J. Math. Phys. 43 (2002) 5830-5847,
section III. It takes 2 n - 1 random numbers instead of n^2.
"""

import numpy as np
from numpy.random import Generator
from sympy import Expr, Integer, Rational

from varlaw.checks.experiments.moments import exact
from varlaw.checks.experiments.registry import Case, Draws, LimitTrial, Trial, experiment
from varlaw.checks.steps.spectra import traces
from varlaw.symbolic.sequences import Term

NORMAL = ("normal",)
HALVINGS = 24


def bidiagonal(rng: Generator, size: int, replicates: int) -> Draws:
    """Squares of the entries d_1, e_1, d_2, ..., d_n of the bidiagonal form, at variance 1/n.

    In the form (2 n - 1, replicates): chi-square with n, n - 1, n - 1, n - 2, ..., 1, 1 degrees.
    """
    freedom = np.append(size, np.repeat(np.arange(size - 1, 0, -1), 2))
    return rng.chisquare(freedom[:, None], (2 * size - 1, replicates)) / size


def largest_singular_value(squares: Draws) -> Draws:
    """The largest singular value of bidiagonal matrices, to 1e-7: bisection by Sturm's sequences.

    x lies above all eigenvalues of a symmetric tridiagonal matrix with zeros on its diagonal,
    here the matrix of both B and B^T, if and only if x - b_1^2/x, x - b_2^2/(x - b_1^2/x), ...
    are all positive.
    """
    low = np.sqrt(squares.max(axis=0))
    high = 2 * low
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            pivot, above = middle, np.ones(middle.shape, dtype=bool)
            for square in squares:
                pivot = middle - square / pivot
                above &= pivot > 0
            low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.asarray((low + high) / 2)


def third_power(squares: Draws) -> Draws:
    """tr (B^T B)^3 from the tridiagonal matrix B^T B."""
    diagonal = squares[0::2].copy()
    diagonal[1:] += squares[1::2]
    beside = squares[0:-1:2] * squares[1::2]
    crossed = beside * (diagonal[:-1] + diagonal[1:])
    return np.asarray((diagonal**3).sum(axis=0) + 3 * crossed.sum(axis=0))


def limit_of(case: Case, power: int) -> Expr:
    """c_k by the law's recursion from c_0 = 1."""
    statement, found = case.law.statement, [Integer(1)]
    k = next(iter(statement.lhs.free_symbols))
    total = statement.rhs.as_coeff_Mul()
    for at in range(power):
        (index,) = total[1].bound
        summand = total[1].summand.subs(k, at)
        terms = [summand.subs(index, value) for value in range(at + 1)]
        known = {Term("c", value): c for value, c in enumerate(found)}
        found.append(total[0] * sum(term.xreplace(known) for term in terms))
    return exact(found[power])


@experiment(law="iid-gram-moments", quantity="E[tr (W^T W)^3]/n", weights=NORMAL, n=8)
def iid_gram_moments(case: Case) -> LimitTrial:
    """The third power at n, 2 n and 4 n; its variance by Wick's formula."""
    sizes = tuple(case.size("n") * factor for factor in (1, 2, 4))
    claim = limit_of(case, 3)
    spread = traces((3, 3)) - traces((3,)) ** 2

    def at(size: int) -> Trial:
        def draw(rng: Generator, replicates: int) -> Draws:
            return np.asarray(third_power(bidiagonal(rng, size, replicates)) / size)

        return Trial(draw, 2 * size - 1, claim, Rational(spread.eval(size), size**8), {})

    wrong = {"1, as if orthogonal": 1, "14, the fourth power": 14, "4, the limit of c_4/c_3": 4}
    margins = (0.01, 0.0028, 0.002)
    return LimitTrial(sizes, tuple(map(at, sizes)), claim, wrong, margins)


@experiment(law="iid-edge", quantity="E[largest singular value]", weights=NORMAL, n=8)
def iid_edge(case: Case) -> LimitTrial:
    """At n, 4 n and 16 n. The value is 1-Lipschitz: its variance is at most 1/n (Poincare)."""
    sizes = tuple(case.size("n") * factor for factor in (1, 4, 16))
    claim = case.claim()

    def at(size: int) -> Trial:
        def draw(rng: Generator, replicates: int) -> Draws:
            return largest_singular_value(bidiagonal(rng, size, replicates))

        work = size // 2  # long vectors, since the bisection takes entry by entry
        return Trial(draw, 2 * size - 1, claim, Rational(1, size), {}, work=work)

    wrong = {"1, as if orthogonal": 1, "4, its square": 4, "sqrt(2), the root of E[s^4]": 2**0.5}
    margins, orders = (0.004, 0.0025, 0.0012), (1 / 3, 4 / 3)
    return LimitTrial(sizes, tuple(map(at, sizes)), claim, wrong, margins, 2 / 3, orders)
