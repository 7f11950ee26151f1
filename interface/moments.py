"""Gaussian moments on the command line: `varlaw moment`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from varlaw.symbolic.gaussian.decimals import Enclosed
from varlaw.symbolic.gaussian.moment import Moment, moment
from varlaw.symbolic.language_text import typed

if TYPE_CHECKING:
    from varlaw.checks.report import StepReport
    from varlaw.symbolic.derivation import Derivation


@dataclass(frozen=True)
class Answer:
    """A moment with its digits, none where it depends on parameters, and how long it took.

    `steps` is its derivation, if that was asked for, and `proofs` what the checkers say of it.
    """

    moment: Moment
    enclosed: Enclosed | None
    seconds: float
    steps: "Derivation | None" = None
    proofs: "tuple[StepReport, ...]" = ()


def answer(
    function: str,
    mean: str,
    variance: str,
    digits: int,
    positive: Sequence[str],
    steps: bool,
    **options: Any,
) -> Answer:
    """The moment of a function, or a usage error."""
    start = perf_counter()
    try:
        found = moment(function, mean, variance, positive=positive, **options)
        enclosed = None if found.symbolic else found.digits(digits)
        seconds = perf_counter() - start
        return Answer(found, enclosed, seconds, *(_steps(found) if steps else ()))
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _steps(found: Moment) -> "tuple[Derivation, tuple[StepReport, ...]]":
    from varlaw.checks.steps.proofs import prove
    from varlaw.symbolic.gaussian.steps import steps_of

    derivation = steps_of(found)
    return derivation, prove(derivation)


def text(answer: Answer, width: int = 100) -> str:
    """The moment, its closed form or its derivation, and its digits."""
    found, enclosed = answer.moment, answer.enclosed
    law = f"{typed(found.variable)} ~ N({typed(found.mean)}, {typed(found.variance)})"
    lines = [f"{found.text} for {law}{found.note and f', {found.note}'}"]
    if answer.steps is not None:
        lines += ["", answer.steps.to_text(width=width).rstrip(), "", steps_told(answer.proofs)]
    elif found.exact is not None:
        lines.append(f"  = {typed(found.exact)}")
    if enclosed is not None and (found.exact is None or not found.exact.is_Integer):
        lines.append(f"  {enclosed.line}")
    return "\n".join(lines)


def steps_told(proofs: "tuple[StepReport, ...]") -> str:
    """How many steps there are, and what their checkers say."""
    outcomes = Counter(str(report.outcome) for report in proofs)
    said = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items())
    return f"{len(proofs)} step{'s' * (len(proofs) != 1)}: {said}"


def latex(answer: Answer) -> str:
    """The moment, its closed form and its digits as one formula; or its derivation."""
    if answer.steps is not None:
        return answer.steps.to_latex(standalone=False).rstrip()
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
    written: dict[str, Any] = {
        "schema": "varlaw.moment",
        "version": 1,
        "expression": found.expression,
        "exact": None if found.exact is None else typed(found.exact),
        "digits": "" if enclosed is None else enclosed.digits,
        "radius": "" if enclosed is None else enclosed.radius,
        "method": found.method + (found.note and f", {found.note}"),
        "seconds": round(answer.seconds, 6),
    }
    if answer.steps is not None:
        steps = answer.steps.to_json()["steps"]
        written["steps"] = [
            step | {"proof": str(report.outcome), "why": report.why}
            for step, report in zip(steps, answer.proofs, strict=True)
        ]
    return written
