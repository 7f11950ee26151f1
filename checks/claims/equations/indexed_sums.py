r"""Equations between sums from 1 to n of names with indices, such as \sum_i \sum_j a_i a_j.

Such a sum is a combination of sums over different indices, one for each way in which indices may
coincide, whose coefficients are fractions in n. So an equation holds for all n if it does at as
many values of n as the degrees of these fractions ask for, each at least the number of indices.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sympy import Add, Expr, Integer, Mul, Rational, Symbol

from varlaw.checks.claims.equations.compare import Finding
from varlaw.checks.claims.equations.matrices import may_be_matrix
from varlaw.checks.claims.values.exact import rational
from varlaw.checks.statistics.verdicts import Verdict
from varlaw.symbolic.formulas.tree import Head, Node, plain

MOST_TERMS = 5000  # of a sum that is written out
MOST_POWER = 6
KRONECKER = "delta"
RULE = "sums written out"


class OutOfReach(Exception):
    """A formula that is no polynomial in names with indices and sums of such."""


def by_indices(left: Node, right: Node) -> Finding | None:
    """The verdict on left = right; None where these are no such sums, or may be a condition."""
    sums = [node for side in (left, right) for node in side.walk() if node.head is Head.SUM]
    ends = {plain(node.parts[3]) for node in sums if len(node.parts) == 4}
    if len(ends) != 1 or not all(_from_one(node) for node in sums):
        return None
    (end,) = ends
    try:
        indices = max(_most_indices(side) for side in (left, right))
        degree = sum(_degree(side, end) for side in (left, right))
        last = 2 * indices + 2 * degree + 1
        if last**indices > MOST_TERMS:
            return None
        names = [_Names(end), _Names(end)]
        for n in range(indices + 1, last + 1):
            a, b = (
                known.built(side, n, {}) for known, side in zip(names, (left, right), strict=True)
            )
            one, other = names
            if not (one.cores | other.cores) or (one.cores | other.cores) & (one.free | other.free):
                return None
            gap = (a - b).expand()
            if gap != 0 and _commuting(gap) == 0:
                told = f"so for numbers, but {', '.join(sorted(one.cores))} may be matrices"
                return Finding(Verdict.UNDECIDED, "", told)
            if gap != 0:
                told = f"differs at {end} = {n}"
                same = one.cores ^ other.cores <= {KRONECKER}
                return Finding(Verdict.REFUTED, "", told, RULE) if same else None
    except OutOfReach:
        return None
    cores = one.cores | other.cores
    delta = ", delta_ij being 1 for i = j and else 0" if KRONECKER in cores else ""
    told = f"written out for {end} up to {last}, which decides it for all{delta}"
    return Finding(Verdict.VERIFIED, "", told, RULE)


def _commuting(gap: Expr) -> Expr:
    """The same with numbers for what may be matrices."""
    names = {s: Symbol(s.name, real=True) for s in gap.free_symbols if not s.is_commutative}
    return gap.xreplace(names).expand()


def _from_one(node: Node) -> bool:
    return len(node.parts) == 4 and node.parts[2].text == "1" and node.parts[3].head is Head.NAME


def _most_indices(node: Node) -> int:
    """How many indices there are in a product, at most, when all is multiplied out."""
    inner = [_most_indices(part) for part in node.parts]
    match node.head:
        case Head.SUM:
            return 1 + inner[0]
        case Head.MULTIPLY | Head.DIVIDE:
            return sum(inner)
        case Head.POWER:
            return inner[0] * _exponent(node)
    return max(inner, default=0)


def _degree(node: Node, end: str) -> int:
    """How often the end of the sums stands as a number, at most, when all is multiplied out."""
    if node.head is Head.NAME:
        return int(plain(node) == end)
    if node.head is Head.POWER:
        return _degree(node.parts[0], end) * _exponent(node)
    parts = node.parts[:1] if node.head is Head.SUM else node.parts
    return sum(_degree(part, end) for part in parts)


def _exponent(node: Node) -> int:
    value = rational(node.parts[1])
    if value is None or value.denominator != 1 or not 0 <= value <= MOST_POWER:
        raise OutOfReach
    return int(value)


class _Names:
    """Writes out the sums of one side, and remembers which names have an index."""

    def __init__(self, end: str) -> None:
        self.end = end
        self.cores: set[str] = set()  # of names with indices
        self.free: set[str] = set()  # of names with numbers for them

    def built(self, node: Node, n: int, at: Mapping[str, int]) -> Expr:
        """The side for a value of n, where the indices have these values."""
        value = rational(node)
        if value is not None:
            return Rational(value.numerator, value.denominator)
        match node.head:
            case Head.NAME:
                return self.name(node, n, at)
            case Head.ADD:
                return Add(*self.all(node.parts, n, at))
            case Head.NEGATIVE:
                return -self.built(node.parts[0], n, at)
            case Head.MULTIPLY:
                return Mul(*self.all(node.parts, n, at))
            case Head.TUPLE if len(node.parts) == 1:
                return self.built(node.parts[0], n, at)
            case Head.POWER:
                return self.built(node.parts[0], n, at) ** _exponent(node)
            case Head.DIVIDE:
                return self.built(node.parts[0], n, at) / self.divisor(node.parts[1], n)
            case Head.SUM:
                body, index = node.parts[:2]
                name = plain(index)
                if name == self.end:
                    raise OutOfReach
                terms = (self.built(body, n, {**at, name: k}) for k in range(1, n + 1))
                return Add(*terms).expand()
        raise OutOfReach

    def all(self, parts: tuple[Node, ...], n: int, at: Mapping[str, int]) -> Iterator[Any]:
        return (self.built(part, n, at) for part in parts)

    def divisor(self, node: Node, n: int) -> Expr:
        """A divisor over n alone."""
        if any(part.head is Head.SUM for part in node.walk()):
            raise OutOfReach
        found = self.built(node, n, {})
        if not found.is_Rational or found.is_zero:
            raise OutOfReach
        return found

    def name(self, node: Node, n: int, at: Mapping[str, int]) -> Expr:
        name = plain(node)
        if name == self.end:
            return Integer(n)
        places = [at.get(plain(part)) for part in node.parts]
        if name in at or (any(places) and None in places):
            raise OutOfReach  # an index as a number, or beside another subscript
        if not places or None in places:
            self.free |= {node.text} if any(p.head is Head.NUMBER for p in node.parts) else set()
            return Symbol(name, real=True)
        self.cores.add(node.text)
        if node.text == KRONECKER and len(places) == 2:
            return Integer(int(places[0] == places[1]))
        label = "_".join([node.text, *map(str, places)])
        if len(places) == 1 and may_be_matrix(node.text):
            return Symbol(label, commutative=False)
        return Symbol(label, real=True)
