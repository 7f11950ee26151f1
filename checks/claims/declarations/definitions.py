r"""Names that a document defines: \gamma = ... = 0.7737\dots, used later in \sigma/\sqrt\gamma.

A name with two values is used only where the verdict is the same with each of them, or where the
nearest definition before a link makes it true.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, product

from varlaw.checks.claims.values.literals import literal_of
from varlaw.symbolic.formulas.names import bare, free_names, outside
from varlaw.symbolic.formulas.tree import Chain, Head, Node, plain

MOST_VALUES = 8  # of one name
NEAR = 5  # chains between a name and its definition
DEFINES = ("=", ":=", "eqq")
CONSTANTS = {"e": Fraction("2.71828"), "pi": Fraction("3.14159")}
FUNCTIONS = ("Gamma", "zeta")
USUAL = (Head.SUM, Head.PRODUCT, Head.INTEGRAL, Head.FACTORIAL)  # what those are defined by
FAR = Fraction(1, 10)  # from a constant, for another meaning of its letter
NEVER = frozenset(
    (
        *(Head.EXPECTATION, Head.GIVEN, Head.WORD, Head.TUPLE, Head.LIMIT, Head.RELATION),
        *(Head.NORM, Head.TRANSPOSE),
    )
)


@dataclass(frozen=True)
class Definitions:
    """All definitions of a document, seen from one place in it.

    `by_name` has the different values of each name, and where in the document each of them stands;
    `redefined` holds e and pi where they stand for something else; `local` has
    the values by conditions, as in "when m = n", which hold nearby only.
    """

    by_name: Mapping[str, Mapping[Node, Sequence[int]]] = field(default_factory=dict)
    redefined: frozenset[str] = frozenset()
    local: Mapping[str, Mapping[Node, Sequence[int]]] = field(default_factory=dict)
    order: int = 0

    def knows(self, names: Iterable[str]) -> bool:
        """Whether one of these names has a value somewhere in the document."""
        return any(name in self.by_name or name in self.local for name in names)

    def knows_all(self, names: Iterable[str]) -> bool:
        """Whether each of these names has a value before this place or nearby."""
        return all(map(self._values, names))

    def at(self, order: int) -> "Definitions":
        return replace(self, order=order)

    def of(self, name: str) -> list[Node]:
        """The different values of a name, the nearest before this place first."""
        values = self._values(name)
        return sorted(values, key=lambda value: self._distance(values[value]))

    def _values(self, name: str) -> dict[Node, Sequence[int]]:
        """The values of a name that may hold here, and where they stand."""
        values = dict(self.by_name.get(name, {}))
        for value, orders in self.local.get(name, {}).items():
            first, last = (bisect_left(orders, self.order + d) for d in (-NEAR, NEAR + 1))
            if first < last:
                others = values.get(value, ())
                place = bisect_right(others, self.order)
                values[value] = sorted(
                    (*orders[first:last], *others[max(place - 1, 0) : place + 1])
                )
        return values

    def current(self, name: str) -> Node | None:
        """The value that a name has here: the nearest before, else one that follows soon.

        Another name is its value only soon after.
        """
        nearest = self.of(name)[0]
        later, distance = self._distance(self._values(name)[nearest])
        assumed = nearest.head is Head.NAME  # m = n: what is so for a while
        far = -distance > NEAR if later else assumed and distance > NEAR
        return None if far else nearest

    def formulas(self, name: str) -> "Definitions":
        """Without those values of a name that are bare decimals."""
        values = self.by_name.get(name, {})
        kept = {value: orders for value, orders in values.items() if literal_of(value) is None}
        others = {other: known for other, known in self.by_name.items() if other != name}
        return replace(self, by_name={**others, name: kept} if kept else others)

    def _distance(self, orders: Sequence[int]) -> tuple[bool, int]:
        """Whether a value is first given later than here, and how far away it is."""
        place = bisect_right(orders, self.order)
        return place == 0, self.order - orders[place - 1] if place else orders[0] - self.order

    def meant(self, name: str) -> bool:
        """Whether it is beyond doubt that the name is used as defined: just before, or once."""
        first, *others = self.of(name)
        later, distance = self._distance(self._values(name)[first])
        return not later and (distance <= NEAR or not (others or free_names(first) - {"pi", "e"}))

    def environments(self, names: Iterable[str]) -> Iterator[dict[str, Node]]:
        """Ways to give values to some of these names, the fewest names and nearest values first.

        Names that only stand in a value are left as they are, and then have their nearest values.
        """
        known = sorted(name for name in names if self._values(name))
        for count in range(1, len(known) + 1):
            for chosen in combinations(known, count):
                for values in product(*map(self.of, chosen)):
                    found = dict(zip(chosen, values, strict=True))
                    yield found
                    if closed := self._closed(found, known):
                        yield closed

    def _closed(self, values: Mapping[str, Node], known: Iterable[str]) -> dict[str, Node]:
        """The values with those of the names in them, and so on; empty where there are none."""
        found, waiting = dict(values), list(values.values())
        while waiting:
            inner = free_names(waiting.pop()) - set(found) - set(known)
            added = {name: nearest[0] for name in inner if (nearest := self.of(name))}
            found |= added
            waiting += added.values()
        return found if len(found) > len(values) else {}


def gathered(
    chains: Iterable[Chain | None], conditions: frozenset[int] = frozenset()
) -> Definitions:
    """The definitions in the chains of a document, in order; none of a name with too many.

    None stands for a chain that defines nothing; `conditions` are the places of those behind a
    word such as "when": where they say that a name is another, or 4 times it, that holds nearby.
    """
    local: dict[str, dict[Node, list[int]]] = {}
    found: dict[str, dict[Node, list[int]]] = {}
    redefined: set[str] = set()
    for order, chain in enumerate(chains):
        if chain is None:
            continue
        redefined |= _redefined(chain)
        definition = defined(chain)
        if definition is not None:
            name, value = definition
            condition = order in conditions and _is_multiple(value)
            values = (local if condition else found).setdefault(name, {})
            if value in values or len(values) <= MOST_VALUES:
                values.setdefault(value, []).append(order)
    kept, near = (
        {name: values for name, values in all_found.items() if len(values) <= MOST_VALUES}
        for all_found in (found, local)
    )
    return Definitions(kept, frozenset(redefined), near)


def _is_multiple(value: Node) -> bool:
    """Whether a value is a name, or some times a name."""
    if value.head is Head.MULTIPLY and len(value.parts) == 2:
        number, value = value.parts
        return number.head is Head.NUMBER and value.head is Head.NAME
    return value.head is Head.NAME


def _redefined(chain: Chain) -> set[str]:
    """e or pi where a chain gives it a value that is far from the constant's; Gamma(x) = x + 1."""
    if chain.dangling or not chain.signs or chain.signs[0] not in (*DEFINES, "~="):
        return set()
    first = chain.sides[0]
    if first.head is Head.CALL and all(part.head is Head.NAME for part in first.parts):
        usual = any(node.head in USUAL for node in chain.sides[1].walk())
        return {first.text} if first.text in FUNCTIONS and not usual else set()
    name, value = plain(chain.sides[0]), chain.sides[1]
    constant = CONSTANTS.get(name)
    if chain.sides[0].head is not Head.NAME or constant is None:
        return set()
    literal = literal_of(value)
    if literal is None:
        return {name} if free_names(value) - {name, *CONSTANTS} else set()
    return set() if literal.short and abs(literal.value / constant - 1) < FAR else {name}


def defined(chain: Chain) -> tuple[str, Node] | None:
    """The name and the value that a chain begins with, if it defines one."""
    if chain.dangling or not chain.signs or chain.signs[0] not in DEFINES:
        return None
    name, value = chain.sides[0], chain.sides[1]
    if name.head is not Head.NAME or any(node.head in NEVER for node in outside(value)):
        return None
    word = plain(name)
    if word in free_names(value) or word == "pi" or value.text in ("0", "1"):
        return None  # W = 0 is what is assumed for a moment
    return word, bare(value)
