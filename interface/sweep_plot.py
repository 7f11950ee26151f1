"""The picture of a sweep: the law's curve, what was measured with its bands, and their ratio."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from varlaw.checks.grids import Value
from varlaw.checks.sweep import Reading, Sweep

SUFFIXES = (".png", ".svg", ".pdf")
MARKERS = "osD^v"
MOST_NAMED = 8  # curves with a name each in the legend
SMALL = {"markersize": 4, "elinewidth": 1, "capsize": 2}
WIDE = 10  # a range of this ratio is wide
# Fixed where the libraries would write a date: the same sweep is the same file.
METADATA = {".png": None, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


def check(path: str) -> None:
    """A usage error for a picture that cannot be drawn."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise click.UsageError(f"a picture is a .png, .svg or .pdf file, and not {path!r}")
    if find_spec("matplotlib") is None:
        raise click.UsageError("a picture needs matplotlib: pip install 'varlaw[plot]'")


@dataclass(frozen=True, eq=False)
class Curve:
    """The readings with one law of weights, in the order of x; `name` is the rest of the grid."""

    name: str
    weights: str
    points: tuple[tuple[float, Reading], ...]

    def claimed(self) -> list[tuple[float, float]]:
        found = [(x, r.measured.claimed) for x, r in self.points]
        return [(x, value) for x, value in found if math.isfinite(value)]

    def measured(self) -> Iterator[tuple[float, float, float, float, float]]:
        """x, estimate, low, high, claimed."""
        for x, reading in self.points:
            m = reading.measured
            numbers = m.estimate, m.low, m.high
            if all(number is not None and math.isfinite(number) for number in numbers):
                yield (x, *map(float, numbers), m.claimed)  # type: ignore[arg-type, misc]

    def finite(self) -> Iterator[tuple[int, float, float]]:
        """Of a limit law whose size is x: sizes, and the interval at each."""
        for x, reading in self.points:
            fit = reading.measured.fit
            if fit is not None and fit.sizes[0] == x:
                yield from ((n, *ends) for n, (_, *ends) in zip(fit.sizes, fit.values, strict=True))


def picture(sweep: Sweep, suffix: str) -> bytes:
    """The picture as the content of a file with this suffix."""
    import matplotlib

    matplotlib.use("agg")
    matplotlib.rcParams["svg.hashsalt"] = "varlaw"
    from matplotlib import pyplot

    axis = _axis(sweep)
    quantities = list(dict.fromkeys(r.measured.quantity for r in sweep.readings))
    shape = (2, len(quantities))
    size = (1.2 + 5.2 * len(quantities), 6.4)
    heights = {"height_ratios": (3, 2)}
    figure, grid = pyplot.subplots(
        *shape, figsize=size, squeeze=False, sharex="col", layout="constrained", gridspec_kw=heights
    )
    for column, quantity in enumerate(quantities):
        curves = _curves(sweep, axis, quantity)
        _upper(grid[0][column], curves, quantity)
        _lower(grid[1][column], curves, sweep.tolerance)
        _x_axis(grid[1][column], axis, sweep.axes[axis], curves)
    handles = {h.get_label(): h for q in quantities for h in _legend(_curves(sweep, axis, q))}
    style = {"ncols": 2 + 2 * len(quantities), "fontsize": "small", "frameon": False}
    figure.legend(handles=list(handles.values()), loc="outside lower center", **style)
    figure.suptitle(f"{sweep.law}: {sweep.statement}"[:100], fontsize="medium")
    made = BytesIO()
    form = suffix.lower()
    figure.savefig(made, format=form[1:], dpi=150, metadata=METADATA[form])
    pyplot.close(figure)
    return made.getvalue()


def _axis(sweep: Sweep) -> str:
    """The parameter with most values."""
    return max(sweep.axes, key=lambda name: len(sweep.axes[name]))


def _curves(sweep: Sweep, axis: str, quantity: str) -> list[Curve]:
    found: dict[tuple[str, str], list[tuple[float, Reading]]] = {}
    for reading in sweep.readings:
        if reading.measured.quantity == quantity:
            rest = (f"{n} = {v}" for n, v in reading.values.items() if _varies(sweep, n, axis))
            x = float(reading.values.get(axis, sweep.axes[axis][0]))
            key = ", ".join(rest), reading.measured.weights
            found.setdefault(key, []).append((x, reading))
    return [
        Curve(*key, tuple(sorted(points, key=lambda point: point[0])))
        for key, points in found.items()
    ]


def _varies(sweep: Sweep, name: str, axis: str) -> bool:
    return name != axis and len(sweep.axes[name]) > 1


