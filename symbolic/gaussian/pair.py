"""E[f(Z1) g(Z2)] for jointly Gaussian Z1, Z2: the closed form where one is known, proved digits."""

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from sympy import Abs, Dummy, Expr, I, Integer, Symbol, sqrt

from varlaw.symbolic.gaussian.bivariate import Pair, conditional, kernel
from varlaw.symbolic.gaussian.functions import NoMoment, function_of
from varlaw.symbolic.gaussian.moment import DIGITS, moment
from varlaw.symbolic.gaussian.pieces import NotClosed, Piece, pieces_of
from varlaw.symbolic.gaussian.probabilities import Phi2, phi2
from varlaw.symbolic.gaussian.shorter import shorter
from varlaw.symbolic.language import Text, free_names, read
from varlaw.symbolic.language_text import typed

if TYPE_CHECKING:
    from varlaw.symbolic.gaussian.decimals import Enclosed

ZERO = Integer(0)


@dataclass(frozen=True)
class PairMoment:
    """E[f(Z1) g(Z2)] for Gaussian Z1, Z2 with correlation rho.

    `exact` is the closed form, None where none is known; `method` says where the value is from.
    `note` says what else to know, such as that a derivative is the one almost everywhere.
    """

    f: Expr
    g: Expr
    variable: Symbol
    rho: Expr
    variances: Pair
    means: Pair
    exact: Expr | None
    method: str
    note: str = ""

    @property
    def symbolic(self) -> bool:
        """Whether it depends on parameters, so that it has no digits."""
        if self.exact is not None:
            return bool(self.exact.free_symbols)
        parts = (self.f, self.g, self.rho, *self.variances, *self.means)
        return bool(set().union(*(part.free_symbols for part in parts)) - {self.variable})

    def digits(self, count: int = DIGITS) -> "Enclosed":
        """The value to `count` significant digits (absolute ones at zero), all of them proved.

        Raises NoMoment where it depends on parameters or no enclosure is found.
        """
        from varlaw.symbolic.gaussian.balls import NoEnclosure
        from varlaw.symbolic.gaussian.decimals import digits_of

        if self.symbolic:
            raise NoMoment("a moment with parameters has no digits: give them values")
        try:
            return _enclosed(self, count) if self.exact is None else digits_of(self.exact, count)
        except (NoEnclosure, NotClosed) as error:
            raise NoMoment(f"no digits could be proved: {error}") from error

    @property
    def text(self) -> str:
        """The moment in words of the language, such as "E[relu(z1)*relu(z2)]"."""
        return f"E[{typed(self.product)}]"

    @property
    def product(self) -> Expr:
        """f(z1) g(z2)."""
        f, g = (
            h.subs(self.variable, Symbol(f"z{k}", real=True))
            for k, h in enumerate((self.f, self.g), 1)
        )
        return f * g

    def __str__(self) -> str:
        return typed(self.exact) if self.exact is not None else self.digits().digits

    def _repr_latex_(self) -> str:
        from varlaw.symbolic.printers.mathematics import latex

        return f"${self.digits().digits if self.exact is None else latex(self.exact)}$"


