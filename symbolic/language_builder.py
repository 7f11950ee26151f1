"""From the tree of a text to SymPy objects, built one by one."""

import re
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from lark import Token, Tree
from sympy import (
    Abs,
    Add,
    E,
    EulerGamma,
    Expr,
    Integer,
    Mul,
    Rational,
    Symbol,
    pi,
    sqrt,
)

from varlaw.symbolic.language_limits import (
    MAX_DEPTH,
    MAX_NAME,
    ReadingError,
    number,
    power,
    real,
)
from varlaw.symbolic.notation import GREEK

CONSTANTS = {"pi": pi, "e": E, "EulerGamma": EulerGamma}
Node = Any  # a tree whose children are trees and tokens
LATEX = re.compile(r"\\[A-Za-z]|[{}]")
HEAD = re.compile(r"(.*?)('*)(?:\^\{?(\d+)\}?|([²³]))?", re.DOTALL)
FONT = re.compile(r"\\(?:operatorname|mathrm|text|textrm|mathsf)\{(.*)\}")
SHOWN = 60


def shown(source: str) -> str:
    """The source for a message: in quotes, on one line, not too long."""
    return repr(source if len(source) <= SHOWN else f"{source[: SHOWN - 3]}...")


def meaning(name: str) -> str:
    r"""The plain name that a name stands for: alpha for \alpha and α, x_in for x_{in}."""
    if not name.isascii():
        from varlaw.symbolic.formulas.vocabulary import UNICODE  # few texts need it

        name = "".join(UNICODE.get(letter, letter) for letter in name)
    name = FONT.sub(r"\1", name).removeprefix("\\")
    return name.replace("_{", "_").removesuffix("}").replace("-", "_")


