"""Initialisations of libraries on the command line: `varlaw recipes`."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

import click
from sympy import Expr, Rational, sqrt

from varlaw.derivations.recipes import SHAPE, Recipe, UnknownRecipe, at, chosen
from varlaw.symbolic.language import ReadingError, read
from varlaw.symbolic.language_text import typed
from varlaw.symbolic.names import suggestion
from varlaw.table import Cell, Table

Sizes = Mapping[str, Expr]
LONG = 24  # characters of a factor beyond which its digits are shown instead
SMALL = 12  # denominators of fractions that are shown as such
FIGURES = 6
WIDTH = 100


def asked(name: str | None, shape: Mapping[str, str]) -> tuple[tuple[Recipe, ...], Sizes]:
    """The recipes of a name at a shape, or a usage error."""
    try:
        found = chosen(name)
    except UnknownRecipe as error:
        raise click.UsageError(str(error)) from error
    known = {used for recipe in found for used in recipe.names}
    sizes = {}
    for key, value in shape.items():
        if key not in known:
            names = ", ".join(key for key in SHAPE if key in known) or "none"
            what = f"no name {key!r}{suggestion(key, known)}"
            raise click.UsageError(f"'--shape': {what}; these recipes have {names}")
        sizes[key] = _size(key, value)
    return found, sizes


def _size(name: str, value: str) -> Expr:
    try:
        size = read(value)
    except ReadingError as error:
        raise click.UsageError(f"'--shape': {name}: {error}") from error
    if not (isinstance(size, Rational) and size.q == 1 and size > 0):
        raise click.UsageError(f"'--shape': {name} is a positive integer, not {value}")
    return size


def text(recipes: Sequence[Recipe], sizes: Sizes, width: int | None, detailed: bool = False) -> str:
    """A line for each recipe, what the names in it mean, and with `detailed` notes and sources."""
    titles = ("recipe", "parameter", "distribution", "variance", "E[y^2]/E[x^2]", "std", "laws")
    rows = [tuple(map(Cell, _cells(recipe, sizes))) for recipe in recipes]
    table = Table(titles, rows, movable=("laws", "distribution")).text(width)
    used = {name for recipe in recipes for name in recipe.names} - sizes.keys()
    lines = [table, "", *(f"{key}: {SHAPE[key]}" for key in SHAPE if key in used)]
    if detailed:
        lines += [*_notes(recipes), "", *dict.fromkeys(f"source {r.source}" for r in recipes)]
    return "\n".join(lines).rstrip()


def _cells(recipe: Recipe, sizes: Sizes) -> tuple[str, ...]:
    """The columns; the std where the variance is a number."""
    variance, forward = at(recipe.variance, sizes), recipe.forward
    return (
        recipe.name,
        recipe.parameter,
        described(recipe, sizes),
        shown(variance),
        "" if forward is None else shown(at(forward, sizes)),
        "" if variance.free_symbols else shown(sqrt(variance)),
        ", ".join(recipe.laws),
    )


def described(recipe: Recipe, sizes: Sizes) -> str:
    """The distribution in words: `uniform, bound 1/sqrt(m)`."""
    kind = type(recipe.distribution).__name__.lower()
    given = recipe.distribution.parameters
    parts = [f"{name} {shown(at(value, sizes))}" for name, value in given.items()]
    return f"{kind}, {', '.join(parts)}"


def shown(value: Expr) -> str:
    """An expression as text; numbers are given by their digits, small fractions as they are."""
    number, rest = value.as_independent(*value.free_symbols, as_Add=False)
    small = number.is_Rational and number.q <= SMALL
    if not value.free_symbols:
        return typed(value) if small else f"{float(value.evalf()):.{FIGURES}g}"
    if small or len(typed(number)) <= LONG:
        return typed(value)
    return f"{float(number.evalf()):#.{FIGURES}g}*{typed(rest)}".replace("*1/", "/")


def _notes(recipes: Sequence[Recipe]) -> list[str]:
    lines = []
    for recipe in recipes:
        if recipe.note:
            said = f"{recipe.name}, {recipe.parameter}: {recipe.note}"
            lines += wrap(said, WIDTH, subsequent_indent="  ")
    return ["", *lines] if lines else []


def record(recipes: Sequence[Recipe], sizes: Sizes) -> Mapping[str, Any]:
    """The contract of `varlaw recipes --json`."""
    return {
        "schema": "varlaw.recipes",
        "version": 1,
        "shape": {name: int(size) for name, size in sizes.items()},
        "recipes": [_record(recipe, sizes) for recipe in recipes],
    }


def _record(recipe: Recipe, sizes: Sizes) -> Mapping[str, Any]:
    variance, forward = recipe.variance, recipe.forward
    given = recipe.distribution.parameters
    return {
        "name": recipe.name,
        "parameter": recipe.parameter,
        "distribution": type(recipe.distribution).__name__.lower(),
        "parameters": [{"name": name, "value": typed(value)} for name, value in given.items()],
        "variance": typed(variance),
        "forward": None if forward is None else typed(forward),
        "at_shape": {
            "variance": _number(at(variance, sizes)),
            "std": _number(sqrt(at(variance, sizes))),
            "forward": None if forward is None else _number(at(forward, sizes)),
        },
        "laws": list(recipe.laws),
        "source": recipe.source,
        "note": recipe.note,
    }


def _number(value: Expr) -> float | None:
    return None if value.free_symbols else float(value.evalf())
