"""Derivatives of elementary functions by the chain rule.

SymPy's `diff` gives the same, but asks of each part whether it is zero, which takes it far longer.
"""

from functools import cmp_to_key, lru_cache

from sympy import Add, Expr, Function, Integer, Mul, Pow, Symbol, exp, tanh

from varlaw.symbolic.occurrences import depends


@lru_cache(maxsize=512)
def slope(f: Expr, x: Symbol, order: int = 1) -> Expr:
    """The derivative of f by x, of an order.

    >>> x = Symbol("x", real=True)
    >>> slope(x**3 / (1 + x), x)
    (-x**3 + 3*x**2*(x + 1))/(x + 1)**2
    """
    for _ in range(order):
        f = _slope(f, x)
    return f


def is_affine(f: Expr, x: Symbol) -> bool:
    """Whether f is a + b x, b being possibly 0."""
    return not depends(_slope(f, x), x)


def raised(base: Expr, exponent: Expr) -> Expr:
    """A power; SymPy would ask each term of a sum whether it is infinite, which takes it long."""
    plain = base.is_commutative and exponent.is_Integer and exponent not in (0, 1)
    if base.is_number or not plain:  # matrices among them
        return Pow(base, exponent)
    match base:
        case Add():
            return Pow(base, exponent, evaluate=False)
        case Mul():
            return _joined([raised(part, exponent) for part in base.args])
        case Pow() if base.exp.is_Integer:
            return raised(base.base, base.exp * exponent)
    return Pow(base, exponent)


def _joined(parts: list[Expr]) -> Expr:
    """The product of powers of the factors of another product, in SymPy's order."""
    bases = {part.as_base_exp()[0] for part in parts}
    if len(bases) < len(parts) or any(part.is_Mul for part in parts):
        return Mul(*parts)
    scale = Mul(*(part for part in parts if part.is_Number))
    others = [part for part in parts if not part.is_Number]
    others.sort(key=cmp_to_key(_order))
    factors = others if scale == 1 else [scale, *others]
    plain = len(factors) < 2 or (len(others) == 1 and others[0].is_Add)  # 2 (a + b) is 2 a + 2 b
    return Mul(*factors, evaluate=plain)


def _order(one: Expr, other: Expr) -> int:
    return int(one.compare(other))


def _slope(f: Expr, x: Symbol) -> Expr:
    if f == x:
        return Integer(1)
    if not depends(f, x):
        return Integer(0)
    match f:
        case Add():
            return Add(*(_slope(part, x) for part in f.args))
        case Mul() if (below := next((g for g in f.args if _divides(g, x)), None)) is not None:
            above = Mul(*(part for part in f.args if part is not below))
            v, n = below.args
            rise = Add(v * _slope(above, x), n * above * _slope(v, x))
            return rise * raised(v, n - 1)
        case Mul():
            return Add(
                *(
                    Mul(*f.args[:k], _slope(part, x), *f.args[k + 1 :])
                    for k, part in enumerate(f.args)
                    if depends(part, x)
                )
            )
        case Pow() if not depends(f.exp, x):
            return f.exp * raised(f.base, f.exp - 1) * _slope(f.base, x)
        case exp():
            return f * _slope(f.args[0], x)
        case tanh():
            return (1 - f**2) * _slope(f.args[0], x)
        case Function() if len(f.args) == 1:
            return f.fdiff(1) * _slope(f.args[0], x)
    return f.diff(x)


def _divides(part: Expr, x: Symbol) -> bool:
    """Whether it is a whole power of an affine function in the denominator."""
    whole = part.is_Pow and part.exp.is_Integer and part.exp < 0 and part.base.is_Add
    return whole and is_affine(part.base, x)
