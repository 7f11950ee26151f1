"""What occurs in an expression: answers kept by part, as the same parts are asked about often.

SymPy's `has`, `atoms` and `free_symbols` walk over the whole expression at each question.
"""

from functools import lru_cache

from sympy import Add, Basic, Mul, Pow, Symbol

MOST = 1 << 14  # answers kept


@lru_cache(maxsize=MOST)
def depends(f: Basic, x: Symbol) -> bool:
    """Whether the symbol occurs.

    >>> x, y = Symbol("x"), Symbol("y")
    >>> depends(1 + x**2, x), depends(1 + x**2, y)
    (True, False)
    """
    return f == x or any(depends(part, x) for part in f.args)


@lru_cache(maxsize=MOST)
def contains(f: Basic, kinds: type[Basic] | tuple[type[Basic], ...]) -> bool:
    """Whether an expression of one of the classes occurs.

    >>> from sympy import Abs, log
    >>> x = Symbol("x")
    >>> contains(1 + abs(x), (log, Abs)), contains(1 + abs(x), log)
    (True, False)
    """
    found = (contains(part, kinds) for part in f.args)  # type: ignore[arg-type]
    return isinstance(f, kinds) or any(found)


@lru_cache(maxsize=MOST)
def free_symbols(f: Basic) -> frozenset[Symbol]:
    """Its free symbols; those of sums, products and powers by part."""
    if isinstance(f, (Add, Mul, Pow)):
        return frozenset().union(*map(free_symbols, f.args))
    return frozenset(f.free_symbols)
