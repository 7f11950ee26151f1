"""Derivatives of elementary functions by the chain rule.

SymPy's `diff` gives the same, but asks of each part whether it is zero, which takes it far longer.
"""

from sympy import Add, Expr, Function, Integer, Mul, Pow, Symbol, exp, tanh


def slope(f: Expr, x: Symbol, order: int = 1) -> Expr:
    """The derivative of f by x, of an order.

    >>> x = Symbol("x", real=True)
    >>> slope(x**3 / (1 + x), x)
    -x**3/(x + 1)**2 + 3*x**2/(x + 1)
    """
    for _ in range(order):
        f = _slope(f, x)
    return f


def raised(base: Expr, exponent: Expr) -> Expr:
    """A power; SymPy would ask each term of a sum whether it is infinite, which takes it long."""
    plain = isinstance(base, Add) and exponent.is_Integer and exponent not in (0, 1)
    return Pow(base, exponent, evaluate=not plain or base.is_number)


def _slope(f: Expr, x: Symbol) -> Expr:
    if f == x:
        return Integer(1)
    if x not in f.free_symbols:
        return Integer(0)
    match f:
        case Add():
            return Add(*(_slope(part, x) for part in f.args))
        case Mul():
            return Add(
                *(
                    Mul(*f.args[:k], _slope(part, x), *f.args[k + 1 :])
                    for k, part in enumerate(f.args)
                    if x in part.free_symbols
                )
            )
        case Pow() if x not in f.exp.free_symbols:
            return f.exp * raised(f.base, f.exp - 1) * _slope(f.base, x)
        case exp():
            return f * _slope(f.args[0], x)
        case tanh():
            return (1 - f**2) * _slope(f.args[0], x)
        case Function() if len(f.args) == 1:
            return f.fdiff(1) * _slope(f.args[0], x)
    return f.diff(x)
