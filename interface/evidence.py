"""The evidence as a table: `varlaw.verify(...)` in Python, `varlaw verify` on the command line."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from html import escape
from typing import TYPE_CHECKING, Any

from varlaw.checks.report import AssumptionReport, LawReport, Measurement, Proof, Report, worst
from varlaw.checks.statistics.verdicts import BUDGET, Verdict
from varlaw.console import Exit
from varlaw.table import Cell, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from concurrent.futures import Executor

    from varlaw.checks.compiled.backends import Backend
    from varlaw.symbolic.language import Text

LISTED = 12  # laws without a compiled experiment that are named

COLOURS = {
    Verdict.VERIFIED: "green",
    Verdict.LOOSE: "yellow",
    Verdict.REFUTED: "red",
    Verdict.UNDECIDED: "magenta",
}


@dataclass(frozen=True, repr=False)
class Evidence(Report):
    """A report that shows itself as the table of `varlaw verify`."""

    def __repr__(self) -> str:
        return text(self)

    def _repr_html_(self) -> str:
        table = _table(self.laws)
        head = "".join(f"<th>{escape(title)}</th>" for title in table.titles)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(cell.text)}</td>" for cell in row) + "</tr>"
            for row in table.rows
        )
        below = "<br>".join(
            escape(line) for line in (*problems(self), *not_compiled(self), summary(self))
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table><p>{below}</p>"


def verify(
    *names: "str | Sequence[str]",
    tolerance: float = 0.01,
    error_rate: float = 1e-6,
    seed: int = 0,
    budget: int = BUDGET,
    jobs: int | None = None,
    steps_only: bool = False,
    overrides: "Mapping[str, Text] | None" = None,
    sufficient: bool = True,
    executor: "Executor | None" = None,
    resume: bool = False,
    backend: "Backend | None" = None,
    progress: "Callable[[str, int, int], None] | None" = None,
    on_law: "Callable[[LawReport], None] | None" = None,
) -> Evidence:
    """All the evidence on the laws called `names` (or in a list), or on the whole catalogue.

    Every step is proved, every assumption audited, every law measured: within the relative
    `tolerance`, at one `error_rate` for the whole run. `overrides` fixes symbols by name, such as
    {"m": 512}; `steps_only` leaves the experiments out; `sufficient` looks for minimal sets of
    assumptions. A measurement takes at most `budget` random numbers. `jobs` is the number of
    processes, unless an `executor` of concurrent.futures does the work. `resume` goes on with such
    a run that was cut off: what is finished is journalled. With a `backend`
    (varlaw.checks.compiled.backends.Backend) laws are measured a second time, by experiments
    compiled from their derivations, on that array library and device.
    `on_law` is called with each law's report as it is finished, `progress` with what is being
    done, how much of it is done, and how much there is. Raises UnknownLaw, or ValueError for an
    option out of range.
    """
    from varlaw.checks import verify as engine

    wanted = [name for given in names for name in ([given] if isinstance(given, str) else given)]
    if names and not wanted:
        raise ValueError("the list of laws is empty")
    report = engine.verify(
        tuple(wanted) or None,
        tolerance=tolerance,
        error_rate=error_rate,
        seed=seed,
        budget=budget,
        jobs=jobs,
        steps_only=steps_only,
        overrides=overrides or {},
        sufficient=sufficient,
        executor=executor,
        resume=resume,
        backend=backend,
        progress=progress,
        on_law=on_law,
    )
    return Evidence(**{field.name: getattr(report, field.name) for field in fields(Report)})


def text(
    report: Report, width: int | None = None, verbose: bool = False, colour: bool = False
) -> str:
    """The report for a terminal of some width; without a width each law is one line."""
    parts = [_table(report.laws).text(width, colour)] if report.laws else []
    if found := list(problems(report)):
        parts.append("\n".join(["problems", *(f"  {line}" for line in found)]))
    if found := list(not_compiled(report, verbose)):
        parts.append("\n".join(["not measured on the backend", *(f"  {line}" for line in found)]))
    if verbose:
        parts += ["\n".join(_details(law)) for law in report.laws]
    return "\n\n".join([*parts, summary(report)])


def _table(laws: Sequence[LawReport]) -> Table:
    evidence = "steps", "assumptions", "quantity", "measured", "claimed"
    titles = ("law", *evidence, "verdict", "statement")
    movable = "statement", "assumptions", "quantity", "steps"
    return Table(titles, [_row(law) for law in laws], movable)


def _row(law: LawReport) -> tuple[Cell, ...]:
    shown = shown_measurement(law)
    return (
        Cell(law.name),
        Cell(_steps(law)),
        Cell(_assumptions(law)),
        Cell(shown.quantity if shown else ""),
        Cell(measured_text(shown) if shown else "proved, not measured" if law.unmeasured else ""),
        Cell(f"{shown.claimed:.6g}" if shown and math.isfinite(shown.claimed) else ""),
        Cell(str(law.verdict), COLOURS[law.verdict]),
        Cell(law.statement),
    )


def shown_measurement(law: LawReport) -> Measurement | None:
    """The measurement that stands for a law in its line: the first with the worst verdict."""
    decisive = worst(m.verdict for m in law.measured)
    return next((m for m in law.measured if m.verdict is decisive), None)


def _steps(law: LawReport) -> str:
    outcomes = [step.outcome for step in law.steps if step.outcome is not Proof.PROVED]
    others = f" ({counts(outcomes, Proof)})" if outcomes else ""
    return f"{law.count(Proof.PROVED)}/{len(law.steps)}{others}"


def _assumptions(law: LawReport) -> str:
    audited = law.assumptions
    return f"{sum(a.needed is True for a in audited)}/{len(audited)} needed" if audited else ""


def measured_text(measured: Measurement) -> str:
    """`2.0003 [1.9979, 2.0031]`, with two digits of the interval's half-width, rounded outwards."""
    numbers = measured.low, measured.estimate, measured.high
    if any(number is None for number in numbers):
        return ""
    floats = [float(number) for number in numbers if number is not None]
    if not all(map(math.isfinite, floats)):
        low, value, high = (f"{number:.6g}" for number in floats)
        return f"{value} [{low}, {high}]"
    exact = [Decimal(repr(number)) for number in floats]
    power = max(exact, key=abs).adjusted() if any(exact) else 0
    if -4 <= power < 6:
        power = 0
    half = (exact[2] - exact[0]) / 2
    places = min(max(0, 1 - half.adjusted() + power), 12) if half else 6
    unit = Decimal(1).scaleb(-places)
    roundings = ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_CEILING
    suffix = f"e{power:+03d}" if power else ""
    low, value, high = (
        f"{number.scaleb(-power).quantize(unit, rounding):f}{suffix}"
        for number, rounding in zip(exact, roundings, strict=True)
    )
    return f"{value} [{low}, {high}]"


