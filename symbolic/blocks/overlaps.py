"""Logits of attention, and sums over the weights that their softmax gives."""

from typing import NamedTuple

from sympy import Expr, Float, Integer, harmonic, polygamma

from varlaw.symbolic.blocks.state import ONE, ZERO, tidy

NEAR = 1e-13
WRITTEN_OUT = 20  # tokens up to which sums over positions are fractions


class Logits(NamedTuple):
    """The logits of one head: their variance, and how they go with queries and keys.

    `keys` and `queries` are the correlations of two keys and of two queries; `key_slope` is the
    second moment of the derivative of a logit by a feature of its key's token, `query_slope` that
    by a feature of its query's token.
    """

    variance: Expr
    keys: Expr
    queries: Expr
    key_slope: Expr
    query_slope: Expr


class Overlap(NamedTuple):
    """Sums over softmax weights p, with means over queries t or over pairs of them.

    `one` is E sum_s p_ts^2, `squared` the mean of its square, `two` E sum_s p_ts p_t's, and
    `centred` what of `two` is left where from each token the mean of its row is taken.
    """

    one: Expr
    squared: Expr
    two: Expr
    centred: Expr


class Means(NamedTuple):
    """Means over queries (`one`) and pairs of them (`two`), where logits depend on distances.

    Keys correlate alike: `kept` of a product with one, `one` and `two` with two, and added biases.
    """

    kept: Expr = ONE
    one: Expr = ONE
    two: Expr = ONE
    bias_one: Expr = ZERO
    bias_two: Expr = ZERO


def rounded(number: float, digits: int = 15) -> Expr:
    """A number found in double precision, as a whole number where it is one to all its digits."""
    near = round(number)
    return Integer(near) if abs(number - near) < NEAR else Float(number, digits)


def of_all(one: Expr, two: Expr, n: Expr) -> Overlap:
    """Over n tokens, for e^v of one query and e^c of two, logits of one key beyond those of two."""
    single, both = (tidy(grown / (n - 1 + grown)) for grown in (one, two))
    return Overlap(single, single**2, both, both * (1 - 1 / n))


def at_position(one: Expr, two: Expr, t: Expr) -> Overlap:
    """Over the tokens up to t, with a query before it."""
    single = tidy(one / (t - 1 + one))
    return Overlap(single, single**2, two / t, two / t)


def causal(one: Expr, two: Expr, n: Expr) -> Overlap:
    """Over the tokens up to each position, means over n positions."""
    if n == 1:
        return Overlap(ONE, ONE, ONE, ZERO)
    short = not n.is_number or n <= WRITTEN_OUT
    first, second = harmonic(n, evaluate=short), harmonic(n, 2, evaluate=short)
    pairs = n * (n - 1) / 2
    return Overlap(
        first / n if one == 1 else one * (harmonic(n + one - 1) - harmonic(one - 1)) / n,
        second / n if one == 1 else one**2 * (polygamma(1, one) - polygamma(1, n + one)) / n,
        two * (n - first) / pairs,
        two * (n - first - (first**2 - second) / 2) / pairs,
    )
