"""Declaring random arrays, random variables, dimensions and other symbols."""

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

from sympy import Expr, Integer, Symbol, Tuple, nan, oo, zoo
from sympy.core.symbol import Str

from varlaw.symbolic.arrays import (
    FREE,
    DeclarationError,
    Entry,
    RandomArray,
    kinds_tuple,
    names_tuple,
)
from varlaw.symbolic.assumptions import Kind
from varlaw.symbolic.language import ReadingError, Text, read


def _value(value: Text, name: str, what: str, real: bool = False) -> Expr:
    """A declared value. Raises DeclarationError for what is not finite or not real."""
    if isinstance(value, float) and not isfinite(value):
        raise DeclarationError(f"{name}: the {what} {value} is not a finite number")
    found = read(value, real=real)
    if found.has(nan, oo, -oo, zoo) or found.is_finite is False:
        raise DeclarationError(f"{name}: the {what} {value} is not a finite number")
    if found.is_real is False:
        raise DeclarationError(f"{name}: the {what} {value} is not a real number")
    return found


def random_array(
    name: str,
    *,
    mean: Text | None = None,
    variance: Text | None = None,
    second_moment: Text | None = None,
    moments: Mapping[int, Text] | None = None,
    independent: bool = True,
    identical: bool = True,
    symmetric: bool = False,
    gaussian: bool = False,
    depends_on: Iterable["RandomArray"] = (),
    uncorrelated_with: Iterable["RandomArray"] = (),
) -> RandomArray:
    """Declare a random array; by default its entries are iid and independent of other arrays.

    `mean`, `variance` and `second_moment` (of one entry; three different things) and the raw
    `moments` {order: value} are numbers, expressions or small texts such as "2/m". What is not
    declared stays a symbol. `symmetric` speaks of the whole array (w and -w have one law),
    `depends_on` lists arrays on which it may depend in any way, `uncorrelated_with` those of them
    with which each entry has zero covariance.

    Raises DeclarationError if the declarations contradict one another.
    """
    if variance is not None and second_moment is not None:
        raise DeclarationError(f"{name}: give the variance or the second moment, not both")
    average = _value(mean, name, "mean", real=True) if mean is not None else None
    if symmetric:
        if average is not None and average != 0:
            raise DeclarationError(f"{name}: a symmetric array has mean 0, not {average}")
        average = Integer(0)
    scale = Tuple()
    for kind, value in (("variance", variance), ("second_moment", second_moment)):
        if value is not None:
            what = kind.replace("_", " ")
            read_value = _value(value, name, what)
            if read_value.is_negative:
                raise DeclarationError(f"{name}: the {what} {value} is negative")
            if (
                kind == "second_moment"
                and (read_value - (least := (average or Integer(0)) ** 2)).is_negative
            ):
                raise DeclarationError(
                    f"{name}: the second moment {value} is below the squared mean {least}"
                )
            scale = Tuple(Str(kind), read_value)
    if moments and any(order < 3 for order in moments):
        raise DeclarationError(f"{name}: moments of order 1 and 2 are the mean and the variance")
    flags = {
        Kind.INDEPENDENT_ENTRIES: independent,
        Kind.IDENTICAL: identical,
        Kind.SYMMETRIC: symmetric,
        Kind.GAUSSIAN: gaussian,
    }
    higher = Tuple(
        *(
            Tuple(Integer(k), _value(v, name, f"moment of order {k}", real=True))
            for k, v in sorted((moments or {}).items())
        )
    )
    tied = (*depends_on, *(apart := tuple(uncorrelated_with)))
    near = {a.name for a in apart}
    return RandomArray(
        Str(read(name).name if isinstance(read(name), Symbol) else _bad_name(name)),
        FREE if average is None else average,
        scale,
        higher,
        kinds_tuple(k for k, on in flags.items() if on),
        names_tuple({n for a in tied for n in {a.name} | a.depends}),
        names_tuple(near),
    )


def _bad_name(name: str) -> str:
    raise DeclarationError(f"{name!r} is not a name for a random array")


def random_variable(name: str, **declared: Any) -> Entry:
    """A single random variable: an entry without indices; options as for `random_array`."""
    return random_array(name, **declared)[()]


def dimensions(names: str) -> Any:
    """Positive integer symbols, one per name in "m n" or "m, n"; a single one by itself."""
    return _symbols(names, integer=True, positive=True)


def indices(names: str) -> Any:
    """Index symbols (positive integers), one per name."""
    return _symbols(names, integer=True, positive=True)


def positive(names: str) -> Any:
    """Positive real symbols, such as variances, one per name."""
    return _symbols(names, positive=True)


def _symbols(names: str, **assumptions: bool) -> Any:
    if not isinstance(names, str):
        raise TypeError(f"give the names in a text such as 'm n', not {names!r}")
    made = tuple(Symbol(_name(name), **assumptions) for name in names.replace(",", " ").split())
    if not made:
        raise DeclarationError("there is no name in an empty text")
    return made[0] if len(made) == 1 else made


def _name(text: str) -> str:
    try:
        found = read(text)
    except ReadingError:
        found = None
    if not isinstance(found, Symbol):
        raise DeclarationError(f"{text!r} is not the name of a symbol")
    return found.name
