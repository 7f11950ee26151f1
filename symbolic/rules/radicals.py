"""Rules of radicals: roots and exponentials in one form, correlations, points of a circle."""

from sympy import (
    Add,
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
    fraction,
    rem,
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
        return over.replace(
            lambda p: isinstance(p, Named | Indicator),
            lambda p: (
                named(p.name, p.definition.expand(), *p.indices)
                if isinstance(p, Named)
                else indicator(p.args[0].expand(), p.relation)
            ),
        )

    left = Add(*(on_circle(term, c, rho) for term in Add.make_args(reduced(state.lhs))))
    right = on_circle(reduced(state.rhs), c, rho)
    left, right = (side.xreplace({c: sqrt(1 - rho**2)}) for side in (left, right))
    facts = {"old": old, "rho": rho}
    reason = f"with {rho} = {old}/sqrt(1 + {old}^2)"
    return Outcome(relation(left, right, sign_of(state)), certificate=facts, reason=reason)


def on_circle(e: Expr, c: Symbol, rho: Symbol) -> Expr:
    """A quotient in factors with c^2 = 1 - rho^2 above and below the line, in arguments too."""
    held = {f: Dummy("f", real=True) for f in e.atoms(Function, Expectation)}
    open_ = e.xreplace(held)
    roots = {p: Dummy("r", positive=True) for p in open_.atoms(Pow) if not p.exp.is_Integer}
    parts = fraction(together(open_.xreplace(roots)))
    top, bottom = (rem(part, c**2 + rho**2 - 1, c) for part in parts)
    back = {
        dummy: f.func(*(on_circle(a, c, rho) if isinstance(a, Expr) else a for a in f.args))
        if isinstance(f, asin | acos | atan)
        else f
        for f, dummy in held.items()
    }
    found = factor(top / bottom)
    return found.xreplace({root: p for p, root in roots.items()}).xreplace(back)
