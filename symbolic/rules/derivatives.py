"""Rules of functions of many entries: constants out of sums, derivatives through sums."""

from sympy import Dummy, Expr, Integer, Mul, Symbol, diff, powdenest, powsimp

from varlaw.symbolic.derivation import RuleError, Used, rule
from varlaw.symbolic.sequences import Named
from varlaw.symbolic.terms import IndexSum, Slope, factors


@rule("scale-out", "the scale out of the sums", checker="scale-out")
def scale_out(state: Expr, used: Used) -> Expr:
    """Constant factors of all terms out of sums over indices, and powers collected."""

    def pulled(total: IndexSum) -> Expr:
        bound = set(total.bound)
        out = [f for f in factors(total.summand.factor()) if not f.free_symbols & bound]
        kept = [f for f in factors(total.summand.factor()) if f.free_symbols & bound]
        return Mul(*out) * IndexSum(Mul(*kept), *total.ranges)

    after = state.replace(lambda e: isinstance(e, IndexSum), pulled)
    return powsimp(powdenest(after).expand(power_exp=False))


@rule("differentiate", "chain rule", checker="derivative")
def differentiate(state: Expr, used: Used) -> Expr:
    """The derivative of an expression in sums by a symbol, through the sums term by term."""
    parts = state.atoms(Slope)
    if len(parts) != 1:
        raise RuleError(f"not covered: {state} holds {len(parts)} derivatives")
    (part,) = parts
    of, by = part.args
    return state.xreplace({part: _slope(_opened(of), by)})


def _slope(e: Expr, by: Symbol) -> Expr:
    """de/dby, where sums are held as symbols and their own derivatives put in afterwards."""
    heads = {total: Dummy("sum", real=True) for total in e.atoms(IndexSum)}
    if any(inner is not outer and outer.has(inner) for inner in heads for outer in heads):
        raise RuleError(f"not covered: a sum within a sum in {e}")
    held = e.xreplace(heads)
    total = diff(held, by)
    for sum_, head in heads.items():
        inner = diff(sum_.summand, by)
        total += diff(held, head) * (IndexSum(inner, *sum_.ranges) if inner != 0 else Integer(0))
    return total.xreplace({head: sum_ for sum_, head in heads.items()})


def _opened(e: Expr) -> Expr:
    return e.replace(lambda part: isinstance(part, Named), lambda part: part.definition)
