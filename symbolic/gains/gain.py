"""The gains of an activation: factors that bring a moment of its output, or of its slope, to 1.

A gain answers a question, and there are three: 1/sqrt(E[f^2]) keeps the second moment forward (He
et al. 2015, section 2.2), 1/sqrt(Var[f]) the variance, which is another thing wherever the mean is
not 0 (Brock et al. 2021, "Characterizing signal propagation", section 3), and 1/sqrt(E[f'^2]) the
second moment of gradients backward (He et al. 2015, section 2.3).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from flint import arb, ctx
from sympy import Expr, Integer, Rational, Symbol, cancel, nan, oo

from varlaw.symbolic.gains.slopes import is_odd, jumps_of, slope_of
from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.gaussian.decimals import Enclosed, digits_of
from varlaw.symbolic.gaussian.functions import NoMoment
from varlaw.symbolic.gaussian.moment import Moment
from varlaw.symbolic.gaussian.moment import moment as gaussian_moment
from varlaw.symbolic.gaussian.pieces import NotClosed
from varlaw.symbolic.language import VARIABLES, Text, free_names, read, read_function
from varlaw.symbolic.language_functions import ELEMENTARY, function_named
from varlaw.symbolic.language_limits import ReadingError
from varlaw.symbolic.language_text import typed
from varlaw.symbolic.names import suggestion

DIGITS = 15
BITS = 200  # at which a number is told from 0
HALF = Rational(1, 2)
NEAR = 40  # digits to which a closed form has to be a whole number before that is tried to be shown


class NoGain(ValueError):
    """No gain can be given; the message says why."""


@dataclass(frozen=True)
class Value:
    """A number: `exact` in closed form where one is known, and the ball that it lies in.

    `enclosure` gives a ball at the current precision; it is None where there are parameters.
    """

    exact: Expr | None
    enclosure: Callable[[], arb] | None

    @property
    def may_be_zero(self) -> bool:
        """Whether a number without a closed form cannot be told from 0."""
        if self.exact is not None or self.enclosure is None:
            return False
        with ctx.workprec(BITS):
            return bool(self.enclosure().contains(0))

    def digits(self, count: int = DIGITS) -> Enclosed | None:
        """So many proved digits; None where the value depends on parameters or is infinite."""
        if self.enclosure is None:
            return None
        try:
            return digits_of(self.enclosure if self.exact is None else self.exact, count)
        except NoEnclosure as error:
            raise NoGain(f"no digits could be proved: {error}") from error


ZERO = Value(Integer(0), lambda: ball(Integer(0)))


@dataclass(frozen=True)
class Gain:
    """A gain. It is 0 where the moment is infinite, and infinite (`oo`) where the moment is 0."""

    kind: str
    definition: str
    keeps: str
    value: Value
    note: str = ""

    @property
    def exact(self) -> Expr | None:
        return self.value.exact

    def digits(self, count: int = DIGITS) -> Enclosed | None:
        """So many proved digits; None where it depends on parameters or is infinite."""
        return self.value.digits(count)


KINDS = {  # the base of each kind of gain, and what the gain keeps
    "second-moment": ("E[f^2]", "second moment, forward"),
    "variance": ("Var[f]", "variance, forward"),
    "backward": ("E[f'^2]", "second moment of gradients, backward"),
}
KEEPS_SMOOTH = "second moment of gradients, backward, with the jumps left out"


@dataclass(frozen=True, repr=False)
class Gains:
    """The gains of `function` at pre-activations that are N(mean, variance)."""

    name: str
    function: Expr
    variable: Symbol
    mean: Expr
    variance: Expr

    def __post_init__(self) -> None:
        if self.variance.is_nonpositive:
            raise NoGain(f"the variance {typed(self.variance)} is not positive")
        if self.variance.is_positive is None:
            raise NoGain(f"the variance {typed(self.variance)} is not known to be positive")
        second = self.base("E[f^2]")
        if second.exact == 0:
            raise NoGain(f"{typed(self.function)} is 0: no gain keeps anything of it")
        if second.may_be_zero:
            raise NoGain(f"E[f^2] of {typed(self.function)} cannot be told from 0")

    @property
    def law(self) -> str:
        """Function and pre-activation in words of the language."""
        x, m, v = map(typed, (self.variable, self.mean, self.variance))
        return f"{typed(self.function)} for {x} ~ N({m}, {v})"

    def __repr__(self) -> str:
        from varlaw.symbolic.gains.shown import text

        return "\n".join([self.law, *(f"  {line}" for line in text(self))])

    def _repr_latex_(self) -> str:
        from varlaw.symbolic.gains.shown import latex

        return f"$\\displaystyle {latex(self)}$"

    @cached_property
    def gains(self) -> tuple[Gain, ...]:
        """The gains, by their kinds; for a function that jumps the backward one twice."""
        return (self.gain("second-moment"), self.gain("variance"), *self._backward())

    def _backward(self) -> tuple[Gain, ...]:
        smooth = self.gain("backward")
        if (smooth.exact is None and smooth.value.enclosure is None) or not self.jumps:
            return (smooth,)
        base, keeps = KINDS["backward"]
        note = f"{base} is infinite, since f jumps at {', '.join(map(typed, self.jumps))}"
        return (
            Gain("backward", f"1/sqrt({base})", keeps, ZERO, note),
            replace(smooth, kind="backward, almost everywhere", keeps=KEEPS_SMOOTH),
        )

    def gain(self, kind: str) -> Gain:
        """The gain of one kind; where the function jumps, that of the slope almost everywhere."""
        base, keeps = KINDS[kind]
        try:
            value = self.power(base, -HALF)
            note = f"infinite, since {base} is 0" if value.exact is oo else ""
        except ValueError as error:
            value, note = Value(None, None), f"not known: {error}"
        return Gain(kind, f"1/sqrt({base})", keeps, value, note)

    def power(self, base: str, power: Expr) -> Value:
        """A power of E[f], E[f^2], Var[f] or E[f'^2]."""
        value = self.base(base)
        if power < 0 and value.exact is None and value.may_be_zero:
            raise NoGain(f"{base} cannot be told from 0")
        exact = None if value.exact is None else value.exact**power
        if exact is not None and exact.has(nan, oo, -oo, Integer(1) / 0):
            return Value(oo, None)
        if value.enclosure is None:
            return Value(exact, None)
        enclosure = value.enclosure
        return Value(exact, lambda: enclosure() ** ball(power))

    def base(self, name: str) -> Value:
        """E[f], E[f^2], Var[f], or E[f'^2] with the derivative almost everywhere."""
        match name:
            case "E[f]":
                return self._first
            case "E[f^2]":
                return self._second
            case "E[f'^2]":
                return self._slope
            case "Var[f]":
                return self._variance
        raise KeyError(name)

    @cached_property
    def jumps(self) -> tuple[Expr, ...]:
        """The points where the function jumps."""
        return _told(lambda: jumps_of(self.function, self.variable))

    @cached_property
    def _first(self) -> Value:
        if self.mean == 0 and _told(lambda: is_odd(self.function, self.variable)):
            return ZERO
        return self.moment(self.function)

    @cached_property
    def _second(self) -> Value:
        return self.moment(self.function**2)

    @cached_property
    def _slope(self) -> Value:
        return self.moment(_told(lambda: slope_of(self.function, self.variable)) ** 2)

    @cached_property
    def _variance(self) -> Value:
        first, second = self._first, self._second
        exact = None
        if first.exact is not None and second.exact is not None:
            exact = shortened(second.exact - first.exact**2)
        if first.enclosure is None or second.enclosure is None:
            return Value(exact, None)
        one, two = first.enclosure, second.enclosure
        return Value(exact, lambda: two() - one() ** 2)

    def moment(self, function: Expr) -> Value:
        """The mean of any function of the pre-activation."""
        found = gaussian_moment(function, self.mean, self.variance, variable=self.variable.name)
        exact = None if found.exact is None else shortened(found.exact)
        return Value(exact, None if found.symbolic else lambda: _ball(found))


def gain(function: Text, *, mean: Text = 0, variance: Text = 1) -> Gains:
    """The gains of an activation at pre-activations that are N(mean, variance).

    `function` is the name of an activation, such as "tanh" or "leaky_relu" (with its default
    parameters), or an expression such as "leaky_relu(x, 1/5)".

        >>> second, variance, backward = gain("relu").gains
        >>> second.exact, variance.digits(10).digits
        (sqrt(2), '1.712858550')

    Raises ReadingError for a name or a text that is not known, Divergent for a function whose
    moments are infinite, NoGain for the zero function, a variance that is not positive, or numbers
    that cannot be proved; all of them are ValueErrors.
    """
    if isinstance(function, str) and function.isidentifier():
        return named(function, mean, variance)
    return of_expression(function, mean, variance)


def named(name: str, mean: Text = 0, variance: Text = 1) -> Gains:
    """The gains of an activation, by its name. Raises ReadingError, with the nearest name."""
    x = Symbol("x", real=True)
    try:
        function = function_named(name)
    except ReadingError:
        raise ReadingError(_unknown(name)) from None
    if function.least > 1 or (name in ELEMENTARY and function.most > 1):
        raise ReadingError(f"{name} needs more than x: give an expression such as '{name}(x, ...)'")
    return _gains(name, function(0, x), x, mean, variance)


def _unknown(name: str) -> str:
    """What is said of a name that no activation has."""
    from varlaw.symbolic.gates import UnknownGate, named_gate

    try:
        f = named_gate(name).activation.__name__
    except UnknownGate:
        return f"unknown activation {name!r}{suggestion(name, _names())}"
    return (
        f"{name} is a gated unit f(a) b with f = {f}: where b has mean 0 and second moment 1, its "
        f"second-moment gain and its variance gain are both the second-moment gain of {f}"
    )


def of_expression(text: Text, mean: Text = 0, variance: Text = 1) -> Gains:
    """The gains of a function of the language or of SymPy. Raises ReadingError for what is none."""
    if isinstance(text, Expr):
        function, x = _of_real(text)
    else:
        function, x = read_function(text, positive=free_names(variance))
    return _gains("", function, x, mean, variance)


def _of_real(function: Expr) -> tuple[Expr, Symbol]:
    """A SymPy expression as a function of a real variable: of x, else z, else its only symbol."""
    names = {symbol.name: symbol for symbol in function.free_symbols}
    wanted = [name for name in (*VARIABLES, *names) if name in names]
    if len(names) > 1 and wanted[0] not in VARIABLES:
        raise ReadingError(f"{function} has several symbols: call the variable x")
    x = Symbol(wanted[0] if wanted else "x", real=True)
    return function.subs({names[name]: x for name in wanted[:1]}), x


def _gains(name: str, function: Expr, x: Symbol, mean: Text, variance: Text) -> Gains:
    m = read(mean, real=True)
    v = read(variance)
    if x in m.free_symbols or x.name in {s.name for s in (m + v).free_symbols}:
        raise NoGain(f"the mean and the variance may not depend on the variable {x.name}")
    return Gains(name or typed(function), function, x, m, v)


def _names() -> list[str]:
    from varlaw.symbolic.activations import ACTIVATIONS

    return [*ACTIVATIONS, *(name for name, made in ELEMENTARY.items() if made.most == 1)]


def _ball(found: Moment) -> arb:
    """A moment as a ball at the current precision."""
    if found.exact is not None:
        return ball(found.exact)
    enclosed = found.digits(int(ctx.prec * 0.301) + 1)  # the digits that so many bits hold
    return enclosed.value


def shortened(exact: Expr) -> Expr:
    """A closed form that is a whole number, as far as digits can tell, shown to be that number."""
    if exact.free_symbols or exact.is_Rational:
        return exact
    try:
        nearest = read(digits_of(exact, NEAR).digits)
    except NoEnclosure:  # too large, or 0 for all that is known
        nearest = Integer(0)
    return cancel(exact) if nearest.is_Integer else exact


def _told(found: Callable[[], Expr]) -> Expr:
    try:
        return found()
    except (NotClosed, NoEnclosure) as error:
        raise NoMoment(f"the derivative is not known: {error}") from error
