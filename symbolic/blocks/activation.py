"""Activations: means of a function of Gaussian features."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from flint import arb, ctx
from sympy import Dummy, Expr, Float, Integer, Lambda, Mul, Rational, Symbol, gamma, oo, sqrt

from varlaw.symbolic.blocks.block import Block
from varlaw.symbolic.blocks.enclosed import gaussian_mean
from varlaw.symbolic.blocks.lines import Balls, Enclosable, enclosure
from varlaw.symbolic.blocks.pairs import GaussianPair
from varlaw.symbolic.blocks.state import (
    ZERO,
    Approximation,
    BlockError,
    Gradient,
    Regime,
    State,
    joint,
    tidy,
)
from varlaw.symbolic.gains.slopes import is_odd, jumps_of, slope_of
from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.gaussian.bivariate import kernel
from varlaw.symbolic.gaussian.enclosure import joined
from varlaw.symbolic.gaussian.functions import NoMoment, function_of
from varlaw.symbolic.gaussian.moment import moment
from varlaw.symbolic.gaussian.pieces import NotClosed, pieces_of
from varlaw.symbolic.gaussian.shorter import shorter
from varlaw.symbolic.language import Text
from varlaw.symbolic.language_text import typed

U, V = Dummy("u", real=True), Dummy("v", positive=True)  # no name in a state clashes with them
MOST_OPERATIONS = 1000
MANY = 1000  # samples that a feature is normalised over
NARROW = Rational(1, 64)  # a variance at which exp(x^2) is no problem
SOMEWHERE = Rational(577, 1000)  # no kink or jump of a function that people write
RHO = Dummy("rho", real=True)
SIGN = Regime({Approximation.SYMMETRIC})


@dataclass(frozen=True, init=False)
class Activation(Block):
    """f(z), entry by entry, for Gaussian z: the name of an activation, or a function of x.

    E[f(z)^2] and E[f(z) f(z')] forward and E[f'(z)^2] backward are those of Gaussian z, in the
    wide limit (Poole et al. 2016, section 2; Schoenholz et al. 2017, section 4). Where
    f(z)^2 + f(-z)^2 = k z^2, as for ReLU, the second moment is k/2 times that of any symmetric z.
    """

    function: Expr
    variable: Symbol

    def __init__(self, function: Text) -> None:
        f, x = function_of(function)
        if unknown := f.free_symbols - {x}:
            raise BlockError(f"{typed(f)} has parameters without values: {min(map(str, unknown))}")
        object.__setattr__(self, "function", f)
        object.__setattr__(self, "variable", x)

    def forward(self, state: State) -> State:
        self._check(state)
        f, x, half = self.function, self.variable, self._half(state)
        square = self._mean(f**2, state) if half is None else half  # where finite, so is the mean
        product = None if state.product is None else self._pair(f, state)
        few = Regime(self._short(f, state) if product is not None else ())
        mean = tidy(self._mean(f, state))
        return state.become(
            mean=mean,
            mean_regime=SIGN if mean == 0 and state.symmetric else _wide(state, "mean"),
            second_moment=tidy(square),
            regime=_wide(state, "mean") if half is None else joint([state.regime, SIGN]),
            product=product,
            product_regime=Regime(_wide(state) | few),
            gaussian=False,
            symmetric=state.symmetric and is_odd(f, x),
        )

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        self._check(state)
        if points := jumps_of(self.function, self.variable):
            values = [self.function.subs(self.variable, point) for point in points]
            what = "is unbounded" if any(v.is_finite is False for v in values) else "jumps"
            raise BlockError(f"{typed(self.function)} {what}, so that gradients are infinite")
        slope, half = slope_of(self.function, self.variable), self._half(state)
        factor = self._mean(slope**2, state) if half is None else self._halved
        product = ZERO if gradient.product == 0 else gradient.product * self._pair(slope, state)
        of_slope = _wide(state, "mean") if half is None else SIGN
        turned = None
        if state.samples is not None:
            x = self.variable
            both = (
                ZERO if gradient.product == 0 else gradient.product * self._pair(slope * x, state)
            )
            turned = (gradient.second_moment * self._mean(slope**2 * x**2, state), both)
        of_pair = Regime()
        if gradient.product != 0:
            of_pair = Regime(self._short(slope, state) | self._short(slope * self.variable, state))
        return gradient.become(
            second_moment=tidy(factor * gradient.second_moment),
            regime=joint([gradient.regime, of_slope]),
            product=product,
            product_regime=joint([gradient.product_regime, _wide(state), of_pair]),
            turned=turned,
        )

    def _check(self, state: State) -> None:
        if not state.gaussian:
            raise BlockError(
                f"{typed(self.function)} needs Gaussian features: put a linear layer before it"
            )
        if state.variance.count_ops() > MOST_OPERATIONS:
            raise BlockError(
                f"the second moment into {typed(self.function)} is too large an expression: "
                "write layers that are alike as repeat(...)"
            )

    @cached_property
    def _halved(self) -> Expr | None:
        """k/2 where f(x)^2 + f(-x)^2 = k x^2 and f is linear on each side of zero."""
        x, pieces = self.variable, joined(pieces_of(self.function, self.variable))
        if any(end not in (0, oo, -oo) for p in pieces for end in (p.lower, p.upper)):
            return None
        slopes = [(p.expression / x).expand() for p in pieces]
        if any(slope.free_symbols for slope in slopes):
            return None
        sides = slopes if len(slopes) == 2 else slopes * 2
        return (sides[0] ** 2 + sides[1] ** 2) / 2

    def _half(self, state: State) -> Expr | None:
        """The second moment of f where it does not depend on the law of symmetric features."""
        if not state.symmetric or state.mean != 0 or self._halved is None:
            return None
        return self._halved * state.second_moment

    def _mean(self, f: Expr, state: State) -> Expr:
        """E[f] of a feature."""
        if (few := self._few(state)) is None:
            found = _mean(f, self.variable, state)
            if f != self.function or state.samples is None or self._halved is None:
                return found
            n = state.samples - 1  # on a sphere the norm is sqrt(n), in the mean it is less
            return found * sqrt(n / 2) * gamma(n / 2) / gamma((n + 1) / 2)
        from varlaw.symbolic.blocks.sphere import mean  # NumPy loads with it

        return ZERO if is_odd(f, self.variable) else mean(Lambda(self.variable, f), few)

    def _short(self, f: Expr, state: State) -> Regime:
        """Whether E[f(z) f(z')] has few digits: of f with kinks over few samples."""
        if (few := self._few(state)) is None:
            return Regime()
        from varlaw.symbolic.blocks.sphere import pair

        proved = pair(Lambda(self.variable, f), few)[1]
        return Regime() if proved else Regime({Approximation.DIGITS})

    def _few(self, state: State) -> int | None:
        """Over how few samples features were normalised, where that is no law of Gaussian ones.

        Of what is linear on both sides of 0 second moments are.
        """
        samples = state.samples
        if not isinstance(samples, Integer) or self._halved is not None or samples >= MANY:
            return None
        return int(samples)

    def _pair(self, f: Expr, state: State) -> Expr:
        """E[f(z) f(z')] of two inputs."""
        if (few := self._few(state)) is not None:
            from varlaw.symbolic.blocks.sphere import pair  # NumPy loads with it

            return pair(Lambda(self.variable, f), few)[0]
        r = state.correlation
        if r == 1:
            return tidy(_mean(f**2, self.variable, state))
        found = _closed_pair(f, self.variable, state.mean == 0, f == self.function)
        if found is None:
            law = Lambda(self.variable, f)
            return GaussianPair(law, state.mean, state.variance, r)
        values = {RHO: r, U: state.mean, V: state.variance}
        return tidy(found.xreplace(values))


def _is_square(f: Expr) -> bool:
    """Whether a real function is one of even powers, which is never negative."""
    return all(part.is_positive or (part.is_Pow and part.exp.is_even) for part in Mul.make_args(f))


@lru_cache(maxsize=256)
def _counts(square: Lambda) -> bool:
    """Whether a function that is not negative is proved not to be 0 somewhere."""
    (x,) = square.variables
    try:
        (there,) = (p for p in pieces_of(square.expr, x) if p.lower < SOMEWHERE < p.upper)
        with ctx.workprec(53):
            return bool(enclosure(there.expression, {x: ball(SOMEWHERE)}) > 0)
    except (NoEnclosure, NotClosed, ValueError):
        return False


class GaussianMean(Enclosable):
    """E[f(x)] for x ~ N(mean, variance), where no closed form is known; evalf proves its digits."""

    is_real = True
    nargs = 3

    def _eval_evalf(self, prec: int) -> Expr | None:
        if self.free_symbols:
            return None
        places = max(int(prec * 0.301), 5)
        return Float(self._moment(places + 5).digits(places).digits, precision=prec)

    def enclosure(self, at: Balls) -> arb:
        law, m, v = self.args
        return gaussian_mean(law.expr, law.variables[0], enclosure(m, at), enclosure(v, at))

    def _moment(self, places: int) -> Any:
        (x,), f = self.args[0].variables, self.args[0].expr
        mean, variance = (a if a.is_Rational else a.evalf(places) for a in self.args[1:])
        return moment(f, mean, variance, variable=x.name)

    def _eval_is_nonnegative(self) -> bool | None:
        return True if _is_square(self.args[0].expr) else None

    def _eval_is_positive(self) -> bool | None:
        """A square that is not 0 at one point is not 0 around it."""
        law, _, variance = self.args
        square = _is_square(law.expr)
        return True if square and variance.is_positive and _counts(law) else None

    def fdiff(self, argindex: int = 1) -> Expr:
        """By Stein's lemma, d/dv E[f] = E[f ((x - m)^2/v - 1)]/(2 v), and d/dm = E[f (x - m)]/v.

        For f without kinks these are E[f'']/2 and E[f'].
        """
        law, m, v = self.args
        (x,), f = law.variables, law.expr
        pieces = joined(pieces_of(f, x))
        if len(pieces) == 1:
            smooth = pieces[0].expression
            slope = smooth.diff(x, 2) / 2 if argindex == 3 else smooth.diff(x)
            return self.func(Lambda(x, slope), m, v)
        plain, once, twice = (self.func(Lambda(x, f * x**k), m, v) for k in range(3))
        if argindex == 2:
            return (once - m * plain) / v
        return ((twice - 2 * m * once + m**2 * plain) / v - plain) / (2 * v)

    def _sympystr(self, printer: Any) -> str:
        (x,), f = self.args[0].variables, self.args[0].expr
        _, m, v = self.args
        return f"E[{typed(f)} | {x.name} ~ N({typed(m)}, {typed(v)})]"


def _wide(state: State, *also: str) -> Regime:
    """What a mean over Gaussian features rests on; without names, one over all of the state."""
    numbers = ("second_moment", *also) if also else ()
    return Regime(state.resting(*numbers) | {Approximation.WIDE})


def _mean(f: Expr, x: Symbol, state: State) -> Expr:
    """E[f] of a Gaussian feature."""
    m, v = state.mean, state.variance
    if m == 0 and is_odd(f, x):
        return Integer(0)
    found = _closed(f, x, m == 0)
    if found is None:
        _look_for_poles(f, x)
        return GaussianMean(Lambda(x, f), m, v)
    return found.xreplace({U: m, V: v})


@lru_cache(maxsize=256)
def _closed(f: Expr, x: Symbol, centred: bool) -> Expr | None:
    """E[f] for x ~ N(U, V), or N(0, V), in closed form; None where none is known."""
    try:
        return moment(f, ZERO if centred else U, V, variable=x.name).exact
    except (NoMoment, NotClosed):
        return None
    except ValueError as error:
        raise BlockError(f"E[{typed(f)}]: {error}") from error


@lru_cache(maxsize=256)
def _look_for_poles(f: Expr, x: Symbol) -> None:
    """Raise BlockError where E[f] is not proved to be finite even at a small variance."""
    try:
        moment(f, ZERO, NARROW, variable=x.name)
    except ValueError:
        raise BlockError(
            f"E[{typed(f)}] is infinite, undefined or not known to be finite"
        ) from None


@lru_cache(maxsize=256)
def _closed_pair(f: Expr, x: Symbol, centred: bool, short: bool) -> Expr | None:
    """E[f(x) f(x')] for N(U, V) with correlation RHO, or N(0, V); None if it is not closed.

    A shorter form is looked for, which takes a while, if `short` is asked for.
    """
    means = (ZERO, ZERO) if centred else (U, U)
    try:
        found = kernel(f, f, x, RHO, (V, V), means)
    except NotClosed:
        return None
    except ValueError as error:
        raise BlockError(f"the correlation of two inputs: {error}") from error
    return shorter(found) if short else found
