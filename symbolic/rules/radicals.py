"""Rules of radicals: roots and exponentials in one form, correlations, points of a circle."""

from sympy import (
    Basic,
    Dummy,
    Expr,
    Function,
    Mul,
    Pow,
    Symbol,
    acos,
    asin,
    atan,
    cancel,
    cos,
    exp,
    factor,
    sin,
    sqrt,
    together,
)

from varlaw.symbolic.derivation import Outcome, Used, relation, rule, sign_of
from varlaw.symbolic.sequences import Named, named
from varlaw.symbolic.terms import Expectation, Indicator, indicator


@rule("radicals", "roots and exponents collected", checker="radicals")
def radicals(state: Expr, used: Used) -> Expr:
    """Products of roots as one root, of exponentials as one, with what is inside in factors."""
    return state.replace(lambda e: isinstance(e, Mul | Pow | exp), _collected)


def _collected(e: Expr) -> Expr:
    inside, exponent, rest = [], [], []
    for part in Mul.make_args(e):
        base, power = part.as_base_exp()
        if isinstance(part, exp):
            exponent.append(part.args[0])
        elif power.is_Rational and power.q == 2 and base.is_nonnegative:
            inside.append(base ** (2 * power))
        else:
            rest.append(part)
    root = sqrt(factor(cancel(together(Mul(*inside)))))
    return Mul(*rest) * root * exp(factor(cancel(together(sum(exponent)))))


@rule("circle", "sin^2 + cos^2 = 1", checker="circle")
def circle(state: Expr, used: Used) -> Expr:
    """Even powers of sines in terms of cosines, multiplied out."""
    return state.replace(
        lambda e: isinstance(e, Pow) and isinstance(e.base, sin) and e.exp.is_even,
        lambda e: (1 - cos(e.base.args[0]) ** 2) ** (e.exp / 2),
    ).expand()


@rule("correlation", "in terms of the correlation", checker="correlation", equations=True)
def correlation(state: Basic, used: Used, old: Symbol, rho: Symbol) -> Outcome:
    """A real t in terms of rho = t/sqrt(1 + t^2), which runs over -1 < rho < 1.

    Then t = rho/c with c = sqrt(1 - rho^2) > 0, and what stands under roots is written in c.
    """
    c = Dummy("c", positive=True)

    def reduced(e: Expr) -> Expr:
        over = radicals(e, used).xreplace({old: rho / c})
        over = over.replace(
            lambda p: isinstance(p, Pow) and p.exp.is_Rational and p.exp.q == 2,
            lambda p: factor(together(p.base.subs(rho, sqrt(1 - c**2)))) ** p.exp,
        )
        over = over.replace(
            lambda p: isinstance(p, Named | Indicator),
            lambda p: (
                named(p.name, p.definition.expand(), *p.indices)
                if isinstance(p, Named)
                else indicator(p.args[0].expand(), p.relation)
            ),
        )
        return cancel_outside(over).xreplace({c: sqrt(1 - rho**2)})

    left, right = (reduced(side) for side in (state.lhs, state.rhs))
    facts = {"old": old, "rho": rho}
    reason = f"with {rho} = {old}/sqrt(1 + {old}^2)"
    return Outcome(relation(left, right, sign_of(state)), certificate=facts, reason=reason)


def cancel_outside(e: Expr) -> Expr:
    """Common factors of quotients cancelled, also inside the arguments of functions."""
    parts = {f: Dummy("f", real=True) for f in e.atoms(Function, Expectation)}
    found = cancel(e.xreplace(parts))
    back = {
        dummy: f.func(*(cancel_outside(a) if isinstance(a, Expr) else a for a in f.args))
        if isinstance(f, asin | acos | atan)
        else f
        for f, dummy in parts.items()
    }
    return found.xreplace(back)