class Builder:
    """Builds the expression of one text; `symbols` gives a name its value."""

    def __init__(
        self, source: str, symbols: Callable[[str], Expr], variable: Symbol | None = None
    ) -> None:
        from varlaw.symbolic import language_functions  # whose activations rest on arrays, on us

        self.functions = language_functions
        self.source = source
        self.symbols = symbols
        self.variable = variable
        self.latex = bool(LATEX.search(source))
        self.almost_everywhere = False  # whether a derivative left the point masses of jumps out

    def expression(self, tree: Node) -> Expr:
        try:
            return self.value(tree, 0)
        except RecursionError:
            raise ReadingError(f"{shown(self.source)} is nested too deep") from None

    def condition(self, tree: Node) -> Expr:
        """A chain of relations as the function that is 1 where all of them hold."""
        return Mul(*self.relations(tree, 0))

    def value(self, node: Node, depth: int) -> Expr:
        node = _bare(node)
        if depth > MAX_DEPTH:
            raise ReadingError(f"expression nested deeper than {MAX_DEPTH}")
        parts = node.children
        match node.data:
            case "add" | "subtract":
                return Add(*self.terms(node, depth))
            case "multiply" | "divide":
                return Mul(*self.factors(node, depth))
            case "beside":
                return Mul(*self.side_by_side(node, depth))
            case "negative":
                return -self.value(parts[0], depth + 1)
            case "fraction":
                return self.value(parts[0], depth + 1) * self.inverse(parts[1], depth)
            case "power":
                return self.power(node, depth)
            case "raised":
                return self.guarded(node, lambda: self.raised(parts, depth))
            case "root":
                return self.guarded(node, lambda: real(sqrt(self.value(parts[0], depth + 1))))
            case "bars":
                return self.guarded(node, lambda: Abs(self.value(parts[0], depth + 1)))
            case "digits":
                return self.digits(str(parts[0]))
            case "number":
                return self.guarded(node, lambda: number(str(parts[0])))
            case "name":
                return self.name(node)
            case "call":
                return self.call(node, depth)
            case "indexed" | "mean" | "pair":
                return self.iteration(node, depth)
            case "bound" | "group":
                self.refuse("arrows and rows belong into iterate(q -> step, first, L)", node)
            case _:
                return Mul(*self.relations(parts[1], depth))

    def terms(self, node: Node, depth: int) -> Iterator[Expr]:
        """The terms of a sum, however many: the tree leans to the left."""
        for sign, part in _spine(node, ("add", "subtract")):
            value = self.value(part, depth + 1)
            yield -value if sign == "subtract" else value

    def factors(self, node: Node, depth: int) -> Iterator[Expr]:
        """The factors of a product, however many; divisors as their inverses."""
        for sign, part in _spine(node, ("multiply", "divide")):
            minus, unsigned = _unsigned(part)
            yield minus
            if sign != "divide":
                yield self.value(unsigned, depth + 1)
            elif unsigned.data == "beside":
                self.refuse("a divisor of two factors needs brackets, as in 1/(2x)", part)
            else:
                yield self.inverse(unsigned, depth)

    def side_by_side(self, node: Node, depth: int) -> Iterator[Expr]:
        """Factors without signs between them, where that cannot be misread."""
        before = None
        for _, part in _spine(node, ("beside",)):
            if before is not None:
                self.look_between(before, part)
            before = part
            yield self.value(part, depth + 1)

    def look_between(self, left: Node, right: Node) -> None:
        first = right.children[0] if right.data in ("power", "raised") else right
        if first.data == "number":
            self.refuse(f"unexpected {str(first.children[0])!r}", first)
        if self.latex:
            return
        if left.data == "power" and left.children[1].data != "brackets":
            self.refuse("a factor after a power needs a *", right)
        if left.data == first.data == "name":
            self.refuse(f"unexpected {str(first.children[0])!r}", first, "; write * for a product")

    def inverse(self, node: Node, depth: int) -> Expr:
        """One over a divisor; factor by factor, as SymPy would multiply 2*(a + b) out."""
        whole = _bare(node)
        if whole.data in ("multiply", "divide"):
            parts = list(self.factors(whole, depth + 1))
        else:
            parts = [self.value(whole, depth + 1)]
        if any(part == 0 for part in parts):
            self.refuse("division by zero", node)
        return Mul(*(1 / part for part in parts))

    def power(self, node: Node, depth: int) -> Expr:
        base, exponent = node.children
        if self.latex and exponent.data != "brackets":
            written = self.source[exponent.meta.start_pos : exponent.meta.end_pos]
            if len(written) > 1 and not re.fullmatch(r"\\[A-Za-z]+", written):
                self.refuse(f"write the exponent as ^{{{written}}}", exponent)
        left, right = self.value(base, depth + 1), self.value(exponent, depth + 1)
        return self.guarded(node, lambda: power(left, right))

    def raised(self, parts: list[Node], depth: int) -> Expr:
        """A power in small digits, such as x²."""
        return power(self.value(parts[0], depth + 1), _small(str(parts[1])))

    def digits(self, text: str) -> Expr:
        r"""\frac12 and \sqrt2."""
        above, *below = map(int, re.findall(r"\d", text))
        if below == [0]:
            raise ReadingError("division by zero")
        return Rational(above, below[0]) if below else sqrt(above)

    def name(self, node: Node) -> Expr:
        token = str(node.children[0])
        plain = meaning(token)
        if len(plain) > MAX_NAME:
            raise ReadingError(f"a name of {len(plain)} characters; at most {MAX_NAME}")
        if plain in CONSTANTS:
            return CONSTANTS[plain]
        if self.functions.is_function(plain):
            self.refuse(f"{plain!r} is a function: write {plain}(x)", node)
        if token.startswith("\\") and plain.partition("_")[0] not in GREEK:
            self.refuse(f"unknown command {token!s}", node)
        if self.latex and not re.fullmatch(r"\\.*|[A-Za-z](_.*)?", token):
            self.refuse(f"in LaTeX {token!r} is a product: write it with spaces", node)
        return self.symbols(plain)

    def call(self, node: Node, depth: int) -> Expr:
        head, *rest = node.children
        match = HEAD.fullmatch(str(head))
        assert match is not None
        written, primes, exponent, small = match.groups()
        exponent = exponent or (small and str(_small(small)))
        name = meaning(written)
        if name in ("iterate", "product", "backward") and not primes and not exponent:
            return self.iteration(node, depth)
        arguments = [self.value(part, depth + 1) for part in rest]
        if name in CONSTANTS and len(arguments) == 1 and not primes:
            raised = number(exponent) if exponent else Integer(1)
            return power(CONSTANTS[name], raised) * arguments[0]
        if len(name) == 1 or (self.variable is not None and name == self.variable.name):
            self.refuse(f"{name!r} is not a function: for a product write {name}*(...)", node)
        function = self.guarded(node, lambda: self.functions.function_named(name))
        value = self.guarded(node, lambda: function(len(primes), *arguments))
        self.almost_everywhere |= function.jumps(len(primes), *arguments)
        if any(self.variable in part.free_symbols for part in arguments[function.inputs :]):
            self.refuse(f"a parameter of {name} may not depend on {self.variable}", node)
        return self.guarded(node, lambda: power(value, number(exponent))) if exponent else value

    def iteration(self, node: Node, depth: int) -> Expr:
        """A mean of Gaussians, or what goes through depth, as blocks of networks have them."""
        from varlaw.symbolic import language_iterations

        if self.variable is not None:
            self.refuse(f"a mean or an iteration in a function of {self.variable}", node)
        return language_iterations.built(self, node, depth)

    def under(self, bound: dict[str, Symbol], node: Node, depth: int) -> Expr:
        """A value in which some names are those of bound variables."""
        outer = self.symbols
        self.symbols = lambda name: bound[name] if name in bound else outer(name)
        try:
            return self.value(node, depth + 1)
        finally:
            self.symbols = outer

    def relations(self, node: Node, depth: int) -> list[Expr]:
        """The relations of a chain a < x < b, each as the function that is 1 where it holds."""
        sides = [self.value(side, depth + 1) for side in node.children[::2]]
        found = []
        for left, sign, right in zip(sides, node.children[1::2], sides[1:], strict=False):
            plain = re.sub(r"slant|q$", "", str(sign).removeprefix("\\"))
            plain = {"lt": "<", "gt": ">", "le": "<=", "ge": ">=", "≤": "<=", "≥": ">="}.get(
                plain, plain
            )
            found.append(self.guarded(node, lambda: self.functions.holds(left - right, plain)))  # noqa: B023
        return found

    def guarded(self, node: Node, build: Callable[[], Any]) -> Any:
        """What `build` returns; an error of it with the place in the text."""
        try:
            return build()
        except (ReadingError, TypeError) as error:
            if "column " in str(error) or not isinstance(error, ReadingError):
                raise ReadingError(str(error)) from None
            self.refuse(str(error), node)

    def refuse(self, message: str, node: Node, end: str = "") -> NoReturn:
        where = f"column {node.meta.start_pos + 1} of {shown(self.source)}"
        where = f"({where})" if message.endswith("?") else f"at {where}"
        raise ReadingError(f"{message} {where}{end}")


def _small(digits: str) -> Expr:
    """The number in small digits, such as ²."""
    from varlaw.symbolic.formulas.vocabulary import RAISED

    return number("".join(RAISED[digit] for digit in digits))


def _bare(node: Node) -> Node:
    while node.data == "brackets":
        node = node.children[0]
    return node


def _unsigned(node: Node) -> tuple[Expr, Node]:
    """The sign in front of a factor, and the rest."""
    minus = Integer(1)
    while node.data == "negative":
        minus, node = -minus, node.children[0]
    return minus, node


def _spine(node: Node, kinds: tuple[str, ...]) -> list[tuple[str, Tree[Token]]]:
    """The operands of a chain that leans to the left, each with the sign before it."""
    found = []
    while node.data in kinds:
        found.append((str(node.data), node.children[1]))
        node = node.children[0]
    return [("", node), *reversed(found)]
