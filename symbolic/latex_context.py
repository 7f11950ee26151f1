"""What names in LaTeX stand for: the symbols, arrays and named expressions that are in play."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sympy import Abs, Basic, Dummy, Expr, Function, Symbol, sqrt

import varlaw.symbolic.activations
import varlaw.symbolic.means
import varlaw.symbolic.orders  # noqa: F401  (functions of these modules are among those found)
from varlaw.symbolic.activation import Activation
from varlaw.symbolic.arrays import Entry, Moment, RandomArray
from varlaw.symbolic.gaussian.balls import FUNCTIONS
from varlaw.symbolic.latex_source import flat
from varlaw.symbolic.notation import PLAIN, Label, Notation, joined
from varlaw.symbolic.sequences import Branch, Defined, Named, Term
from varlaw.symbolic.spectra import Norm, Spectral, Trace

Key = tuple[str, str, str]  # core, subscript, superscript, without spaces


@dataclass(frozen=True)
class Family:
    """Everything that goes by one indexed label: `make` gives the member with given indices."""

    label: Label
    arity: int
    make: Callable[..., Expr]


@dataclass
class Context:
    """The meanings of names, for `read_latex`.

    `exact` has whole names (symbols, and indexed names as they were seen), `families` the indexed
    ones by core, `bare` the names of arrays without indices, `branches` the heads of functions
    such as F_t(x).
    """

    exact: dict[Key, Expr] = field(default_factory=dict)
    families: dict[str, list[Family]] = field(default_factory=dict)
    bare: dict[Key, Dummy] = field(default_factory=dict)
    branches: dict[Key, type[Branch]] = field(default_factory=dict)

    def symbol(self, symbol: Symbol, notation: Notation = PLAIN) -> None:
        """Let a symbol go by its label; where that is a square, its root by the label's core."""
        label = notation.label(symbol.name)
        self.exact[key(label)] = sqrt(symbol) if label.square else symbol

    def array(self, array: RandomArray, arity: int, notation: Notation = PLAIN) -> None:
        """Let an array go by its label, with indices and (inside expectations) without."""
        label = notation.label(array.name, indexed=True)
        if not arity:
            self.exact[key(label)] = array[()]
            return
        self._family(Family(label, arity, lambda *indices: array[indices]))
        self.bare[key(label)] = Dummy(array.name)

    def _family(self, family: Family) -> None:
        self.families.setdefault(family.label.core, []).append(family)


def context_of(*expressions: Basic, notation: Notation = PLAIN) -> Context:
    """The context in which the LaTeX of some expressions, printed with a notation, is read."""
    context = Context()
    atoms = set().union(
        *(
            expression.atoms(Symbol, Entry, Term, Named, Branch, Moment, Spectral)
            for expression in expressions
        )
    )
    for atom in sorted(atoms, key=str):
        _admit(context, atom, notation)
    return context


def _admit(context: Context, atom: Any, notation: Notation) -> None:
    match atom:
        case Symbol():
            context.symbol(atom, notation)
        case Entry():
            context.array(atom.array, len(atom.indices), notation)
        case Moment():
            context.bare[key(notation.label(atom.name, indexed=True))] = Dummy(atom.name)
        case Branch():
            context.branches[key(notation.label("F", indexed=True))] = Branch
        case Term():
            label, name = notation.label(atom.name, indexed=True), atom.name
            context._family(
                Family(label, len(atom.args) - 1, lambda *indices: Term(name, *indices))
            )
        case Trace():
            label, entry, size = notation.label("tau", indexed=True), atom.entry, atom.size
            context._family(Family(label, 1, lambda power: Trace(entry, size, power)))
        case Norm():
            context.exact[key(notation.label("s_max"))] = atom
        case Named() if not atom.indices:
            context.exact[key(notation.label(atom.name))] = atom
        case Named():
            _admit_named(context, atom, notation)


def _admit_named(context: Context, atom: Named, notation: Notation) -> None:
    from varlaw.symbolic.printers.mathematics import LatexMath

    label = notation.label(atom.name, indexed=True)
    inside = joined(atom.indices, LatexMath(notation))
    whole = Label(label.core, ", ".join(filter(None, (label.sub, inside))), label.sup)
    context.exact[key(whole)] = atom
    if all(isinstance(index, Symbol) for index in atom.indices):

        def member(*indices: Expr) -> Expr:
            return atom.xreplace(dict(zip(atom.indices, indices, strict=True)))

        context._family(Family(label, len(atom.indices), member))


def key(label: Label) -> Key:
    return label.core, flat(label.sub), flat(label.sup)


def functions() -> dict[str, type[Function]]:
    """The functions that are read, by the label they are printed with."""
    found: dict[str, type[Function]] = {kind.__name__: kind for kind in FUNCTIONS} | {"abs": Abs}
    waiting: list[Any] = [Activation, Defined]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if getattr(kind, "label", ""):
            found.setdefault(kind.label, kind)  # SymPy's own first
    return found
