"""Moments of pairs of Gaussians on the command line: `varlaw kernel`."""

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import click

from varlaw.symbolic.gaussian.decimals import Enclosed
from varlaw.symbolic.gaussian.pair import PairMoment, pair_moment
from varlaw.symbolic.language_text import typed

Two = tuple[str, str]


@dataclass(frozen=True)
class Answer:
    """A moment with its digits, none where it depends on parameters, and how long it took."""

    moment: PairMoment
    enclosed: Enclosed | None
    seconds: float


def answer(f: str, g: str | None, rho: str, variances: Two, means: Two, digits: int) -> Answer:
    """The moment of two functions, or a usage error."""
    start = perf_counter()
    try:
        found = pair_moment(f, g, rho=rho, variances=variances, means=means)
        enclosed = None if found.symbolic else found.digits(digits)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    return Answer(found, enclosed, perf_counter() - start)


def text(answer: Answer) -> str:
    """The moment, its closed form and its digits, a line each."""
    found, enclosed = answer.moment, answer.enclosed
    laws = [
        f"z{k} ~ N({typed(mean)}, {typed(variance)})"
        for k, (mean, variance) in enumerate(zip(found.means, found.variances, strict=True), 1)
    ]
    lines = [f"{found.text} for {', '.join(laws)}, correlation {typed(found.rho)}"]
    lines[0] += found.note and f", {found.note}"
    if found.exact is not None:
        lines.append(f"  = {typed(found.exact)}")
    if enclosed is not None and (found.exact is None or not found.exact.is_Integer):
        lines.append(f"  {enclosed.line}")
    return "\n".join(lines)


def latex(answer: Answer) -> str:
    """The moment, its closed form and its digits as one formula."""
    from varlaw.symbolic.printers.mathematics import latex as written

    found, enclosed = answer.moment, answer.enclosed
    parts = [rf"\operatorname{{E}}\left[{written(found.product)}\right]"]
    if found.exact is not None:
        parts.append(f"= {written(found.exact)}")
    if enclosed is not None and (found.exact is None or not found.exact.is_Integer):
        parts.append(rf"\approx {enclosed.digits}")
    return " ".join(parts)


def record(answer: Answer) -> Mapping[str, Any]:
    """The moment as a record; `digits` and `radius` are empty where there are parameters."""
    found, enclosed = answer.moment, answer.enclosed
    return {
        "schema": "varlaw.kernel",
        "version": 1,
        "f": typed(found.f),
        "g": typed(found.g),
        "rho": typed(found.rho),
        "variances": [typed(v) for v in found.variances],
        "means": [typed(m) for m in found.means],
        "exact": None if found.exact is None else typed(found.exact),
        "digits": "" if enclosed is None else enclosed.digits,
        "radius": "" if enclosed is None else enclosed.radius,
        "method": found.method + (found.note and f", {found.note}"),
        "seconds": round(answer.seconds, 6),
    }
