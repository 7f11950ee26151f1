"""E[f(Z); Z on a half line] for rational f, by a series: thousands of digits in milliseconds.

With y the distance from the end, m that of the mean and w(y) = exp(-(y - m)^2/(2 v)), partial
fractions leave P_n = Int_0^oo y^n w dy and I_n = Int_0^oo (y + c)^-n w dy. By parts

    P_(n+1) = m P_n + n v P_(n-1) (and v w(0) for n = 0),
    n I_(n+1) = c^-n w(0) - I_(n-1)/v + (m + c) I_n/v.

I_1 is exp(-m^2/(2 v)) Sum (m/v)^k J_k/k!, J_k = Int_0^oo y^k exp(-y^2/(2 v))/(y + c) dy. With M_k
the same without the denominator, J_k = M_(k-1) - c J_(k-1), and J_0 is the Goodwin-Staton integral
(DLMF 7.5.13). As J_k <= M_k/c and M_(k+1)/M_k <= sqrt(v (k + 1)), the rest is below a geometric
series.
"""

from math import log

from flint import arb, ctx
from sympy import Dummy, Expr, Symbol, oo

from varlaw.symbolic.gaussian.balls import ball, normal_cdf
from varlaw.symbolic.gaussian.crossings import NotClosed
from varlaw.symbolic.gaussian.pieces import Piece
from varlaw.symbolic.gaussian.rational import partial_fractions

FARTHEST = 30  # standard deviations from the end to the mean


def mean_on_half_line(piece: Piece, x: Symbol, mean: Expr, deviation: Expr) -> arb:
    """E[f(Z); Z on the piece] at the current precision.

    Raises NotClosed for another piece than a half line, for a function that is not rational with
    rational poles beyond the end, and for a mean that is far away.
    """
    side = 1 if piece.upper == oo else -1
    near, far = (piece.lower, piece.upper) if side > 0 else (piece.upper, piece.lower)
    if far.is_finite or not near.is_finite:
        raise NotClosed("no half line")
    y = Dummy("y", positive=True)
    try:
        terms = list(partial_fractions(piece.expression, x, near + side * y, y))
    except TypeError as error:
        raise NotClosed(str(error)) from None
    orders = {c: max(-n for _, d, n in terms if d == c) for _, c, _ in terms if c is not None}
    if any(c <= 0 for c in orders):
        raise NotClosed("a pole on the half line")
    distance = _float(abs(ball(mean - near) / ball(deviation)))
    widest = max((_float(ball(c / deviation)) for c in orders), default=0.0)
    if max(distance, widest) > FARTHEST:
        raise NotClosed("the mean or a pole is far from the half line")
    with ctx.extraprec(round((distance + widest) ** 2 / log(2)) + 32):
        line = _HalfLine(side * (ball(mean) - ball(near)), ball(deviation) ** 2)
        powers = line.powers(max((n for _, c, n in terms if c is None), default=0))
        at_poles = {c: line.at_pole(ball(c), order) for c, order in orders.items()}
        values = (ball(b) * (powers[n] if c is None else at_poles[c][-n]) for b, c, n in terms)
        return sum(values, arb(0)) / (2 * arb.pi() * line.v).sqrt()


def _float(value: arb) -> float:
    return float(value.upper())


class _HalfLine:
    """The integrals over y > 0 with the weight w, for its mean m and variance v."""

    def __init__(self, m: arb, v: arb) -> None:
        self.m, self.v = m, v
        self.start = (-m * m / (2 * v)).exp()  # w(0)
        self.whole = (2 * arb.pi() * v).sqrt() * normal_cdf(m / v.sqrt())

    def powers(self, most: int) -> list[arb]:
        """P_0, ..., P_most."""
        found = [self.whole, self.m * self.whole + self.v * self.start]
        for n in range(1, most):
            found.append(self.m * found[n] + n * self.v * found[n - 1])
        return found

    def at_pole(self, c: arb, order: int) -> list[arb]:
        """I_0, ..., I_order."""
        found = [self.whole, self._first(c)]
        for n in range(1, order):
            inner = ((self.m + c) * found[n] - found[n - 1]) / self.v
            found.append((self.start / c**n + inner) / n)
        return found

    def _first(self, c: arb) -> arb:
        """I_1."""
        pace, least = self.m / self.v, arb(2) ** -ctx.prec
        moments = [(arb.pi() * self.v / 2).sqrt(), self.v]  # M_k and M_(k+1)
        z = c / (2 * self.v).sqrt()
        inner = (-z * z).exp() * (arb.pi() * z.erfi() - (z * z).ei()) / 2  # J_k
        scale, total, k = arb(1), arb(0), 0  # (m/v)^k/k!
        while True:
            total += scale * inner
            k += 1
            ratio = abs(self.m) / (self.v * k).sqrt()
            rest = abs(scale) * moments[0] / c * ratio / (1 - ratio)
            if 2 * ratio < 1 and rest < least:
                return self.start * (total + arb(rest.upper()) * arb(0, 1))
            inner = moments[0] - c * inner
            scale = scale * pace / k
            moments = [moments[1], k * self.v * moments[0]]
