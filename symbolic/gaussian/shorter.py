"""Closed forms written shortly, by bounded steps: no `simplify`, which may take for ever.

A form is a polynomial in its roots, arcs, exponentials and error functions, with coefficients that
are rational functions of the parameters. Like terms are collected, each coefficient is factored,
and what terms share goes in front.
"""

from collections.abc import Callable

from sympy import (
    Add,
    Dummy,
    Expr,
    Integer,
    Mul,
    PolynomialError,
    Pow,
    acos,
    asin,
    floor,
    gcd_terms,
    pi,
    powsimp,
    sqrt,
)

from varlaw.symbolic.quotients import factored

MOST_NODES = 1_000  # of an expression that is worked on
MOST_PARTS = 20  # roots, arcs and the like
MOST_TERMS = 60


class _TooLarge(Exception):
    """The form is left as it is."""


def shorter(form: Expr) -> Expr:
    """The shortest of a few ways to write a closed form; a large form is left as it is.

    >>> from sympy import Symbol
    >>> c = Symbol("rho", real=True)
    >>> arc, root = asin(c) / pi, sqrt(1 - c**2) / pi
    >>> shorter(c * (c * root + arc) / 2 + c / 4 + (1 - c**2) * root / 2)
    (rho*(pi - acos(rho)) + sqrt(1 - rho**2))/(2*pi)
    """
    ways = [form]
    for turned in (False, True) if form.has(asin) else (False,):
        try:
            ways += _Parts(turned).ways(form)
        except (PolynomialError, _TooLarge):
            break
    return min(ways, key=length)


def length(form: Expr) -> int:
    """The characters of the form's text."""
    return len(str(form))


class _Parts:
    """The roots and functions in a form, each with a symbol that stands for it.

    Positive parameters and pi are written as squares, so that their roots are symbols too. If
    `turned`, an arc sine is (pi - acos) - pi/2.
    """

    def __init__(self, turned: bool) -> None:
        self.turned = turned
        self.root_of_pi = Dummy("p", positive=True)
        self.back: dict[Expr, Expr] = {self.root_of_pi: sqrt(pi)}
        self.symbols: dict[Expr, Expr] = {}
        self.roots: dict[Expr, Expr] = {}  # symbol -> what it is the square root of
        self.meaning: dict[Expr, Expr] = {}

    def ways(self, form: Expr) -> list[Expr]:
        if _nodes(form) > MOST_NODES:
            raise _TooLarge
        squares: dict[Expr, Expr] = {pi: self.root_of_pi**2}
        for symbol in sorted(form.free_symbols, key=str):
            if symbol.is_positive:
                root = Dummy(symbol.name, positive=True)
                squares[symbol], self.back[root] = root**2, sqrt(symbol)
        form = self._without_roots(form.xreplace(squares)).expand()
        terms = self._terms(self._without_functions(powsimp(form, combine="exp")))
        plain = [t for t in terms if not t.has(*self.meaning)] if self.meaning else terms
        others = [t for t in terms if t not in plain]
        together = Add(*terms)
        found = [form, together, gcd_terms(together), Add(*plain, gcd_terms(Add(*others)))]
        return [way.xreplace(self.meaning).xreplace(self.back) for way in found]

    def _without_roots(self, e: Expr) -> Expr:
        """The form with symbols for the roots outside its functions."""
        if isinstance(e, Pow) and e.base.is_Add and e.exp.is_Rational:
            whole, (content, base) = floor(e.exp), e.base.expand().as_content_primitive()
            if e.exp - whole == Integer(1) / 2:
                return content**e.exp * base**whole * self._symbol(sqrt(base), base)
        return self._mapped(self._without_roots, e)

    def _without_functions(self, e: Expr) -> Expr:
        """The form with symbols for its functions."""
        if isinstance(e, asin) and self.turned:
            return self._symbol(pi - acos(e.args[0])) - self.root_of_pi**2 / 2
        if e.args and not isinstance(e, (Add, Mul, Pow)):
            return self._symbol(e)
        return self._mapped(self._without_functions, e)

    def _mapped(self, change: Callable[[Expr], Expr], e: Expr) -> Expr:
        if isinstance(e, (Add, Mul)):
            return e.func(*map(change, e.args))
        return change(e.base) ** e.exp if isinstance(e, Pow) and e.exp.is_Integer else e

    def _symbol(self, e: Expr, square: Expr | None = None) -> Expr:
        if e not in self.symbols:
            if len(self.symbols) >= MOST_PARTS:
                raise _TooLarge
            self.symbols[e] = symbol = Dummy(f"g{len(self.symbols)}", real=True)
            self.meaning[symbol] = e
            if square is not None:
                self.roots[symbol] = square
        return self.symbols[e]

    def _terms(self, plain: Expr) -> list[Expr]:
        """The terms in the symbols, each with its coefficient factored."""
        if not self.meaning:
            return [factored(plain)]
        sums: dict[Expr, Expr] = {}
        for term in Add.make_args(plain.expand()):
            coefficient, powers = term.as_independent(*self.meaning, as_Add=False)
            kind = Integer(1)
            for symbol, power in powers.as_powers_dict().items():
                if power != 1 and not (symbol in self.meaning and power.is_Integer and power > 0):
                    raise PolynomialError(f"{term} is no term of a polynomial")
                if symbol in self.roots:
                    coefficient *= self.roots[symbol] ** (power // 2)
                    power %= 2
                kind *= symbol**power
            sums[kind] = sums.get(kind, Integer(0)) + coefficient
        if len(sums) > MOST_TERMS:
            raise _TooLarge
        return [self._term(kind, coefficient) for kind, coefficient in sums.items()]

    def _term(self, kind: Expr, coefficient: Expr) -> Expr:
        """c sqrt(b), or c b / sqrt(b), whichever is shorter."""
        ways = [factored(coefficient) * kind]
        for symbol in kind.free_symbols & set(self.roots):
            ways.append(factored(coefficient * self.roots[symbol]) * kind / symbol**2)
        return min(ways, key=length)


def _nodes(form: Expr) -> int:
    return 1 + sum(_nodes(part) for part in form.args)
