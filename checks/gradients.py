"""Proofs of derivatives by single weights and of sums: written out at concrete dimensions.

Every entry becomes a symbol of its own, every sum is written out term by term, and SymPy
differentiates by the one symbol. A term of either side speaks of at most as many values of an index
as there are copies of it, bound and free: that many values of each dimension decide for all.
"""

from collections.abc import Iterator, Mapping
from itertools import product

from sympy import Basic, Expr, Function, Heaviside, Integer, Piecewise, Symbol, diff

from varlaw.checks.algebra import is_zero, opened
from varlaw.checks.means import NotCovered
from varlaw.checks.moments import Writer
from varlaw.checks.report import Proof
from varlaw.symbolic.activation import Activation
from varlaw.symbolic.arrays import Entry, RandomArray
from varlaw.symbolic.derivation import Step
from varlaw.symbolic.terms import Delta, Expectation, IndexSum, Indicator, Slope

Finding = tuple[Proof, str]
MAX_SIZE = 6
MOST_KINKS = 10
MEAN = Function("MEAN")  # stands for an expectation, of which nothing is used


def prove_written_out(step: Step, arrays: Mapping[str, RandomArray]) -> Finding:
    """Both sides are equal at all values of the indices, for enough values of every dimension."""
    before, after = opened(step.before), opened(step.after)
    tried = 0
    try:
        for at in _places(before, after):
            writer = _Plain(arrays, at)
            if not _same(writer.of(before) - writer.of(after)):
                shown = ", ".join(f"{s} = {v}" for s, v in sorted(at.items(), key=str))
                return Proof.REFUTED, f"the two sides differ at {shown}"
            tried += 1
    except NotCovered as error:
        return Proof.UNCHECKED, str(error)
    return Proof.PROVED, f"written out at {tried} values of indices and dimensions, differentiated"


def _places(before: Expr, after: Expr) -> Iterator[dict[Basic, int]]:
    """Sizes of the dimensions with all values that the free indices take there."""
    sums = before.atoms(IndexSum) | after.atoms(IndexSum)
    dims = sorted({s for t in sums for r in t.ranges for s in r.upper.free_symbols}, key=str)
    entries = before.atoms(Entry) | after.atoms(Entry)
    bound = {k for t in sums for k in t.bound}
    used = {s for e in entries for s in e.free_symbols} | {
        s for d in after.atoms(Delta) for s in d.free_symbols
    }
    open_ = before.free_symbols | after.free_symbols
    free = sorted(used & open_ - set(dims), key=str)
    largest = len(bound) + len(free)
    if largest > MAX_SIZE:
        raise NotCovered(f"{largest} copies of indices (at most {MAX_SIZE})")
    for size in range(2, max(largest, 2) + 1):
        for values in product(range(1, size + 1), repeat=len(free)):
            yield dict.fromkeys(dims, size) | dict(zip(free, values, strict=True))


class _Plain:
    """Writes expressions out with one symbol per entry."""

    def __init__(self, arrays: Mapping[str, RandomArray], at: Mapping[Basic, int]) -> None:
        self.writer = Writer(arrays, at)
        self.at = dict(at)

    def of(self, e: Expr, at: dict[Basic, int] | None = None) -> Expr:
        at = self.at if at is None else at
        match e:
            case Entry():
                return self._symbol(e, at)
            case Slope() if isinstance(e.args[1], Entry):
                return diff(self.of(e.args[0], at), self._symbol(e.args[1], at))
            case IndexSum():
                chosen = self.writer._choices(e, at)
                return sum((w * self.of(e.summand, {**at, **v}) for w, v in chosen), Integer(0))
            case Delta():
                left, right = self.writer._indices(e.args, at)
                return Integer(left == right)
            case Indicator():
                z = self.of(e.args[0], at)
                sides = {">": Heaviside(z, 0), "<": Heaviside(-z, 0)}
                if e.relation not in sides:
                    raise NotCovered(f"{e} stands for a single point")
                return sides[e.relation]
            case Activation():
                return self._activation(e, at)
            case Expectation():
                return MEAN(self.of(e.args[0], at).expand())
            case Symbol():
                return Integer(at[e]) if e in at else e
            case _ if not e.args:
                return e
            case _:
                return e.func(*(self.of(part, at) for part in e.args))

    def _symbol(self, e: Entry, at: dict[Basic, int]) -> Symbol:
        where = "_".join(map(str, self.writer._indices(e.indices, at)))
        return Symbol(f"{e.array.name}_{where}", real=True)

    def _activation(self, e: Activation, at: dict[Basic, int]) -> Expr:
        z = self.of(e.args[0], at)
        x = Symbol("argument", real=True)
        parts = e.func(x, *e.args[1:]).written_out
        value = parts[0][1]
        for start, whole in parts[1:]:
            value = Piecewise((value, x < start), (whole, True))
        return value.subs(x, z)


def _same(gap: Expr) -> bool:
    """Whether a difference vanishes exactly, on either side of every kink in it."""
    arguments = {p.args[0][1].lhs - p.args[0][1].rhs for p in gap.atoms(Piecewise)}
    arguments |= {h.args[0] for h in gap.atoms(Heaviside)}
    kinks = sorted({-z if z.could_extract_minus_sign() else z for z in arguments}, key=str)
    if len(kinks) > MOST_KINKS:
        raise NotCovered(f"more than {MOST_KINKS} kinks")
    return all(
        is_zero(_on_one_side(gap, dict(zip(kinks, signs, strict=True))))
        for signs in product((1, -1), repeat=len(kinks))
    )


def _on_one_side(gap: Expr, signs: Mapping[Expr, int]) -> Expr:
    """The difference where each argument of a kink has a given sign."""

    def sign(z: Expr) -> int:
        return -signs[-z] if z.could_extract_minus_sign() else signs[z]

    settled = gap.replace(
        lambda e: isinstance(e, Piecewise),
        lambda e: e.args[0][0] if sign(e.args[0][1].lhs - e.args[0][1].rhs) < 0 else e.args[1][0],
    )
    return settled.replace(
        lambda e: isinstance(e, Heaviside), lambda e: Integer(1 if sign(e.args[0]) > 0 else 0)
    )