def problems(report: Report) -> Iterator[str]:
    """One line for everything that keeps a law from being verified."""
    return (f"{law.name}: {line}" for law in report.laws for line in law.problems)


def not_compiled(report: Report, verbose: bool = False) -> list[str]:
    """Why laws have no compiled experiment, one line each; a long list is counted instead."""
    lines = [f"{law.name}: {law.not_compiled}" for law in report.laws if law.not_compiled]
    if verbose or len(lines) <= LISTED:
        return lines
    return [f"{len(lines)} of {plural(len(report.laws), 'law')}; --verbose says why"]


def _told(measured: Measurement) -> str:
    value = measured_text(measured) or "nothing"
    why = f": {measured.why}" if measured.why else ""
    claimed = f"claimed {measured.claimed:.6g}, " if math.isfinite(measured.claimed) else ""
    return (
        f"{measured.quantity} with {measured.weights} weights: measured {value}, "
        f"{claimed}{measured.verdict}{why}"
    )


def _details(law: LawReport) -> Iterator[str]:
    """What lies behind a law's line: the audit, every measurement, the neighbours refuted."""
    yield f"{law.name}: {law.statement}"
    for number, step in enumerate(law.steps, 1):
        why = f": {step.why}" if step.why else ""
        yield f"  step {number} ({step.rule}) {step.outcome}{why}"
    yield from (f"  {answered(assumption)}" for assumption in law.assumptions)
    for group in law.sufficient:
        yield f"  sufficient: {'; '.join(group) or 'nothing'}"
    for measured in law.measured:
        how = f"{measured.interval} interval, {measured.replicates} replicates"
        how += f", {measured.sampler} sampler, {measured.backend}; numbers: {measured.streams}"
        yield f"  {_told(measured)} ({how})"
        for name, value, verdict in measured.neighbours:
            yield f"    against {name} = {value:.6g}: {verdict}"


def answered(assumption: AssumptionReport) -> str:
    """The audit's answer for one assumption, in words."""
    answer = {
        "law": "needed",
        "derivation": "needed by this derivation only",
        "none": "not needed",
        "not representable": "not representable in a finite model",
    }[assumption.scope]
    example = f"; without it: {assumption.counterexample}" if assumption.counterexample else ""
    return f"{assumption.name}: {answer}{example}"


def summary(report: Report) -> str:
    """The last line: how many laws of each verdict, how the steps fared, and the error rate.

    Verdicts that rest on asymptotic intervals are counted: the error rate does not cover them.
    """
    steps = [step.outcome for law in report.laws for step in law.steps]
    verdicts = counts([law.verdict for law in report.laws], Verdict)
    measured = [found for law in report.laws for found in law.measured]
    return (
        f"{plural(len(report.laws), 'law')}: {verdicts}; "
        f"{plural(len(steps), 'step')}: {counts(steps, Proof)}; "
        f"{error_rate(report.error_rate, measured)}, seed {report.seed}"
    )


def error_rate(rate: float, measured: Iterable[Measurement]) -> str:
    """The error rate in words, with the number of verdicts that it does not cover."""
    doubtful = sum(found.asymptotic for found in measured)
    without = f", not of {plural(doubtful, 'asymptotic verdict')}" if doubtful else ""
    return f"error rate {rate:g}{without}"


def exit_code(verdict: Verdict) -> Exit:
    """What a command exits with after this verdict."""
    codes = {Verdict.REFUTED: Exit.REFUTED, Verdict.UNDECIDED: Exit.UNDECIDED}
    return codes.get(verdict, Exit.WELL)


def plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def counts(found: Sequence[Any], kinds: Any) -> str:
    return ", ".join(f"{found.count(kind)} {kind}" for kind in kinds if kind in found) or "none"
