"""The catalogue of laws: the decorator that makes one, and finding them without importing them."""

import ast
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from itertools import combinations
from typing import TYPE_CHECKING, Any

from varlaw.symbolic.documented import Documented
from varlaw.symbolic.names import suggestion

if TYPE_CHECKING:
    from varlaw.symbolic.assumptions import Assumption
    from varlaw.symbolic.derivation import Derivation
    from varlaw.symbolic.printers.account import Account

PACKAGE = "varlaw.derivations"


class UnknownLaw(LookupError):
    """No law has the name."""


@dataclass(frozen=True)
class Entry:
    """What the catalogue says of a law without deriving it; all of it literal in the source."""

    name: str
    family: str
    title: str
    regime: str
    sources: tuple[str, ...]
    usual: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, eq=False)
class Law(Documented):
    """A named statement with its derivation, regime and sources.

    `usual` are assumptions that introductions state but the derivation does without; the audit
    reports on them as well. `rests_on` are the laws whose results the derivation starts from.
    """

    entry: Entry
    build: Callable[[], "Derivation"]

    @property
    def name(self) -> str:
        return self.entry.name

    @cached_property
    def derivation(self) -> "Derivation":
        return self.build()

    @property
    def statement(self) -> Any:
        """The relation that the derivation ends in."""
        return self.derivation.statement

    @property
    def statement_text(self) -> str:
        """The statement as text with explicit products: `Var[w[i, j]] = 1/m`."""
        from varlaw.symbolic.derivation import relation_text

        return relation_text(self.statement)

    def account(self) -> "Account":
        from varlaw.derivations.sources import source
        from varlaw.symbolic.printers.account import Account

        entry = self.entry
        return Account(
            self.derivation,
            entry.name,
            entry.title,
            entry.regime,
            entry.note,
            tuple(map(source, entry.sources)),
        )

    @property
    def declared(self) -> tuple["Assumption", ...]:
        """The assumptions declared of the random arrays that the derivation starts from."""
        return tuple(sorted(declared(self.derivation.start) | self._stated()))

    def _stated(self) -> frozenset["Assumption"]:
        """Those used by a step that are no property of one array."""
        from varlaw.symbolic.assumptions import Kind

        return frozenset(
            a for a in self.derivation.assumptions if a.kind in (Kind.NO_ATOM, Kind.WIDE)
        )

    @property
    def usual(self) -> tuple["Assumption", ...]:
        """Assumptions of the usual telling that the derivation does without."""
        return tuple(parse_assumption(text) for text in self.entry.usual)


def declared(start: Any) -> frozenset["Assumption"]:
    """Every property declared of the arrays in an expression, and of pairs of them."""
    from varlaw.symbolic.arrays import Entry as Variable
    from varlaw.symbolic.arrays import arrays_in
    from varlaw.symbolic.assumptions import Assumption, Kind
    from varlaw.symbolic.rules.expectation import linked

    arrays = arrays_in(start)
    families = {e.array.name for e in start.atoms(Variable) if e.indices}
    of_families = (Kind.INDEPENDENT_ENTRIES, Kind.IDENTICAL)
    found = {
        a
        for array in arrays.values()
        for a in array.assumptions()
        if array.name in families or a.kind not in of_families
    }
    for left, right in combinations(sorted(arrays), 2):
        if not linked(arrays[left], arrays[right], arrays):
            found.add(Assumption(Kind.INDEPENDENT, (left, right)))
        elif right in arrays[left].uncorrelated or left in arrays[right].uncorrelated:
            found.add(Assumption(Kind.UNCORRELATED, (left, right)))
    return frozenset(found)


def parse_assumption(text: str) -> "Assumption":
    """Read "w: zero mean" or "x independent of F". Raises ValueError."""
    from varlaw.symbolic.assumptions import RELATIONS, Assumption, Kind

    for kind in RELATIONS:
        left, found, right = text.partition(f" {kind} ")
        if found:
            return Assumption(kind, tuple(sorted((left.strip(), right.strip()))))
    subject, _, rest = text.partition(":")
    return Assumption(Kind(rest.strip()), (subject.strip(),))


def law(
    *,
    name: str,
    family: str,
    title: str,
    regime: str,
    sources: tuple[str, ...],
    usual: tuple[str, ...] = (),
    rests_on: tuple[str, ...] = (),
    note: str = "",
) -> Callable[[Callable[[], "Derivation"]], Law]:
    """Make the function that gives a derivation into the law called `name`.

    All arguments are literals, so that `entries` can read them from the source without running it.
    """
    entry = Entry(name, family, title, regime, sources, usual, rests_on, note)

    def make(build: Callable[[], "Derivation"]) -> Law:
        if _LAWS.setdefault(name, made := Law(entry, build)) is not made:
            raise ValueError(f"two laws are called {name!r}")
        return made

    return make


_LAWS: dict[str, Law] = {}


def _sources() -> Iterator[tuple[str, str]]:
    """Name and text of every module of laws."""
    folder = os.path.dirname(__file__)  # importing pathlib or importlib.resources costs 10 ms
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py") and name not in ("__init__.py", "catalogue.py"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                yield name.removesuffix(".py"), file.read()


@cache
def entries() -> dict[str, Entry]:
    """Every law of the catalogue by name, read from the source without importing SymPy."""
    return {entry.name: entry for _, entry in _decorated()}


def _decorated() -> Iterator[tuple[str, Entry]]:
    """Module and entry of every law: only the decorators are parsed, not the derivations."""
    for module, text in _sources():
        for piece in text.split("\n@law(")[1:]:
            call = ast.parse("law(" + piece.partition("\ndef ")[0], mode="eval").body
            assert isinstance(call, ast.Call)
            yield (
                module,
                Entry(**{k.arg: ast.literal_eval(k.value) for k in call.keywords if k.arg}),
            )


def known(name: str) -> Entry:
    """The entry of the law called `name`. Raises UnknownLaw, with the nearest name."""
    if name not in entries():
        raise UnknownLaw(f"unknown law {name!r}{suggestion(name, entries())}")
    return entries()[name]


def find(name: str) -> Law:
    """The law called `name`. Raises UnknownLaw, with the nearest name."""
    known(name)
    (home,) = (module for module, entry in _decorated() if entry.name == name)
    import_module(f"{PACKAGE}.{home}")
    return _LAWS[name]
