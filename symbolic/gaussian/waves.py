"""Means of f = Re Sum a(x) e^(i q(x)), q large, along a path on which the waves fade.

Where a and q are analytic between the real axis and a path with the same ends, both have one
integral. |e^(i q)| = e^(-Im q), so that the path runs above the axis where q rises, below where it
falls, and crosses it where q' changes its sign (steepest descent: DLMF 2.4(iv)). Any path will do
for the proof; how it is chosen only tells how fast it is.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from math import comb, inf

from flint import acb, arb, ctx
from sympy import Dummy, Expr, I, Integer, Poly, PolynomialError, Rational, Symbol, cos, sin

from varlaw.symbolic.gaussian.balls import NoEnclosure
from varlaw.symbolic.gaussian.operations import KINKED
from varlaw.symbolic.gaussian.programs import Program, program
from varlaw.symbolic.gaussian.strips import strip
from varlaw.symbolic.occurrences import depends
from varlaw.symbolic.slopes import is_affine

LOW = 64  # bits, to choose a path
SAMPLES = 200
MOST_TURNS = 40
HALVINGS = 24
STRETCHES = 48
STEEPNESS = 0.5
HEIGHTS = 24
MOST_TERMS = 60
SHARE = 0.8  # of the strip in which a and q are analytic
Index = tuple[int, ...]


@dataclass(frozen=True)
class Wave:
    """(a + i b) e^(i q) as a function of x, analytic for |Im x| < width."""

    a: Program
    b: Program
    q: Program
    width: float

    def on_complexes(self) -> Callable[[acb], acb]:
        a, b, q = (code.on_complexes() for code in (self.a, self.b, self.q))

        def value(x: acb) -> acb:
            return (a(x, False) + acb(0, 1) * b(x, False)) * (acb(0, 1) * q(x, False)).exp()

        return value


def has_fast_waves(f: Expr, x: Symbol) -> bool:
    """Whether there is a wave that turns faster and faster."""
    return any(not is_affine(node.args[0], x) for node in _outermost(f, x))


def waves_of(f: Expr, x: Symbol) -> list[Wave]:
    """f as the real part of a sum of waves, on the real axis.

    Raises NoEnclosure for what is no polynomial in waves, or not known to be analytic.
    """
    found: dict[Index, Expr] = {}
    nodes = list(dict.fromkeys(_outermost(f, x)))
    phases = list(dict.fromkeys(node.args[0] for node in nodes))
    names = {node: Dummy(real=True) for node in nodes}
    try:
        polynomial = Poly(f.xreplace(names), *names.values())
    except PolynomialError:
        raise NoEnclosure(f"{f} is no polynomial in waves") from None
    for powers, coefficient in polynomial.terms():
        if any(depends(coefficient, name) for name in names.values()):
            raise NoEnclosure(f"{f} is no polynomial in waves")
        factors = [_power(node, n, phases) for node, n in zip(nodes, powers, strict=True) if n > 0]
        for index, share in reduce(_product, factors, {(0,) * len(phases): Integer(1)}).items():
            found[index] = found.get(index, Integer(0)) + share * coefficient
        if len(found) > MOST_TERMS:
            raise NoEnclosure(f"{f} has too many waves")
    zero = (0,) * len(phases)
    waves = []
    for index, amplitude in found.items():  # those of n and -n are conjugates of one another
        if index >= zero and amplitude != 0:
            amplitude = amplitude.expand() * (1 if index == zero else 2)
            q = sum((n * phase for n, phase in zip(index, phases, strict=True)), Integer(0))
            waves.append(_wave(amplitude.subs(I, 0), amplitude.coeff(I), q, x))
    return waves


def _outermost(f: Expr, x: Symbol) -> Iterator[Expr]:
    if isinstance(f, (sin, cos)) and depends(f, x):
        yield f
        return
    for part in f.args:
        yield from _outermost(part, x)


def _power(node: Expr, n: int, phases: list[Expr]) -> dict[Index, Expr]:
    """sin(q)^n or cos(q)^n as a sum of e^(i k q)."""
    place, found = phases.index(node.args[0]), {}
    for k in range(n + 1):
        share = Rational(comb(n, k), 2**n)
        if isinstance(node, sin):
            share *= (-1) ** k * (-I) ** n
        index = [0] * len(phases)
        index[place] = n - 2 * k
        found[tuple(index)] = share
    return found


def _product(p: dict[Index, Expr], q: dict[Index, Expr]) -> dict[Index, Expr]:
    found: dict[Index, Expr] = {}
    for one, a in p.items():
        for other, b in q.items():
            index = tuple(n + m for n, m in zip(one, other, strict=True))
            found[index] = found.get(index, Integer(0)) + a * b
    return found


def _wave(a: Expr, b: Expr, q: Expr, x: Symbol) -> Wave:
    codes, width = [program(part, x) for part in (a, b, q)], inf
    for code in codes:
        found = strip(code)
        if found.open or code.uses(KINKED | {"divided"}):
            raise NoEnclosure(f"{code.expression} is not known to be analytic")
        width = min(width, float(found.half_width.lower()))
    return Wave(codes[0], codes[1], codes[2], width)


@dataclass(frozen=True)
class Line:
    """u from 0 to length, with t = base + stretch u and x = origin + pace u."""

    base: arb
    stretch: arb
    length: float
    origin: arb
    pace: arb

    def integrand(self, wave: Wave) -> Callable[[acb, bool], acb]:
        """The wave times exp(-t^2/2), as a function of u."""
        value = wave.on_complexes()
        start, pull = acb(self.base), acb(self.stretch)
        place, slope = acb(self.origin), acb(self.pace)

        def integrand(u: acb, _: bool) -> acb:
            t = start + pull * u
            return value(place + slope * u) * (t * t * -0.5).exp()

        return integrand


def integral_of_waves(f: Expr, x: Symbol, line: Line, tolerance: arb, most: int) -> arb:
    """The integral over u of f exp(-t^2/2), by at most so many evaluations for each wave.

    Raises NoEnclosure where that does not do.
    """
    waves = waves_of(f, x)
    return sum((_along(wave, line, tolerance / len(waves), most) for wave in waves), arb(0))


def _along(wave: Wave, line: Line, tolerance: arb, most: int) -> arb:
    integrand, left = line.integrand(wave), most
    tolerance = (tolerance / (4 * SAMPLES)).mid()

    def counted(u: acb, analytic: bool) -> acb:
        nonlocal left
        left -= 1
        return integrand(u, analytic)

    with ctx.workprec(LOW):
        path = list(_path(wave, line))
    total = acb(0)
    for a, b in pairwise(path):
        if left <= 0:
            raise NoEnclosure(f"{wave.q.expression} varies too fast")
        total += acb.integral(counted, acb(*a), acb(*b), abs_tol=tolerance, eval_limit=left)
    return total.real


def _path(wave: Wave, line: Line) -> Iterator[tuple[float, float]]:
    """The corners of the path, as real and imaginary parts of u."""
    size = line.integrand(wave)
    limit = SHARE * wave.width / abs(float(line.pace.mid()))
    yield 0.0, 0.0
    for low, high, side in _stretches(wave, line):
        points = _points(low, high)
        caps = [min(limit, STEEPNESS * min(u - low, high - u)) for u in points]
        heights = [_height(size, u, side, cap) for u, cap in zip(points, caps, strict=True)]
        back = _flattened(points[::-1], heights[::-1])[::-1]
        heights = _flattened(points, back)
        yield from ((u, side * y) for u, y in zip(points, heights, strict=True))
        yield high, 0.0


def _height(size: Callable[[acb, bool], acb], u: float, side: int, cap: float) -> float:
    """About where the wave is least in the first valley that the axis borders on."""
    best, chosen = inf, 0.0
    for k in range(HEIGHTS, -1, -1):
        found = _log_size(size(acb(u, side * cap / 2**k), False))
        if not found < best:
            break
        best, chosen = found, cap / 2**k
    return chosen


def _flattened(points: list[float], heights: list[float]) -> list[float]:
    """The heights, none of them far above the one before."""
    found = [heights[0]]
    for (a, b), y in zip(pairwise(points), heights[1:], strict=True):
        found.append(min(y, found[-1] + STEEPNESS * abs(b - a)))
    return found


def _log_size(value: acb) -> float:
    size = value.abs_upper()
    if not arb(size).is_finite():
        return inf
    return float(arb(size).log().mid()) if arb(size) > 0 else -inf


def _points(low: float, high: float) -> list[float]:
    """Points between two ends, dense where the path leaves the axis."""
    width = high - low
    near = [width / 2**k for k in range(HALVINGS, 2, -1)]
    even = [width * k / STRETCHES for k in range(2, STRETCHES - 1)]
    return [*(low + d for d in near), *(low + d for d in even), *(high - d for d in near[::-1])]


def _stretches(wave: Wave, line: Line) -> Iterator[tuple[float, float, int]]:
    """(low, high, the sign of dq/du between them): where that changes is found roughly."""
    slope = program(wave.q.expression.diff(wave.q.variable), wave.q.variable).on_reals()

    def side(u: float) -> int:
        value = slope(line.origin + line.pace * u) * line.pace
        return 1 if value.mid() >= 0 else -1

    points = [line.length * k / SAMPLES for k in range(SAMPLES + 1)]
    low, turns = 0.0, 0
    for a, b in pairwise(points):
        if side(a) == side(b):
            continue
        turns += 1
        if turns > MOST_TURNS:
            raise NoEnclosure(f"{wave.q.expression} turns too often")
        first = side(a)
        for _ in range(40):
            middle = (a + b) / 2
            a, b = (middle, b) if side(middle) == first else (a, middle)
        if b > low:
            yield low, b, first
        low = b
    if line.length > low:
        yield low, line.length, side((low + line.length) / 2)
