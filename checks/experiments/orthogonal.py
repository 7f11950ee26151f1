"""Experiments on orthogonal matrices: QR decompositions with the signs that make them Haar.

Gram and Schmidt's method leaves R with a positive diagonal, which is those signs; it takes all
replicates at once. A direction may be lost to rounding in a matrix of small determinant: each
column is made orthogonal twice.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from sympy import Expr, Max, Min, Rational, sqrt

from varlaw.checks.experiments.backward import pull_back
from varlaw.checks.experiments.forward import multiply
from varlaw.checks.experiments.moments import Number, exact, expected, sum_moment
from varlaw.checks.experiments.registry import ANY, Case, Draws, Trial, experiment
from varlaw.checks.statistics.sampling import Law
from varlaw.symbolic.declarations import dimensions, indices, random_array
from varlaw.symbolic.terms import Sum

NORMAL = ("normal",)
SIZE = Fraction(5, 4)  # the second moment of inputs and probes
m, n = dimensions("m n")
i, j, k = indices("i j k")


def haar(rng: Generator, rows: int, columns: int, replicates: int) -> Draws:
    """Semi-orthogonal matrices in the form (rows, columns, replicates), of Haar's law."""
    long, short = max(rows, columns), min(rows, columns)
    q = rng.standard_normal((short, long, replicates))
    for k, column in enumerate(q):
        for done in (*q[:k], *q[:k]):
            column -= np.einsum("ir,ir->r", done, column) * done
        column /= np.sqrt(np.einsum("ir,ir->r", column, column))
    return q if rows < columns else q.swapaxes(0, 1)


@experiment(law="iid-gram", quantity="E[sum of G]/n", weights=ANY, m=3, n=4)
def iid_gram(case: Case) -> Trial:
    """All entries of W^T W together are |W 1|^2: on average n from the diagonal, else nothing."""
    rows, cols, weights = case.size("m"), case.size("n"), case.scaled(1 / case["m"])

    def draw(rng: Generator, replicates: int) -> Draws:
        drawn = weights.sample(rng, (rows, cols, replicates))
        gram = np.einsum("ijr,ikr->jkr", drawn, drawn)
        return np.asarray(gram.sum(axis=(0, 1)) / cols)

    claim = case.claim(j=1, k=1) + (cols - 1) * case.claim(j=1, k=2)
    row = 2 * Rational(cols) ** 2 + cols * (exact(case.weights.moment(4)) - 3)  # Var (W 1)_i^2
    spread = row / (rows * Rational(cols) ** 2)
    wrong = {
        "n, without cancellation": cols,
        "n/m": Rational(cols, rows),
        "m/n": Rational(rows, cols),
    }
    return Trial(draw, rows * cols, claim, spread, wrong, work=rows * cols + cols**2)


@experiment(law="iid-gram-second", quantity="E[tr (W^T W)^2]/n", weights=ANY, m=3, n=4)
def iid_gram_second(case: Case) -> Trial:
    rows, cols, weights = case.size("m"), case.size("n"), case.scaled(1 / case["m"])

    def draw(rng: Generator, replicates: int) -> Draws:
        drawn = weights.sample(rng, (rows, cols, replicates))
        gram = np.einsum("ijr,ikr->jkr", drawn, drawn)
        return np.asarray((gram**2).sum(axis=(0, 1)) / cols)

    w = random_array("w", mean=0, variance=1)
    square = Sum(Sum(w[i, j] * w[i, k], (i, 1, m)) ** 2, (j, 1, n), (k, 1, n)) / (m**2 * n)
    mean, second = (expected(square**p, case.values, {"w": case.weights}) for p in (1, 2))
    wrong = {
        "1, as if orthogonal": 1,
        "1 + n/m, the limit": 1 + Rational(cols, rows),
        "2": 2,
        "n/m": Rational(cols, rows),
    }
    claim = case.claim({"w": weights})
    others = {name: value for name, value in wrong.items() if abs(value - claim) > claim / 20}
    return Trial(draw, rows * cols, claim, second - mean**2, others, work=max(rows * cols, cols**2))


