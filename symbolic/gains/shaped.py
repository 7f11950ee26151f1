"""Shaped activations: an affine map before an activation and one behind it, for deep networks.

With h(x) = g (f(a x + b) + d) and x ~ N(0, 1), a layer maps the second moment q to Q(q) =
E[h(sqrt(q) x)^2] and, at q = 1, a correlation c to C(c) = E[h(x) h(y)]; L layers: C_f = C(C(...)).

Deep Kernel Shaping (Martens et al. 2021, arXiv 2110.01765) asks for Q(1) = Q'(1) = 1, C(0) = 0 and
C'(1) = T^(1/L), so that C_f'(1) = T. Tailored activation transformations (Zhang et al. 2022, arXiv
2203.08120) ask for Q(1) = Q'(1) = C'(1) = 1 and C''(1) = T/L, so that C_f''(1) = T; for leaky ReLU,
whose C''(1) is infinite, for C_f(0) = T, by its slope below 0.
"""

from collections.abc import Sequence
from itertools import pairwise, product

from flint import ctx
from sympy import Expr, Integer, Rational
from sympy import Symbol as Name

from varlaw.symbolic.gains.gain import DIGITS, Gains, Value
from varlaw.symbolic.gains.network import Residual
from varlaw.symbolic.gains.rectifiers import leaky_dks, leaky_tat, relu_dks
from varlaw.symbolic.gains.roots import SCALE, SHIFT, Box, Moments, proved
from varlaw.symbolic.gains.search import Search
from varlaw.symbolic.gains.shape import DKS, TAT, NoShape, Shape, fixed, told
from varlaw.symbolic.gains.slopes import is_odd
from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.gaussian.compiled import NotCompiled
from varlaw.symbolic.gaussian.decimals import bits_for
from varlaw.symbolic.gaussian.enclosure import joined
from varlaw.symbolic.gaussian.pieces import NotClosed, Piece, pieces_of

ZERO, ONE = Integer(0), Integer(1)
ZETA, TAU = Name("zeta", positive=True), Name("tau", positive=True)
SCALES = tuple(map(Rational, ("1/20", "1/4", "1")))
SHIFTS = tuple(map(Rational, ("1/2", "-1/2", "0", "1", "-1", "2", "-2")))
MORE = 2  # digits found beyond those asked for


def shapes(
    gains: Gains, way: str, target: Expr, depth: int | Residual = 1, digits: int = DIGITS
) -> tuple[Shape, ...]:
    """The shapes of an activation, by "dks" or "tat", for a network of `depth` layers; all proved.

    For a residual network in place of `depth` they are those by "tat".

    Where there is no closed form they are those that a search from some starts finds, the least
    output scale first; of mirror images by an odd function one. Raises NoShape.

    >>> from sympy import Rational
    >>> from varlaw.symbolic.gains.gain import gain
    >>> (leaky,) = shapes(gain("leaky_relu"), "tat", Rational(9, 10), 50)
    >>> leaky.parameters["negative slope"].digits(10).digits
    '0.4305229485'
    """
    if gains.function.free_symbols != {gains.variable}:
        raise NoShape("an activation is shaped at given values of its parameters")
    least = 1 if way == "dks" else 0
    if target.free_symbols or not target - least > 0:
        raise NoShape(f"the target has to be a number above {least}")
    if isinstance(depth, Residual) and way == "dks":
        raise NoShape("networks with shortcuts are shaped by tat; dks asks for one layer's C'(1)")
    plain = depth if isinstance(depth, int) else 1
    slopes = _two_slopes(gains)
    if slopes == (0, 1) and way == "tat":
        raise NoShape("a ReLU is shaped by its slope below 0: give leaky_relu")
    if slopes == (0, 1):
        return (relu_dks(target, plain, digits),)
    if slopes is not None and slopes[1] == 1 and 0 < slopes[0] < 1:
        return (leaky_dks(target, plain) if way == "dks" else leaky_tat(target, depth, digits),)
    if slopes is not None:
        raise NoShape("of functions with two slopes relu and leaky_relu are shaped")
    layers = depth.layers if isinstance(depth, Residual) else Integer(depth)
    return _smooth(gains, way, target, layers, digits)


