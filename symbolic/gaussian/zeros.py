"""The zeros of a function on the whole line, isolated in ball arithmetic.

On a box where the derivative has a sign there is a zero if the ends differ in sign, and none else.
At a multiple zero, which must be at a simple fraction, it is the first derivative that is not zero.
Far out the sign must follow from the bounds of `growth`. What cannot be decided is an error.
"""

from collections.abc import Iterator
from functools import lru_cache
from math import ceil, inf

from flint import arb, ctx
from sympy import (
    Add,
    Dummy,
    Expr,
    Integer,
    Mul,
    Rational,
    Symbol,
    cosh,
    erf,
    erfc,
    exp,
    sinh,
    tanh,
    together,
)

from varlaw.symbolic.gaussian.balls import Located, NoEnclosure, ball
from varlaw.symbolic.gaussian.growth import Growth
from varlaw.symbolic.gaussian.programs import Choice, program
from varlaw.symbolic.gaussian.quotients import NoQuotient, Quotient, Quotients

MOST_BOXES = 10_000
LEAST_WIDTH = 1e-9
PRECISIONS = (64, 400)
SMALL = 4.0  # from where on a zero at a simple fraction is looked for
MOST_DENOMINATOR = 360
MOST_ORDER = 6
REACHES = (4, 12, 40)
OFFSETS = {-1: 0.0137, 1: 0.0241}  # so that no zero at a round number is at the edge of a box
ROUNDS = 200
BOUND = Dummy("x", real=True)
RASTER = 2**24
ORIGIN = Rational(241, 1370)  # of the raster, so that no simple fraction is an end of its boxes


class Zero(Located):
    """The only zero of `function` between two points, where the derivative has one sign."""

    @classmethod
    def of(cls, f: Expr, x: Symbol, low: Rational, high: Rational) -> "Zero":
        """With a variable of its own, which nothing is put in place of."""
        zero: Zero = cls(f.xreplace({x: BOUND}), BOUND, low, high)
        return zero

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

    def is_at(self, point: Expr) -> bool:
        function, x, low, high = self.args
        if isinstance(point, Zero):
            return self.args[1:] == point.args[1:] and self.is_zero_of(point.args[0], x)
        inside = bool(ball(low) < ball(point) < ball(high))
        return inside and bool(function.subs(x, point).expand().is_zero)

    def is_zero_of(self, g: Expr, y: Symbol) -> bool:
        """Whether another function of y is known to vanish there, as a factor of both does."""
        f, x, low, high = self.args
        f, g = (_with_expanded_waves(h) for h in (f, g.xreplace({y: x})))
        try:
            quotients = Quotients(Add(f, g, evaluate=False))
            one, other = quotients.of(f), quotients.of(g)
            rest = one.above / one.above.gcd(other.above)
            box = ball(low).union(ball(high))
            for part in (rest, one.below, other.below):
                known = quotients.expression(Quotient(part, quotients.one))
                value = program(known, x).on_reals()(box)
                if not value.is_finite() or value.contains(0):
                    return False
        except (NoQuotient, NoEnclosure):
            return False
        return True

    def _sympystr(self, printer: object) -> str:
        function = self.args[0].xreplace({BOUND: Symbol(BOUND.name)})
        return f"the zero of {function} between {self.args[2]} and {self.args[3]}"


def _with_expanded_waves(f: Expr) -> Expr:
    """The exponentials in one form."""
    return f.replace(lambda e: isinstance(e, (exp, tanh)), lambda e: e.func(e.args[0].expand()))


def zeros(f: Expr, x: Symbol, low: float = -inf, high: float = inf) -> list[Expr]:
    """All real zeros of f between two points, from the left; perhaps more, just outside of them.

    Raises NoEnclosure where they cannot be isolated.
    """
    ends = (
        low - OFFSETS[-1] if low > -inf else -_reach(f, x, -1),
        high + OFFSETS[1] if high < inf else _reach(f, x, 1),
    )
    if ends[0] >= ends[1]:
        return []
    for precision in PRECISIONS[:-1]:
        try:
            return _isolated(f, x, ends, precision)
        except NoEnclosure:
            continue
    return _isolated(f, x, ends, PRECISIONS[-1])


