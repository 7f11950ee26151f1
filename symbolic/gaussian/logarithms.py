"""Means of p(x) log|sin(a x + b)| and p(x) log|cos(a x + b)|, by Fourier series.

Their poles have no end. log|sin u| = -log 2 - Sum cos(2 k u)/k over k >= 1, and log|cos u| the same
with (-1)^k (DLMF 4.22; Gradshteyn and Ryzhik 1.441). For a polynomial p and w = 2 a k, completing
the square gives

    E[p(X) e^(i w X)] = e^(i w m) e^(-w^2 v/2) E[p(Y)] with Y ~ N(m + i w v, v),

where |E[p(Y)]| is at most A(w), the same with |m| + |w| v and |p|'s coefficients. With
q = exp(-2 a^2 v) the terms beyond K add up to at most
q^((K + 1)^2) A(w_(K+1))/(1 - q^(2 K + 2) e^(n/(K + 1))), n being the degree of p.
"""

from collections.abc import Iterator
from typing import Any

from flint import acb, arb, ctx
from sympy import Abs, Add, Expr, Integer, Mul, Poly, Pow, Symbol, cos, log, sin, tan

from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.occurrences import contains
from varlaw.symbolic.slopes import is_affine

MOST_TERMS = 20_000
ONE = Integer(1)
Waves = list[tuple[Expr, Expr]]  # (polynomial, sin(u) or cos(u)) for a sum of logarithms


def parted(f: Expr, x: Symbol) -> tuple[Waves, Expr]:
    """The terms p log|sin(u)| and p log|cos(u)| of f, p polynomial, u affine, and its rest."""
    if not contains(f, log) or not any(node.has(sin, cos, tan) for node in f.atoms(log)):
        return [], f
    waves: Waves = []
    rest: list[Expr] = []
    for term in Add.make_args(f):
        logs = [part for part in Mul.make_args(term) if isinstance(part, log)]
        if len(logs) != 1 or not (coefficient := term / logs[0]).is_polynomial(x):
            rest.append(term)
            continue
        (body,) = logs
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
    return sum((_mean(c, wave, x, mean, variance) for c, wave in waves), arb(0))


def _mean(c: Expr, wave: Expr, x: Symbol, mean: Expr, variance: Expr) -> arb:
    u = wave.args[0]
    powers = [ball(power) for power in Poly(c, x).all_coeffs()[::-1]]
    degree, m, v = len(powers) - 1, ball(mean), ball(variance)
    angle, slope = 2 * ball(u.subs(x, mean)), 2 * ball(u.diff(x))
    if isinstance(wave, cos):
        angle += arb.pi()
    q = (-slope * slope * v / 2).exp()
    total = -arb(2).log() * _polynomial_mean(powers, m, v)
    for k in range(1, MOST_TERMS):
        turn = acb(0, k * angle).exp() * q ** (k * k) / k
        total -= (turn * _polynomial_mean(powers, acb(m, k * slope * v), v)).real
        # A(w_k) <= A(w_(K+1)) (k/(K+1))^n, as the coefficients of A are positive
        size = _polynomial_mean([abs(p) for p in powers], abs(m) + (k + 1) * abs(slope) * v, v)
        ratio = q ** (2 * k + 2) * (arb(degree) / (k + 1)).exp()
        if ratio < 1 and (beyond := size * q ** ((k + 1) ** 2) / (1 - ratio)) < arb(2) ** -ctx.prec:
            return total + arb(beyond.upper()) * arb(0, 1)
    raise NoEnclosure(f"the series of log|{wave}| converges too slowly at such a variance")


def _polynomial_mean(powers: list[arb], centre: Any, v: arb) -> Any:
    """E[p(X)] for X ~ N(centre, v), the centre being real or complex, by Stein's lemma."""
    before, moment = centre * 0, centre * 0 + 1
    total = powers[0] * moment
    for n, power in enumerate(powers[1:]):
        before, moment = moment, centre * moment + n * v * before
        total += power * moment
    return total
