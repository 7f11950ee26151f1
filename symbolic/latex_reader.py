r"""Reading LaTeX: the inverse of printing, by our own grammar and into SymPy objects one by one.

    >>> from varlaw.symbolic.declarations import dimensions
    >>> context = context_of(dimensions("m"), dimensions("n"))
    >>> read_latex(r"\frac{2}{m + n}", context)
    2/(m + n)

The text is data: nothing in it is evaluated, included or executed.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

from lark import Token, Tree
from lark.exceptions import UnexpectedInput
from sympy import Add, Dummy, E, Expr, Integral, Pow, Symbol, Tuple, oo, pi, sqrt
from sympy.core.symbol import Str

from varlaw.symbolic.arrays import Moment
from varlaw.symbolic.derivation import relation
from varlaw.symbolic.digits import Digits
from varlaw.symbolic.language import MAX_DEPTH, ReadingError
from varlaw.symbolic.latex_algebra import negative, number, power, product
from varlaw.symbolic.latex_context import Context, Key, context_of, functions
from varlaw.symbolic.latex_source import MAX_CHARACTERS, flat, plain_source
from varlaw.symbolic.notation import CORE, MARK
from varlaw.symbolic.parsers import Grammar
from varlaw.symbolic.ranges import Range
from varlaw.symbolic.sequences import Branch, IndexProduct
from varlaw.symbolic.terms import (
    Covariance,
    Delta,
    Expectation,
    IndexSum,
    Indicator,
    Slope,
    Variance,
)

Node = Tree[Token]

SIGNS = {"=": "=", "<": "<", r"\ge": ">=", r"\le": "<=", r"\to": "->", r"\sim": "~"}
HEADS = {"E": (Expectation, 1), "Var": (Variance, 1), "Cov": (Covariance, 2)}

__all__ = ["Context", "ReadingError", "context_of", "read_chain", "read_latex"]


def read_latex(text: str, context: Context) -> Any:
    """The expression, or the relation between two, that a piece of LaTeX stands for.

    Names mean what the context says. Raises ReadingError where the text is not in the grammar,
    would be a guess (1/2 m), has an unknown name, or is too long, deep or large.
    """
    chain = read_chain(text, context)
    if len(chain) == 1:
        return chain[0]
    if len(chain) > 3:
        raise ReadingError("a chain of relations where one was expected")
    left, sign, right = chain
    return relation(left, right, sign)


def read_chain(text: str, context: Context) -> list[Any]:
    """The sides and the signs of a chain of relations, in turn: [a, "=", b, "<=", c]."""
    if len(text) > MAX_CHARACTERS:
        raise ReadingError(f"LaTeX of {len(text)} characters; at most {MAX_CHARACTERS}")
    source = plain_source(text)
    try:
        tree = _parser().parse(source)
    except UnexpectedInput as error:
        place = -1 if getattr(error, "token", None) == "" else error.pos_in_stream
        near = source[place or 0 :][:20].strip() if place != -1 else ""
        where = f" at {near!r}" if near else ": it ends too early"
        raise ReadingError(f"cannot read this LaTeX{where}") from None
    return _Builder(source, context).chain(tree)


GRAMMAR = Grammar(
    "varlaw.symbolic", "latex", f"\nCORE: /{CORE}/\nMARK: /{MARK}/\n", {"propagate_positions": True}
)
_parser = cache(GRAMMAR.parser)


class _Builder:
    """Builds SymPy objects from the tree of one text."""

    def __init__(self, source: str, context: Context) -> None:
        self.source = source
        self.context = context
        self.bound: dict[Key, Symbol] = {}
        self.functions = functions()

    def chain(self, tree: Node) -> list[Any]:
        sides = tree.children if tree.data == "relation" else [tree]
        chain: list[Any] = []
        for side in sides:
            if isinstance(side, Token):
                if str(side) not in SIGNS:
                    raise ReadingError(f"the relation {side} is not read here")
                chain.append(SIGNS[str(side)])
            else:
                value = self.value(side, 0)
                if left := value.atoms(Dummy) & set(self.context.bare.values()):
                    raise ReadingError(
                        f"the array {left.pop()} stands without indices outside E[...]"
                    )
                chain.append(value)
        return chain

    def value(self, node: Any, depth: int) -> Expr:
        if depth > MAX_DEPTH:
            raise ReadingError(f"LaTeX nested deeper than {MAX_DEPTH}")
        parts = node.children
        match node.data:
            case "add" | "subtract":
                return Add(*self.terms(node, depth))
            case "negative":
                return negative(self.value(parts[0], depth + 1))
            case "beside":
                return product(self.factors(node, depth))
            case "over":
                return self.value(parts[0], depth + 1) / self.divisor(parts[1], depth)
            case "fraction":
                below = self.divisor(parts[1], depth)
                return product([*self.factors(parts[0], depth), Pow(below, -1)])
            case "root":
                return sqrt(self.value(parts[0], depth + 1))
            case "power":
                return power(self.value(parts[0], depth + 1), self.value(parts[1], depth + 1))
            case "brackets":
                if len(parts) > 1:
                    raise ReadingError("a list in brackets is no value")
                return self.value(parts[0], depth + 1)
            case "digits":
                return Digits(str(parts[0]))
            case "number":
                return number(str(parts[0]))
            case "circle":
                return pi
            case "infinity":
                return oo
            case "function":
                return self.function(node, depth)
            case "indicator":
                return self.indicator(node, depth)
            case "slope":
                *_, by, of = parts
                inner, variable = self.value(of, depth + 1), self.value(by, depth + 1)
                return Slope(inner, variable)
            case "sum_over" | "product_over" | "integral":
                return self.large(node, depth)
            case "mark":
                raise ReadingError(f"{parts[0]} is no value")
            case _:
                return self.name(node, depth)

    def terms(self, node: Any, depth: int) -> Iterator[Expr]:
        """The terms of a sum, however many: the tree leans to the left."""
        found: list[tuple[bool, Any]] = []
        while node.data in ("add", "subtract"):
            found.append((node.data == "subtract", node.children[1]))
            node = node.children[0]
        yield self.value(node, depth + 1)
        for minus, term in reversed(found):
            value = self.value(term, depth + 1)
            yield negative(value) if minus else value

    def factors(self, node: Any, depth: int) -> list[Expr]:
        """The factors of a product, with functions such as F_t(x) put together."""
        nodes: list[Any] = []
        while node.data == "beside":
            *before, last = node.children
            nodes.append((last, len(before) > 1))
            node = before[0]
        nodes.append((node, True))
        nodes.reverse()
        found: list[Expr] = []
        waiting = None  # a function whose argument comes next
        for part, apart in nodes:
            inner = part.children[0] if part.data == "power" else part
            if waiting is None:
                waiting = self.branch(part, depth)
                found += [] if waiting else [self.value(part, depth + 1)]
                continue
            if apart or inner.data != "brackets":
                break
            value = waiting(self.value(inner, depth + 1))
            raised = part is not inner
            found.append(power(value, self.value(part.children[1], depth + 1)) if raised else value)
            waiting = None
        if waiting:
            raise ReadingError("a function such as F_t without its argument")
        return found

    def branch(self, node: Any, depth: int) -> Any:
        """The function that a name with an index stands for, if it is one."""
        if node.data != "lower" or (str(node.children[0]), "", "") not in self.context.branches:
            return None
        (index,) = node.children[1].children
        return lambda argument: Branch(self.value(index, depth + 1), argument)

    def divisor(self, node: Any, depth: int) -> Expr:
        below = self.value(node, depth + 1)
        if below == 0:
            raise ReadingError("division by zero")
        return below

    def function(self, node: Any, depth: int) -> Expr:
        head, *arguments = node.children
        name = str(head)[str(head).index("{") + 1 : -1]
        values = [self.value(argument, depth + 1) for argument in arguments]
        if name in HEADS:
            kind, arity = HEADS[name]
            if len(values) != arity:
                raise ReadingError(f"{name} takes {arity} argument{'s' * (arity > 1)}")
            return self.moment(values[0]) if name == "E" else kind(*values)
        if name in self.functions:
            return self.functions[name](*values)
        symbol = self.context.exact.get((str(head), "", ""))
        if symbol is None or len(values) > 1:
            raise ReadingError(f"unknown function {name!r}")
        return product([symbol, *values])

    def moment(self, argument: Expr) -> Expr:
        """E[...], where a name without indices is an entry of its array."""
        base, order = argument.as_base_exp()
        if base in self.context.bare.values():
            return Moment(Str(base.name), order)
        return Expectation(argument)

    def indicator(self, node: Any, depth: int) -> Expr:
        _, left, sign, right = node.children
        if str(sign) not in ("=", "<", ">"):
            raise ReadingError(f"the relation {sign} is not read in an indicator")
        difference = self.value(left, depth + 1) - self.value(right, depth + 1)
        return Indicator(difference, Str(str(sign)))

    def large(self, node: Any, depth: int) -> Expr:
        """Sums, products and integrals, which bind their variables."""
        before = dict(self.bound)
        try:
            if node.data == "integral":
                _, lower, upper, body, _, variable = node.children
                bounds = [self.value(part, depth + 1) for part in (lower, upper)]
                index = self.bind(variable, real=True)
                return Integral(self.value(body, depth + 1), (index, *bounds))
            _, *named, _, lower, upper, body = node.children
            low, high = (self.value(part, depth + 1) for part in (lower, upper))
            if node.data == "product_over":
                index = self.bind(named[0], integer=True, positive=True)
                return IndexProduct(self.value(body, depth + 1), index, low, high)
            ranges = [self.distinct(part, low, high, depth) for part in named]
            return IndexSum(self.value(body, depth + 1), *ranges)
        finally:
            self.bound = before

    def distinct(self, node: Any, low: Expr, high: Expr, depth: int) -> Range:
        r"""The range of `i_1 \neq i_2 \neq j`; names bound by sums around it are outer ones."""
        names = [part for part in node.children if not isinstance(part, Token)]
        outer = [p for p in names[1:] if p.data == "number" or self.key(p) in self.bound]
        inner = [
            self.bind(part, integer=True, positive=True) for part in names if part not in outer
        ]
        return Range(
            Tuple(*inner), low, high, Tuple(*(self.value(part, depth + 1) for part in outer))
        )

    def bind(self, node: Any, **kind: bool) -> Symbol:
        """The symbol that a sum, product or integral runs over."""
        known = self.context.exact.get(self.key(node))
        symbol = known if isinstance(known, Symbol) else Symbol(self.text(node), **kind)
        self.bound[self.key(node)] = symbol
        return symbol

    # Names

    def text(self, node: Any) -> str:
        return flat(self.source[node.meta.start_pos : node.meta.end_pos])

    def scripts(self, node: Any) -> tuple[str, Any, Any]:
        """The core of a name, its subscript and its superscript as trees (None where missing)."""
        core, *rest = node.children
        match node.data:
            case "lower":
                return str(core), rest[0], None
            case "upper":
                return str(core), None, rest[0]
            case "lower_upper":
                return str(core), rest[0], rest[1]
            case "upper_lower":
                return str(core), rest[1], rest[0]
            case _:
                return str(core), None, None

    def key(self, node: Any) -> Key:
        core, lower, upper = self.scripts(node)
        return core, self._inside(lower), self._inside(upper)

    def _inside(self, part: Any) -> str:
        text = self.text(part) if part is not None else ""
        return text[1:-1] if text.startswith("{") and text.endswith("}") else text

    def name(self, node: Any, depth: int) -> Expr:
        core, lower, upper = self.scripts(node)
        _, sub, sup = self.key(node)
        for known, exponent in (((core, sub, sup), None), ((core, sub, ""), upper)):
            for meanings in (self.bound, self.context.exact, self.context.bare):
                if known in meanings:
                    return self._raised(meanings[known], exponent, depth)
        for family in self.context.families.get(core, ()):
            if flat(family.label.sup) not in ("", sup):
                continue
            indices = self.indices(lower, family.label.sub, family.arity, depth)
            if indices is not None:
                return self._raised(
                    family.make(*indices), None if family.label.sup else upper, depth
                )
        if core == r"\delta" and (pair := self.indices(lower, "", 2, depth)):
            return Delta(*pair)
        if self.branch(node, depth):
            raise ReadingError("a function such as F_t without its argument")
        if core == "e" and not sub:
            return self._raised(E, upper, depth)
        raise ReadingError(f"unknown name {self.text(node)!r}")

    def _raised(self, value: Expr, exponent: Any, depth: int) -> Expr:
        return value if exponent is None else power(value, self.value(exponent, depth + 1))

    def indices(self, lower: Any, start: str, arity: int, depth: int) -> list[Expr] | None:
        """The indices in a subscript, behind what belongs to the label; None if they do not fit."""
        if lower is None:
            return None
        parts = list(lower.children)
        for own in flat(start).split(",") if start else ():
            if not parts or self.text(parts.pop(0)) != own:
                return None
        if len(parts) == 1 and parts[0].data == "beside":
            whole, chain, parts = parts[0], parts[0], []
            while chain.data == "beside":
                parts.insert(0, chain.children[-1])
                chain = chain.children[0]
            parts.insert(0, chain)
            if arity == 1 and chain.data == "number":  # x_{2 l}
                parts = [whole]
        return [self.value(part, depth + 1) for part in parts] if len(parts) == arity else None