def _upper(axes: Any, curves: Sequence[Curve], quantity: str) -> None:
    """The law and what was measured."""
    colours, markers = _styles(curves)
    for curve in curves:
        colour, marker = colours[curve], markers[curve.weights]
        for size, low, high in curve.finite():
            axes.vlines(size, low, high, color=colour, linewidth=4, alpha=0.5)
        if line := curve.claimed():
            axes.plot(*zip(*line, strict=True), color="black", linewidth=1, zorder=1)
        if points := list(curve.measured()):
            x, estimate, low, high, _ = zip(*points, strict=True)
            axes.fill_between(x, low, high, color=colour, alpha=0.25, linewidth=0)
            axes.errorbar(x, estimate, _errors(points), fmt=marker, color=colour, **SMALL)
    values = [v for curve in curves for _, *vs, _ in curve.measured() for v in vs]
    values += [value for curve in curves for _, value in curve.claimed()]
    if values and min(values) > 0 and max(values) >= WIDE * min(values):
        axes.set_yscale("log")
    axes.set_ylabel(quantity)
    missing = sum(len(c.points) - len(list(c.measured())) for c in curves)
    if missing:
        axes.set_title(f"{missing} of the points not measured", fontsize="small", color="grey")


def _legend(curves: Sequence[Curve]) -> list[Any]:
    """The law, the other parameters as colours where they vary, the laws of the weights."""
    from matplotlib.lines import Line2D

    colours, markers = _styles(curves)
    names = {c.name: colours[c] for c in curves if c.name}
    shown = [Line2D([], [], color="black", linewidth=1, label="law")]
    if any(True for curve in curves for _ in curve.finite()):
        shown.append(Line2D([], [], color="grey", linewidth=4, alpha=0.5, label="at finite size"))
    if len(names) <= MOST_NAMED:
        shown += [Line2D([], [], color=c, linewidth=4, label=n) for n, c in names.items()]
    for weights, colour in {c.weights: colours[c] for c in curves}.items():
        style = {"marker": markers[weights], "color": "grey" if names else colour}
        shown.append(Line2D([], [], linestyle="", label=f"{weights} weights", **style))
    return shown


def _lower(axes: Any, curves: Sequence[Curve], tolerance: float) -> None:
    """What was measured over what is claimed, and the tolerance; differences where that is 0."""
    ratio = all(claimed != 0 for c in curves for *_, claimed in c.measured())
    colours, markers = _styles(curves)
    for curve in curves:
        points = [_compared(point, ratio) for point in curve.measured()]
        if points:
            x, estimate, low, high, _ = zip(*points, strict=True)
            axes.fill_between(x, low, high, color=colours[curve], alpha=0.25, linewidth=0)
            style = {"fmt": markers[curve.weights], "color": colours[curve], **SMALL}
            axes.errorbar(x, estimate, _errors(points), **style)
    axes.axhline(1 if ratio else 0, color="black", linewidth=1)
    if ratio:
        for edge in (1 - tolerance, 1 + tolerance):
            axes.axhline(edge, color="black", linewidth=0.8, linestyle=":")
    axes.set_ylabel(f"measured / law (dotted: ±{tolerance:g})" if ratio else "measured - law")


Five = tuple[float, float, float, float, float]


def _compared(point: Five, ratio: bool) -> Five:
    x, estimate, low, high, claimed = point
    if not ratio:
        return x, estimate - claimed, low - claimed, high - claimed, claimed
    low, high = sorted((low / claimed, high / claimed))
    return x, estimate / claimed, low, high, claimed


def _errors(points: Sequence[Five]) -> list[list[float]]:
    """How far the intervals reach below and above the estimates."""
    below = [max(estimate - low, 0) for _, estimate, low, _, _ in points]
    return [below, [max(high - estimate, 0) for _, estimate, _, high, _ in points]]


def _styles(curves: Sequence[Curve]) -> tuple[dict[Curve, Any], dict[str, str]]:
    """Colours by what the legend tells apart first, markers by the law of the weights."""
    from matplotlib import colormaps

    names = list(dict.fromkeys(curve.name for curve in curves))
    weights = sorted({curve.weights for curve in curves})
    markers = {w: MARKERS[k % len(MARKERS)] for k, w in enumerate(weights)}
    if len(names) > 1:
        scale = colormaps["viridis"].resampled(len(names) + 1)
        return {curve: scale(names.index(curve.name)) for curve in curves}, markers
    return {curve: f"C{weights.index(curve.weights)}" for curve in curves}, markers


def _x_axis(axes: Any, name: str, values: Sequence[Value], curves: Sequence[Curve]) -> None:
    """Its scale follows the grid: logarithmic where the grid is evener so, or wide."""
    axes.set_xlabel(name)
    numbers = sorted(map(float, values))
    if logarithmic(numbers):
        axes.set_xscale("log", base=2 if all(math.log2(n).is_integer() for n in numbers) else 10)
    if all(isinstance(value, int) for value in values) and len(values) <= MOST_NAMED:
        axes.set_xticks(numbers, [f"{n:g}" for n in numbers])
        axes.minorticks_off()


def logarithmic(numbers: Sequence[float]) -> bool:
    """Whether positive numbers in order are spaced more evenly by ratio than by difference."""
    if len(numbers) < 3:
        return len(numbers) == 2 and numbers[1] >= WIDE * numbers[0]
    steps = [b - a for a, b in pairwise(numbers)]
    ratios = [math.log(b / a) for a, b in pairwise(numbers)]
    return max(ratios) * min(steps) < max(steps) * min(ratios)
