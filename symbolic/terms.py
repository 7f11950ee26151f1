"""The heads of the mathematics: expectations, sums over indices, Kronecker deltas, indicators."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sympy import Add, Basic, Expr, Integer, Mul, Symbol, Tuple, nsimplify
from sympy.core.symbol import Str

from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.notation import raised, script, written
from varlaw.symbolic.ranges import Range, fresh, index_key

if TYPE_CHECKING:
    from varlaw.symbolic.derivation import Derivation


class IndexSum(Expr):
    """The sum of a summand over one or more ranges of indices; equal bounds stand together."""

    is_commutative = True

    def __new__(cls, summand: Expr, *ranges: Range) -> Expr:
        if summand == 0:
            return Integer(0)
        if not ranges:
            return summand
        number, rest = summand.as_coeff_Mul()
        if isinstance(rest, IndexSum):
            inner = rest.avoiding(symbol for r in ranges for symbol in r.indices)
            return number * IndexSum(inner.summand, *ranges, *inner.ranges)
        bounds = list(dict.fromkeys(r.bounds for r in ranges))
        together = sorted(ranges, key=lambda r: bounds.index(r.bounds))
        return number * Expr.__new__(cls, rest, *together)

    @property
    def summand(self) -> Expr:
        return self.args[0]

    @property
    def ranges(self) -> tuple[Range, ...]:
        return tuple(self.args[1:])

    @property
    def bound(self) -> tuple[Symbol, ...]:
        return tuple(index for r in self.ranges for index in r.indices)

    @property
    def free_symbols(self) -> set[Basic]:
        outer = set().union(*(part.free_symbols for r in self.ranges for part in r.args[1:]))
        return (self.summand.free_symbols | outer) - set(self.bound)

    def _eval_is_real(self) -> bool | None:
        return self.summand.is_real

    def _eval_is_positive(self) -> bool | None:
        filled = all(len(r.indices) == 1 and r.size().is_positive for r in self.ranges)
        return True if filled and self.summand.is_positive else None

    def renamed(self, names: Mapping[Basic, Basic]) -> "IndexSum":
        """The same sum with its bound indices renamed."""
        ranges = (r.renamed(names) for r in self.ranges)
        return IndexSum(self.summand.xreplace(names), *ranges)

    def avoiding(self, taken: Iterable[Basic]) -> "IndexSum":
        """The same sum with bound indices that are none of `taken`."""
        used = set(taken)
        clash = [index for index in self.bound if index in used]
        if not clash:
            return self
        used |= set(self.bound) | self.free_symbols
        return self.renamed(dict(zip(clash, fresh(clash, used), strict=True)))

    def _eval_subs(self, old: Basic, new: Basic) -> Expr | None:
        if old in self.bound:
            return self
        safe = self.avoiding(new.free_symbols)
        ranges = (
            Range(r.args[0], *(part._subs(old, new) for part in r.args[1:])) for r in safe.ranges
        )
        return IndexSum(safe.summand._subs(old, new), *ranges)

    def _sympystr(self, printer: Any) -> str:
        limits = []
        for lower, upper in dict.fromkeys(r.bounds for r in self.ranges):
            alike = [r for r in self.ranges if r.bounds == (lower, upper)]
            names = ", ".join(
                " != ".join(printer.doprint(k) for k in (*r.indices, *r.excluded)) for r in alike
            )
            limits.append(f"{names} = {printer.doprint(lower)}..{printer.doprint(upper)}")
        return f"Sum[{', '.join(limits)}]({printer.doprint(self.summand)})"

    def latex_sign(self, printer: Any) -> str:
        r"""`\sum_{i=1}^{m}`, one for each pair of bounds."""
        signs = []
        for bounds in dict.fromkeys(r.bounds for r in self.ranges):
            alike = [r for r in self.ranges if r.bounds == bounds]
            names = ", ".join(
                r" \neq ".join(printer.doprint(k) for k in (*r.indices, *r.excluded)) for r in alike
            )
            lower, upper = map(printer.doprint, bounds)
            signs.append(r"\sum" + script("_", f"{names}={lower}") + script("^", upper))
        return " ".join(signs)

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        body = f"{self.latex_sign(printer)} {printer.parenthesize(self.summand, SUM, strict=True)}"
        return body if exp is None else raised(rf"\left({body}\right)", exp)


SUM = 45  # between the precedences of + and * in SymPy's printers


class _Head(Expr):
    """Base of the operators E, Var, Cov."""

    is_real = True
    is_commutative = True
    symbol = ""
    latex_symbol = ""

    def derive(self) -> "Derivation":
        """The derivation that brings this to normal form, every step justified."""
        from varlaw.symbolic.strategy import normal_form

        return normal_form(self)

    def _sympystr(self, printer: Any) -> str:
        return f"{self.symbol}[{', '.join(map(printer.doprint, self.args))}]"

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        return raised(
            rf"{self.latex_symbol}\left[{', '.join(map(printer.doprint, self.args))}\right]", exp
        )


class Expectation(_Head):
    """E[X]; the expectation of something that is not random is the thing itself."""

    symbol = "E"
    latex_symbol = r"\operatorname{E}"

    def __new__(cls, argument: Expr) -> Expr:
        argument = operand(argument, cls.symbol)
        if not is_random(argument):
            return argument
        return Expr.__new__(cls, argument)


class Variance(_Head):
    """Var[X] = E[X^2] - E[X]^2."""

    symbol = "Var"
    latex_symbol = r"\operatorname{Var}"

    def __new__(cls, argument: Expr) -> Expr:
        return Expr.__new__(cls, operand(argument, cls.symbol))


class Covariance(_Head):
    """Cov[X, Y] = E[X Y] - E[X] E[Y]."""

    symbol = "Cov"
    latex_symbol = r"\operatorname{Cov}"

    def __new__(cls, left: Expr, right: Expr) -> Expr:
        return Expr.__new__(cls, operand(left, cls.symbol), operand(right, cls.symbol))


class Slope(Expr):
    """The derivative of an expression by a symbol or by one entry, all else held fixed."""

    is_real = True
    is_commutative = True

    def __new__(cls, of: Expr, by: Symbol | Entry) -> Expr:
        return Expr.__new__(cls, of, by)

    @property
    def of(self) -> Expr:
        return self.args[0]

    @property
    def by(self) -> Symbol | Entry:
        return self.args[1]

    def _sympystr(self, printer: Any) -> str:
        of, by = map(printer.doprint, self.args)
        return f"d/d{by} {of}"

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        of, by = map(printer.doprint, self.args)
        if not isinstance(self.args[0], _Head):
            of = rf"\left[{of}\right]"
        body = rf"\frac{{\mathrm{{d}}}}{{\mathrm{{d}} {by}}} {of}"
        return body if exp is None else rf"\left({body}\right)^{{{exp}}}"


class Delta(Expr):
    """The Kronecker delta of two indices."""

    is_real = True
    is_commutative = True

    def __new__(cls, left: Expr, right: Expr) -> Expr:
        if left == right:
            return Integer(1)
        if left.is_Integer and right.is_Integer:
            return Integer(0)
        return Expr.__new__(cls, *sorted((left, right), key=index_key))

    def _eval_power(self, exponent: Expr) -> Expr | None:
        return self if exponent.is_positive else None

    def _sympystr(self, printer: Any) -> str:
        return f"delta[{printer.doprint(self.args[0])}, {printer.doprint(self.args[1])}]"

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        return written("delta", self.args, printer)


class Indicator(Expr):
    """1[z > 0], 1[z < 0] or 1[z = 0]."""

    is_real = True
    is_nonnegative = True
    is_commutative = True

    def __new__(cls, argument: Expr, relation: Str) -> Expr:
        if argument.could_extract_minus_sign():
            argument, relation = -argument, Str({">": "<", "<": ">", "=": "="}[relation.name])
        if argument.is_number:
            holds = {">": argument > 0, "<": argument < 0, "=": argument == 0}[relation.name]
            return Integer(1 if holds else 0)
        random = [term for term in terms(argument) if is_random(term)]
        front, _ = (random[0] if len(random) == 1 else argument).as_coeff_Mul()
        return Expr.__new__(cls, argument / abs(front) if front.is_rational else argument, relation)

    @property
    def relation(self) -> str:
        return self.args[1].name

    def _eval_power(self, exponent: Expr) -> Expr | None:
        return self if exponent.is_positive else None

    def sides(self) -> tuple[Expr, str, Expr]:
        """The event with what is not random on the right: z - 6 > 0 as z > 6."""
        argument, relation = self.args[0], self.relation
        left = Add(*(term for term in terms(argument) if is_random(term)))
        if left == 0 or left == argument:
            return argument, relation, Integer(0)
        if left.could_extract_minus_sign():
            return -left, {">": "<", "<": ">", "=": "="}[relation], argument - left
        return left, relation, left - argument

    def _sympystr(self, printer: Any) -> str:
        left, sign, right = self.sides()
        return f"1[{printer.doprint(left)} {sign} {printer.doprint(right)}]"

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        left, sign, right = self.sides()
        return rf"\mathbf{{1}}\left[{printer.doprint(left)} {sign} {printer.doprint(right)}\right]"


def Sum(summand: Expr, *limits: tuple[Any, Any, Any]) -> Expr:
    """The sum of `summand` over limits (index, lower, upper).

    Raises TypeError or ValueError for limits that are no integers, that run backwards, or that
    depend on an index of this sum or of one around it.
    """
    summand = operand(summand, "Sum")
    if not limits:
        raise TypeError("give the limits of a sum as (index, lower, upper)")
    ranges = [_range(limit) for limit in limits]
    running = [index for r in ranges for index in r.indices]
    for index in running:
        if running.count(index) > 1:
            raise ValueError(f"the index {index} is given twice")
    inside = [r for part in summand.atoms(IndexSum) for r in part.ranges]
    for r in (*ranges, *inside):
        for limit in r.bounds:
            for index in running:
                if limit.has(index):
                    raise ValueError(f"the limit {limit} depends on the index {index}: not covered")
    return IndexSum(summand, *ranges)


def _range(limit: tuple[Any, Any, Any]) -> Range:
    if not isinstance(limit, (tuple, Tuple)) or len(limit) != 3:
        raise TypeError(f"limits are of the form (index, lower, upper), not {limit!r}")
    index, lower, upper = limit
    if not isinstance(index, Symbol):
        raise TypeError(f"the index of a sum is a symbol, not {index!r}")
    for bound in (lower, upper):
        if not (isinstance(bound, int) or (isinstance(bound, Expr) and bound.is_integer)):
            raise TypeError(f"the limits of {index} are integers or dimensions, not {bound!r}")
    lower, upper = number(lower), number(upper)
    if lower != upper and (upper - lower).is_nonpositive:
        raise ValueError(f"the limits of {index} run backwards, from {lower} to {upper}")
    return Range(Tuple(index), lower, upper, Tuple())


def operand(value: Any, head: str) -> Expr:
    """What an operator is applied to. Raises TypeError for what is no expression."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        found: Expr = Integer(value) if isinstance(value, int) else nsimplify(value, rational=True)
        return found
    raise TypeError(f"{head} takes an expression, not {value!r}")


def number(value: Any) -> Expr:
    """A Python integer as a SymPy one; expressions pass through."""
    return Integer(value) if isinstance(value, int) else value


def is_random(expression: Basic) -> bool:
    """Whether an expression depends on the entry of a random array outside any expectation."""
    if isinstance(expression, (Expectation, Variance, Covariance)):
        return False
    if isinstance(expression, Entry):
        return True
    return any(is_random(part) for part in expression.args)


def indicator(argument: Expr, relation: str) -> Expr:
    """1[argument relation 0] for one of > < =."""
    return Indicator(argument, Str(relation))


def factors(expression: Expr) -> tuple[Expr, ...]:
    """The factors of a product; whatever is not a product is its own factor."""
    return tuple(Mul.make_args(expression))


def terms(expression: Expr) -> tuple[Expr, ...]:
    """The terms of a sum; whatever is not a sum is its own term."""
    return tuple(Add.make_args(expression))
