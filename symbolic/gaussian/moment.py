"""E[f(x)] for Gaussian x: the closed form where one is known, and proved digits."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from sympy import Dummy, Expr, Integer, Symbol, erf, erfc, nan, oo, zoo

from varlaw.symbolic.activation import KINKED
from varlaw.symbolic.gaussian.closed import closed_form
from varlaw.symbolic.gaussian.functions import NoMoment, at_numbers, function_read
from varlaw.symbolic.gaussian.nil import whole_number
from varlaw.symbolic.gaussian.pieces import NotClosed, parts_of
from varlaw.symbolic.language import Text, free_names, read, read_condition
from varlaw.symbolic.language_builder import meaning
from varlaw.symbolic.language_text import chains, typed
from varlaw.symbolic.occurrences import contains, free_symbols

if TYPE_CHECKING:
    from varlaw.symbolic.gaussian.decimals import Enclosed

DIGITS = 15
PROMPT = 50  # digits of a smooth function that take hardly longer than fewer
FAR = 3  # where 1 - erf is written erfc


@dataclass(frozen=True)
class Moment:
    """E[function] for a Gaussian variable, given a condition if there is one.

    `exact` is the closed form, None where none is known; `method` says where the value is from.
    `note` says what else to know, such as that a derivative is the one almost everywhere; `written`
    is what was typed for a function with primes, which is written out in `function`.
    """

    function: Expr
    variable: Symbol
    mean: Expr
    variance: Expr
    given: Expr | None
    exact: Expr | None
    method: str
    note: str = ""
    written: str = ""

    @cached_property
    def symbolic(self) -> bool:
        """Whether the moment depends on parameters, so that it has no digits."""
        parts = (self.function, self.mean, self.variance, self.given or Integer(1))
        free = set().union(*map(free_symbols, parts)) - {self.variable}
        return bool(free if self.exact is None else free_symbols(self.exact))

    def digits(self, count: int = DIGITS) -> "Enclosed":
        """The value to `count` significant digits (absolute ones at zero), all of them proved.

        The record has the text `digits` and the `radius` around it. Raises NoMoment where the
        moment depends on parameters, no enclosure is found, or so many digits take too long.
        """
        from varlaw.symbolic.gaussian.balls import NoEnclosure
        from varlaw.symbolic.gaussian.decimals import MOST_DIGITS, digits_of, shown

        if count > MOST_DIGITS:
            raise NoMoment(f"at most {MOST_DIGITS} digits, not {count}")
        if self.symbolic:
            raise NoMoment("a moment with parameters has no digits: give them values")
        try:
            if self.exact is not None:
                return digits_of(self.exact, count)
            proved = max(count, self._prompt)
            found = _enclosed(self, proved)
            return found if count == proved else shown(found.value, count, found.method)
        except (NoEnclosure, NotClosed) as error:
            raise NoMoment(f"no digits could be proved: {error}") from error

    @cached_property
    def _prompt(self) -> int:
        """The digits to find when fewer are asked for: PROMPT where they are found."""
        from varlaw.symbolic.gaussian.balls import NoEnclosure

        if self._kinked:
            return 1
        try:
            _enclosed(self, PROMPT)
        except (NoEnclosure, NotClosed):
            return 1
        return PROMPT

    @cached_property
    def _kinked(self) -> bool:
        parts = (self.function, self.given or Integer(1))
        kinked = [part for part in parts if contains(part, KINKED)]
        return any(len(parts_of(node)) > 1 for part in kinked for node in part.atoms(*KINKED))

    @property
    def text(self) -> str:
        """The moment in words of the language, such as "E[x^2 | x > 0]"."""
        said = [" ".join(map(typed, chain)) for chain in self.conditions]
        return f"E[{self.expression}{' | ' * bool(said)}{', '.join(said)}]"

    @property
    def expression(self) -> str:
        """The function in the language; where it has primes, as it was typed."""
        return self.written or typed(self.function)

    @property
    def conditions(self) -> list[list[Any]]:
        """The condition as chains such as [a, "<", x, "<", b]; none without a condition."""
        return [] if self.given is None else chains(self.given, self.variable)

    def __str__(self) -> str:
        return typed(self.exact) if self.exact is not None else self.digits().text

    def _repr_latex_(self) -> str:
        from varlaw.symbolic.printers.mathematics import latex

        return f"${self.digits().latex if self.exact is None else latex(self.exact)}$"


def moment(
    function: Text,
    mean: Text = 0,
    variance: Text = 1,
    *,
    given: str | None = None,
    variable: str | None = None,
    positive: Iterable[str] = (),
) -> Moment:
    """E[function] for a variable that is N(mean, variance), given a condition such as "x > 0".

    `function` is a text of the language or a SymPy expression; its variable is the one named, else
    `x`, else `z`, else its only name. All other names are real parameters, positive ones if they
    are in `positive` or in the variance.

        >>> print(moment("gelu(x)^2"))
        sqrt(3)/(6*pi) + 1/3
        >>> moment("x", given="x > 40").digits(10).digits
        '40.02496885'

    Raises ReadingError for a text that cannot be read, Divergent for a moment that is infinite,
    and NoMoment for one that cannot be found; all of them are ValueErrors.
    """
    positive = {*map(meaning, positive), *free_names(variance)}
    names: dict[str, Expr] = {name: Symbol(name, positive=True) for name in positive}
    notes: list[str] = []
    f, x = function_read(function, variable, positive, notes)
    if x.name in {*names, *free_names(mean)}:
        raise NoMoment(f"the mean and the variance may not depend on the variable {x.name}")
    names |= {symbol.name: symbol for symbol in free_symbols(f) - {x}}
    m, v = (read(text, names=names, real=True) for text in (mean, variance))
    condition = None if given is None else read_condition(given, names=names | {x.name: x})
    if condition is not None and x not in condition.free_symbols:
        raise NoMoment(f"the condition {given!r} does not speak of {x.name}")
    if v.is_negative:
        raise NoMoment(f"the variance {typed(v)} is negative")
    f = at_numbers(f)
    said = ("".join(notes), str(function).strip() if "'" in str(function) else "")
    try:
        exact = whole_number(_exact(f, x, m, v, condition))
    except NotClosed as error:
        found = Moment(f, x, m, v, condition, None, "enclosure", *said)
        if found.symbolic:
            raise NoMoment(f"{error}; digits need values for the parameters") from None
        known = found.digits()  # what does not exist is refused at once
        if not known.value.is_zero():
            return found
        return replace(found, exact=Integer(0), method=known.method)
    method = "value at the mean" if v.is_zero else "closed form"
    return Moment(f, x, m, v, condition, exact, method, *said)


def _exact(f: Expr, x: Symbol, mean: Expr, variance: Expr, given: Expr | None) -> Expr:
    """The closed form; with a condition, E[f 1[condition]] / P(condition)."""
    if variance.is_zero:
        if given is not None and at_numbers(given.subs(x, mean)) != 1:
            raise NoMoment(f"at variance 0 the condition does not hold at the mean {typed(mean)}")
        value = at_numbers(f.subs(x, mean))
        if value.has(oo, -oo, zoo, nan):
            raise NoMoment(f"{typed(f)} has no value at the mean {typed(mean)}, at variance 0")
        return value
    if given is None:
        return _with_tails(closed_form(f, x, mean, variance))
    there, back = _in_order(given, x)
    given, f, mean, variance = (part.xreplace(there) for part in (given, f, mean, variance))
    chance, whole = _chance(given, x, mean, variance), closed_form(f * given, x, mean, variance)
    return (_with_tails(whole) / _with_tails(chance)).xreplace(back)


def _chance(given: Expr, x: Symbol, mean: Expr, variance: Expr) -> Expr:
    """The probability of a condition."""
    chance = closed_form(given, x, mean, variance)
    if chance.is_zero:
        raise NoMoment("the condition has probability zero")
    return chance


def _in_order(given: Expr, x: Symbol) -> tuple[dict[Expr, Expr], dict[Expr, Expr]]:
    """For a < x < b, which says that a < b: b as a + w with positive w, and w as b - a."""
    chain, *others = chains(given, x)
    if others or len(chain) != 5 or chain[2] != x:
        return {}, {}
    width = chain[4] - chain[0]
    w = Dummy("w", positive=True)
    for symbol in sorted(width.free_symbols, key=str):
        slope = width.diff(symbol)
        if slope in (1, -1):
            return {symbol: symbol + (w - width) / slope}, {w: width}
    return {}, {}


def _with_tails(exact: Expr) -> Expr:
    """The expression with 1 - erf(v) as erfc(v) for large v, where it would cancel."""

    from varlaw.symbolic.gaussian.balls import ball

    def tail(v: Expr) -> Expr:
        if not v.is_number:
            return erf(v)
        near = ball(v)
        return 1 - erfc(v) if near > FAR else erfc(-v) - 1 if near < -FAR else erf(v)

    return exact.replace(erf, tail) if contains(exact, erf) else exact


@lru_cache(maxsize=64)
def _enclosed(moment: Moment, count: int) -> "Enclosed":
    """The digits of a moment without a closed form; a condition's probability is a closed form."""
    from flint import arb, ctx

    from varlaw.symbolic.gaussian.balls import ball
    from varlaw.symbolic.gaussian.decimals import digits_of
    from varlaw.symbolic.gaussian.endless import enclose_function

    x, mean, variance = moment.variable, moment.mean, moment.variance
    if moment.given is None:
        return enclose_function(moment.function, x, mean, variance, count)
    f = moment.function * moment.given
    chance = _with_tails(_chance(moment.given, x, mean, variance))

    def quotient() -> arb:
        wanted = int(ctx.prec * 0.301) + 1  # the digits that so many bits hold
        return enclose_function(f, x, mean, variance, wanted).value / ball(chance)

    return digits_of(quotient, count)
