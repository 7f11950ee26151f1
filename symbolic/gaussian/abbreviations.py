"""SELU's two constants as atoms: each is a long expression, which SymPy would evaluate for ever."""

from functools import cache

from flint import arb
from sympy import Expr

from varlaw.symbolic.activations import elu, selu, selu_constants
from varlaw.symbolic.gaussian.balls import Located, ball


class Abbreviation(Located):
    """A number that stands for an expression."""

    is_Atom = True

    def __new__(cls, value: Expr) -> "Abbreviation":
        atom: Abbreviation = Expr.__new__(cls)
        atom.value = value
        return atom

    def _hashable_content(self) -> tuple[Expr]:
        return (self.value,)

    def enclosure(self) -> arb:
        return ball(self.value)

    def _eval_is_positive(self) -> bool:
        return bool(self.enclosure() > 0)

    def _sympystr(self, printer: object) -> str:
        return str(self.value)


@cache
def _constants() -> tuple[Abbreviation, Abbreviation]:
    alpha, scale = selu_constants()
    return Abbreviation(alpha), Abbreviation(scale)


def abbreviated(f: Expr) -> Expr:
    """f with SELU by ELU and the two atoms."""
    if not f.has(selu):
        return f
    alpha, scale = _constants()
    return f.replace(selu, lambda z: scale * elu(z, alpha))


def unabbreviated(value: Expr) -> Expr:
    """The atoms written out."""
    return value.xreplace({atom: atom.value for atom in value.atoms(Abbreviation)})
