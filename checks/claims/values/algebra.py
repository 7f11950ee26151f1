"""Trees of formulas as SymPy expressions, built node by node; numbers without names stay hidden.

A closed part that is no algebra (an integral, a tower) becomes a symbol of its own, of known sign.
"""

from collections.abc import Callable, Mapping
from typing import Any

from flint import ctx
from sympy import (
    Abs,
    Add,
    Dummy,
    E,
    Expr,
    Integer,
    Max,
    Min,
    Mul,
    Rational,
    Symbol,
    cos,
    erfinv,
    factorial,
    floor,
    gamma,
    log,
    pi,
    sin,
    sqrt,
    zeta,
)

from varlaw.checks.claims.values.functions import CONSTANTS, ROUNDED
from varlaw.checks.claims.values.literals import literal_of
from varlaw.checks.claims.values.numbers import NoValue, Scope, enclosure
from varlaw.symbolic.activation import Activation
from varlaw.symbolic.formulas.names import bare, free_names
from varlaw.symbolic.formulas.tree import Head, Node, plain
from varlaw.symbolic.language_functions import function_named
from varlaw.symbolic.language_limits import ReadingError, power

SIGN_BITS = 64


def inverse_erf(x: Expr) -> Expr:
    """erfinv as an odd function: of 1 - x and x - 1 one is written."""
    x = x.expand()
    return -erfinv(-x) if (-x).sort_key() < x.sort_key() else erfinv(x)


def probit(p: Expr) -> Expr:
    """The inverse of the standard normal distribution function."""
    return sqrt(2) * inverse_erf(2 * p - 1)


LOGS = ("log", "ln", "lg")
QUOTIENTS = {"cot": ("cos", "sin"), "coth": ("cosh", "sinh")}
WRITTEN_OUT: Mapping[str, Callable[[Expr], Expr]] = {
    "sec": lambda x: 1 / cos(x),
    "csc": lambda x: 1 / sin(x),
    "arsinh": lambda x: log(x + sqrt(x**2 + 1)),
}
INVERSES: Mapping[str, Callable[[Expr], Expr]] = {"erfinv": inverse_erf, "Phi^{-1}": probit}
MOST_FACTORS = 40  # of (n + 40)! over n!


