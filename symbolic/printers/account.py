"""What a document tells: a derivation with the facts of its law, in blocks of rows."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sympy import Basic, Expr, Integer, Symbol

from varlaw.symbolic.arrays import Entry, RandomArray
from varlaw.symbolic.assumptions import RELATIONS, Assumption, Kind
from varlaw.symbolic.derivation import Derivation, Step, relation, sign_of
from varlaw.symbolic.means import (
    arithmetic_mean,
    contraharmonic_mean,
    geometric_mean,
    harmonic_mean,
)
from varlaw.symbolic.printers.bibliography import Source
from varlaw.symbolic.printers.told import equality, told
from varlaw.symbolic.sequences import Branch, Defined, Named, Term
from varlaw.symbolic.terms import Expectation, IndexSum, Variance

MEANS = (arithmetic_mean, contraharmonic_mean, geometric_mean, harmonic_mean)


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
    symbols: tuple[str, ...] = ()
    common: tuple[str, ...] = ()
    rests_on: tuple["Account", ...] = ()

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The assumptions that some step rests on."""
        return tuple(sorted(self.derivation.assumptions))

    @cached_property
    def expressions(self) -> list[Basic]:
        """Everything that is printed: the start, every step, and the meanings of names."""
        steps = [part for step in self.derivation.steps for part in (step.before, step.after)]
        return [self.derivation.start, *steps, *self.meanings]

    @property
    def uses(self) -> list["Account"]:
        """The laws that this one rests on, directly or through others, each once."""
        found = {
            account.name: account for direct in self.rests_on for account in (direct, *direct.uses)
        }
        return list(found.values())

    @cached_property
    def printed(self) -> list[Basic]:
        """All of `expressions`, and what is printed of the laws that this one uses."""
        others = [part for law in self.uses for part in (law.derivation.statement, *law.moments)]
        return [*self.expressions, *others]

    @cached_property
    def meanings(self) -> list[Any]:
        """The meanings of names and the declared moments, as relations, in order of appearance."""
        return [*self.definitions, *self.moments]

    @cached_property
    def _shown(self) -> list[Basic]:
        return [self.derivation.start, *(step.after for step in self.derivation.steps)]

    @cached_property
    def definitions(self) -> list[Any]:
        """The meanings of names, as relations, in order of appearance."""
        named: dict[str, Named] = {}
        functions: dict[type, Defined] = {}
        for part in self._shown:
            for function in sorted(part.atoms(Defined), key=str):
                functions.setdefault(type(function), function)
            for found in sorted(part.atoms(Named), key=str):
                named.setdefault(found.name, found)
        taken = {name for part in self._shown for name in names_in(part)}
        defined: list[Any] = [*(_general(one, taken) for one in functions.values())]
        return [relation(one, one.definition, "=") for one in [*defined, *named.values()]]

    @cached_property
    def moments(self) -> list[Any]:
        """The declared moments that the chain speaks of, and the values chosen: all are assumed."""
        entries: dict[str, Entry] = {}
        for part in self._shown:
            for entry in sorted(part.atoms(Entry), key=lambda e: (len(str(e)), str(e))):
                entries.setdefault(entry.array.name, entry)
        facts = [fact for name in sorted(entries) for fact in _moments(entries[name])]
        seen = {name for part in self._shown for name in names_in(part)}
        kept = [f for f in facts if not (of := set(names_in(f.rhs))) or of & seen]
        chosen = [
            relation(name, value, "=")
            for step in self.derivation.steps
            if step.rule == "substitute"
            for name, value in step.certificate["values"].items()
            if not value.has(name)  # a rescaling, which the step tells
        ]
        return kept + chosen

    @cached_property
    def names(self) -> set[str]:
        """The names that are to be seen, in the chain and in the meanings."""
        return {
            name
            for part in (*self._shown, *self.definitions, *self.moments)
            if not isinstance(getattr(part, "lhs", None), Defined)
            for name in names_in(part)
        }

    @cached_property
    def glossary(self) -> list[tuple[str, str]]:
        """Symbols with what they mean: those that the law explains, then those of its family."""
        own = [_gloss(text) for text in self.symbols]
        names = {name for key, _ in own for name in key.split(", ")}
        stems = names | {name.split("_")[0] for name in names}
        found = list(own)
        for key, meaning in map(_gloss, self.common):
            parts = set(key.split(", "))
            if parts & self.names and not parts & stems:
                found.append((key, meaning))
                stems |= parts
        return found

    @cached_property
    def arrays(self) -> set[str]:
        """The names that stand with indices."""
        return {
            name
            for part in self.expressions
            for atom in part.atoms(Entry, Term, Named)
            for name in names_in(atom, alone=True)
        }

    @cached_property
    def chain(self) -> list[tuple[str, Expr]]:
        """The relations of the statement where there are several that are no equations."""
        found: list[tuple[str, Expr]] = []
        for step in self.derivation.steps:
            if step.on_equations:
                found = []
            elif step.relation != "=":
                found.append((step.relation, step.after))
            elif found:
                found[-1] = found[-1][0], step.after
        return found if len(found) > 1 else []

    @cached_property
    def equality(self) -> str:
        """Where a chain of inequalities is one of equations, or nothing."""
        places = {
            equality(step.certificate["difference"])
            for step in self.derivation.steps
            if "difference" in step.certificate
        }
        return places.pop() if len(places) == 1 else ""

    def reason(self, step: Step) -> str:
        """The reason of a step as it is told."""
        uses = [(law.name, law.derivation.end) for law in self.uses]
        return told(step, uses, [law.name for law in self.rests_on])

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
                groups[-1][1].append(self._row(left, step.relation, step.after, step))
            elif (
                groups[-1][0] is None
            ):  # the first equation of a group: its reason leads to the group
                groups.append(
                    (step, [self._row(step.after.lhs, sign_of(step.after), step.after.rhs, None)])
                )
            else:
                groups[-1][1].append(
                    self._row(step.after.lhs, sign_of(step.after), step.after.rhs, step)
                )
            left = None
        if not self.derivation.steps:
            groups[0][1].append(Row(None, "", self.derivation.start))
        return [
            Block(
                self.reason(step) if step else "",
                tuple(sorted(step.assumptions)) if step else (),
                tuple(rows),
            )
            for step, rows in groups
            if rows
        ]

    def _row(self, left: Basic | None, sign: str, right: Any, step: Step | None) -> Row:
        if step is None:
            return Row(left, sign, right)
        return Row(left, sign, right, self.reason(step), tuple(sorted(step.assumptions)))


