"""The zeros of a function on the whole line, isolated in ball arithmetic.

On a box where the derivative has a sign there is a zero if the ends differ in sign, and none else.
At a multiple zero, which must be at a simple fraction, it is the first derivative that is not zero.
Far out the sign must follow from the bounds of `growth`. What cannot be decided is an error.
"""

from collections.abc import Iterator
from functools import lru_cache
from math import ceil

from flint import arb, ctx
from sympy import Expr, Float, Rational, Symbol, cosh, erf, erfc, exp, sinh, tanh, together

from varlaw.symbolic.gaussian.balls import Located, NoEnclosure
from varlaw.symbolic.gaussian.growth import Growth
from varlaw.symbolic.gaussian.programs import program

MOST_BOXES = 10_000
LEAST_WIDTH = 1e-9
SMALL = 4.0  # from where on a zero at a simple fraction is looked for
MOST_DENOMINATOR = 360
MOST_ORDER = 6
REACHES = (4, 12, 40)
OFFSETS = {-1: 0.0137, 1: 0.0241}  # so that no zero at a round number is at the edge of a box
ROUNDS = 200


class Zero(Located):
    """The only zero of `function` between two points, where the derivative has one sign."""

    is_real = True
    is_finite = True
    is_commutative = True
    is_number = True

    @property
    def free_symbols(self) -> set[Symbol]:
        return set()

    def enclosure(self) -> arb:
        function, x, low, high = self.args
        value, slope = (program(f, x).on_reals() for f in (function, function.diff(x)))
        box = arb(int(low.p)) / int(low.q)
        box = box.union(arb(int(high.p)) / int(high.q))
        with ctx.extraprec(20):
            for _ in range(ROUNDS):
                middle = arb(box.mid())
                smaller = box.intersection(middle - value(middle) / slope(box))
                if not smaller.rad() < 0.9 * box.rad():
                    return smaller
                box = smaller
        return box

    def _eval_evalf(self, precision: int) -> Float:
        with ctx.workprec(precision):
            digits = int(precision * 0.3)
            return Float(self.enclosure().mid().str(digits, radius=False), digits)

    def _sympystr(self, printer: object) -> str:
        return f"the zero of {self.args[0]} between {self.args[2]} and {self.args[3]}"


def zeros(f: Expr, x: Symbol) -> list[Expr]:
    """All real zeros of f, from the left. Raises NoEnclosure where they cannot be isolated."""
    code, slope = program(f, x), program(f.diff(x), x)
    with ctx.workprec(64):
        value, change = code.on_reals(), slope.on_reals()
        low, high = -_reach(f, x, -1), _reach(f, x, 1)
        stack = [(low, high)]
        found: list[Expr] = []
        for _ in range(MOST_BOXES):
            if not stack:
                return found
            a, b = stack.pop()
            box = arb(a).union(arb(b))
            if not value(box).contains(0):
                continue
            steepness = change(box)
            if steepness.is_finite() and not steepness.contains(0):
                ends = [value(arb(end)) for end in (a, b)]
                if any(end.contains(0) for end in ends):
                    break
                if (ends[0] > 0) != (ends[1] > 0):
                    found.append(Zero(f, x, Rational(a), Rational(b)))
                continue
            if b - a < SMALL:
                point = _simplest(a, b)
                if point is not None and _only_zero(f, x, point, box):
                    found.append(point)
                    continue
            if b - a < LEAST_WIDTH:
                break
            middle = (a + b) / 2
            stack += [(middle, b), (a, middle)]
    raise NoEnclosure(f"the zeros of {f} could not be told apart")


@lru_cache(maxsize=64)
def _derivative_at(f: Expr, x: Symbol, point: Expr) -> tuple[Expr, int]:
    """(the first derivative that is not known to vanish at the point, its order)."""
    order = 0
    while order < MOST_ORDER and f.subs(x, point).expand().is_zero:
        f, order = f.diff(x), order + 1
    return f, order


def _only_zero(f: Expr, x: Symbol, point: Expr, box: arb) -> bool:
    """Whether f is known to be zero at the point, and nowhere else on the box."""
    derivative, order = _derivative_at(f, x, point)
    if not order:
        return False
    value = program(derivative, x).on_reals()(box)
    return bool(value.is_finite() and not value.contains(0))


def _simplest(a: float, b: float) -> Expr | None:
    """The fraction of the least denominator between two numbers."""
    for denominator in range(1, MOST_DENOMINATOR):
        numerator = ceil(a * denominator)
        if numerator < b * denominator:
            return Rational(numerator, denominator)
    return None


def _reach(f: Expr, x: Symbol, side: int) -> float:
    """How far out the sign changes no more."""
    for form in _forms(f.subs(x, side * x)):
        code = program(form, x)
        for reach in REACHES:
            if Growth(code, arb(0), arb(1), arb(reach)).result.sign:
                return reach + OFFSETS[side]
    raise NoEnclosure("its sign far out is not known")


def _forms(f: Expr) -> Iterator[Expr]:
    """Ways to write a function; in some of them nothing cancels far out."""
    yield f
    yield f.rewrite([sinh, cosh], exp).expand()
    form = f.expand().replace(erf, lambda u: 1 - erfc(u))
    yield form.replace(tanh, lambda u: 1 - 2 / (1 + exp(2 * u))).expand()
    above, below = together(f).as_numer_denom()
    yield above.expand() / below
