"""Random products and compositions of activations, and their means by quadrature.

Each function is a text of the language and a Python function written out by hand, with the points
where it has kinks, so that nothing of the engine is used for the expected value.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

import mpmath as mp

Function = Callable[[mp.mpf], mp.mpf]


def _selu(t: mp.mpf) -> mp.mpf:
    return SCALE * (t if t > 0 else ALPHA * mp.expm1(t))


def _gelu_tanh(t: mp.mpf) -> mp.mpf:
    return t * (1 + mp.tanh(mp.sqrt(2 / mp.pi) * (t + mp.mpf(44715) / 10**6 * t**3))) / 2


ALPHA = mp.mpf("1.67326324235437728481704297101")
SCALE = mp.mpf("1.05070098735548049342108014370")
HALF = mp.mpf(1) / 2

# name: (the function, its kinks)
ROWS: dict[str, tuple[Function, tuple[Fraction, ...]]] = {
    "relu": (lambda t: max(t, mp.mpf(0)), (Fraction(0),)),
    "leaky_relu": (lambda t: t if t > 0 else t / 100, (Fraction(0),)),
    "relu6": (lambda t: min(max(t, mp.mpf(0)), mp.mpf(6)), (Fraction(0), Fraction(6))),
    "abs": (abs, (Fraction(0),)),
    "step": (lambda t: mp.mpf(1 if t > 0 else 0), (Fraction(0),)),
    "hardtanh": (lambda t: max(min(t, mp.mpf(1)), -mp.mpf(1)), (Fraction(-1), Fraction(1))),
    "hardsigmoid": (lambda t: max(min(t / 6 + HALF, mp.mpf(1)), mp.mpf(0)),
                    (Fraction(-3), Fraction(3))),
    "hardswish": (lambda t: t * max(min(t / 6 + HALF, mp.mpf(1)), mp.mpf(0)),
                  (Fraction(-3), Fraction(3))),
    "elu": (lambda t: t if t > 0 else mp.expm1(t), (Fraction(0),)),
    "selu": (_selu, (Fraction(0),)),
    "hardshrink": (lambda t: t if abs(t) > HALF else mp.mpf(0),
                   (Fraction(-1, 2), Fraction(1, 2))),
    "softshrink": (lambda t: t - mp.sign(t) * HALF if abs(t) > HALF else mp.mpf(0),
                   (Fraction(-1, 2), Fraction(1, 2))),
    "softsign": (lambda t: t / (1 + abs(t)), (Fraction(0),)),
    "softplus": (lambda t: mp.log1p(mp.exp(t)), ()),
    "sigmoid": (lambda t: 1 / (1 + mp.exp(-t)), ()),
    "silu": (lambda t: t / (1 + mp.exp(-t)), ()),
    "quick_gelu": (lambda t: t / (1 + mp.exp(-mp.mpf(1702) / 1000 * t)), ()),
    "gelu": (lambda t: t * mp.ncdf(t), ()),
    "gelu_tanh": (_gelu_tanh, ()),
    "mish": (lambda t: t * mp.tanh(mp.log1p(mp.exp(t))), ()),
    "bump": (lambda t: mp.exp(-t * t), ()),
    "tanh": (mp.tanh, ()),
    "erf": (mp.erf, ()),
    "Phi": (mp.ncdf, ()),
    "sin": (mp.sin, ()),
    "cos": (mp.cos, ()),
    "exp": (mp.exp, ()),
}  # fmt: skip
INNER = [name for name in ROWS if name not in ("step", "exp")]


@dataclass(frozen=True)
class Case:
    """A function as text and in Python, with its kinks, and the law of its variable."""

    text: str
    function: Function
    kinks: tuple[mp.mpf, ...] = field(repr=False)
    mean: Fraction = Fraction(0)
    variance: Fraction = Fraction(1)

    def expected(self) -> mp.mpf:
        """The mean by quadrature at the working precision, in standard units."""
        centre = mp.mpf(self.mean.numerator) / self.mean.denominator
        deviation = mp.sqrt(mp.mpf(self.variance.numerator) / self.variance.denominator)
        kinks = [(kink - centre) / deviation for kink in self.kinks]
        points = sorted({mp.mpf(k) for k in range(-15, 16)} | {k for k in kinks if abs(k) < 15})
        return mp.quad(
            lambda t: self.function(centre + deviation * t) * mp.npdf(t), points, maxdegree=7
        )


def cases(seed: int, count: int) -> list[Case]:
    draw = random.Random(seed)
    return [_case(draw) for _ in range(count)]


def _case(draw: random.Random) -> Case:
    factors = [_factor(draw) for _ in range(draw.choice((1, 2, 2, 3)))]
    if draw.random() < 0.4:
        power = draw.randint(1, 3)
        factors.append((f"x^{power}", lambda t: t**power, ()))
    texts, functions, kinks = zip(*factors, strict=True)

    def product(t: mp.mpf) -> mp.mpf:
        return mp.fprod(f(t) for f in functions)

    law = draw.choice([(0, 1), (0, 1), (Fraction(1, 3), Fraction(9, 4)), (-1, Fraction(1, 2))])
    mean, variance = (Fraction(value) for value in law)
    return Case("*".join(texts), product, sum(kinks, ()), mean, variance)


def _factor(draw: random.Random) -> tuple[str, Function, tuple[mp.mpf, ...]]:
    slope = Fraction(draw.choice((1, 1, 1, 2, -1, Fraction(1, 3))))
    offset = Fraction(draw.choice((0, 0, 0, Fraction(1, 2), Fraction(-1, 3), 1)))
    a, b = (mp.mpf(v.numerator) / v.denominator for v in (slope, offset))
    name = draw.choice(list(ROWS))
    f, own = ROWS[name]
    if draw.random() < 0.25:
        name, inner = (
            draw.choice(["relu", "abs", "hardtanh", "gelu", "tanh", "elu"]),
            draw.choice(INNER),
        )
        (outer, starts), (g, own) = ROWS[name], ROWS[inner]
        within = [_number((start - offset) / slope) for start in own]
        crossed = [p for c in starts for p in _crossings(lambda t, c=c: g(a * t + b) - _number(c))]
        text = f"{name}({inner}({slope}*x + {offset}))"
        power = 1
        return text, lambda t: outer(g(a * t + b)), (*within, *crossed)
    power = draw.choice((1, 1, 2))
    text = f"{name}({slope}*x + {offset})" + ("^2" if power == 2 else "")
    kinks = tuple(_number((start - offset) / slope) for start in own)
    return text, lambda t: f(a * t + b) ** power, kinks


def _number(value: Fraction) -> mp.mpf:
    return mp.mpf(value.numerator) / value.denominator


def _crossings(g: Function) -> list[mp.mpf]:
    """Where g changes its sign, by bisection on a grid."""
    grid = [mp.mpf(k) / 8 + mp.mpf("0.001") for k in range(-240, 241)]
    found = []
    for low, high in pairwise(grid):
        if g(low) * g(high) < 0:
            sign = g(low) > 0
            for _ in range(int(mp.mp.prec)):
                middle = (low + high) / 2
                low, high = (middle, high) if (g(middle) > 0) == sign else (low, middle)
            found.append(low)
    return found
