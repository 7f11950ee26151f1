"""Numbers with a long formula as atoms: SymPy would ask their parts for ever."""

from collections.abc import Callable
from typing import Any

from flint import arb
from sympy import Expr, Mul, Pow
from sympy.printing.precedence import PRECEDENCE

from varlaw.symbolic.gaussian.balls import Located, ball


class Abbreviation(Located):
    """A positive number that stands for an expression, which is made when it is asked for."""

    is_Atom = True
    is_positive = True
    precedence = PRECEDENCE["Add"]  # in brackets, but in sums
    name: str
    make: Callable[[], Expr]

    def __new__(cls, name: str, make: Callable[[], Expr]) -> "Abbreviation":
        atom: Abbreviation = Expr.__new__(cls)
        atom.name, atom.make = name, make
        return atom

    @property
    def value(self) -> Expr:
        return self.make()

    def _hashable_content(self) -> tuple[str]:
        return (self.name,)

    def enclosure(self) -> arb:
        return ball(self.value)

    def _sympystr(self, printer: Any) -> str:
        return str(printer.doprint(self.value))

    def _code(self, printer: Any) -> str:
        return f"({printer.doprint(self.value)})"

    _mpmathcode = _numpycode = _pythoncode = _code

    def _latex(self, printer: Any) -> str:
        return str(printer.doprint(self.value))


def unabbreviated(value: Expr) -> Expr:
    """The atoms written out."""
    if isinstance(value, Abbreviation):
        return value.value
    if not value.has(Abbreviation):
        return value
    if isinstance(value, Pow) and isinstance(value.base, Abbreviation):
        powers = value.base.value.as_powers_dict().items()
        return Mul(*(Pow(base, n * value.exp, evaluate=base.is_Atom) for base, n in powers))
    return value.func(*map(unabbreviated, value.args))
