"""Rules of functions of many entries: constants out of sums."""

from sympy import Expr, Mul, powdenest, powsimp

from varlaw.symbolic.derivation import Used, rule
from varlaw.symbolic.terms import IndexSum, factors


@rule(
    "scale-out",
    "what does not depend on the index out of the sums; equal sums cancel",
    checker="scale-out",
)
def scale_out(state: Expr, used: Used) -> Expr:
    """Constant factors of all terms out of sums over indices, and powers collected."""

    def pulled(total: IndexSum) -> Expr:
        bound = set(total.bound)
        out = [f for f in factors(total.summand.factor()) if not f.free_symbols & bound]
        kept = [f for f in factors(total.summand.factor()) if f.free_symbols & bound]
        return Mul(*out) * IndexSum(Mul(*kept), *total.ranges)

    after = state.replace(lambda e: isinstance(e, IndexSum), pulled)
    return powsimp(powdenest(after).expand(power_exp=False))
