"""Terms under a Gaussian expectation: x^n exp(a x^2 + b x) Prod erf(..) on an interval."""

from collections.abc import Iterator
from dataclasses import dataclass

from sympy import (
    Add,
    Dummy,
    Expr,
    I,
    Integer,
    Mul,
    Symbol,
    cancel,
    erf,
    exp,
    log,
    oo,
    pi,
    sqrt,
    tanh,
    together,
)

from varlaw.symbolic.activation import Activation
from varlaw.symbolic.arrays import Entry, RandomArray
from varlaw.symbolic.assumptions import Assumption, Kind
from varlaw.symbolic.gaussian.pieces import NotClosed, pieces_of
from varlaw.symbolic.gaussian.sums import Shape, terms_of
from varlaw.symbolic.terms import Expectation, Indicator, factors, indicator


@dataclass(frozen=True)
class Variable:
    """The one Gaussian variable of an expectation, and the symbol that stands for it inside."""

    entry: Entry
    symbol: Symbol

    @property
    def array(self) -> RandomArray:
        return self.entry.array

    @property
    def mean(self) -> Expr:
        return self.array.moment(1)

    @property
    def variance(self) -> Expr:
        return (self.array.moment(2) - self.mean**2).expand()

    @property
    def assumptions(self) -> set[Assumption]:
        """What is used of the array where its law is."""
        found = {self.array.assumption(Kind.GAUSSIAN)}
        if self.array.zero_mean:
            found.add(self.array.centred)
        if self.entry.indices:
            found.add(self.array.assumption(Kind.IDENTICAL))
        return found

    def density(self, at: Expr) -> Expr:
        """The density of the variable."""
        return exp(-((at - self.mean) ** 2) / (2 * self.variance)) / sqrt(2 * pi * self.variance)

    def inside(self, expectation: Expectation) -> Expr:
        """What the expectation is of, as a function of the symbol."""
        return expectation.args[0].xreplace({self.entry: self.symbol})

    def expectation(self, function: Expr) -> Expr:
        """E of a function of the symbol."""
        return Expectation(function.xreplace({self.symbol: self.entry}))


def variable_of(expectation: Expectation) -> Variable | None:
    """The variable, if the expectation is of a function of one Gaussian variable alone."""
    entries = expectation.atoms(Entry)
    if len(entries) != 1:
        return None
    (entry,) = entries
    if not entry.array.has(Kind.GAUSSIAN):
        return None
    return Variable(entry, Dummy(entry.array.name, real=True))


@dataclass(frozen=True)
class Integrand:
    """A term on an interval."""

    shape: Shape
    lower: Expr = -oo
    upper: Expr = oo

    @property
    def whole(self) -> bool:
        return (self.lower, self.upper) == (-oo, oo)

    @property
    def square(self) -> bool:
        """Whether there is an exponential in it."""
        return bool(self.shape.quadratic != 0 or self.shape.linear != 0)

    def function(self, x: Symbol) -> Expr:
        """The term as a function of x, with indicators for the ends of the interval."""
        power, a, b = self.shape.power, self.shape.quadratic, self.shape.linear
        waves = [erf(alpha * x + beta) for alpha, beta in self.shape.erfs]
        value = Mul(x**power, exp(a * x**2 + b * x), *waves)
        if self.lower != -oo:
            value *= indicator(x - self.lower, ">")
        if self.upper != oo:
            value *= indicator(x - self.upper, "<")
        return value


Weighted = tuple[Expr, Integrand]


def integrands(f: Expr, x: Symbol) -> Iterator[Weighted]:
    """`f` as a sum of terms on intervals, with coefficients. Raises NotClosed for other functions.

    Neighbouring pieces with one expression are joined.
    """
    found: dict[Shape, list[tuple[Expr, Expr, Expr]]] = {}
    for piece in pieces_of(f, x):
        for shape, coefficient in terms_of(piece.expression, x).items():
            if coefficient.has(I) or shape.linear.has(I):
                raise NotClosed("a wave")
            spans = found.setdefault(shape, [])
            if spans and spans[-1][2] == piece.lower and spans[-1][0] == coefficient:
                spans[-1] = coefficient, spans[-1][1], piece.upper
            else:
                spans.append((coefficient, piece.lower, piece.upper))
    for shape, spans in found.items():
        for coefficient, lower, upper in spans:
            yield coefficient, Integrand(shape, lower, upper)


def integrand_of(f: Expr, x: Symbol) -> Integrand | None:
    """`f` if it is one term of coefficient 1 on one interval, with an indicator for each end."""
    lower, upper = -oo, oo
    rest: list[Expr] = []
    for factor in factors(f):
        if not isinstance(factor, Indicator):
            rest.append(factor)
            continue
        edge = x - factor.args[0]
        if x in edge.free_symbols or factor.relation == "=":
            return None
        if factor.relation == ">" and lower == -oo:
            lower = edge
        elif factor.relation == "<" and upper == oo:
            upper = edge
        else:
            return None
    try:
        terms = terms_of(Mul(*rest), x)
    except NotClosed:
        return None
    if len(terms) != 1:
        return None
    ((shape, coefficient),) = terms.items()
    return Integrand(shape, lower, upper) if coefficient == 1 else None


def written(variable: Variable, terms: Iterator[Weighted]) -> Expr:
    """The sum of the expectations of terms."""
    return Add(*(c * variable.expectation(t.function(variable.symbol)) for c, t in terms))


def even_part(f: Expr, x: Symbol) -> Expr | None:
    """The constant (f(x) + f(-x))/2, if it is one and that is seen; such as 1/2 for a sigmoid."""
    term = integrand_of(f, x)
    if term is not None:
        odd = term.whole and term.shape.linear == 0 and all(b == 0 for _, b in term.shape.erfs)
        return Integer(0) if odd and (term.shape.power + len(term.shape.erfs)) % 2 else None
    if not f.has(Activation, tanh) or f.has(Indicator):
        return None
    parts = pieces_of(f, x)
    if len(parts) > 1:
        return None
    (piece,) = parts
    t = Dummy("t", positive=True)
    both = (piece.expression + piece.expression.xreplace({x: -x})).rewrite(exp)
    found = cancel(together(both.expand().subs(x, log(t)))) / 2
    return None if found.has(t) else found


@dataclass(frozen=True)
class Lemma:
    """An expectation and what it equals, with what shows it.

    `of` is the variable, as the symbol `x` inside the rest. The expectation, over y = ratio x +
    shift where that is given, and its value have integrands that differ by the derivative of
    `primitive` on the interval given with it, a function that includes the density. `reflected`
    says that x and -x are averaged first. None of these: nothing but the digits is offered.
    """

    value: Expr
    of: Variable
    map: tuple[Expr, Expr] | None = None
    primitive: tuple[Expr, Expr, Expr] | None = None
    reflected: bool = False
    pointwise: bool = False

    @property
    def certified(self) -> bool:
        """Whether something is offered that proves it."""
        return bool(self.map or self.primitive or self.reflected or self.pointwise)
