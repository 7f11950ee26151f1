"""Quotients of polynomials, cancelled and factored by FLINT, written as SymPy writes them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flint import Ordering, fmpz_mpoly, fmpz_mpoly_ctx
from sympy import Add, Expr, Integer, Mul, Poly, Rational, Symbol, cancel, factor, zoo

Pair = tuple[fmpz_mpoly, fmpz_mpoly]


class NoQuotient(ValueError):
    """An expression is no quotient of polynomials with rational coefficients."""


def reduced(expression: Expr, most: int) -> list[Expr]:
    """A rational function in lowest terms, expanded and, of so many operations at most, factored.

    SymPy does what is left: functions with decimals, and quotients by 0.
    """
    try:
        quotient = Quotient.of(expression)
    except NoQuotient:
        whole = cancel(expression)
        return [whole, factor(whole)] if whole.count_ops() <= most else [whole]
    whole = quotient.cancelled()
    return [whole, quotient.factored()] if whole.count_ops() <= most else [whole]


def factored(expression: Expr) -> Expr:
    """What `sympy.factor` gives: by FLINT where the expression is a rational function."""
    try:
        return Quotient.of(expression).factored()
    except NoQuotient:
        return factor(expression)


@dataclass(frozen=True)
class Quotient:
    """above/below in lowest terms, of polynomials with whole coefficients."""

    above: fmpz_mpoly
    below: fmpz_mpoly
    symbols: tuple[Symbol, ...]

    @classmethod
    def of(cls, expression: Expr) -> "Quotient":
        """The quotient that an expression is. Raises NoQuotient."""
        names = expression.free_symbols
        symbols = Poly(Add(*names)).gens if names else ()
        ring = fmpz_mpoly_ctx.get([f"x{k}" for k in range(len(symbols))], Ordering.lex)
        above, below = _pair(expression, dict(zip(symbols, ring.gens(), strict=True)), ring)
        if not below:
            raise NoQuotient("a quotient by 0")
        common = above.gcd(below)
        if below.leading_coefficient() < 0:
            common = -common
        return cls(above // common, below // common, symbols)

    def far_out(self, x: Symbol) -> Expr:
        """The limit as x grows: the leading coefficients' quotient, 0, or infinite of either sign.

        >>> from sympy.abc import a, x
        >>> Quotient.of((a * x + 1) / (2 * x - 1)).far_out(x), Quotient.of(x / a).far_out(x)
        (a/2, zoo)
        """
        if x not in self.symbols:
            return self.cancelled()
        place = self.symbols.index(x)
        (over, above), (under, below) = (_leading(p, place) for p in (self.above, self.below))
        if over > under:
            return zoo
        if over < under:
            return Integer(0)
        common = above.gcd(below)
        return Quotient(above // common, below // common, self.symbols).cancelled()

    def cancelled(self) -> Expr:
        """Both expanded, as `sympy.cancel` writes them."""
        return self._written(self.above) / self._written(self.below)

    def factored(self) -> Expr:
        """Both factored, as `sympy.factor` writes them."""
        (over, upper), (under, lower) = _factors(self.above), _factors(self.below)
        scale, factors = Rational(int(over), int(under)), []
        for part, power in (*upper, *((part, -power) for part, power in lower)):
            if part.leading_coefficient() < 0:
                part, scale = -part, scale * (-1) ** int(power)
            factors.append(self._written(part) ** int(power))
        whole = Mul(*factors)
        shared = whole.is_Add and abs(scale) != 1
        return Mul(scale, whole, evaluate=False) if shared else scale * whole

    def _written(self, polynomial: fmpz_mpoly) -> Expr:
        terms = (
            (int(c), [s ** int(p) for s, p in zip(self.symbols, powers, strict=True)])
            for powers, c in polynomial.to_dict().items()
        )
        return Add(*(Mul(c, *powers) for c, powers in terms))


def _factors(polynomial: fmpz_mpoly) -> tuple[Any, list[tuple[fmpz_mpoly, Any]]]:
    """A constant, and factors with their powers; one factor where FLINT's own overflow."""
    try:
        return polynomial.factor()
    except OverflowError:
        return 1, [(polynomial, 1)]


def _leading(polynomial: fmpz_mpoly, place: int) -> tuple[int, fmpz_mpoly]:
    """The degree in a symbol, and the coefficient of its highest power."""
    terms = polynomial.to_dict()
    degree = max(powers[place] for powers in terms)
    kept = {
        (*powers[:place], 0, *powers[place + 1 :]): c
        for powers, c in terms.items()
        if powers[place] == degree
    }
    return degree, polynomial.context().from_dict(kept)


def _pair(e: Expr, at: Mapping[Expr, fmpz_mpoly], ring: fmpz_mpoly_ctx) -> Pair:
    """Numerator and denominator of an expression, given those of its symbols."""
    if e in at:
        return at[e], ring.constant(1)
    if isinstance(e, Rational):
        return ring.constant(int(e.p)), ring.constant(int(e.q))
    if e.is_Add:
        above, below = ring.constant(0), ring.constant(1)
        for part in e.args:
            top, bottom = _pair(part, at, ring)
            common = below.gcd(bottom)
            more = bottom // common
            above, below = above * more + top * (below // common), below * more
        return above, below
    if e.is_Mul:
        above = below = ring.constant(1)
        for part in e.args:
            top, bottom = _pair(part, at, ring)
            above, below = above * top, below * bottom
        return above, below
    if e.is_Pow and isinstance(e.exp, Integer):
        top, bottom = _pair(e.base, at, ring)
        if e.exp < 0:
            top, bottom = bottom, top
        if not bottom:
            raise NoQuotient("a quotient by 0")
        return top ** abs(int(e.exp)), bottom ** abs(int(e.exp))
    raise NoQuotient(f"{e.func.__name__} is no rational function")