def _gloss(text: str) -> tuple[str, str]:
    key, _, meaning = text.partition(": ")
    return key, meaning


def names_in(part: Any, alone: bool = False) -> Iterator[str]:
    """The names that are to be seen in an expression, and not those behind them."""
    if isinstance(part, Symbol):
        yield part.name
    elif isinstance(part, Entry | Term | Named | Branch):
        if isinstance(part, Branch):
            yield "F"
        else:
            yield part.array.name if isinstance(part, Entry) else part.name
        if alone:
            return
        inside = part.args if isinstance(part, Branch) else ()
        for index in inside or getattr(part, "indices", part.args[1:]):
            yield from names_in(index)
    else:
        for argument in getattr(part, "args", ()):
            yield from names_in(argument)


def _general(function: Any, taken: set[str]) -> Any:
    """A mean of two numbers a and b, where these letters are free."""
    if not isinstance(function, MEANS) or taken & {"a", "b"}:
        return function
    return function.func(Symbol("a", positive=True), Symbol("b", positive=True))


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


def phrases(assumptions: Iterable[Assumption], name: Callable[[str], str]) -> list[str]:
    """Assumptions by subject, in words; `name` writes a subject, perhaps with a minus."""
    alone: dict[str, list[str]] = {}
    mirrored: list[str] = []
    pairs: dict[Kind, set[tuple[str, ...]]] = {}
    for one in sorted(assumptions, key=lambda a: (a.subjects, a.kind)):
        if one.kind in RELATIONS:
            pairs.setdefault(one.kind, set()).add(one.subjects)
        elif one.kind is Kind.SYMMETRIC:
            (subject,) = one.subjects
            mirrored.append(f"{name(subject)} and {name('-' + subject)} have the same law")
        else:
            alone.setdefault(one.subjects[0], []).append(str(one.kind))
    found = [f"{name(subject)}: {', '.join(kinds)}" for subject, kinds in alone.items()]
    found += mirrored + _independent(pairs.pop(Kind.INDEPENDENT, set()), name)
    return found + [
        f"{name(left)} {kind} {name(right)}"
        for kind, those in pairs.items()
        for left, right in sorted(those)
    ]


def _independent(pairs: set[tuple[str, ...]], name: Callable[[str], str]) -> list[str]:
    """Independent pairs, joined where groups of arrays are independent of one another."""
    found = []
    for whole in _components(pairs, {subject for pair in pairs for subject in pair}):
        inside = {pair for pair in pairs if set(pair) <= whole}
        missing = {
            (left, right)
            for left in whole
            for right in whole
            if left < right and (left, right) not in inside
        }
        groups = _components(missing, whole)
        if len(groups) == 1:
            found += [
                f"{name(left)} independent of {name(right)}" for left, right in sorted(inside)
            ]
            continue
        texts = [
            name(group[0]) if len(group) == 1 else f"({', '.join(map(name, group))})"
            for group in sorted(map(sorted, groups), key=lambda g: (len(g), g))
        ]
        if len(texts) == 2:
            found.append(f"{texts[0]} independent of {texts[1]}")
        else:
            found.append(f"{', '.join(texts)} independent (jointly)")
        for group in groups:
            found += _independent({pair for pair in inside if set(pair) <= group}, name)
    return found


def _components(pairs: Iterable[tuple[str, ...]], subjects: set[str]) -> list[set[str]]:
    """The connected parts of a graph."""
    parts = [{subject} for subject in sorted(subjects)]
    for pair in pairs:
        joined = [part for part in parts if part & set(pair)]
        parts = [part for part in parts if part not in joined] + [set().union(*joined)]
    return sorted(parts, key=sorted)


def listed(assumptions: Iterable[Assumption]) -> str:
    """Assumptions in plain letters: "w: independent entries, zero mean; w independent of x"."""
    return "; ".join(phrases(assumptions, str))


def justification(reason: str, assumptions: Iterable[Assumption]) -> str:
    """A reason in plain letters, with the assumptions it uses in brackets."""
    used = listed(assumptions)
    return f"{reason} ({used})" if used and reason else reason
