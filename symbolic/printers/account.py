"""What a document tells: a derivation with the facts of its law, in blocks of rows."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sympy import Basic, Expr, Integer

from varlaw.symbolic.arrays import Entry, RandomArray
from varlaw.symbolic.assumptions import RELATIONS, Assumption, Kind
from varlaw.symbolic.derivation import Derivation, Step, relation, sign_of
from varlaw.symbolic.printers.bibliography import Source
from varlaw.symbolic.sequences import Defined, Named
from varlaw.symbolic.terms import Expectation, IndexSum, Variance


@dataclass(frozen=True)
class Row:
    """One line `left sign right` with its justification; `left` is None where the chain goes on."""

    left: Basic | None
    sign: str
    right: Expr
    reason: str = ""
    assumptions: tuple[Assumption, ...] = ()


@dataclass(frozen=True)
class Block:
    """Rows that stand together, with the reason that leads to them (empty for the chain itself)."""

    lead: str
    assumptions: tuple[Assumption, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Account:
    """A derivation to be told, with what is known of its law."""

    derivation: Derivation
    name: str = ""
    title: str = ""
    regime: str = ""
    note: str = ""
    sources: tuple[Source, ...] = ()

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The assumptions that some step rests on."""
        return tuple(sorted(self.derivation.assumptions))

    @cached_property
    def expressions(self) -> list[Basic]:
        """Everything that is printed: the start, every step, and the meanings of names."""
        steps = [part for step in self.derivation.steps for part in (step.before, step.after)]
        return [self.derivation.start, *steps, *self.meanings]

    @cached_property
    def meanings(self) -> list[Any]:
        """The meanings of names and the declared moments, as relations, in order of appearance."""
        shown = [self.derivation.start, *(step.after for step in self.derivation.steps)]
        named: dict[str, Named] = {}
        functions: dict[type, Defined] = {}
        entries: dict[str, Entry] = {}
        for part in shown:
            for function in sorted(part.atoms(Defined), key=str):
                functions.setdefault(type(function), function)
            for found in sorted(part.atoms(Named), key=str):
                named.setdefault(found.name, found)
            for entry in sorted(part.atoms(Entry), key=lambda e: (len(str(e)), str(e))):
                entries.setdefault(entry.array.name, entry)
        defined: list[Any] = [*functions.values(), *named.values()]
        relations = [relation(one, one.definition, "=") for one in defined]
        return relations + [fact for name in sorted(entries) for fact in _moments(entries[name])]

    @cached_property
    def distinct(self) -> bool:
        """Whether some sum runs over three or more pairwise distinct indices."""
        sums = set().union(*(part.atoms(IndexSum) for part in self.expressions))
        return any(len(r.indices) + len(r.excluded) > 2 for total in sums for r in total.ranges)

    @cached_property
    def blocks(self) -> list[Block]:
        """The chain, then the equations that follow from it, each group with its lead."""
        groups: list[tuple[Step | None, list[Row]]] = [(None, [])]
        left: Basic | None = self.derivation.start
        for step in self.derivation.steps:
            if not step.on_equations:
                groups[-1][1].append(_row(left, step.relation, step.after, step))
            elif (
                groups[-1][0] is None
            ):  # the first equation of a group: its reason leads to the group
                groups.append(
                    (step, [_row(step.after.lhs, sign_of(step.after), step.after.rhs, None)])
                )
            else:
                groups[-1][1].append(
                    _row(step.after.lhs, sign_of(step.after), step.after.rhs, step)
                )
            left = None
        if not self.derivation.steps:
            groups[0][1].append(Row(None, "", self.derivation.start))
        return [
            Block(
                step.reason if step else "",
                tuple(sorted(step.assumptions)) if step else (),
                tuple(rows),
            )
            for step, rows in groups
            if rows
        ]


def _row(left: Basic | None, sign: str, right: Any, step: Step | None) -> Row:
    if step is None:
        return Row(left, sign, right)
    return Row(left, sign, right, step.reason, tuple(sorted(step.assumptions)))


def _moments(entry: Entry) -> list[Any]:
    """The declared moments of an array, said of one of its entries."""
    array: RandomArray = entry.array
    facts = []
    if array.mean not in (None, Integer(0)):
        facts.append(relation(Expectation(entry), array.mean, "="))
    if array.args[2].args:
        kind, value = array.args[2].args
        head = Variance(entry) if kind.name == "variance" else Expectation(entry**2)
        facts.append(relation(head, value, "="))
    return facts + [
        relation(Expectation(entry**order), value, "=") for order, value in array.args[3].args
    ]


def grouped(assumptions: Iterable[Assumption]) -> list[tuple[str, str, tuple[str, ...]]]:
    """Assumptions by subject: ("w", "zero mean", ()), ("w", "independent of", ("x",))."""
    alone: dict[str, list[str]] = {}
    pairs: dict[tuple[str, Kind], list[str]] = {}
    for one in sorted(assumptions, key=lambda a: (a.subjects, a.kind)):
        if one.kind in RELATIONS:
            pairs.setdefault((one.subjects[0], one.kind), []).append(one.subjects[1])
        else:
            alone.setdefault(one.subjects[0], []).append(str(one.kind))
    found: list[tuple[str, str, tuple[str, ...]]] = [
        (name, ", ".join(kinds), ()) for name, kinds in alone.items()
    ]
    return found + [(name, str(kind), tuple(others)) for (name, kind), others in pairs.items()]


def listed(assumptions: Iterable[Assumption]) -> str:
    """Assumptions in plain letters: "w: independent entries, zero mean; w independent of x"."""
    return "; ".join(
        f"{name} {what} {' and '.join(others)}" if others else f"{name}: {what}"
        for name, what, others in grouped(assumptions)
    )


def justification(reason: str, assumptions: Iterable[Assumption]) -> str:
    """A reason in plain letters, with the assumptions it uses in brackets."""
    used = listed(assumptions)
    return f"{reason} ({used})" if used and reason else reason