def _two_slopes(gains: Gains) -> tuple[Expr, Expr] | None:
    """The slopes below and above 0 of a function that is linear on both sides of it."""
    x = gains.variable
    pieces = joined(pieces_of(gains.function, x))
    slopes = [p.expression.diff(x) for p in pieces]
    if any(slope.has_free(x) for slope in slopes):
        return None
    if len(pieces) == 1:
        raise NoShape("a linear function keeps all correlations: there is nothing to shape")
    homogeneous = all(p.expression.subs(x, 0) == 0 for p in pieces)
    return (slopes[0], slopes[1]) if len(pieces) == 2 and homogeneous else None


def _moments(gains: Gains, curved: bool) -> Moments:
    """f, f^2, f'^2 and, if asked for, f''^2 in their pieces. Raises NoShape at jumps."""
    x = gains.variable
    try:
        pieces = joined(pieces_of(gains.function, x))
    except NotClosed as error:
        raise NoShape(f"the pieces of the function are not known: {error}") from error
    slopes = [Piece(p.lower, p.upper, p.expression.diff(x)) for p in pieces]
    if _jumps(pieces, x):
        raise NoShape("the function jumps, so that C'(1) is infinite")
    if curved and _jumps(slopes, x):
        raise NoShape("the slope jumps, so that C''(1) is infinite")
    squares = {"f2": pieces, "s2": slopes}
    if curved:
        squares["c2"] = [Piece(p.lower, p.upper, p.expression.diff(x)) for p in slopes]
    functions = {
        name: [(Piece(p.lower, p.upper, p.expression**2), p.expression**2) for p in parts]
        for name, parts in squares.items()
    }
    functions["f"] = [(p, (1 + p.expression**2) / 2) for p in pieces]
    return Moments(x, functions)


def _jumps(pieces: Sequence[Piece], x: Name) -> bool:
    for left, right in pairwise(pieces):
        step = (right.expression - left.expression).subs(x, right.lower)
        with ctx.workprec(200):
            if step.expand() != 0 and not ball(step).contains(0):
                return True
    return False


def _smooth(
    gains: Gains, way: str, target: Expr, depth: Rational, digits: int
) -> tuple[Shape, ...]:
    """The shapes of any other function, with the four parameters and the four conditions."""
    moments = _moments(gains, curved=way == "tat")
    mean, square, slope = (moments.symbol(name) for name in ("f", "f2", "s2"))
    first, second = moments.symbol("f", 2), moments.symbol("f2", 2)
    spread = square - mean**2
    if way == "dks":
        local, constant = target ** (1 / depth), ZETA
        condition = told("C'(1)", target, depth, "^")
        equations = [
            (second - 2 * mean * first - 2 * spread) / SCALE**4,
            slope - ZETA * spread / SCALE**2,
        ]
        shift, size = -mean, spread
    else:
        local, constant = target / depth, TAU
        condition = told("C''(1)", target, depth, "/")
        curvature, bent = moments.symbol("c2"), second / 2 - SCALE**2 * slope
        size = SCALE**2 * slope
        equations = [
            ((size - square) * first**2 + 2 * bent * first * mean - bent**2) / SCALE**6,
            SCALE**2 * curvature - TAU * slope,
        ]
        shift = -bent / first
    conditions = (*(DKS if way == "dks" else TAT), condition)
    odd = is_odd(gains.function, gains.variable)
    try:
        search = Search(equations, moments, {constant: float(local)})
    except NotCompiled as error:
        raise NoShape(f"no shape is known: {error}") from error
    found = []
    for near in search.roots(product(SCALES, SHIFTS)):
        if odd and near[1] < 0:
            continue  # the mirror image of one with b > 0
        try:
            box = proved(equations, moments, {constant: local}, near, digits + MORE)
        except NoEnclosure:
            continue
        found.append((box.value(size), Shape(conditions, _parameters(box, shift, size))))
    if not found:
        raise NoShape(
            "no shape was found: so few layers of this activation may not reach the target"
        )
    return tuple(shape for _, shape in sorted(found, key=lambda pair: -float(pair[0])))


def _parameters(box: Box, shift: Expr, size: Expr) -> dict[str, Value]:
    """The scale and the shift with those of the output: the shift, and 1/sqrt(size)."""
    with ctx.workprec(bits_for(box.digits)):
        found = {
            "input scale": box.value(SCALE),
            "input shift": box.value(SHIFT),
            "output scale": 1 / box.value(size).sqrt(),
            "output shift": box.value(shift),
        }
    return {name: fixed(value) for name, value in found.items()}
