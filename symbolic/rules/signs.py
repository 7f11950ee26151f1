"""Rules of signs: rectifiers, indicators, symmetry under a change of sign."""

from sympy import Add, Dummy, Expr, Integer, Mul

from varlaw.symbolic.activation import Activation
from varlaw.symbolic.arrays import Entry, arrays_in, linked
from varlaw.symbolic.assumptions import Assumption, Kind
from varlaw.symbolic.derivation import Used, rule
from varlaw.symbolic.rules.scope import Scope, rewrite
from varlaw.symbolic.sequences import Named
from varlaw.symbolic.terms import Expectation, IndexSum, Indicator, factors, indicator, terms


@rule("activation", "definition of the activation", checker="pointwise")
def activation(state: Expr, used: Used) -> Expr:
    """Activations written out with indicators, and multiplied out: relu(z)^2 = z^2 1[z > 0]."""

    def pieces(part: Expr, scope: Scope) -> Expr:
        return part.pieces() if isinstance(part, Activation) else part

    def change(part: Expr, scope: Scope) -> Expr:
        if not isinstance(part, Expectation) or not part.has(Activation):
            return part
        return Expectation(_disjoint(rewrite(part.args[0], pieces, into_expectations=True)))

    return rewrite(state, change)


def _disjoint(polynomial: Expr) -> Expr:
    """Products of indicators of events that exclude one another are zero."""
    kept = []
    for term in terms(polynomial.expand()):
        events = [f for f in factors(term) if isinstance(f, Indicator)]
        if len({e.args[0] for e in events}) == len(events):
            kept.append(term)
    return Add(*kept)


@rule("symmetry", "symmetry: a change of sign leaves the law alone", checker="signs")
def symmetry(state: Expr, used: Used) -> Expr:
    """E f(w) = (E f(w) + E f(-w)) / 2 for an array whose law is symmetric."""
    known = arrays_in(state)

    def change(part: Expr, scope: Scope) -> Expr:
        if not isinstance(part, Expectation):
            return part
        if not any(isinstance(f, Indicator) for f in factors(part.args[0])):
            return part
        for array in arrays_in(part).values():
            beside = [a for a in arrays_in(part).values() if a != array]
            if not array.has(Kind.SYMMETRIC) or any(
                linked(array, other, known) for other in beside
            ):
                continue
            flipped = _flip(part.args[0], array.name)
            if flipped == part.args[0]:
                continue
            used.add(array.assumption(Kind.SYMMETRIC))
            used.update(
                Assumption(Kind.INDEPENDENT, tuple(sorted((array.name, b.name)))) for b in beside
            )
            return (part + Expectation(flipped)) / 2
        return part

    return rewrite(state, change)


def _flip(expression: Expr, name: str) -> Expr:
    """The expression at -w instead of w; named sums stay named where they only change sign."""
    if isinstance(expression, Entry):
        return -expression if expression.array.name == name else expression
    if isinstance(expression, Named):
        turned = _flip(expression.definition, name)
        if turned == -expression.definition:
            return -expression
        return expression if turned == expression.definition else turned
    if not expression.args:
        return expression
    return expression.func(*(_flip(p, name) if isinstance(p, Expr) else p for p in expression.args))


@rule("indicators", "1[z > 0] + 1[z < 0] = 1 - 1[z = 0], and z 1[z = 0] = 0", checker="pointwise")
def indicators(state: Expr, used: Used) -> Expr:
    """Pairs of terms that differ only in the side of zero are joined."""
    if not state.has(Indicator):
        return state

    def change(part: Expr, scope: Scope) -> Expr:
        return _joined(part) if isinstance(part, Add) else part

    return rewrite(state, change)


def _joined(total: Expr) -> Expr:
    pieces = list(terms(total))
    for left in pieces:
        for head in _linear_heads(left):
            for event in (f for f in factors(head.args[0]) if isinstance(f, Indicator)):
                if event.relation != ">" or left.xreplace({head: Dummy()}).has(event):
                    continue
                rest = Mul(*(f for f in factors(head.args[0]) if f != event))
                partner = left.xreplace({head: Expectation(rest * indicator(event.args[0], "<"))})
                if rest.has(event) or partner == left or partner not in pieces:
                    continue
                others = [p for p in pieces if p not in (left, partner)]
                joined = left.xreplace({head: _whole(rest, event.args[0])})
                return _joined(Add(*others) + joined)
    return total


def _linear_heads(term: Expr) -> list[Expectation]:
    """The expectations that stand in a term as factors, alone or under one sum."""
    sums = [f for f in factors(term) if isinstance(f, IndexSum)]
    inside = factors(sums[0].summand) if len(sums) == 1 else ()
    return [f for f in (*factors(term), *inside) if isinstance(f, Expectation)]


def _whole(rest: Expr, z: Expr) -> Expr:
    """E[rest (1[z > 0] + 1[z < 0])]."""
    if any(f.as_base_exp()[0] == z for f in factors(rest)):
        return Expectation(rest)
    return Expectation(rest) - Expectation(rest * indicator(z, "="))


@rule("no-atom", "the event z = 0 has probability zero", checker="assumption")
def no_atom(state: Expr, used: Used) -> Expr:
    """Terms with 1[z = 0] vanish where z has no probability at zero."""

    def change(part: Expr, scope: Scope) -> Expr:
        if isinstance(part, Expectation):
            for event in factors(part.args[0]):
                if isinstance(event, Indicator) and event.relation == "=":
                    z = event.args[0]
                    used.add(
                        Assumption(Kind.NO_ATOM, (z.name if isinstance(z, Named) else str(z),))
                    )
                    return Integer(0)
        return part

    return rewrite(state, change)


@rule("uncorrelated", "zero covariance")
def uncorrelated(state: Expr, used: Used) -> Expr:
    """E[x F] = E[x] E[F] for entries of arrays declared uncorrelated."""

    def change(part: Expr, scope: Scope) -> Expr:
        if not isinstance(part, Expectation):
            return part
        pair = factors(part.args[0])
        if len(pair) != 2 or not all(isinstance(f, Entry) for f in pair):
            return part
        left, right = pair
        if (
            right.array.name in left.array.uncorrelated
            or left.array.name in right.array.uncorrelated
        ):
            names = tuple(sorted((left.array.name, right.array.name)))
            used.add(Assumption(Kind.UNCORRELATED, names))
            return Expectation(left) * Expectation(right)
        return part

    return rewrite(state, change)