def across(matrices: Draws) -> Draws:
    """The first line of matrices across their longer side: m of n entries of a direction.

    Their squares have the sum S with E[S] = m/n and E[S^2] = m (m + 2)/(n (n + 2)).
    """
    return matrices[0] if len(matrices) > matrices.shape[1] else matrices[:, 0]


@experiment(
    law="orthogonal-variance", quantity="Var(w)", weights=NORMAL, m=3, n=5, g=Fraction(3, 2)
)
def orthogonal_variance(case: Case) -> Trial:
    """The first line across the longer side: over all entries the mean square does not vary."""
    rows, cols, gain = case.size("m"), case.size("n"), float(case["g"])
    smaller, larger = Min(case["m"], case["n"]), Max(case["m"], case["n"])

    def draw(rng: Generator, replicates: int) -> Draws:
        return np.asarray(((gain * across(haar(rng, rows, cols, replicates))) ** 2).mean(axis=0))

    claim = case.claim(p=larger)
    spread = case["g"] ** 4 * (smaller + 2) / (smaller * larger * (larger + 2)) - claim**2
    g = case["g"]
    wrong = {
        "g^2/m": g**2 / case["m"],
        "2 g^2/(m + n)": 2 * g**2 / (case["m"] + case["n"]),
        "g/max(m, n)": g / larger,
        "g^2/(m n)": g**2 / (case["m"] * case["n"]),
    }
    return Trial(draw, rows * cols, claim, spread, wrong)


def norm_fourth(inputs: Law, size: Expr, rows: Expr, cols: Expr) -> Expr:
    """E[|x W|^4] for entries of x of second moment `size` and a semi-orthogonal Haar matrix W.

    The square of the length is kept, or multiplied by that of the first entries of a direction.
    """
    kept = size**2 * (rows * exact(inputs.moment(4)) + rows * (rows - 1))
    return kept if cols >= rows else kept * cols * (cols + 2) / (rows * (rows + 2))


def layer(
    case: Case, gain: Expr, claimed: Number, wrong: dict[str, Number], forward: bool = True
) -> Trial:
    """The second moment of x W, or of g W^T, for inputs of the case's law and a Haar matrix."""
    rows, cols, inputs = case.size("m"), case.size("n"), case.scaled(SIZE)
    come, go = (rows, cols) if forward else (cols, rows)

    def draw(rng: Generator, replicates: int) -> Draws:
        x = inputs.sample(rng, (come, replicates))
        w = float(gain) * haar(rng, rows, cols, replicates)
        return np.asarray(((multiply if forward else pull_back)(x, w) ** 2).mean(axis=0))

    fourth = gain**4 * norm_fourth(case.weights, exact(SIZE), Rational(come), Rational(go))
    spread = fourth / Rational(go) ** 2 - exact(claimed) ** 2
    return Trial(draw, rows * cols + come, claimed, spread, wrong)


def passed_on(case: Case, name: str) -> dict[str, Number]:
    """What other laws say of the second moment that a layer of fan `name` passes on."""
    g, fan, q = case["g"], case[name], exact(SIZE)
    larger = Max(case["m"], case["n"])
    return {
        "g^2 q, all of it": g**2 * q,
        "g q": g * q * fan / larger,
        "g^2 q/max(m, n)": g**2 * q / larger,
        "g^2 q max(m, n)": g**2 * q * larger / fan,
    }