def pair_moment(
    f: Text,
    g: Text | None = None,
    *,
    rho: Text,
    variances: tuple[Text, Text] = (1, 1),
    means: tuple[Text, Text] = (0, 0),
    variable: str | None = None,
) -> PairMoment:
    """E[f(Z1) g(Z2)] for Gaussian Z1, Z2 with correlation rho; g is f unless given.

    `f` and `g` are texts of the language or SymPy expressions in the same variable. Names in `rho`,
    the means and the functions are real parameters, those in the variances positive ones; a
    symbolic rho stands for |rho| < 1.

        >>> print(pair_moment("relu(x)", rho="rho"))
        (rho*(pi - acos(rho)) + sqrt(1 - rho^2))/(2*pi)
        >>> pair_moment("tanh(x)", rho=0.3).digits(12).digits
        '0.110668385547'

    Raises ReadingError for a text that cannot be read, Divergent for a moment that is infinite, and
    NoMoment for one that cannot be found and for |rho| > 1; all of them are ValueErrors.
    """
    positive = {name for v in variances for name in free_names(v)}
    names: dict[str, Expr] = {name: Symbol(name, positive=True) for name in positive}
    v, m = (tuple(read(t, names=names, real=True) for t in pair) for pair in (variances, means))
    r = read(rho, names=names, real=True)
    if any(value.is_negative for value in v):
        raise NoMoment(f"the variance {typed(v[0] if v[0].is_negative else v[1])} is negative")
    if r.is_number and (Abs(r) - 1).is_positive:
        raise NoMoment(f"a correlation is between -1 and 1, not {typed(r)}")
    notes: list[str] = []
    one, x = function_of(f, variable, positive, notes)
    other, y = (one, x) if g is None else function_of(g, variable, positive, notes)
    note = ", ".join(dict.fromkeys(notes))
    given = one, other.subs(y, x), x, r, v, m
    if x in set().union(*(part.free_symbols for part in (r, *v, *m))):
        raise NoMoment(f"rho, the means and the variances may not depend on the variable {x.name}")
    if ZERO in v or r.is_zero:
        return PairMoment(*given, _independent(*given), "product of two moments", note)
    try:
        return PairMoment(*given, _exact(*given), "closed form", note)
    except NotClosed as error:
        found = PairMoment(*given, None, "enclosure", note)
        if found.symbolic:
            raise NoMoment(f"{error}; digits need values for the parameters") from None
        return found


def _exact(f: Expr, g: Expr, x: Symbol, rho: Expr, variances: Pair, means: Pair) -> Expr:
    """The closed form, by conditioning on either variable; at a number by way of a symbolic rho."""
    r = Dummy("rho", real=True) if rho.is_number and rho not in (1, -1) else rho
    tries = [
        (f, g, x, r, variances, means),
        (g, f, x, r, variances[::-1], means[::-1]),
        (f, g, x, rho, variances, means),
    ]
    for attempt in tries:
        try:
            found = shorter(kernel(*attempt))
        except NotClosed as error:
            problem = error
        else:
            if r in found.free_symbols and r != rho:
                found = shorter(found.xreplace({r: rho}).replace(Phi2, phi2))
            if not found.has(I):
                return found
            problem = NotClosed("no closed form is known that has real parts only")
    raise problem


def _independent(
    f: Expr, g: Expr, x: Symbol, rho: Expr, variances: Pair, means: Pair
) -> Expr | None:
    """The product of the two moments, if both are known in closed form."""
    product: Expr = Integer(1)
    for h, m, v in zip((f, g), means, variances, strict=True):
        exact = moment(h, m, v, variable=x.name).exact
        if exact is None:
            return None
        product *= exact
    return product


@lru_cache(maxsize=64)
def _enclosed(pair: PairMoment, count: int) -> "Enclosed":
    """The digits of a moment without a closed form.

    Where there are kinks, one integral is done in closed form if that can be: what is left is a
    moment of one variable, split at the kinks of the other function.
    """
    from varlaw.symbolic.gaussian.balls import NoEnclosure
    from varlaw.symbolic.gaussian.enclosure import enclose, joined
    from varlaw.symbolic.gaussian.joint import enclose2

    x, rho, (v, w), (m, n) = pair.variable, pair.rho, pair.variances, pair.means
    first, second = pair.f, pair.g
    try:
        f, g = (joined(pieces_of(h, x)) for h in (first, second))
    except NotClosed:
        return enclose2(first, second, x, rho, (v, w), count, (m, n))
    kinked = len(f) > 1 or len(g) > 1
    if kinked and ZERO not in (v, w, rho) and rho not in (1, -1):
        for outer, inner, here, there in ((f, second, (m, v), (n, w)), (g, first, (n, w), (m, v))):
            along = there[0] + rho * sqrt(there[1] / here[1]) * (x - here[0])
            try:
                given = conditional(inner, x, along, there[1] * (1 - rho**2))
                pieces = [Piece(p.lower, p.upper, p.expression * given) for p in outer]
                return enclose(pieces, x, *here, count)
            except (NotClosed, NoEnclosure):
                continue
    return enclose2(f, g, x, rho, (v, w), count, (m, n))
