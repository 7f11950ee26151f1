"""Links between expectations of matrices, such as E[W^T W] = I: entry by entry, in both places.

A name that is declared with two indices is a matrix, with one a column. An equation of matrices
holds where it does on the diagonal and away from it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import reduce

from sympy import Expr, Integer, Symbol

from varlaw.checks.claims.declarations.context import Context
from varlaw.checks.claims.equations.compare import Finding
from varlaw.checks.claims.equations.identities import equal
from varlaw.checks.claims.expectations.probability import (
    RULE,
    algebra_of,
    declared_names,
    different,
    settled,
)
from varlaw.checks.claims.expectations.random_algebra import NONE, RandomAlgebra
from varlaw.checks.claims.values.functions import NoValue
from varlaw.checks.statistics.verdicts import Verdict
from varlaw.symbolic.formulas.names import bare
from varlaw.symbolic.formulas.tree import Head, Node, plain
from varlaw.symbolic.language_text import typed
from varlaw.symbolic.terms import Delta, Sum, is_random

Range = tuple[Expr, Expr]  # the first and the last value of an index
SINGLE: Range = (Integer(1), Integer(1))
IDENTITIES = ("I", "bold_I")
TRACES = ("tr", "Tr", "trace")


@dataclass(frozen=True)
class Matrix:
    """A matrix by its entries; the ranges of an identity whose size is not said are None."""

    entry: Callable[[Expr, Expr], Expr]
    rows: Range | None
    columns: Range | None


def has_matrices(context: Context, *sides: Node) -> bool:
    """Whether a name that is declared with indices stands without them in a link."""
    return any(_array(context, node) for side in sides for node in side.walk())


def _array(context: Context, node: Node) -> tuple[str, ...]:
    """The indices that a name is declared with, where it stands without; else none."""
    if node.head is not Head.NAME or (node.parts and context.variable(node.text)):
        return ()
    found = context.variable(plain(node)) or context.family(plain(node))
    return found.indices if found is not None else ()


def decided(left: Node, sign: str, right: Node, context: Context) -> Finding:
    """The verdict on a link with matrices in it. Raises NoValue for what is not covered."""
    if sign != "=":
        raise NoValue(f"{sign} between matrices")
    context = settled(context)
    if any(name == "I" for name, _ in (*context.values, *context.signs)):
        raise NoValue("I is declared as a number, and no identity")
    algebra = algebra_of(context, left, right, kind=Matrices)
    assert isinstance(algebra, Matrices)
    a, b = (algebra.value(side) for side in (left, right))
    found: list[Finding] = []
    nodes = [node for side in (left, right) for node in side.walk() if node.head is Head.NAME]
    single = any(node.parts and context.variable(node.text) for node in nodes)  # as W[1, 2]
    for x, y, where in _entries(a, b, alike=not (context.families or single)):
        found.append(_compared(x, y, where, left, right, context))
        if found[-1].verdict is Verdict.REFUTED:
            return found[-1]
    if open_ones := [one for one in found if one.verdict is not Verdict.VERIFIED]:
        return open_ones[0]
    value = "; ".join(dict.fromkeys(one.value for one in found))
    told = "on the diagonal and away from it" if len(found) > 1 else ""
    return Finding(Verdict.VERIFIED, value, told, RULE)


def _entries(a: Matrix | Expr, b: Matrix | Expr, alike: bool) -> Iterator[tuple[Expr, Expr, str]]:
    """The entries to compare, and where they stand.

    `alike`: those away from the diagonal are all like the first of them, as the entries of the
    arrays are.
    """
    if isinstance(a, Expr) and isinstance(b, Expr):
        yield a, b, ""
        return
    a, b = _lifted(a), _lifted(b)
    rows, columns = _common(a.rows, b.rows), _common(a.columns, b.columns)
    if rows is None or columns is None:
        raise NoValue("nothing says how large these matrices are")
    i, j = (Symbol(f"_{name}", integer=True, positive=True) for name in "ij")
    apart = {Delta(i, j): Integer(0), Delta(j, i): Integer(0)}
    if SINGLE in (rows, columns):
        i, j = (Integer(1) if part == SINGLE else s for part, s in ((rows, i), (columns, j)))
        yield a.entry(i, j), b.entry(i, j), "in its entries"
        return
    if rows != columns:
        yield a.entry(i, j), b.entry(i, j), "in its entries"
        return
    yield a.entry(i, i), b.entry(i, i), "on the diagonal"
    try:
        x, y = (m.entry(i, j).xreplace(apart) for m in (a, b))
    except NoValue:
        if not alike:
            raise
        x, y = (m.entry(rows[0], rows[0] + 1) for m in (a, b))
    yield x, y, "away from the diagonal"


def _lifted(value: Matrix | Expr) -> Matrix:
    """A matrix as it is; zero as the matrix of zeros."""
    if isinstance(value, Matrix):
        return value
    if value != 0:
        raise NoValue("a matrix against a number: write the identity as I")
    return Matrix(lambda i, j: Integer(0), None, None)


def _compared(a: Expr, b: Expr, where: str, left: Node, right: Node, context: Context) -> Finding:
    if is_random(a) or is_random(b):
        raise NoValue("a random matrix outside of an expectation")
    if a.has(Delta) or b.has(Delta):
        raise NoValue("entries that depend on where they stand")
    value = f"{typed(a)} {where}".rstrip()
    if equal(a, b):
        return Finding(Verdict.VERIFIED, value, "", RULE)
    symbols = {s.name for s in a.free_symbols | b.free_symbols}
    unknown = sorted(symbols - declared_names(context))
    if unknown:
        return Finding(Verdict.UNDECIDED, value, f"{', '.join(unknown)}: not declared", RULE)
    if any("." in node.text for side in (left, right) for node in side.walk()):
        return Finding(Verdict.UNDECIDED, value, "decimals are not compared by entries", RULE)
    chosen = {s for s in a.free_symbols | b.free_symbols if not s.is_integer}
    if chosen and not a.free_symbols & b.free_symbols:
        told = "not so for all values of the names; it may be meant as a condition on them"
        return Finding(Verdict.UNDECIDED, value, told, RULE)
    if at := different(a, b):
        return Finding(Verdict.REFUTED, value, f"differs at {at}", RULE)
    if not symbols and a != b:
        return Finding(Verdict.REFUTED, value, f"and not {typed(b)}", RULE)
    return Finding(Verdict.UNDECIDED, value, "equality was neither proved nor refuted", RULE)


class Matrices(RandomAlgebra):
    """Formulas whose values are numbers or matrices."""

    def __init__(self, context: Context, names: set[str], ends: frozenset[str] = NONE) -> None:
        super().__init__(context, names, ends)
        self.used: list[Symbol] = []  # indices of sums

    def value(self, node: Node) -> Matrix | Expr:
        """The number or the matrix that a formula is. Raises NoValue."""
        parts = node.parts
        if not self._holds_matrix(node):
            return self.expression(node)
        match node.head:
            case Head.NAME:
                return self._named(node)
            case Head.TRANSPOSE:
                return _transposed(self.value(parts[0]))
            case Head.POWER if self._is_transpose(node):
                return _transposed(self.value(parts[0]))
            case Head.POWER if parts[0].head is Head.NORM and parts[1].text == "2":
                return self._squared_norm(parts[0])
            case Head.POWER if parts[1].text in ("2", "3"):
                return reduce(self._product, [self.value(parts[0])] * int(parts[1].text))
            case Head.ADD:
                return reduce(_sum, map(self.value, parts))
            case Head.NEGATIVE:
                return _scaled(Integer(-1), self.value(parts[0]))
            case Head.MULTIPLY:
                return reduce(self._product, map(self.value, parts))
            case Head.DIVIDE if not self._holds_matrix(parts[1]):
                return _scaled(1 / self.expression(parts[1]), self.value(parts[0]))
            case Head.TUPLE if len(parts) == 1:
                return self.value(parts[0])
            case Head.CALL if node.text in TRACES and len(parts) == 1:
                return self._trace(self.value(parts[0]))
            case Head.EXPECTATION if node.text == "E" and len(parts) == 1:
                self.look_for_undeclared((_declarable(parts[0]),))
                return self._mean(self.value(parts[0]))
        raise NoValue("of matrices: E, sums, products, transposes, traces and squared norms only")

    def _holds_matrix(self, node: Node) -> bool:
        return has_matrices(self.context, node) or any(map(_is_identity, node.walk()))

    def _is_transpose(self, node: Node) -> bool:
        known = {name for name, _ in (*self.context.values, *self.context.signs)}
        return plain(node.parts[1]) == "T" and "T" not in known

    def _named(self, node: Node) -> Matrix:
        if not (indices := _array(self.context, node)):
            return self._identity(node)
        name = plain(node)
        ranges = [self._range(index) for index in indices]
        if len(set(indices)) != len(indices) or len(indices) > 2:
            raise NoValue(f"{name} has to be declared with one or two different indices")
        variable, family = self.context.variable(name), self.context.family(name)

        def entry(i: Expr, j: Expr) -> Expr:
            at = dict(zip(indices, (i, j), strict=False))
            if variable is not None:
                return self.array(variable)[tuple(at.values())]
            assert family is not None
            return self.member(family.value, at)

        return Matrix(entry, ranges[0], ranges[1] if len(ranges) == 2 else SINGLE)

    def _identity(self, node: Node) -> Matrix:
        size = (Integer(1), self.expression(node.parts[0])) if node.parts else None
        return Matrix(lambda i, j: Delta(i, j), size, size)

    def _range(self, index: str) -> Range:
        found = {tuple(map(bare, ends)) for name, ends in self.context.ranges if name == index}
        if len(found) != 1:
            many = f"{index} has two ranges" if found else f"the range of {index} is not declared"
            raise NoValue(many)
        low, high = map(self.expression, found.pop())
        return low, high

    def _mean(self, value: Matrix | Expr) -> Matrix | Expr:
        if isinstance(value, Expr):
            return self.mean(value, None)
        inner = value.entry

        def entry(i: Expr, j: Expr) -> Expr:
            try:
                return self.mean(inner(i, j), None)
            except NoValue:
                told = "the expectation calculus does not cover the entries of this matrix"
                raise NoValue(told) from None

        return Matrix(entry, value.rows, value.columns)

    def _product(self, a: Matrix | Expr, b: Matrix | Expr) -> Matrix | Expr:
        if isinstance(a, Expr) or isinstance(b, Expr):
            return _scaled(a, b) if isinstance(a, Expr) else _scaled(b, a)
        if a.columns is None or b.rows is None:  # an identity
            one, other = (a, b) if a.columns is None else (b, a)
            if other.rows is None:
                return one
            raise NoValue("a product with an identity: leave it out")
        over = _common(a.columns, b.rows)
        assert over is not None
        if a.rows == b.columns == SINGLE:
            return self._sum(lambda k: a.entry(Integer(1), k) * b.entry(k, Integer(1)), over)

        def entry(i: Expr, j: Expr) -> Expr:
            return self._sum(lambda k: a.entry(i, k) * b.entry(k, j), over)

        return Matrix(entry, a.rows, b.columns)

    def _sum(self, term: Callable[[Expr], Expr], over: Range) -> Expr:
        """The sum of a term over an index."""
        if over == SINGLE:
            return term(Integer(1))
        k = Symbol(f"_k{len(self.used)}", integer=True, positive=True)
        self.used.append(k)
        summand = term(k)
        if not summand.has(k):
            return (over[1] - over[0] + 1) * summand
        try:
            return Sum(summand, (k, *over))
        except (TypeError, ValueError) as error:
            raise NoValue(str(error)) from None

    def _trace(self, value: Matrix | Expr) -> Expr:
        if isinstance(value, Expr):
            return value
        over = _common(value.rows, value.columns)
        if over is None:
            raise NoValue("the trace of an identity whose size is not said")
        return self._sum(lambda k: value.entry(k, k), over)

    def _squared_norm(self, node: Node) -> Expr:
        value, *order = self.value(node.parts[0]), *map(plain, node.parts[1:])
        if isinstance(value, Expr) or value.rows is None or value.columns is None:
            raise NoValue("the norm of something that is no matrix")
        if order != ["F"] and (value.columns != SINGLE or order not in ([], ["2"])):
            raise NoValue("of a matrix only the Frobenius norm is known: write _F")
        rows, columns, entry = value.rows, value.columns, value.entry
        return self._sum(lambda i: self._sum(lambda j: entry(i, j) ** 2, columns), rows)


def _is_identity(node: Node) -> bool:
    return node.head is Head.NAME and node.text in IDENTITIES and len(node.parts) < 2


def _declarable(node: Node) -> Node:
    """A formula without identities, transposes and orders of norms, whose names nobody declares."""
    if _is_identity(node):
        return Node(Head.NUMBER, (), "1")
    transposed = node.head is Head.POWER and plain(node.parts[1]) == "T"
    if transposed or node.head is Head.NORM:
        return _declarable(node.parts[0])
    return replace(node, parts=tuple(map(_declarable, node.parts)))


def _transposed(value: Matrix | Expr) -> Matrix | Expr:
    if isinstance(value, Expr):
        return value
    entry = value.entry
    return Matrix(lambda i, j: entry(j, i), value.columns, value.rows)


def _scaled(by: Expr, value: Matrix | Expr) -> Matrix | Expr:
    if isinstance(value, Expr):
        return by * value
    entry = value.entry
    return Matrix(lambda i, j: by * entry(i, j), value.rows, value.columns)


def _sum(a: Matrix | Expr, b: Matrix | Expr) -> Matrix | Expr:
    if isinstance(a, Expr) and isinstance(b, Expr):
        return a + b
    a, b = _lifted(a), _lifted(b)
    first, second = a.entry, b.entry
    rows, columns = _common(a.rows, b.rows), _common(a.columns, b.columns)
    return Matrix(lambda i, j: first(i, j) + second(i, j), rows, columns)


def _common(a: Range | None, b: Range | None) -> Range | None:
    """The range that both are. Raises NoValue where they differ."""
    if a is None or b is None:
        return b if a is None else a
    if a != b:
        sizes = (typed(high - low + 1) for low, high in (a, b))
        raise NoValue(f"the shapes do not fit: {' against '.join(sizes)}")
    return a
