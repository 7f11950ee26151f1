"""Proofs of steps about gradients: written out at small sizes and differentiated one by one."""

from collections.abc import Callable, Iterator, Mapping
from itertools import product

from sympy import (
    Basic,
    Dummy,
    Expr,
    Function,
    Integer,
    Integral,
    Mul,
    Pow,
    Symbol,
    diff,
    erf,
    exp,
    sqrt,
    tanh,
)

from varlaw.checks.report import Proof
from varlaw.checks.steps.algebra import is_zero
from varlaw.symbolic.activation import Activation
from varlaw.symbolic.activations import gelu, relu
from varlaw.symbolic.arrays import Entry, RandomArray
from varlaw.symbolic.assumptions import Kind
from varlaw.symbolic.derivation import Step
from varlaw.symbolic.sequences import Named
from varlaw.symbolic.terms import Delta, IndexSum, Indicator, Slope, indicator

Finding = tuple[Proof, str]
At = Mapping[Basic, int]
SMOOTH = (erf, exp, tanh)  # on the whole line
MORE = 2  # sizes beyond the largest free index: each sum runs over values it shares with none


class NotCovered(ValueError):
    """Something this checker cannot write out."""


def prove_gradient(step: Step, arrays: Mapping[str, RandomArray]) -> Finding:
    """Every gradient equals what it was replaced by, differentiated in concrete variables.

    Both sides are sums over indices of one summand each, so that values of the indices up to a
    size where all of them can differ show every kind of term there is.
    """
    found = step.certificate["gradients"]
    if step.before.xreplace(dict(found)) != step.after:
        return Proof.REFUTED, "more changed than the gradients"
    sizes = 0
    try:
        for head, value in found.items():
            if not isinstance(head, Slope):
                return Proof.REFUTED, f"{head} is no gradient"
            head, value = _under_integral(head, value)
            for at in _places(head, value):
                if not _vanishes(_differentiated(head, at) - _written(value, at)):
                    shown = ", ".join(f"{s} = {v}" for s, v in sorted(at.items(), key=str))
                    return Proof.REFUTED, f"{head} is not {value}: at {shown} they differ"
                sizes += 1
    except NotCovered as error:
        return Proof.UNCHECKED, str(error)
    return Proof.PROVED, f"differentiated in concrete variables, at {sizes} sizes and places"


def _under_integral(head: Slope, value: Expr) -> tuple[Slope, Expr]:
    """Leibniz's rule: between ends that do not move the integrands of a smooth function count."""
    if not isinstance(head.of, Integral):
        return head, value
    if not isinstance(value, Integral) or value.limits != head.of.limits or len(value.limits) != 1:
        raise NotCovered(f"{value} is no integral over the same range as {head.of}")
    function, ends = head.of.function, head.of.limits[0][1:]
    smooth = all(isinstance(part, SMOOTH) for part in function.atoms(Function))
    poles = [p for p in function.atoms(Pow) if not p.base.is_positive and not _natural(p.exp)]
    if not smooth or poles or any(not end.is_Rational for end in ends):
        raise NotCovered(f"whether {function} may be differentiated under the integral")
    return Slope(function, head.by), value.function


def _natural(exponent: Expr) -> bool:
    return bool(exponent.is_Integer and exponent.is_positive)


def _vanishes(e: Expr) -> bool:
    """Whether an expression is 0: at first with square roots as variables of their own."""
    roots: dict[Expr, Dummy] = {}

    def hidden(power: Expr) -> Expr:
        root = roots.setdefault(power.base.expand(), Dummy("root", positive=True))
        return root ** (2 * power.exp)

    flat = e.replace(lambda p: isinstance(p, Pow) and p.exp.is_Rational and p.exp.q == 2, hidden)
    return flat.expand() == 0 or is_zero(e)


def _places(head: Slope, value: Expr) -> Iterator[At]:
    """Values of the free indices, every way they may coincide, with sizes that hold them all."""
    both = (head.of, head.by, value)
    opened = [_opened(side) for side in both]
    sums = {total for side in opened for total in side.atoms(IndexSum)}
    sizes = sorted({s for t in sums for r in t.ranges for s in r.upper.free_symbols}, key=str)
    inside = {s for side in opened for e in side.atoms(Entry, Delta) for s in e.free_symbols}
    outside = {s for side in opened for s in side.free_symbols}
    free = sorted(inside & outside - set(sizes), key=str)
    for values in product(range(1, len(free) + 1), repeat=len(free)):
        if any(v > max(values[:place], default=0) + 1 for place, v in enumerate(values)):
            continue  # the same coincidences under other names
        largest = max(values, default=1)
        for more in range(MORE + 1):
            at: dict[Basic, int] = dict(zip(free, values, strict=True))
            at |= dict.fromkeys(sizes, largest + more)
            yield at


