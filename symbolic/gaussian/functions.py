"""Functions of one Gaussian variable, from texts and from expressions."""

from collections.abc import Iterable

from sympy import Expr, Symbol

from varlaw.symbolic.activation import Activation
from varlaw.symbolic.language import Text, free_names, read_function
from varlaw.symbolic.language_functions import at_number, function_named
from varlaw.symbolic.occurrences import contains


class NoMoment(ValueError):
    """A moment does not exist, or cannot be found; the message says why."""


def function_read(
    function: Text,
    variable: str | None = None,
    positive: Iterable[str] = (),
    notes: list[str] | None = None,
) -> tuple[Expr, Symbol]:
    """The function, and its variable as a real symbol.

    `notes` gets what else is to be known of it, such as that a derivative is the one almost
    everywhere. Raises ReadingError for a text, NoMoment for a variable that is not real.
    """
    if not isinstance(function, Expr):
        return read_function(str(function), variable, positive=positive, notes=notes)
    free = {symbol.name: symbol for symbol in function.free_symbols}
    wanted = variable or next((n for n in ("x", "z", *free) if n in free), "x")
    x = Symbol(wanted, real=True)
    if wanted not in free:
        return function, x
    if not free[wanted].is_commutative or any(
        declared is not None for declared in (free[wanted].is_negative, free[wanted].is_integer)
    ):
        raise NoMoment(f"{wanted} is declared to be something that no Gaussian variable is")
    return function.subs(free[wanted], x), x


def function_of(
    text: Text,
    variable: str | None = None,
    positive: Iterable[str] = (),
    notes: list[str] | None = None,
) -> tuple[Expr, Symbol]:
    """As `function_read`, the name of an activation alone (relu, gelu') being that of x."""
    name = text.rstrip("'") if isinstance(text, str) else ""
    if len(name) > 1 and name.isidentifier() and text != variable and free_names(name):
        text = f"{function_named(name).name}{str(text)[len(name) :]}({variable or 'x'})"
    f, x = function_read(text, variable, positive, notes)
    return at_numbers(f), x


def at_numbers(expression: Expr) -> Expr:
    """The expression with the activations of numbers written out."""
    if not contains(expression, Activation):
        return expression
    return expression.replace(lambda node: isinstance(node, Activation), at_number)
