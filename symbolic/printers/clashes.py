"""Renames looked over before use: known names only, and no two things that print alike."""

from collections.abc import Iterable
from typing import Any

from sympy import Basic, Integral, Symbol

from varlaw.symbolic.arrays import Entry, Moment
from varlaw.symbolic.names import suggestion
from varlaw.symbolic.notation import Notation, NotationError
from varlaw.symbolic.printers.mathematics import latex
from varlaw.symbolic.ranges import stem
from varlaw.symbolic.sequences import Branch, Named, Term
from varlaw.symbolic.terms import Delta

INDEXED = (Entry, Term, Named, Branch, Moment)


def check_renames(notation: Notation, expressions: Iterable[Basic]) -> None:
    """Raise NotationError if a renamed name is not in play or now prints like another one."""
    parts = list(expressions)
    atoms = set().union(*(part.atoms(Symbol, Delta, Integral, *INDEXED) for part in parts))
    names = {name for atom in atoms for name in _names(atom)}
    for name in notation.renames:
        if name not in names:
            known = ", ".join(
                sorted({_name(a) for a in atoms if not isinstance(a, Delta | Integral)})
            )
            raise NotationError(
                f"no symbol {name!r} here{suggestion(name, names)} (there are {known})"
            )
    printed: dict[str, str] = (
        {r"\delta": "Kronecker's delta"} if any(isinstance(a, Delta) for a in atoms) else {}
    )
    for atom in sorted(atoms, key=str):
        if isinstance(atom, Delta | Integral):
            continue
        name = _name(atom)
        for text in _faces(atom, notation):
            other = printed.setdefault(text, name)
            if other != name:
                raise NotationError(f"{other!r} and {name!r} would both be written {text}")
    _check_entries(notation, atoms)


def _check_entries(notation: Notation, atoms: Iterable[Any]) -> None:
    """Refuse a renamed symbol that looks like an entry of an array: m as w_{ij} beside w."""
    cores = {
        notation.label(_name(atom), indexed=True).core: _name(atom)
        for atom in atoms
        if isinstance(atom, INDEXED) and not (isinstance(atom, Named) and not atom.indices)
    }
    for atom in atoms:
        if not isinstance(atom, Symbol) or atom.name not in notation.renames:
            continue
        label = notation.label(atom.name)
        if label.core in cores and label.sub and "\\" not in label.sub:
            raise NotationError(
                f"{label.written()} for {atom.name!r} looks like an entry of {cores[label.core]!r}"
            )


def _faces(atom: Any, notation: Notation) -> set[str]:
    """How an atom is written: the whole, and its name alone."""
    if isinstance(atom, Symbol):
        label = notation.label(atom.name)
        return {label.written(), label.core if label.square else label.written()}
    label = notation.label(_name(atom), indexed=True)
    if label.square and not (isinstance(atom, Named) and not atom.indices):
        raise NotationError(f"{_name(atom)!r} has indices, so it cannot be written as a square")
    own = label.written()
    return {own} if isinstance(atom, Branch | Moment) else {own, latex(atom, notation)}


def _name(atom: Any) -> str:
    if isinstance(atom, Entry):
        return atom.array.name
    return "F" if isinstance(atom, Branch) else str(atom.name)


def _names(atom: Any) -> set[str]:
    if isinstance(atom, Delta | Integral):
        return set()
    return {_name(atom), stem(atom)} if isinstance(atom, Symbol) else {_name(atom)}
