"""Means of log|sin(a x + b)| and log|cos(a x + b)|, whose poles have no end, by Fourier series.

log|sin u| = -log 2 - Sum cos(2 k u)/k over k >= 1, and log|cos u| the same with (-1)^k (DLMF 4.22;
Gradshteyn and Ryzhik 1.441). Under N(m, v) cos(2 k u) has the mean cos(2 k (a m + b)) q^(k^2) with
q = exp(-2 a^2 v), so that the terms beyond K add up to at most q^((K + 1)^2)/(1 - q^(2 K + 2)).
"""

from collections.abc import Iterator

from flint import arb, ctx
from sympy import Abs, Add, Expr, Integer, Mul, Pow, Symbol, cos, log, sin, tan

from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.slopes import is_affine

MOST_TERMS = 20_000
ONE = Integer(1)
Waves = list[tuple[Expr, Expr]]  # (coefficient, sin(u) or cos(u)) for a sum of logarithms


def parted(f: Expr, x: Symbol) -> tuple[Waves, Expr]:
    """The terms c log|sin(u)| and c log|cos(u)| of f with affine u, and the rest of f."""
    if not any(node.has(sin, cos, tan) for node in f.atoms(log)):
        return [], f
    waves: Waves = []
    rest: list[Expr] = []
    for term in Add.make_args(f):
        coefficient, body = term.as_independent(x, as_Add=False)
        if not isinstance(body, log):
            rest.append(term)
            continue
        for power, size in _factors(body.args[0]):
            factor = size.args[0] if isinstance(size, Abs) else size
            if factor != size and isinstance(factor, (sin, cos)) and is_affine(factor.args[0], x):
                waves.append((coefficient * power, factor))
            else:
                rest.append(coefficient * power * log(size))
    return (waves, Add(*rest)) if waves else ([], f)


def _factors(e: Expr, power: Expr = ONE) -> Iterator[tuple[Expr, Expr]]:
    """(p, g) for a product of g^p."""
    match e:
        case Mul():
            for part in e.args:
                yield from _factors(part, power)
        case Pow() if e.exp.is_Rational and (e.exp.p % 2 == 0 or isinstance(e.base, Abs)):
            yield from _factors(Abs(e.base), power * e.exp)
        case Abs():
            for part in Mul.make_args(e.args[0]):
                if isinstance(part, tan):
                    (u,) = part.args
                    yield from ((power, Abs(sin(u))), (-power, Abs(cos(u))))
                else:
                    yield power, Abs(part)
        case _:
            yield power, e


def mean_of_waves(waves: Waves, x: Symbol, mean: Expr, variance: Expr) -> arb:
    """The mean of a sum of such logarithms, at the current precision."""
    return sum((ball(c) * _mean(wave, x, mean, variance) for c, wave in waves), arb(0))


def _mean(wave: Expr, x: Symbol, mean: Expr, variance: Expr) -> arb:
    u = wave.args[0]
    angle, slope = 2 * ball(u.subs(x, mean)), ball(u.diff(x))
    if isinstance(wave, cos):
        angle += arb.pi()
    q = (-2 * slope * slope * ball(variance)).exp()
    total = -arb(2).log()
    for k in range(1, MOST_TERMS):
        total -= (k * angle).cos() * q ** (k * k) / k
        beyond = q ** ((k + 1) ** 2) / (1 - q ** (2 * k + 2))
        if beyond < arb(2) ** -ctx.prec:
            return total + arb(beyond.upper()) * arb(0, 1)
    raise NoEnclosure(f"the series of log|{wave}| converges too slowly at such a variance")
