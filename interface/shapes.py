"""Shaped activations on the command line: `varlaw gain --shape`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from time import perf_counter
from typing import Any

import click

from varlaw.symbolic.gains.gain import Value, gain
from varlaw.symbolic.gains.network import Residual
from varlaw.symbolic.gains.shape import Shape
from varlaw.symbolic.gains.shaped import shapes
from varlaw.symbolic.language import read
from varlaw.symbolic.language_text import typed

WAYS = {"dks": "Deep Kernel Shaping", "tat": "tailored activation transformation"}
TARGETS = {"dks": "3/2", "tat": "3/10"}  # as their sources have it
OF_SLOPE = "9/10"  # C_f(0) for leaky ReLU
LEAKY = ("leaky_relu", "prelu")
WIDTH, LONG = 80, 60


@dataclass(frozen=True)
class Answer:
    """The shapes of an activation for a network of some depth."""

    way: str
    name: str
    function: str
    variable: str
    target: str
    depth: int | Residual
    shapes: Sequence[Shape]
    seconds: float


def answer(
    function: str, way: str, target: str | None, depth: int | Residual, digits: int
) -> Answer:
    """The answer for a name or an expression, or a usage error."""
    start = perf_counter()
    try:
        gains = gain(function)
        of_slope = way == "tat" and gains.name in LEAKY
        wanted = read(target or (OF_SLOPE if of_slope else TARGETS[way]))
        found = shapes(gains, way, wanted, depth, digits)
        for shape in found:
            for value in shape.parameters.values():
                value.digits(digits)  # what cannot be proved is said at once
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    x, f = typed(gains.variable), typed(gains.function)
    seconds = perf_counter() - start
    return Answer(way, gains.name, f, x, typed(wanted), depth, found, seconds)


def text(answer: Answer, digits: int) -> str:
    """The parameters of each shape, with the conditions that they meet."""
    layers = "one layer" if answer.depth == 1 else f"{answer.depth} layers"
    if isinstance(answer.depth, Residual):
        layers = f"{sum(answer.depth.groups)} residual blocks of {answer.depth.branch} layers"
    x = answer.variable
    lines = [
        f"{WAYS[answer.way]} of f({x}) = {answer.function} for {layers}",
        f"h({x}) = g (f(a {x} + b) + d), pre-activations of second moment 1",
    ]
    for shape in answer.shapes:
        lines += ["", *wrap(", ".join(shape.conditions), WIDTH)]
        for name, value in {**shape.parameters, **shape.others}.items():
            exact = "" if value.exact is None else typed(value.exact)
            shown = exact if exact.lstrip("-").isdigit() else _digits(value, digits)
            closed = f" = {exact}" if exact != shown and 0 < len(exact) < LONG else ""
            lines.append(f"  {name:14}  {shown}{closed}")
        lines += wrap(shape.note, WIDTH, initial_indent="  ", subsequent_indent="    ")
    return "\n".join(lines)


def record(answer: Answer, digits: int) -> Mapping[str, Any]:
    """The contract of `varlaw gain --shape --json`."""
    return {
        "schema": "varlaw.shape",
        "version": 1,
        "method": answer.way,
        "name": answer.name,
        "expression": answer.function,
        "target": answer.target,
        **_network(answer.depth),
        "shapes": [
            {
                "conditions": list(shape.conditions),
                "parameters": _numbers(shape.parameters, digits),
                "others": _numbers(shape.others, digits),
                "note": shape.note,
            }
            for shape in answer.shapes
        ],
        "seconds": round(answer.seconds, 6),
    }


def _network(depth: int | Residual) -> Mapping[str, Any]:
    if isinstance(depth, int):
        return {"depth": depth}
    return {"blocks": depth.groups, "branch": depth.branch, "shortcut_squared": typed(depth.kept)}


def residual(blocks: str, branch: int, shortcut: str) -> Residual:
    """A residual network from its options, or a usage error."""
    groups = blocks.split(",")
    if not all(part.strip().isdigit() and 0 < int(part) <= 1000 for part in groups):
        raise click.UsageError("--blocks is such as 3,4,23,3: residual blocks by group")
    try:
        weight = read(shortcut)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if not weight.is_Rational or not 0 < weight < 1:
        raise click.UsageError("--shortcut is the weight of the shortcut, between 0 and 1")
    return Residual(tuple(map(int, groups)), branch, weight**2)


def _numbers(values: Mapping[str, Value], digits: int) -> Mapping[str, Any]:
    numbers = {}
    for name, value in values.items():
        found = value.digits(digits)
        assert found is not None, "shapes have no parameters without values"
        numbers[name.replace(" ", "_")] = {
            "exact": None if value.exact is None else typed(value.exact),
            "digits": found.digits,
            "radius": found.radius,
        }
    return numbers


def _digits(value: Value, digits: int) -> str:
    found = value.digits(digits)
    return "" if found is None else found.digits
