"""The rule of coincidences: sums over index copies split by which of them are equal."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from sympy import Add, Basic, Dummy, Expr, Symbol, Tuple

from varlaw.symbolic.arrays import Entry, RandomArray, arrays_in, linked
from varlaw.symbolic.assumptions import Assumption, Kind
from varlaw.symbolic.derivation import Outcome, RuleError, Used, rule
from varlaw.symbolic.ranges import Range, fresh, index_key
from varlaw.symbolic.rules.expectation import tidy
from varlaw.symbolic.rules.indices import below
from varlaw.symbolic.rules.scope import Scope, rewrite
from varlaw.symbolic.terms import Expectation, IndexSum, factors, terms

MAX_CASES = 200_000


@rule("coincidence", "split by which indices coincide")
def coincidence(state: Expr, used: Used) -> Outcome:
    """Sums over free index copies as sums over distinct indices, one for each set partition.

    Partitions that a permutation of the copies carries into one another are written once, with
    their number. Terms with a lone factor E[w] = 0 of an independent entry are left out.
    """
    known, killed = arrays_in(state), set[Assumption]()

    def change(part: Expr, scope: Scope) -> Expr:
        if not isinstance(part, IndexSum) or not any(map(_undecided, terms(part.summand))):
            return part
        if any(len(r.indices) > 1 or r.excluded for r in part.ranges):
            return part
        return Add(
            *(_split(term, part.ranges, known, killed, scope) for term in terms(part.summand))
        )

    after = rewrite(state, change)
    used.update(killed)
    why = "; a lone independent zero-mean factor kills its term" if killed else ""
    return Outcome(after, reason=f"split by which indices coincide{why}")


def _undecided(term: Expr) -> bool:
    """Whether some expectation holds two entries of one array, which may or may not be the same."""
    for head in term.atoms(Expectation):
        names = [f.as_base_exp()[0].array.name for f in factors(head.args[0]) if _is_entry(f)]
        if len(set(names)) < len(names):
            return True
    return False


def _is_entry(factor: Expr) -> bool:
    return isinstance(factor.as_base_exp()[0], Entry)


@dataclass(frozen=True)
class _Block:
    """Copies that take one common value: a pinned outer index, or a new distinct one."""

    label: Expr
    pinned: bool


def _split(
    term: Expr,
    ranges: tuple[Range, ...],
    known: dict[str, RandomArray],
    used: Used,
    scope: Scope,
) -> Expr:
    groups = _by_bounds(term, ranges, scope)
    skeleton = Skeleton.of(term)
    merged: dict[object, tuple[int, dict[Expr, _Block]]] = {}
    rest = [list(_assignments(group)) for group in groups[1:]]
    for weight, blocks in _orbits(term, groups):
        for others in product(*rest):
            mapping = dict(blocks)
            for other in others:
                mapping |= other
            killer = skeleton.lone(mapping, known)
            if killer is None:
                form = skeleton.form(mapping, groups)
                count, first = merged.get(form, (0, mapping))
                merged[form] = (count + weight, first)
            else:
                used.update(killer)
    return Add(*(n * _kept(term, skeleton, mapping, groups) for n, mapping in merged.values()))


@dataclass(frozen=True)
class _Group:
    """The index copies that run over one range, and the outer indices that they may meet."""

    lower: Expr
    upper: Expr
    copies: tuple[Symbol, ...]
    pinned: tuple[Expr, ...]


def _by_bounds(term: Expr, ranges: tuple[Range, ...], scope: Scope) -> list[_Group]:
    """The copies by range, with a refusal where it is open whether two indices may meet."""
    bounds: dict[tuple[Expr, Expr], list[Symbol]] = {}
    for r in ranges:
        bounds.setdefault(r.bounds, []).append(r.indices[0])
    home = {index: key for key, copies in bounds.items() for index in copies}
    met: dict[tuple[str, int], set[Expr]] = {}
    for entry in term.atoms(Entry):
        for position, index in enumerate(entry.indices):
            met.setdefault((entry.array.name, position), set()).add(index)
    pinned: dict[tuple[Expr, Expr], set[Expr]] = {key: set() for key in bounds}
    for (name, position), found in met.items():
        spans = {home[index] for index in found if index in home}
        outer = {index for index in found if index not in home}
        where = f"in {term}, position {position + 1} of {name}"
        if len(outer) > 1 and not all(index.is_Integer for index in outer):
            raise RuleError(f"not covered: {where}: {sorted(map(str, outer))} may coincide")
        spans |= {span for index in outer if (span := scope.bounds(index)) is not None}
        if len(spans) > 1:
            raise RuleError(
                f"not covered: {where} takes indices that run over different ranges "
                f"{sorted(map(str, spans))}"
            )
        for span in spans & pinned.keys():
            if any(below(index, span[0]) for index in outer):
                raise RuleError(f"not covered: {where} takes an index outside the range {span}")
            pinned[span] |= outer
    for outer in pinned.values():
        if len(outer) > 1 and not all(index.is_Integer for index in outer):
            raise RuleError(f"not covered: in {term}, {sorted(map(str, outer))} may coincide")
    return [
        _Group(*key, tuple(copies), tuple(sorted(pinned[key], key=index_key)))
        for key, copies in bounds.items()
    ]


def _assignments(group: _Group) -> Iterator[dict[Expr, _Block]]:
    """Every way in which the copies coincide with one another and with the pinned indices."""
    pinned = [_Block(index, True) for index in group.pinned]
    labels = [_Block(Dummy(str(copy)), False) for copy in group.copies]
    labels.append(_Block(Dummy("none"), False))

    def extend(position: int, blocks: list[_Block], new: int) -> Iterator[list[_Block]]:
        if position == len(group.copies):
            yield list(blocks)
            return
        for block in (*pinned, *labels[: new + 1]):
            blocks.append(block)
            yield from extend(position + 1, blocks, new + (block == labels[new]))
            blocks.pop()

    for blocks in extend(0, [], 0):
        yield dict(zip(group.copies, blocks, strict=True))


def _orbits(term: Expr, groups: list[_Group]) -> Iterator[tuple[int, dict[Expr, _Block]]]:
    """Ways to split the first range, up to permutations of the copies that leave the term alone."""
    first = groups[0]
    size = 1
    for group in groups[1:]:
        size *= _bell(len(group.copies))
    if not _symmetric(term, groups):
        if size * _bell(len(first.copies)) > MAX_CASES:
            raise RuleError(f"over budget: too many coincidences of indices in {term}")
        yield from ((1, assignment) for assignment in _assignments(first))
        return
    classes: dict[tuple[object, ...], tuple[int, dict[Expr, _Block]]] = {}
    if len(first.copies) > 10:
        raise RuleError(f"over budget: {len(first.copies)} copies of one index in {term}")
    for assignment in _assignments(first):
        sizes = Counter(assignment.values())
        shape = (
            tuple(sizes.get(_Block(p, True), 0) for p in first.pinned),
            tuple(sorted(n for block, n in sizes.items() if not block.pinned)),
        )
        weight, chosen = classes.get(shape, (0, assignment))
        classes[shape] = (weight + 1, chosen)
    if size * len(classes) > MAX_CASES:
        raise RuleError(f"over budget: too many coincidences of indices in {term}")
    yield from classes.values()


def _bell(copies: int) -> int:
    """The number of set partitions of so many copies."""
    row = [1]
    for _ in range(copies - 1):
        following = [row[-1]]
        for value in row:
            following.append(following[-1] + value)
        row = following
    return row[-1]


def _symmetric(term: Expr, groups: list[_Group]) -> bool:
    """Whether the term is unchanged when copies change places in all ranges together."""
    copies = len(groups[0].copies)
    if any(len(group.copies) != copies for group in groups):
        return False
    rows = [sorted(group.copies, key=index_key) for group in groups]
    for k in range(copies - 1):
        swap: dict[Basic, Basic] = {}
        for row in rows:
            swap |= {row[k]: row[k + 1], row[k + 1]: row[k]}
        if term.xreplace(swap) != term:
            return False
    return True


@dataclass(frozen=True)
class Skeleton:
    """The entries of a term, as (expectation, array, indices, power), ready to be relabelled."""

    entries: tuple[tuple[int, str, tuple[Expr, ...], int], ...]
    opaque: tuple[frozenset[str], ...]  # arrays inside events, for each expectation
    present: tuple[frozenset[str], ...]  # arrays in each expectation

    @classmethod
    def of(cls, term: Expr) -> "Skeleton":
        entries, opaque, present = [], [], []
        for number, head in enumerate(sorted(term.atoms(Expectation), key=str)):
            hidden: set[str] = set()
            for inner in factors(head.args[0]):
                entry, power = inner.as_base_exp()
                if isinstance(entry, Entry) and power.is_Integer:
                    entries.append((number, entry.array.name, entry.indices, int(power)))
                elif isinstance(entry, Entry):
                    raise RuleError(f"not covered: the power {inner}")
                else:
                    hidden |= set(arrays_in(inner))
            opaque.append(frozenset(hidden))
            present.append(frozenset(arrays_in(head)))
        return cls(tuple(entries), tuple(opaque), tuple(present))

    def lone(
        self, mapping: dict[Expr, _Block], known: dict[str, RandomArray]
    ) -> set[Assumption] | None:
        """The assumptions by which a term vanishes: an independent zero-mean entry stands alone."""
        seen: Counter[tuple[int, str, tuple[Expr, ...]]] = Counter()
        for number, name, where, power in self.entries:
            labels = tuple(mapping[k].label if k in mapping else k for k in where)
            seen[number, name, labels] += power
        for (number, name, _), times in seen.items():
            array = known[name]
            if times != 1 or not array.zero_mean or name in self.opaque[number]:
                continue
            others = (known[other] for other in self.present[number] - {name})
            if array.has(Kind.INDEPENDENT_ENTRIES) and not any(
                linked(array, other, known) for other in others
            ):
                return {array.centred, array.assumption(Kind.INDEPENDENT_ENTRIES)}
        return None

    def form(self, mapping: dict[Expr, _Block], groups: list[_Group]) -> object:
        """What a way of coinciding leaves, however its blocks are called."""
        if any(self.opaque):
            return tuple(mapping.items())
        numbers: dict[_Block, tuple[int, int]] = {}
        orders = [self.ordered(mapping, group) for group in groups]
        for k, order in enumerate(orders):
            numbers |= {block: (k, n) for n, block in enumerate(order)}
        seen: Counter[tuple[object, ...]] = Counter()
        for number, name, where, power in self.entries:
            labels = tuple(
                numbers.get(mapping[k], mapping[k].label) if k in mapping else k for k in where
            )
            seen[number, name, labels] += power
        return frozenset(seen.items()), tuple(map(len, orders))

    def ordered(self, mapping: dict[Expr, _Block], group: _Group) -> list[_Block]:
        """New blocks of a range, in an order that depends on how they are used, not on names."""
        sizes = Counter(mapping.values())
        blocks = [b for b in dict.fromkeys(mapping[c] for c in group.copies) if not b.pinned]
        use: dict[_Block, list[tuple[object, ...]]] = {b: [] for b in blocks}
        for number, name, where, power in self.entries:
            beside = tuple(sizes[mapping[k]] if k in mapping else 0 for k in where)
            for position, index in enumerate(where):
                if index in mapping and mapping[index] in use:
                    use[mapping[index]].append((number, name, position, beside, power))
        return sorted(blocks, key=lambda b: (-sizes[b], sorted(use[b])))


def _kept(
    term: Expr, skeleton: Skeleton, mapping: dict[Expr, _Block], groups: list[_Group]
) -> Expr:
    """The sum over distinct indices that a way of coinciding leaves."""
    names: dict[Expr, Expr] = {}
    ranges = []
    taken: set[Basic] = term.free_symbols - {copy for group in groups for copy in group.copies}
    for group in groups:
        order = skeleton.ordered(mapping, group)
        labels = list(fresh([group.copies[0]] * len(order), taken))
        taken |= set(labels)
        renamed = dict(zip(order, labels, strict=True))
        names |= {c: renamed.get(mapping[c], mapping[c].label) for c in group.copies}
        if labels:
            ranges.append(Range(Tuple(*labels), group.lower, group.upper, Tuple(*group.pinned)))
    return tidy(IndexSum(term.xreplace(names), *ranges))