class Algebra:
    """Builds expressions; `symbols` gives names their SymPy symbols.

    `opens`: activations that are one formula everywhere are written out; `gammas`: factorials of
    names are, as Gamma functions.
    """

    opens = True

    def __init__(
        self, symbols: Mapping[str, Expr], log_base: int | None = None, gammas: bool = False
    ) -> None:
        self.symbols = symbols
        self.log_base = log_base
        self.gammas = gammas
        self.hidden: dict[Node, Expr] = {}

    def expression(self, node: Node) -> Expr:
        """The expression. Raises NoValue for what has none."""
        try:
            return self._built(node)
        except ReadingError as error:
            raise NoValue(str(error)) from None
        except (TypeError, ZeroDivisionError) as error:
            raise NoValue("a formula that algebra does not reach") from error

    def _built(self, node: Node) -> Expr:
        parts = node.parts
        match node.head:
            case Head.NUMBER | Head.PERCENT:
                literal = literal_of(node)
                if literal is not None and literal.short:
                    return Rational(literal.value.numerator, literal.value.denominator)
            case Head.NAME:
                return self._name(node)
            case Head.ADD:
                return Add(*map(self._built, parts))
            case Head.NEGATIVE:
                return -self._built(parts[0])
            case Head.MULTIPLY:
                return Mul(*map(self._built, parts))
            case Head.DIVIDE:
                below = self._built(parts[1])
                if below == 0:
                    raise NoValue("division by zero")
                return self._built(parts[0]) / below
            case Head.POWER:
                return self._power(node)
            case Head.ROOT if len(parts) == 1:
                return sqrt(self._built(parts[0]))
            case Head.ROOT:
                inner, degree = map(self._built, parts)
                small = degree.is_Integer and 0 < degree < 64
                if inner.is_positive and (small or (degree.free_symbols and degree.is_positive)):
                    return inner ** (1 / degree)
            case Head.FACTORIAL if self.gammas:
                return self._factorial(node, self._built(parts[0]))
            case Head.ABSOLUTE:
                return Abs(self._built(parts[0]))
            case Head.TUPLE if len(parts) == 1:
                return self._built(parts[0])
            case Head.CALL:
                return self._call(node)
            case Head.INTEGRAL if len(parts) == 4:
                from varlaw.checks.claims.values.integrals import closed

                found = closed(node, self)
                if found is not None:
                    return found
            case Head.SUM if len(parts) == 4 and parts[3].head is Head.INFINITY:
                from varlaw.checks.claims.values.infinite_sums import closed as limit_of_series

                found = limit_of_series(node, self)
                if found is not None:
                    return found
            case Head.SUM if len(parts) == 4:
                from varlaw.checks.claims.values.power_sums import closed as power_sum

                found = power_sum(node, self)
                if found is not None:
                    return found
        return self._hidden(node)

    def _name(self, node: Node) -> Expr:
        name = plain(node)
        if name in self.symbols:
            return self.symbols[name]
        if name == "pi":
            return pi
        if name == "e":
            return E
        raise NoValue(f"{name} has no value")

    def _power(self, node: Node) -> Expr:
        base, exponent = map(self._built, node.parts)
        if base.is_Rational and base.is_negative and exponent.is_integer and exponent.free_symbols:
            return Integer(-1) ** exponent * power(-base, exponent)
        try:
            return power(base, exponent)
        except ReadingError:
            return self._hidden(node)

    def _factorial(self, node: Node, x: Expr) -> Expr:
        """x! by that of x without its whole number: (n + 1)! = (n + 1) n!."""
        if x.is_Integer and 0 <= x <= MOST_FACTORS:
            return factorial(x)
        more, rest = x.expand().as_coeff_Add()
        if not rest.free_symbols or not more.is_Rational or abs(more) > MOST_FACTORS:
            return self._hidden(node)
        count = int(floor(more))
        base = rest + (more - count)
        factors = [base + k for k in range(min(count, 0) + 1, max(count, 0) + 1)]
        return gamma(base + 1) * Mul(*factors) ** (1 if count > 0 else -1)

    def _call(self, node: Node) -> Expr:
        if node.text in self.symbols:
            raise NoValue(f"{node.text} is a name and a function")
        arguments = [self._built(part) for part in node.parts]
        if node.text == "Gamma" and self.gammas and len(arguments) == 1:
            return self._factorial(node, arguments[0] - 1)
        if node.text == "zeta" and len(arguments) == 1:
            even = arguments[0].is_Integer and arguments[0].is_even and 0 < arguments[0] < 64
            return zeta(arguments[0]) if even else self._hidden(node)
        if node.text in QUOTIENTS and len(arguments) == 1:
            above, below = (function_named(part)(0, *arguments) for part in QUOTIENTS[node.text])
            return above / below
        if node.text in INVERSES and len(arguments) == 1:
            return INVERSES[node.text](arguments[0])
        if node.text in WRITTEN_OUT and len(arguments) == 1:
            return WRITTEN_OUT[node.text](arguments[0])
        if node.text == "lg" and len(arguments) == 1:
            arguments.append(Integer(10))
        if node.text in LOGS:
            base = arguments[1] if len(arguments) == 2 else None
            if base is None and node.text == "log" and self.log_base is not None:
                base = Integer(self.log_base)
            logarithm = function_named("log")
            value = logarithm(0, arguments[0])
            return value if base is None else value / logarithm(0, base)
        if node.text in ROUNDED:
            return self._hidden(node)
        if node.text in ("max", "min") and arguments:
            return (Max if node.text == "max" else Min)(*arguments)
        made = function_named(node.text)(0, *arguments)
        if self.opens and isinstance(made, Activation) and len(made.written_out) == 1:
            return made.written_out[0][1]  # smooth everywhere: one formula
        return made

    def _hidden(self, node: Node) -> Expr:
        """A symbol for a closed number, or minus one, by its sign."""
        if free_names(node) - set(CONSTANTS):
            raise NoValue(f"algebra does not reach this {node.head.value}")
        key = bare(node)
        if key not in self.hidden:
            with ctx.workprec(SIGN_BITS):
                value = enclosure(node, Scope(log_base=self.log_base))
            if not (value > 0 or value < 0):
                raise NoValue("a number whose sign is not clear")
            symbol: Any = Dummy("number", positive=True)
            self.hidden[key] = symbol if value > 0 else -symbol
        return self.hidden[key]


def symbol(name: str, positive: bool, whole: bool = False) -> Symbol:
    """A symbol that is only compared and multiplied; its name is never evaluated."""
    if whole:
        return Symbol(name, integer=True, positive=True)
    return Symbol(name, positive=True) if positive else Symbol(name, real=True)
