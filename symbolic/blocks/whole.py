"""Growth with the depth L of stacks whose layers depend on it, as branches scaled by 1/sqrt(L) do.

For layers u -> A u + B, with L (A - 1) -> k and the leading power b L^p of B, the whole is

    u_L = A^L u_0 + B (A^L - 1)/(A - 1) ~ e^k u_0 + b (e^k - 1)/k L^(p + 1),

where (e^0 - 1)/0 stands for 1. If A - 1 falls slower than 1/L, A^L is subexponential.
"""

from collections.abc import Sequence

from sympy import Expr, Symbol, exp

from varlaw.symbolic.blocks.masked import masked
from varlaw.symbolic.blocks.recurrence import Growth, Product, Recurrence
from varlaw.symbolic.blocks.state import ONE, ZERO, tidy

UNKNOWN = Growth("")
Powers = Sequence[tuple[Expr, Expr]]


def powers(change: Expr, depth: Symbol) -> Powers | None:
    """(c, p) of each term c L^p; None for terms of another kind."""
    found = []
    plain, back = masked(change, depth)
    for term in plain.expand().as_ordered_terms():
        rest, power = term.as_independent(depth, as_Add=False)
        if rest == 0:
            continue
        base, exponent = (depth, ZERO) if power == 1 else power.as_base_exp()
        if base != depth or exponent.has(depth):
            return None
        found.append((back(rest), back(exponent)))
    return found


def forward_growth(path: Recurrence, depth: Symbol) -> Growth:
    """How the value after L layers goes with L."""
    if path.linear is None or path.first.has(depth):
        return UNKNOWN
    drift, added = (_leading(part, depth) for part in (path.linear[0] - 1, path.linear[1]))
    if drift is None or added is None or added[0].is_nonnegative is not True:
        return UNKNOWN
    (k, slow), (b, p) = drift, added
    if k != 0 and -1 < slow < 0 and k.is_positive:
        return Growth("subexponential", slow + 1, asymptotic=exp(k * depth ** (slow + 1)))
    if k != 0 and slow > -1:
        return UNKNOWN
    k = k if slow == -1 else ZERO
    kept, mean = (ONE, ONE) if k == 0 else (exp(k), (exp(k) - 1) / k)
    if b == 0 or p <= -1:
        limit = kept * path.first + (mean * b if p == -1 else ZERO)
        return Growth("bounded", limit=tidy(limit))
    rate, whole = p + 1, tidy(mean * b)
    if rate == 1:
        return Growth("linear", whole)
    return _power(rate, whole * depth**rate)


def backward_growth(product: Product, depth: Symbol) -> Growth:
    """How the product of the factors of L layers goes with L."""
    path = product.path
    if path.variable not in product.factor.free_symbols:
        alone = Recurrence(product.factor * path.variable, path.variable, ONE)
        return forward_growth(alone, depth)
    if product.telescopes:
        found = forward_growth(path, depth)
        over = [
            None if part is None else tidy(part / path.first)
            for part in (found.limit, found.asymptotic)
        ]
        rate = tidy(found.rate / path.first) if found.kind == "linear" else found.rate
        return found if found.kind == "subexponential" else Growth(found.kind, rate, *over)
    if product.shifts is None:
        return UNKNOWN
    scale, above, below = product.shifts
    leading = {_leading(shift, depth) for shift in (*above, *below)}
    power = tidy(sum(above, ZERO) - sum(below, ZERO))
    if scale != 1 or len(leading) != 1 or power.has(depth):
        return UNKNOWN
    if (first := leading.pop()) is None or not first[0].is_positive or not first[1].is_positive:
        return UNKNOWN
    return _of_quotients(*first, power, depth)


def _of_quotients(c: Expr, p: Expr, power: Expr, depth: Symbol) -> Growth:
    """((c L^p + L)/(c L^p))^power."""
    if p >= 1:
        return Growth("bounded", limit=((1 + c) / c) ** power if p == 1 else ONE)
    return _power((1 - p) * power, (depth ** (1 - p) / c) ** power)


def _power(rate: Expr, asymptotic: Expr) -> Growth:
    return Growth("sqrt" if rate == ONE / 2 else "polynomial", rate, asymptotic=asymptotic)


def _leading(change: Expr, depth: Symbol) -> tuple[Expr, Expr] | None:
    """(c, p) of the leading power c L^p, (0, 0) for 0; None where it is not known."""
    found = powers(tidy(change), depth)
    if found is None or not all(p.is_number for _, p in found):
        return None
    most = max((p for _, p in found), default=ZERO)
    return sum((c for c, p in found if p == most), ZERO), most
