"""Owen's function T(h, a) = 1/(2 pi) Int_0^a exp(-h^2 (1 + u^2)/2)/(1 + u^2) du on balls.

With x = h^2/2, (1 - exp(-x (1 + u^2)))/(1 + u^2) is an entire function of u, so that for every a

    2 pi T(h, a) = atan(a) - Sum_{j >= 0} (-1)^j P(j + 1, x) a^(2 j + 1)/(2 j + 1),

where P(j + 1, x) = 1 - exp(-x) Sum_{i <= j} x^i/i! lies between 0 and x^(j + 1)/(j + 1)!. Source:
Owen (1956), Tables for computing bivariate normal probabilities, Annals of Mathematical Statistics
27, equation (3.1).
"""

from itertools import count

from flint import arb, ctx


def owen_t(h: arb, a: arb, tolerance: arb) -> arb | None:
    """T(h, a); None where the series is long."""
    x, square = h * h / 2, a * a
    if not 4 * x < ctx.prec:
        return None
    poisson = (-x).exp()
    below, power, most, total = poisson, a, x, arb(0)
    for j in count():
        rest = abs(power) * most / (2 * j + 1)
        if 2 * square * x < j + 2 and rest < tolerance:  # from here each term halves the last
            return (a.atan() - total + 2 * rest * arb(0, 1)) / (2 * arb.pi())
        if j > 2 * ctx.prec:
            return None
        total += (-1) ** j * power * (1 - below) / (2 * j + 1)
        poisson *= x / (j + 1)
        below += poisson
        power *= square
        most *= x / (j + 2)
    raise AssertionError
