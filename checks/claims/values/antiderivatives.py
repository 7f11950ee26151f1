"""Integrals over a range of sums of powers, exponentials and logarithms, in closed form."""

from sympy import Add, Expr, Integer, Mul, Symbol, atan, exp, log, sqrt


def integral_over(f: Expr, x: Symbol, low: Expr, high: Expr) -> Expr | None:
    """The integral of terms c x^p, c e^(a x + b), c log(x) and c log(x)^2; None for others.

    Powers that are no polynomials, and logarithms, need high >= 0, and low > 0, or low = 0 and
    p > -1.
    """
    total: Expr = Integer(0)
    for term in Add.make_args(f.expand(power_exp=False)):
        factor, inner = term.as_independent(x, as_Add=False)
        found = _antiderivative(inner, x, low)
        if found is None:
            return None
        total += factor * (found.subs(x, high) - _at(found, x, low))
    return total


def integral_to_infinity(f: Expr, x: Symbol, low: Expr) -> Expr | None:
    """The integral of terms c x^p with p < -1 from low > 0 on; None for others."""
    total: Expr = Integer(0)
    for term in Add.make_args(f.expand(power_exp=False)):
        factor, inner = term.as_independent(x, as_Add=False)
        base, power = inner.as_base_exp()
        if base != x or power.has(x) or not (power + 1).is_negative:
            return None
        total -= factor * low ** (power + 1) / (power + 1)
    return total


def by_parts(g: Expr, x: Symbol, low: Expr, high: Expr) -> Expr | None:
    """The integral of a polynomial times e^(a x + b); None for others."""
    powers = [factor for factor in Mul.make_args(g) if isinstance(factor, exp)]
    if len(powers) != 1:
        return None
    (power,) = powers
    rest, slope = g / power, power.args[0].diff(x)
    if not rest.is_polynomial(x) or slope.has(x) or not slope.is_nonzero:
        return None
    whole, factor = Integer(0), 1 / slope
    while rest != 0:
        whole, rest, factor = whole + factor * rest, rest.diff(x), -factor / slope
    whole *= power
    return whole.subs(x, high) - whole.subs(x, low)


def of_reciprocal(g: Expr, x: Symbol, low: Expr, high: Expr) -> Expr | None:
    """The integral of 1/(a x + b) away from its pole, of 1/(a x^2 + b x + c) without real roots."""
    below, power = g.as_base_exp()
    if power != -1 or not below.is_polynomial(x):
        return None
    polynomial = below.as_poly(x)
    if polynomial.degree() == 1:
        first, last = below.subs(x, low), below.subs(x, high)
        return log(last / first) / polynomial.LC() if (first * last).is_positive else None
    if polynomial.degree() != 2:
        return None
    a, b, c = polynomial.all_coeffs()
    gap = 4 * a * c - b**2
    if not gap.is_positive:
        return None
    whole = 2 * atan((2 * a * x + b) / sqrt(gap)) / sqrt(gap)
    return whole.subs(x, high) - whole.subs(x, low)


def _antiderivative(g: Expr, x: Symbol, low: Expr) -> Expr | None:
    base, power = g.as_base_exp()
    if g == 1:
        return x
    if isinstance(g, exp):
        slope = g.args[0].diff(x)
        return None if slope.has(x) or slope == 0 else g / slope
    if base == x and not power.has(x):
        polynomial = power.is_Integer and power.is_nonnegative
        away = low.is_positive and (power + 1).is_nonzero
        if polynomial or away or (low.is_nonnegative and (power + 1).is_positive):
            return x ** (power + 1) / (power + 1)
    if g == 1 / x and low.is_positive:
        return log(x)
    if base == log(x) and low.is_nonnegative and power in (1, 2):
        whole = x * log(x) - x
        return whole if power == 1 else x * log(x) ** 2 - 2 * whole
    return None


def _at(found: Expr, x: Symbol, low: Expr) -> Expr:
    """The antiderivative at the lower end; those of x^p and log(x) tend to 0 at 0."""
    singular = low == 0 and not found.has(exp)
    return Integer(0) if singular else found.subs(x, low)
