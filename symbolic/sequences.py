"""Sequences and names: products over an index, values of sequences, branches, named expressions."""

from typing import Any

from sympy import Basic, Expr, Function, Integer, Symbol, Tuple
from sympy.core.symbol import Str

from varlaw.symbolic.notation import raised, script, written
from varlaw.symbolic.terms import SUM, number


class IndexProduct(Expr):
    """The product of a term over one index from `lower` to `upper`."""

    is_commutative = True

    def __new__(cls, term: Expr, index: Symbol, lower: Expr, upper: Expr) -> Expr:
        if term == 1:
            return Integer(1)
        return Expr.__new__(cls, term, index, lower, upper)

    @property
    def term(self) -> Expr:
        return self.args[0]

    @property
    def index(self) -> Symbol:
        return self.args[1]

    @property
    def lower(self) -> Expr:
        return self.args[2]

    @property
    def upper(self) -> Expr:
        return self.args[3]

    @property
    def free_symbols(self) -> set[Basic]:
        return (
            (self.term.free_symbols - {self.index})
            | self.lower.free_symbols
            | self.upper.free_symbols
        )

    def _eval_is_positive(self) -> bool | None:
        return True if self.term.is_positive else None

    def _eval_subs(self, old: Basic, new: Basic) -> Expr | None:
        if old == self.index:
            return self
        return IndexProduct(
            self.term._subs(old, new),
            self.index,
            self.lower._subs(old, new),
            self.upper._subs(old, new),
        )

    def _sympystr(self, printer: Any) -> str:
        term, index, lower, upper = map(printer.doprint, self.args)
        return f"Prod[{index} = {lower}..{upper}]({term})"

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        _, index, lower, upper = map(printer.doprint, self.args)
        sign = r"\prod" + script("_", f"{index}={lower}") + script("^", upper)
        body = f"{sign} {printer.parenthesize(self.term, SUM, strict=True)}"
        return body if exp is None else raised(rf"\left({body}\right)", exp)


class Term(Expr):
    """A value of a sequence, such as v_t or d_i: a name with indices and nothing else known."""

    is_commutative = True
    is_real = True
    is_positive = True

    def __new__(cls, name: Str | str, *indices: Expr | int) -> "Term":
        label = Str(name) if isinstance(name, str) else name
        return Expr.__new__(cls, label, *map(number, indices))

    @property
    def name(self) -> str:
        return self.args[0].name

    def _sympystr(self, printer: Any) -> str:
        return f"{self.name}[{', '.join(map(printer.doprint, self.args[1:]))}]"

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        return written(self.name, self.args[1:], printer, exp)


class Branch(Expr):
    """The output F_t(x) of the residual branch t at an input; nothing else is known of it."""

    is_commutative = True
    is_real = True

    def _sympystr(self, printer: Any) -> str:
        return f"F[{printer.doprint(self.args[0])}]({printer.doprint(self.args[1])})"

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        index, argument = self.args
        body = rf"{written('F', (index,), printer)}\left({printer.doprint(argument)}\right)"
        return raised(body, exp)


class Defined(Function):
    """Base of functions that stand for a formula: `definition` gives it."""

    @property
    def definition(self) -> Expr:
        raise NotImplementedError


class Named(Expr):
    """An expression that goes by a name of its own, such as y_j, until it is unfolded."""

    is_real = True
    is_commutative = True

    @property
    def name(self) -> str:
        return self.args[0].name

    @property
    def indices(self) -> tuple[Expr, ...]:
        return tuple(self.args[1].args)

    @property
    def definition(self) -> Expr:
        return self.args[2]

    def _eval_is_positive(self) -> bool | None:
        positive: bool | None = self.definition.is_positive
        return positive

    def _sympystr(self, printer: Any) -> str:
        return (
            f"{self.name}[{', '.join(map(printer.doprint, self.indices))}]"
            if self.indices
            else self.name
        )

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        if not self.indices:
            return str(
                printer.doprint(Symbol(self.name))
                if exp is None
                else written(self.name, (), printer, exp)
            )
        return written(self.name, self.indices, printer, exp)


def named(name: str, definition: Expr, *indices: Expr) -> Named:
    """`definition` under a name: printed as y[j] until the rule `unfold` opens it."""
    return Named(Str(name), Tuple(*indices), definition)
