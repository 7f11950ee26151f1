"""Rules of indices: Kronecker deltas, coincidences, counting."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from sympy import Add, Basic, Dummy, Expr, Mul, Symbol, Tuple

from varlaw.symbolic.arrays import Entry, RandomArray, arrays_in
from varlaw.symbolic.assumptions import Assumption, Kind
from varlaw.symbolic.derivation import RuleError, Used, rule
from varlaw.symbolic.rules.expectation import linked, tidy
from varlaw.symbolic.rules.scope import Scope, rewrite
from varlaw.symbolic.terms import (
    Delta,
    Expectation,
    IndexSum,
    Range,
    factors,
    fresh,
    index_key,
    terms,
)

MAX_CASES = 200_000


@rule("kronecker", "different entries are independent with zero mean: only equal indices remain")
def kronecker(state: Expr, used: Used, array: str | None = None) -> Expr:
    """E[w_a w_b] = delta_ab E[w_a^2] for a zero-mean array with independent entries."""

    def change(part: Expr, scope: Scope) -> Expr:
        if not isinstance(part, Expectation):
            return part
        pair = factors(part.args[0])
        if len(pair) != 2 or not all(isinstance(entry, Entry) for entry in pair):
            return part
        left, right = sorted(pair, key=lambda entry: [index_key(k) for k in entry.indices])
        chosen: RandomArray = left.array
        if chosen != right.array or array not in (None, chosen.name):
            return part
        if not (chosen.zero_mean and chosen.has(Kind.INDEPENDENT_ENTRIES)):
            return part
        used.update((chosen.assumption(Kind.INDEPENDENT_ENTRIES), chosen.centred))
        deltas = [Delta(a, b) for a, b in zip(left.indices, right.indices, strict=True)]
        return Mul(*deltas) * Expectation(left**2)

    return rewrite(state, change)


@rule("collapse", "collapse the Kronecker delta")
def collapse(state: Expr, used: Used) -> Expr:
    """Sum_b delta_ab f_b = f_a, for indices of one range."""

    def change(part: Expr, scope: Scope) -> Expr:
        return Add(*(_collapsed(term) for term in terms(part)))

    return rewrite(state, change)


def _collapsed(term: Expr) -> Expr:
    number, total = term.as_coeff_Mul()
    if not isinstance(total, IndexSum):
        return term
    summand, ranges = total.summand, list(total.ranges)
    single = {r.indices[0]: r for r in ranges if len(r.indices) == 1 and not r.excluded}
    while True:
        found = next(
            (f for f in factors(summand) if isinstance(f, Delta) and set(f.args) & set(single)),
            None,
        )
        if found is None:
            break
        gone, kept = (found.args[1], found.args[0]) if found.args[1] in single else found.args
        if kept in single and single[kept].bounds != single[gone].bounds:
            raise RuleError(f"not covered: the indices {kept} and {gone} run over different ranges")
        ranges.remove(single.pop(gone))
        summand = summand.xreplace({gone: kept})
    return number * tidy(IndexSum(summand, *ranges))


@rule("count", "count the equal terms")
def count(state: Expr, used: Used) -> Expr:
    """A sum of terms that do not depend on the index is their number times the term."""

    def change(part: Expr, scope: Scope) -> Expr:
        if not isinstance(part, IndexSum):
            return part
        present = part.summand.free_symbols
        idle = [r for r in part.ranges if not present & set(r.indices)]
        kept = [r for r in part.ranges if present & set(r.indices)]
        return Mul(*(r.size() for r in idle)) * IndexSum(part.summand, *kept)

    return rewrite(state, change)


@rule(
    "coincidence",
    "split by which indices coincide; a lone independent zero-mean factor kills its term",
)
def coincidence(state: Expr, used: Used) -> Expr:
    """Sums over free index copies as sums over distinct indices, one for each set partition.

    Partitions that a permutation of the copies carries into one another are written once, with
    their number. Terms with a lone factor E[w] = 0 of an independent entry are left out.
    """
    known = arrays_in(state)

    def change(part: Expr, scope: Scope) -> Expr:
        if not isinstance(part, IndexSum) or not any(map(_undecided, terms(part.summand))):
            return part
        if any(len(r.indices) > 1 or r.excluded for r in part.ranges):
            return part
        return Add(*(_split(term, part.ranges, known, used) for term in terms(part.summand)))

    return rewrite(state, change)


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
    term: Expr, ranges: tuple[Range, ...], known: dict[str, RandomArray], used: Used
) -> Expr:
    groups = _by_bounds(term, ranges)
    merged: Counter[Expr] = Counter()
    rest = groups[1:]
    for weight, blocks in _orbits(term, groups):
        for others in product(*(list(_assignments(g)) for g in rest)):
            mapping = dict(blocks)
            for other in others:
                mapping |= other
            killer = _lone(term, mapping, known)
            if killer is None:
                merged[_key(term, mapping, groups)] += weight
            else:
                used.update(killer)
    return Add(*(weight * total for total, weight in merged.items()))


@dataclass(frozen=True)
class _Group:
    """The index copies that run over one range, and the outer indices that they may meet."""

    lower: Expr
    upper: Expr
    copies: tuple[Symbol, ...]
    pinned: tuple[Expr, ...]


def _by_bounds(term: Expr, ranges: tuple[Range, ...]) -> list[_Group]:
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
        if len(spans) > 1:
            raise RuleError(
                f"not covered: in {term}, position {position + 1} of {name} takes indices that run "
                f"over different ranges {sorted(map(str, spans))}"
            )
        for span in spans:
            pinned[span] |= outer
    for outer in pinned.values():
        if len(outer) > 1 and not all(index.is_Integer for index in outer):
            raise RuleError(
                f"not covered: in {term}, the free indices {sorted(map(str, outer))} may coincide"
            )
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


def _lone(
    term: Expr, mapping: dict[Expr, _Block], known: dict[str, RandomArray]
) -> set[Assumption] | None:
    """The assumptions by which a term vanishes: an independent zero-mean entry stands alone."""
    for factor in factors(term):
        base = factor.as_base_exp()[0]
        if not isinstance(base, Expectation):
            continue
        seen: Counter[tuple[str, tuple[Expr, ...]]] = Counter()
        plain: dict[str, bool] = {}
        for inner in factors(base.args[0]):
            entry, power = inner.as_base_exp()
            for a in arrays_in(inner).values():
                plain[a.name] = plain.get(a.name, True) and isinstance(entry, Entry)
            if isinstance(entry, Entry):
                where = tuple(mapping[k].label if k in mapping else k for k in entry.indices)
                seen[entry.array.name, where] += int(power)
        for (name, _), times in seen.items():
            array = known[name]
            alone = all(other == name or not linked(array, known[other], known) for other in plain)
            if (
                times == 1
                and plain[name]
                and alone
                and array.zero_mean
                and array.has(Kind.INDEPENDENT_ENTRIES)
            ):
                return {array.centred, array.assumption(Kind.INDEPENDENT_ENTRIES)}
    return None


def _key(term: Expr, mapping: dict[Expr, _Block], groups: list[_Group]) -> Expr:
    """The sum over distinct indices that a way of coinciding leaves, in a canonical form."""
    names: dict[Expr, Expr] = {}
    ranges = []
    taken: set[Basic] = term.free_symbols - {copy for group in groups for copy in group.copies}
    for group in groups:
        blocks = list(dict.fromkeys(mapping[c] for c in group.copies))
        order = _canonical_order(term, mapping, [b for b in blocks if not b.pinned])
        labels = list(fresh([group.copies[0]] * len(order), taken))
        taken |= set(labels)
        renamed = dict(zip(order, labels, strict=True))
        names |= {c: renamed.get(mapping[c], mapping[c].label) for c in group.copies}
        if labels:
            ranges.append(Range(Tuple(*labels), group.lower, group.upper, Tuple(*group.pinned)))
    return tidy(IndexSum(term.xreplace(names), *ranges))


def _canonical_order(term: Expr, mapping: dict[Expr, _Block], blocks: list[_Block]) -> list[_Block]:
    """Blocks in an order that depends on how they are used, not on how they are called."""
    use: dict[_Block, list[tuple[str, int, tuple[int, ...]]]] = {b: [] for b in blocks}
    sizes = Counter(mapping.values())
    for entry in term.atoms(Entry):
        for position, index in enumerate(entry.indices):
            if index in mapping and mapping[index] in use:
                beside = tuple(sizes[mapping[k]] if k in mapping else 0 for k in entry.indices)
                use[mapping[index]].append((entry.array.name, position, beside))
    return sorted(blocks, key=lambda b: (-sizes[b], sorted(use[b])))
