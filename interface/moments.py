"""Gaussian moments on the command line: `varlaw moment`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import click

from varlaw.symbolic.gaussian.decimals import Enclosed
from varlaw.symbolic.gaussian.moment import Moment, moment
from varlaw.symbolic.language_text import typed


@dataclass(frozen=True)
class Answer:
    """A moment with its digits, none where it depends on parameters, and how long it took."""

    moment: Moment
    enclosed: Enclosed | None
    seconds: float


def answer(
    function: str, mean: str, variance: str, digits: int, positive: Sequence[str], **options: Any
) -> Answer:
    """The moment of a function, or a usage error."""
    start = perf_counter()
    try:
        found = moment(function, mean, variance, positive=positive, **options)
        enclosed = None if found.symbolic else found.digits(digits)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    return Answer(found, enclosed, perf_counter() - start)


def text(answer: Answer) -> str:
    """The moment, its closed form and its digits, a line each."""
    found, enclosed = answer.moment, answer.enclosed
    law = f"{typed(found.variable)} ~ N({typed(found.mean)}, {typed(found.variance)})"
    lines = [f"{found.text} for {law}{found.note and f', {found.note}'}"]
    if found.exact is not None:
        lines.append(f"  = {typed(found.exact)}")
    if enclosed is not None and (found.exact is None or not found.exact.is_Integer):
        error = "" if enclosed.radius == "0" else f" +- {enclosed.radius}"
        lines.append(f"  = {enclosed.digits}{error}")
    return "\n".join(lines)


def latex(answer: Answer) -> str:
    """The moment, its closed form and its digits as one formula."""
    from varlaw.symbolic.printers.mathematics import SIGNS
    from varlaw.symbolic.printers.mathematics import latex as written

    found, enclosed = answer.moment, answer.enclosed
    said = ", ".join(
        " ".join(SIGNS.get(p, p) if isinstance(p, str) else written(p) for p in chain)
        for chain in found.conditions
    )
    inside = rf"{written(found.function)} \mid {said}" if said else written(found.function)
    parts = [rf"\operatorname{{E}}\left[{inside}\right]"]
    if found.exact is not None:
        parts.append(f"= {written(found.exact)}")
    if enclosed is not None and (found.exact is None or not found.exact.is_Integer):
        parts.append(rf"\approx {enclosed.latex}")
    return " ".join(parts)


def record(answer: Answer) -> Mapping[str, Any]:
    """The moment as a record; `digits` and `radius` are empty where there are parameters."""
    found, enclosed = answer.moment, answer.enclosed
    return {
        "schema": "varlaw.moment",
        "version": 1,
        "expression": found.expression,
        "exact": None if found.exact is None else typed(found.exact),
        "digits": "" if enclosed is None else enclosed.digits,
        "radius": "" if enclosed is None else enclosed.radius,
        "method": found.method + (found.note and f", {found.note}"),
        "seconds": round(answer.seconds, 6),
    }
