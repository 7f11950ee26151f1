"""Sweeps as a table, as CSV or as JSON lines: `varlaw sweep`."""

import csv
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from varlaw.checks.grids import Value
from varlaw.checks.report import FittedOrder
from varlaw.checks.statistics.verdicts import Verdict
from varlaw.checks.sweep import Reading, Sweep
from varlaw.console import json_text
from varlaw.evidence import COLOURS, counts, error_rate, measured_text, plural
from varlaw.table import Cell, Table

SCHEMA = "varlaw.sweep"
VERSION = 1
SUFFIXES = {".csv": "csv", ".jsonl": "jsonl", ".json": "jsonl"}
MEASURED = "claimed", "estimate", "low", "high", "interval", "replicates", "sampler"


def form_of(path: str | None) -> str:
    """The format whose files end as the path does, else text."""
    return SUFFIXES.get(Path(path).suffix.lower(), "text") if path else "text"


def document(sweep: Sweep, form: str, width: int | None = None, colour: bool = False) -> str:
    """The sweep in a format, without a line break at its end."""
    if form == "text":
        return text(sweep, width, colour)
    return csv_text(sweep) if form == "csv" else json_lines(sweep)


def text(sweep: Sweep, width: int | None = None, colour: bool = False) -> str:
    """The law, a table with a line for each measurement, and a last line with counts."""
    titles = (*sweep.axes, "quantity", "weights", "claimed", "measured", "verdict", "error", "why")
    table = Table(titles, [_row(sweep, r) for r in sweep.readings], ("why", "error", "quantity"))
    measured = [reading.measured for reading in sweep.readings]
    verdicts = [found.verdict for found in measured]
    last = (
        f"{plural(len(verdicts), 'measurement')}: {counts(verdicts, Verdict)}; "
        f"tolerance {sweep.tolerance:g}, "
        f"{error_rate(sweep.error_rate, measured)}, seed {sweep.seed}"
    )
    rows = [table.text(width, colour)] if sweep.readings else []
    return "\n\n".join([f"{sweep.law}: {sweep.statement}", *rows, last])


def _row(sweep: Sweep, reading: Reading) -> tuple[Cell, ...]:
    found = reading.measured
    claimed = "" if found.claimed != found.claimed else f"{found.claimed:.6g}"
    return (
        *(Cell(str(reading.values.get(name, ""))) for name in sweep.axes),
        Cell(found.quantity),
        Cell(found.weights),
        Cell(claimed),
        Cell(measured_text(found)),
        Cell(str(found.verdict), COLOURS[found.verdict]),
        Cell(_error(found.fit)),
        Cell(found.why),
    )


def _error(fit: FittedOrder | None) -> str:
    """`b n^(-1), b in [0.698, 0.737]: order verified`, for a limit law."""
    if fit is None:
        return ""
    return f"b n^(-{fit.order:g}), b in [{fit.low:.3g}, {fit.high:.3g}]: order {fit.verdict}"


def json_lines(sweep: Sweep) -> str:
    """One line of JSON for each measurement, each of which can be read by itself."""
    return "\n".join(json_text(record(sweep, reading), None) for reading in sweep.readings)


def record(sweep: Sweep, reading: Reading) -> dict[str, Any]:
    """One measurement as a record."""
    found = reading.measured
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "law": sweep.law,
        "statement": sweep.statement,
        "at": {name: _number(value) for name, value in reading.values.items()},
        "quantity": found.quantity,
        "weights": found.weights,
        **{name: getattr(found, name) for name in MEASURED},
        "verdict": str(found.verdict),
        "why": found.why,
        "fit": _fit(found.fit),
        "tolerance": sweep.tolerance,
        "error_rate": sweep.error_rate,
        "seed": sweep.seed,
        "seconds": round(reading.seconds, 3),
    }


def _fit(fit: FittedOrder | None) -> Mapping[str, Any] | None:
    if fit is None:
        return None
    names = "estimate", "low", "high"
    pairs = zip(fit.sizes, fit.values, strict=True)
    return {
        "order": fit.order,
        "verdict": str(fit.verdict),
        "coefficient": {"low": fit.low, "high": fit.high},
        "values": [{"size": n, **dict(zip(names, value, strict=True))} for n, value in pairs],
    }


def csv_text(sweep: Sweep) -> str:
    """A line of titles and one for each measurement; what is not known is left empty."""
    made = StringIO()
    writer = csv.writer(made, lineterminator="\n")
    fitted = "order", "coefficient_low", "coefficient_high"
    head = "law", *sweep.axes, "quantity", "weights"
    writer.writerow([*head, *MEASURED, "verdict", "why", "seconds", *fitted])
    writer.writerows(_fields(sweep, reading) for reading in sweep.readings)
    return made.getvalue().removesuffix("\n")


def _fields(sweep: Sweep, reading: Reading) -> Iterator[Any]:
    found, fit = reading.measured, reading.measured.fit
    yield sweep.law
    yield from (_number(reading.values.get(name)) for name in sweep.axes)
    yield from (found.quantity, found.weights)
    numbers = (getattr(found, name) for name in MEASURED)
    yield from (None if number != number else number for number in numbers)
    yield from (found.verdict, found.why, round(reading.seconds, 3))
    yield from (fit.order, fit.low, fit.high) if fit else (None, None, None)


def _number(value: Value | None) -> int | float | None:
    return value if value is None or isinstance(value, int) else float(value)