def _isolated(f: Expr, x: Symbol, ends: tuple[float, float], precision: int) -> list[Expr]:
    code, slope = program(f, x), program(f.diff(x), x)
    with ctx.workprec(precision):
        value, change = code.on_reals(), slope.on_reals()
        stack = [ends]
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
                sides = [value(arb(end)) for end in (a, b)]
                if any(side.contains(0) for side in sides):
                    break
                if (sides[0] > 0) != (sides[1] > 0):
                    found.append(_named(Zero.of(f, x, Rational(a), Rational(b))))
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


def _named(zero: Zero) -> Zero:
    """The same zero in a box of a fixed raster, so that every search finds the same object."""
    f, x, low, high = zero.args
    number = (zero.enclosure() * RASTER - ball(ORIGIN)).floor().unique_fmpz()
    if number is None:
        return zero
    box = (ORIGIN + int(number)) / RASTER, (ORIGIN + int(number) + 1) / RASTER
    return Zero.of(f, x, *box) if low <= box[0] and box[1] <= high else zero


def near_zero(f: Expr, x: Symbol, point: Expr) -> bool:
    """Whether f cannot be told from 0 at a point; so it is where f has no value there."""
    with ctx.workprec(PRECISIONS[-1]):
        value = program(f, x).on_reals()(ball(point))
        return bool(value.contains(0)) or not value.is_finite()


@lru_cache(maxsize=64)
def _derivative_at(f: Expr, x: Symbol, point: Expr) -> tuple[Expr, int]:
    """(the first derivative that is not known to vanish at the point, its order)."""
    order = 0
    while order < MOST_ORDER and near_zero(f, x, point) and f.subs(x, point).expand().is_zero:
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
    form = f.subs(x, side * x).replace(tanh, lambda u: 1 - 2 / (1 + exp(2 * u)))
    parts = together(form).as_numer_denom()
    return max(_reach_without_decay(part, x) for part in parts) + OFFSETS[side]


def _reach_without_decay(f: Expr, x: Symbol) -> float:
    """The same for x > 0, of f divided by one of its exponentials.

    There erfc(u) = w exp(-u^2) with w between 0 and 1, for u > 0 (DLMF 7.8.1).
    """
    f = f.expand().replace(erf, lambda u: 1 - erfc(u)).expand()
    between = Choice.of("either", Integer(0), Integer(1))
    decays = {node: exp(-(node.args[0] ** 2)) * between for node in f.atoms(erfc)}
    terms = [_parted(term) for term in Add.make_args(f.xreplace(decays).expand())]
    for reach in REACHES:
        if not all(_grows(node.args[0], x, reach) for node in decays):
            continue
        for _, divisor in dict.fromkeys(terms):
            form = Add(*(rest * exp((power - divisor).expand()) for rest, power in terms))
            if Growth(program(form, x), arb(0), arb(1), arb(reach)).result.sign:
                return reach
    raise NoEnclosure("its sign far out is not known")


def _parted(term: Expr) -> tuple[Expr, Expr]:
    """(a, u) for a term a exp(u)."""
    powers = [factor.args[0] for factor in Mul.make_args(term) if isinstance(factor, exp)]
    return Mul(*(f for f in Mul.make_args(term) if not isinstance(f, exp))), Add(*powers)


def _grows(u: Expr, x: Symbol, start: float) -> bool:
    """Whether u is affine, rises, and is positive from a point on."""
    slope = u.diff(x)
    return slope.is_number and bool(slope > 0) and bool(ball(u.subs(x, Rational(start))) > 0)


def _forms(f: Expr) -> Iterator[Expr]:
    """Ways to write a function; in some of them nothing cancels far out."""
    yield f
    yield f.rewrite([sinh, cosh], exp).expand()
    form = f.expand().replace(erf, lambda u: 1 - erfc(u))
    yield form.replace(tanh, lambda u: 1 - 2 / (1 + exp(2 * u))).expand()
    above, below = together(f).as_numer_denom()
    yield above.expand() / below