def _opened(e: Expr) -> Expr:
    while e.atoms(Named):
        e = e.replace(lambda part: isinstance(part, Named), lambda part: part.definition)
    return e


def _differentiated(head: Slope, at: At) -> Expr:
    """The derivative by one variable of the expression written out in variables."""
    by = _written(head.by, at)
    events: dict[Basic, Expr] = {}
    whole = _written(head.of, at, events)
    # activations stand as functions of placeholders for their arguments: f'(z) dz by hand
    total = diff(whole, by)
    for stand, (function, argument) in list(events.items()):
        total += diff(whole, stand) * _slope(function, argument) * diff(argument, by)
    return total.xreplace({s: _value(f, a) for s, (f, a) in events.items()})


def _written(e: Expr, at: At, stands: dict | None = None) -> Expr:  # type: ignore[type-arg]
    """An expression in concrete variables; activations as values, or as stand-ins if wanted."""
    if isinstance(e, Entry):
        return Symbol(f"{e.array.name}_{'_'.join(str(_at(k, at)) for k in e.indices)}")
    if isinstance(e, Named):
        return _written(e.definition, at, stands)
    if isinstance(e, Delta):
        left, right = (_at(k, at) for k in e.args)
        return Integer(int(left == right))
    if isinstance(e, IndexSum):
        spans = [
            [{r.indices[0]: v} for v in range(_at(r.lower, at), _at(r.upper, at) + 1)]
            for r in e.ranges
            if len(r.indices) == 1 and not r.excluded
        ]
        if len(spans) != len(e.ranges):
            raise NotCovered(f"cannot write out {e}")
        total: Expr = Integer(0)
        for chosen in product(*spans):
            here = dict(at)
            for part in chosen:
                here |= part
            total += _written(e.summand, here, stands)
        return total
    if isinstance(e, (Activation, tanh)):
        inner = _written(e.args[0], at)
        if stands is None:
            return _value(type(e), inner)
        known = {pair: stand for stand, pair in stands.items()}
        return known.get((type(e), inner)) or _stand(stands, type(e), inner)
    if isinstance(e, Indicator):
        return Indicator(_written(e.args[0], at, stands), e.args[1])
    if isinstance(e, Symbol):
        return Integer(at[e]) if e in at else e
    return e.func(*(_written(p, at, stands) for p in e.args)) if e.args else e


def _stand(stands: dict, function: type, inner: Expr) -> Expr:  # type: ignore[type-arg]
    stand = Dummy("f", real=True)
    stands[stand] = function, inner
    return stand


def _at(index: Basic, at: At) -> int:
    found = index.xreplace({s: Integer(v) for s, v in at.items()})
    if not found.is_Integer:
        raise NotCovered(f"the index {index} has no value")
    return int(found)


def _value(function: type, z: Expr) -> Expr:
    return _table(function)[0](z)


def _slope(function: type, z: Expr) -> Expr:
    return _table(function)[1](z)


def _table(function: type) -> tuple[Callable[[Expr], Expr], Callable[[Expr], Expr]]:
    """An activation and its derivative, from here and not from the table of `symbolic`."""
    x = Dummy("x", real=True)
    smooth = {gelu: x * (1 + erf(x / sqrt(2))) / 2, tanh: tanh(x)}

    def step(z: Expr) -> Expr:
        return indicator(z, ">")

    if function is relu:
        return (lambda z: z * step(z)), step
    if function in smooth:
        f = smooth[function]
        return (lambda z: f.xreplace({x: z})), (lambda z: diff(f, x).xreplace({x: z}))
    raise NotCovered(f"the checker does not know the activation {function.__name__}")


def prove_vanishing(step: Step, arrays: Mapping[str, RandomArray]) -> Finding:
    """E[w^2] = 0 makes w = 0 with probability 1: both sides agree with such entries put to 0."""
    gone = {e for e in step.before.atoms(Entry) if e.array.moment(2) == 0}
    if not gone:
        return Proof.REFUTED, "no array has second moment 0"
    if any(e.array.has(Kind.IDENTICAL) is False and e.indices for e in gone):
        return Proof.REFUTED, "the second moment is not declared of every entry"
    zero = {e: Integer(0) for e in gone}
    sides = [_at_zero(_opened(s).xreplace(zero)) for s in (step.before, step.after)]
    if (sides[0] - sides[1]).expand() == 0:
        return Proof.PROVED, "a random variable of second moment 0 is 0 with probability 1"
    return Proof.REFUTED, f"with zeros put in, the sides are {sides[0]} and {sides[1]}"


def _at_zero(e: Expr) -> Expr:
    """Activations at 0 by their values, sums of nothing but zeros gone."""
    e = e.replace(
        lambda part: isinstance(part, Activation) and part.args[0] == 0,
        lambda part: _value(type(part), Integer(0)),
    )
    return e.replace(lambda part: isinstance(part, Mul), lambda part: part.doit())