@experiment(
    law="orthogonal-isometry", quantity="E[|x W|^4]", weights=("uniform", "skewed"), m=3, n=5
)
def orthogonal_isometry(case: Case) -> Trial:
    """Inputs of the case's law, through a new Haar matrix in each replicate."""
    rows, cols, inputs = case.size("m"), case.size("n"), case.scaled(SIZE)

    def draw(rng: Generator, replicates: int) -> Draws:
        outputs = multiply(
            inputs.sample(rng, (rows, replicates)), haar(rng, rows, cols, replicates)
        )
        return np.asarray((outputs**2).sum(axis=0) ** 2)

    claim, q = case.claim({"x": inputs}, q=SIZE), exact(SIZE)
    eighth = sum_moment(rows, (4,), lambda powers: case.weights.moment(2 * powers[0]))
    wrong = {
        "(1 + 2/n) of it, as for independent normal weights": claim * (1 + 2 / case["n"]),
        "(m q)^2": (case["m"] * q) ** 2,
        "(m/n)^2 of it": claim * (case["m"] / case["n"]) ** 2,
        "3 (m q)^2": 3 * (case["m"] * q) ** 2,
    }
    return Trial(draw, rows * cols + rows, claim, q**4 * exact(eighth) - claim**2, wrong)


@experiment(law="orthogonal-forward", quantity="E[y^2]", weights=ANY, m=2, n=5, g=Fraction(3, 2))
def orthogonal_forward(case: Case) -> Trial:
    claim = case.claim(p=Max(case["m"], case["n"]), q=SIZE)
    return layer(case, case["g"], claim, passed_on(case, "m"))


@experiment(law="orthogonal-backward", quantity="E[b^2]", weights=ANY, m=5, n=3, g=Fraction(3, 2))
def orthogonal_backward(case: Case) -> Trial:
    claim = case.claim(p=Max(case["m"], case["n"]), q=SIZE)
    return layer(case, case["g"], claim, passed_on(case, "n"), forward=False)


@experiment(
    law="orthogonal-relu", quantity="E[relu(y)^2]/E[x^2]", weights=("uniform", "skewed"), m=5, n=3
)
def orthogonal_relu(case: Case) -> Trial:
    rows, cols, inputs = case.size("m"), case.size("n"), case.scaled(SIZE)
    gain = case.claim()

    def draw(rng: Generator, replicates: int) -> Draws:
        x = inputs.sample(rng, (rows, replicates))
        z = multiply(x, float(gain) * haar(rng, rows, cols, replicates))
        return np.asarray((np.maximum(z, 0) ** 2).mean(axis=0) / float(SIZE))

    # the outputs are |x| times the first entries of a direction, whose signs are free
    direction = (Rational(3, 2) * cols + Rational(cols * (cols - 1), 4)) / (rows * (rows + 2))
    fourth = norm_fourth(case.weights, exact(1), Rational(rows), Rational(rows))
    spread = gain**4 * fourth * direction / Rational(cols) ** 2 - 1
    others = {"1": 1, "2": 2, "sqrt(2 n/m)": sqrt(Rational(2 * cols, rows))}
    wrong = {f"gain {name}": gain**2 / exact(other) ** 2 for name, other in others.items()}
    return Trial(draw, rows * cols + rows, 1, spread, wrong)


@experiment(law="gaussian-length-fourth", quantity="E[|z|^4]", weights=NORMAL, n=4)
def gaussian_length_fourth(case: Case) -> Trial:
    size, count = case["n"], case.size("n")

    def draw(rng: Generator, replicates: int) -> Draws:
        return np.asarray((rng.standard_normal((count, replicates)) ** 2).sum(axis=0) ** 2)

    claim = case.claim()
    eighth = size * (size + 2) * (size + 4) * (size + 6)
    wrong = {"n^2": size**2, "3 n^2": 3 * size**2, "3 n": 3 * size, "n (n + 1)": size * (size + 1)}
    return Trial(draw, count, claim, eighth - (size * (size + 2)) ** 2, wrong)


