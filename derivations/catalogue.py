"""The catalogue of laws: the decorator that makes one, and finding them without importing them."""

import ast
import os
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields
from functools import cache, cached_property
from importlib import import_module
from itertools import combinations
from typing import TYPE_CHECKING, Any

from varlaw.derivations.meanings import COMMON
from varlaw.symbolic.documented import Documented
from varlaw.symbolic.names import suggestion

if TYPE_CHECKING:
    from varlaw.symbolic.assumptions import Assumption
    from varlaw.symbolic.derivation import Derivation
    from varlaw.symbolic.printers.account import Account

PACKAGE = "varlaw.derivations"
TEXTS = ("sources", "usual", "rests_on", "symbols")
Pitfall = tuple[str, str, str]


class UnknownLaw(LookupError):
    """No law has the name."""


class CatalogueError(ValueError):
    """A law is written wrongly: says which one, and in which file."""


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
    symbols: tuple[str, ...] = ()
    pitfalls: tuple[Pitfall, ...] = ()


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
            entry.symbols,
            (*self._inherited(), *COMMON.get(entry.family, ())),
            tuple(find(name).account() for name in entry.rests_on),
        )

    def _inherited(self) -> tuple[str, ...]:
        """The meanings given by the laws whose derivations this one goes on with."""
        parents = [find(name) for name in self.entry.rests_on]
        shared = [law for law in parents if law.derivation.start == self.derivation.start]
        return tuple(t for law in shared for t in (*law.entry.symbols, *law._inherited()))

    @property
    def declared(self) -> tuple["Assumption", ...]:
        """The assumptions declared of the random arrays that the derivation starts from."""
        return tuple(sorted(declared(self.derivation.start) | self._stated()))

    def _stated(self) -> frozenset["Assumption"]:
        """Those used by a step that are no property of one array."""
        from varlaw.symbolic.assumptions import Kind

        kinds = (Kind.NO_ATOM, Kind.WIDE, Kind.SUMS_TO_ONE)
        return frozenset(a for a in self.derivation.assumptions if a.kind in kinds)

    @property
    def usual(self) -> tuple["Assumption", ...]:
        """Assumptions of the usual telling that the derivation does without."""
        return usual(self.entry)


def usual(entry: Entry) -> tuple["Assumption", ...]:
    """The assumptions of an entry's `usual`. Raises CatalogueError."""
    try:
        return tuple(parse_assumption(text) for text in entry.usual)
    except ValueError as error:
        raise CatalogueError(f"law {entry.name!r}: usual: {error}") from error


def check(entry: Entry) -> None:
    """Look up what an entry refers to. Raises CatalogueError, with the law's name."""
    from varlaw.derivations.sources import BibliographyError, source

    usual(entry)
    for key in entry.sources:
        try:
            source(key)
        except BibliographyError as error:
            raise CatalogueError(f"law {entry.name!r}: {error}") from error
    for name in entry.rests_on:
        if name not in entries():
            raise CatalogueError(
                f"law {entry.name!r}: rests on an unknown law {name!r}{suggestion(name, entries())}"
            )


def declared(start: Any) -> frozenset["Assumption"]:
    """Every property declared of the arrays in an expression, and of pairs of them."""
    from varlaw.symbolic.arrays import Entry as Variable
    from varlaw.symbolic.arrays import arrays_in, linked
    from varlaw.symbolic.assumptions import Assumption, Kind

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
    symbols: tuple[str, ...] = (),
    pitfalls: tuple[Pitfall, ...] = (),
) -> Callable[[Callable[[], "Derivation"]], Law]:
    """Make the function that gives a derivation into the law called `name`.

    `symbols` says what is meant by symbols that the formulas do not explain, ("h_j: the output",);
    `pitfalls` are (usual telling, what is right, the number that shows it), three texts each.
    All arguments are literals, so that `entries` can read them from the source without running it.
    """
    entry = Entry(name, family, title, regime, sources, usual, rests_on, note, symbols, pitfalls)

    def make(build: Callable[[], "Derivation"]) -> Law:
        if _LAWS.setdefault(name, made := Law(entry, build)) is not made:
            raise CatalogueError(f"two laws are called {name!r}")
        return made

    return make


_LAWS: dict[str, Law] = {}
_FIELDS = {field.name for field in fields(Entry)}


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
    found: dict[str, tuple[str, Entry]] = {}
    for module, entry in _decorated():
        if entry.name in found:
            homes = " and ".join(dict.fromkeys(f"{m}.py" for m in (found[entry.name][0], module)))
            raise CatalogueError(f"two laws are called {entry.name!r}, in derivations/{homes}")
        found[entry.name] = module, entry
    return {name: entry for name, (_, entry) in found.items()}


def names() -> tuple[str, ...]:
    """The names of all laws, in the order of their files."""
    return tuple(entries())


def _decorated() -> Iterator[tuple[str, Entry]]:
    """Module and entry of every law: only the decorators are parsed, not the derivations."""
    for module, text in _sources():
        for piece in text.split("\n@law(")[1:]:
            decorator, _, function = piece.partition("\ndef ")
            try:
                yield module, _entry("law(" + decorator)
            except (SyntaxError, TypeError, ValueError) as error:
                which = function.partition("(")[0]
                raise CatalogueError(
                    f"derivations/{module}.py: the law above {which}(): {error}"
                ) from error


def _entry(decorator: str) -> Entry:
    """The entry that a decorator's source makes. Raises TypeError, ValueError or SyntaxError."""
    call = ast.parse(decorator, mode="eval").body
    if not isinstance(call, ast.Call) or call.args:
        raise TypeError("its arguments are given by name")
    given: dict[str, Any] = {}
    for keyword in call.keywords:
        name = keyword.arg or "**"
        if name not in _FIELDS:
            raise TypeError(f"it has no argument {name!r}{suggestion(name, _FIELDS)}")
        try:
            given[name] = ast.literal_eval(keyword.value)
        except ValueError:
            raise ValueError(f"{name} is not literal") from None
        if wrong := _unfit(name, given[name]):
            raise TypeError(f"{name} is {wrong}, not {given[name]!r}")
    for field in fields(Entry):
        if field.default is MISSING and field.name not in given:
            raise TypeError(f"it lacks the argument {field.name!r}")
    return Entry(**given)


def _unfit(name: str, value: Any) -> str:
    """What an argument should be, if it is not."""

    def texts(found: Any) -> bool:
        return isinstance(found, tuple) and all(isinstance(text, str) for text in found)

    if name == "pitfalls":
        triples = isinstance(value, tuple) and all(texts(v) and len(v) == 3 for v in value)
        return "" if triples else "a tuple of (telling, right, number), three texts each"
    if name in TEXTS:
        return "" if texts(value) else "a tuple of texts"
    return "" if isinstance(value, str) else "a text"


def known(name: str) -> Entry:
    """The entry of the law called `name`. Raises UnknownLaw, with the nearest name."""
    if name not in entries():
        raise UnknownLaw(f"unknown law {name!r}{suggestion(name, entries())}")
    return entries()[name]


def find(name: str) -> Law:
    """The law called `name`. Raises UnknownLaw, with the nearest name."""
    known(name)
    if name not in _LAWS:
        home = next(module for module, entry in _decorated() if entry.name == name)
        import_module(f"{PACKAGE}.{home}")
    return _LAWS[name]
