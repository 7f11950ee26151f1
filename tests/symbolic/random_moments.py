"""Random products and compositions over the table of activations, and their means by quadrature.

Each function is a text of the language and a Python function written out by hand; its kinks are
found by bisection, so that nothing of the engine is used for the expected value.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

import mpmath as mp

Function = Callable[[mp.mpf], mp.mpf]
Kinks = tuple[tuple[Function, mp.mpf], ...]  # where a function passes a value

ALPHA = mp.mpf("1.67326324235437728481704297101")
SCALE = mp.mpf("1.05070098735548049342108014370")
HALF, ZERO, ONE = mp.mpf(1) / 2, mp.mpf(0), mp.mpf(1)
REACH = 14  # in standard deviations
CELLS = 32  # per standard deviation


def _gelu_tanh(t: mp.mpf) -> mp.mpf:
    return t * (1 + mp.tanh(mp.sqrt(2 / mp.pi) * (t + mp.mpf(44715) / 10**6 * t**3))) / 2


def _sigmoid(t: mp.mpf) -> mp.mpf:
    return 1 / (1 + mp.exp(-t))


def _expm1(t: mp.mpf) -> mp.mpf:
    return mp.exp(t) - 1


def _above(t: mp.mpf, edge: mp.mpf, value: mp.mpf) -> mp.mpf:
    return value if t > edge else ZERO


# text with {} for the argument: (the function, its kinks)
ROWS: dict[str, tuple[Function, tuple[Fraction | int, ...]]] = {
    "relu({})": (lambda t: max(t, ZERO), (0,)),
    "leaky_relu({})": (lambda t: t if t > 0 else t / 100, (0,)),
    "leaky_relu({}, 1/5)": (lambda t: t if t > 0 else t / 5, (0,)),
    "prelu({})": (lambda t: t if t > 0 else t / 4, (0,)),
    "relu_k({}, 2)": (lambda t: max(t, ZERO) ** 2, (0,)),
    "relu_k({}, 3)": (lambda t: max(t, ZERO) ** 3, (0,)),
    "relu6({})": (lambda t: min(max(t, ZERO), mp.mpf(6)), (0, 6)),
    "abs({})": (abs, (0,)),
    "step({})": (lambda t: _above(t, ZERO, ONE), (0,)),
    "sign({})": (mp.sign, (0,)),
    "identity({})": (lambda t: t, ()),
    "hardtanh({})": (lambda t: max(min(t, ONE), -ONE), (-1, 1)),
    "hardsigmoid({})": (lambda t: max(min(t / 6 + HALF, ONE), ZERO), (-3, 3)),
    "hardswish({})": (lambda t: t * max(min(t / 6 + HALF, ONE), ZERO), (-3, 3)),
    "elu({})": (lambda t: t if t > 0 else _expm1(t), (0,)),
    "elu({}, 3/2)": (lambda t: t if t > 0 else _expm1(t) * 3 / 2, (0,)),
    "celu({}, 2)": (lambda t: t if t > 0 else 2 * _expm1(t / 2), (0,)),
    "selu({})": (lambda t: SCALE * (t if t > 0 else ALPHA * _expm1(t)), (0,)),
    "elu'({})": (lambda t: ONE if t > 0 else mp.exp(t), (0,)),
    "hardshrink({})": (lambda t: t if abs(t) > HALF else ZERO, (Fraction(-1, 2), Fraction(1, 2))),
    "softshrink({})": (lambda t: t - mp.sign(t) * HALF if abs(t) > HALF else ZERO,
                       (Fraction(-1, 2), Fraction(1, 2))),
    "threshold({})": (lambda t: _above(t, ONE, t), (1,)),
    "max({}, 1/3)": (lambda t: max(t, ONE / 3), (Fraction(1, 3),)),
    "softsign({})": (lambda t: t / (1 + abs(t)), (0,)),
    "softplus({})": (lambda t: mp.log(1 + mp.exp(t)), ()),
    "sigmoid({})": (_sigmoid, ()),
    "silu({})": (lambda t: t * _sigmoid(t), ()),
    "silu({}, 2)": (lambda t: t * _sigmoid(2 * t), ()),
    "silu'({})": (lambda t: _sigmoid(t) * (1 + t * _sigmoid(-t)), ()),
    "quick_gelu({})": (lambda t: t * _sigmoid(mp.mpf(1702) / 1000 * t), ()),
    "gelu({})": (lambda t: t * mp.ncdf(t), ()),
    "gelu'({})": (lambda t: mp.ncdf(t) + t * mp.npdf(t), ()),
    "gelu_tanh({})": (_gelu_tanh, ()),
    "mish({})": (lambda t: t * mp.tanh(mp.log(1 + mp.exp(t))), ()),
    "bump({})": (lambda t: mp.exp(-t * t), ()),
    "tanh({})": (mp.tanh, ()),
    "erf({})": (mp.erf, ()),
    "Phi({})": (mp.ncdf, ()),
    "sin({})": (mp.sin, ()),
    "cos({})": (mp.cos, ()),
    "exp({})": (mp.exp, ()),
}  # fmt: skip
OUTER = [row for row in ROWS if row not in ("exp({})", "relu_k({}, 3)")]
INNER = [row for row in OUTER if row not in ("step({})", "sign({})")]


@dataclass(frozen=True)
class Part:
    """A function as text and in Python, with what passes a value where it has its kinks."""

    text: str
    function: Function = field(repr=False)
    kinks: Kinks = field(default=(), repr=False)

    def inside(self, row: str) -> "Part":
        f, starts = ROWS[row]
        g = self.function
        passed = tuple((g, _number(start)) for start in starts)
        return Part(row.format(self.text), lambda t: f(g(t)), self.kinks + passed)

    def scaled(self, a: Fraction, b: Fraction) -> "Part":
        g, slope, offset = self.function, _number(a), _number(b)
        return Part(f"{a}*{self.text} + {b}", lambda t: slope * g(t) + offset, self.kinks)

    def __mul__(self, other: "Part") -> "Part":
        f, g = self.function, other.function
        text = f"{self.text}*{other.text}"
        return Part(text, lambda t: f(t) * g(t), self.kinks + other.kinks)

    def power(self, n: int) -> "Part":
        f = self.function
        return Part(f"{self.text}^{n}", lambda t: f(t) ** n, self.kinks)


@dataclass(frozen=True)
class Case:
    """A function, and the law of its variable."""

    part: Part
    mean: Fraction = Fraction(0)
    variance: Fraction = Fraction(1)

    def expected(self) -> mp.mpf:
        """The mean by quadrature at the working precision, in standard units."""
        centre, deviation = _number(self.mean), mp.sqrt(_number(self.variance))

        def standard(f: Function) -> Function:
            return lambda t: f(centre + deviation * t)

        points = {mp.mpf(k) / 2 for k in range(-2 * REACH, 2 * REACH + 1)}
        for inner, value in self.part.kinks:
            points |= set(_passes(standard(inner), value))
        f = standard(self.part.function)
        return mp.quad(lambda t: f(t) * mp.npdf(t), sorted(points), maxdegree=7)


def cases(seed: int, count: int) -> list[Case]:
    draw = random.Random(seed)
    return [_case(draw) for _ in range(count)]


def pairs(seed: int, count: int) -> list[tuple[Part, Part, Fraction]]:
    """Two functions and a correlation."""
    draw = random.Random(seed)
    rhos = [Fraction(r) for r in ("0", "3/10", "-7/10", "99/100", "-99/100", "1", "-1", "1/2")]
    return [(_single(draw), _single(draw), draw.choice(rhos)) for _ in range(count)]


def _single(draw: random.Random) -> Part:
    return _affine(draw).inside(draw.choice(list(ROWS)))


def _case(draw: random.Random) -> Case:
    part = _factor(draw)
    for _ in range(draw.choice((0, 1, 1, 2))):
        part = part * _factor(draw)
    if draw.random() < 0.4:
        part = part * Part("x", lambda t: t).power(draw.randint(1, 3))
    laws: list[tuple[Fraction | int, Fraction | int]] = [
        (0, 1), (0, 1), (0, 2), (Fraction(1, 3), Fraction(9, 4)), (-1, Fraction(1, 2)), (2, 1),
    ]  # fmt: skip
    mean, variance = draw.choice(laws)
    return Case(part, Fraction(mean), Fraction(variance))


def _affine(draw: random.Random) -> Part:
    slope = Fraction(draw.choice((1, 1, 1, 2, -1, Fraction(1, 3))))
    offset = Fraction(draw.choice((0, 0, 0, Fraction(1, 2), Fraction(-1, 3), 1, -2)))
    return Part("x", lambda t: t).scaled(slope, offset)


def _factor(draw: random.Random) -> Part:
    depth = draw.choice((1, 1, 1, 2, 2, 3))
    if depth == 1:
        part = _single(draw)
        return part.power(2) if draw.random() < 0.2 else part
    part = _affine(draw)
    for _ in range(depth - 1):
        part = part.inside(draw.choice(INNER))
        if draw.random() < 0.4:
            part = part.scaled(
                Fraction(draw.choice((1, 2, -1))), Fraction(draw.choice((0, -1, 1)), 2)
            )
    return part.inside(draw.choice(OUTER))


def _number(value: Fraction | int) -> mp.mpf:
    return mp.mpf(value.numerator) / value.denominator


def _passes(g: Function, value: mp.mpf) -> list[mp.mpf]:
    """Where g passes a value, by bisection on a grid."""
    grid = [mp.mpf(k) / CELLS + mp.mpf("0.001") for k in range(-REACH * CELLS, REACH * CELLS)]
    above = [g(t) > value for t in grid]
    found = []
    for (low, high), (before, after) in zip(pairwise(grid), pairwise(above), strict=True):
        if before != after:
            for _ in range(mp.mp.prec):
                middle = (low + high) / 2
                low, high = (middle, high) if (g(middle) > value) == before else (low, middle)
            found.append(low)
    return found