def column(
    case: Case, statistic: Callable[[Draws], Draws], square: Expr, wrong: dict[str, Number]
) -> Trial:
    """A statistic of degree 4 in the first column u of a Haar matrix.

    Its square, of degree 8, has the mean `square`/(n (n + 2) (n + 4) (n + 6)), as r u is normal.
    """
    size, count, claim = case["n"], case.size("n"), case.claim()

    def draw(rng: Generator, replicates: int) -> Draws:
        return np.asarray(statistic(haar(rng, count, count, replicates)[:, 0]))

    eighth = square / (size * (size + 2) * (size + 4) * (size + 6))
    return Trial(draw, count**2, claim, eighth - claim**2, wrong)


@experiment(law="haar-fourth", quantity="E[u_1^4]", weights=NORMAL, n=3)
def haar_fourth(case: Case) -> Trial:
    size = case["n"]
    wrong = {
        "3/n^2, as if normal": 3 / size**2,
        "1/n^2": 1 / size**2,
        "3/(n (n + 1))": 3 / (size * (size + 1)),
    }
    # over all entries: E[z^8] = 105, E[z^4]^2 = 9
    return column(case, lambda u: (u**4).mean(axis=0), (105 + 9 * (size - 1)) / size, wrong)


@experiment(law="haar-pair", quantity="E[u_1^2 u_2^2]", weights=NORMAL, n=3)
def haar_pair(case: Case) -> Trial:
    size = case["n"]
    wrong = {
        "1/n^2, as if independent": 1 / size**2,
        "3/(n (n + 2))": 3 / (size * (size + 2)),
        "1/(n (n - 1))": 1 / (size * (size - 1)),
    }

    def pairs(u: Draws) -> Draws:
        squares = u**2
        both = squares.sum(axis=0) ** 2 - (squares**2).sum(axis=0)
        return np.asarray(both / (len(u) * (len(u) - 1)))

    # two pairs are the same, or have one entry in common, or none: 9, E[z^4] = 3 and 1
    ways = 9 + 6 * (size - 2) + (size - 2) * (size - 3) / 2
    return column(case, pairs, 2 * ways / (size * (size - 1)), wrong)


@experiment(law="haar-trace", quantity="E[(tr Q)^2]", weights=NORMAL, n=4, least={"n": 4})
def haar_trace(case: Case) -> Trial:
    """From four rows on E[(tr Q)^4] = 3, that of a normal variable (Diaconis and Shahshahani)."""
    count = case.size("n")

    def draw(rng: Generator, replicates: int) -> Draws:
        return np.asarray(np.trace(haar(rng, count, count, replicates)) ** 2)

    size = case["n"]
    wrong = {"n, for the identity's law": size, "1/n": 1 / size, "2": 2, "0": 0}
    return Trial(draw, count**2, case.claim(), 2, wrong)


@experiment(law="muon-update", quantity="E[w^2]", weights=NORMAL, m=3, n=5, u=Fraction(1, 5))
def muon_update(case: Case) -> Trial:
    """The first line of U V^T, from the singular vectors of a matrix of normal numbers."""
    rows, cols, larger = case.size("m"), case.size("n"), Max(case["m"], case["n"])
    smaller = Min(case["m"], case["n"])
    factor = float(case.claim(p=larger))

    def draw(rng: Generator, replicates: int) -> Draws:
        left, _, right = np.linalg.svd(
            rng.standard_normal((replicates, rows, cols)), full_matrices=False
        )
        return np.asarray(((factor * across(np.einsum("rik,rkj->ijr", left, right))) ** 2).mean(0))

    claim = case["u"] ** 2
    spread = claim**2 * ((smaller + 2) * larger / (smaller * (larger + 2)) - 1)
    wrong = {
        "by sqrt(m)": claim * case["m"] / larger,
        "by sqrt(m n)": claim * smaller,
        "by (m + n)/2": claim * (case["m"] + case["n"]) / 2 / larger,
        "unscaled, 1/max(m, n)": 1 / larger,
    }
    return Trial(draw, rows * cols, claim, spread, wrong)
