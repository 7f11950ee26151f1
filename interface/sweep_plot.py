"""The picture of a sweep: the law's curve, what was measured with its bands, and their ratio."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import click

from varlaw.checks.grids import Value
from varlaw.checks.sweep import Reading, Sweep

SUFFIXES = (".png", ".svg", ".pdf")
MARKERS = "osD^v"
MOST_NAMED = 8  # curves with a name each in the legend
WIDE = 10  # a range of this ratio is wide
# Fixed where the libraries would write a date: the same sweep is the same file.
METADATA = {".png": None, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


Five = tuple[float, float, float, float, float]  # x, estimate, low, high, claimed


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

    def measured(self) -> Iterator[Five]:
        """The points that were measured."""
        for x, reading in self.points:
            m = reading.measured
            if m.estimate is None or m.low is None or m.high is None:
                continue
            if all(map(math.isfinite, (m.estimate, m.low, m.high))):
                yield x, m.estimate, m.low, m.high, m.claimed

    def finite(self) -> Iterator[tuple[int, float, float]]:
        """Of a limit law whose size is x: sizes, and the interval at each."""
        for x, reading in self.points:
            fit = reading.measured.fit
            if fit is not None and fit.sizes[0] == x:
                ends = zip(fit.sizes, fit.values, strict=True)
                yield from ((size, low, high) for size, (_, low, high) in ends)


def picture(sweep: Sweep, suffix: str) -> bytes:
    """The picture as the content of a file with this suffix."""
    import matplotlib

    matplotlib.use("agg")
    matplotlib.rcParams["svg.hashsalt"] = "varlaw"
    from matplotlib import pyplot

    axis = _axis(sweep)
    quantities = list(dict.fromkeys(r.measured.quantity for r in sweep.readings))
    drawn = [_curves(sweep, axis, quantity) for quantity in quantities]
    styles = Styles(tuple(chain(*drawn)))
    shape = (2, len(quantities))
    size = (1.2 + 5.2 * len(quantities), 6.4)
    heights = {"height_ratios": (3, 2)}
    figure, grid = pyplot.subplots(
        *shape, figsize=size, squeeze=False, sharex="col", layout="constrained", gridspec_kw=heights
    )
    for column, curves in enumerate(drawn):
        _upper(grid[0][column], curves, quantities[column], styles)
        _lower(grid[1][column], curves, sweep.tolerance, styles)
        _x_axis(grid[1][column], axis, sweep.axes[axis])
    figure.legend(
        handles=_legend(styles),
        loc="outside lower center",
        ncols=2 + 2 * len(quantities),
        fontsize="small",
        frameon=False,
    )
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


class Styles:
    """How curves are told apart: by colour and marker, the same in all panels."""

    def __init__(self, curves: Sequence[Curve]) -> None:
        self.curves = curves
        self.names = list(dict.fromkeys(curve.name for curve in curves if curve.name))
        self.weights = list(dict.fromkeys(curve.weights for curve in curves))

    def colour(self, name: str, weights: str) -> Any:
        """Of the other parameters where they vary, else of the law of the weights."""
        from matplotlib import colormaps

        if self.names:
            share = self.names.index(name) / len(self.names) if name else 0.0
            return colormaps["viridis"](share)
        return f"C{self.weights.index(weights)}"

    def marker(self, weights: str) -> str:
        return MARKERS[self.weights.index(weights) % len(MARKERS)]


def _draw(axes: Any, points: Sequence[Five], curve: Curve, styles: Styles) -> None:
    """Estimates with their intervals, and a band through these."""
    if not points:
        return
    x, estimate, low, high, _ = zip(*points, strict=True)
    colour = styles.colour(curve.name, curve.weights)
    axes.fill_between(x, low, high, color=colour, alpha=0.25, linewidth=0)
    below = [max(e - end, 0) for e, end in zip(estimate, low, strict=True)]
    above = [max(end - e, 0) for e, end in zip(estimate, high, strict=True)]
    style = {"fmt": styles.marker(curve.weights), "markersize": 4, "elinewidth": 1, "capsize": 2}
    axes.errorbar(x, estimate, [below, above], color=colour, **style)


def _upper(axes: Any, curves: Sequence[Curve], quantity: str, styles: Styles) -> None:
    """The law and what was measured."""
    for curve in curves:
        colour = styles.colour(curve.name, curve.weights)
        for size, low, high in curve.finite():
            axes.vlines(size, low, high, color=colour, linewidth=4, alpha=0.5)
        if line := curve.claimed():
            axes.plot(*zip(*line, strict=True), color="black", linewidth=1, zorder=1)
        _draw(axes, list(curve.measured()), curve, styles)
    values = [v for curve in curves for _, *found, _ in curve.measured() for v in found]
    values += [v for curve in curves for _, v in curve.claimed()]
    if values and min(values) > 0 and max(values) >= WIDE * min(values):
        axes.set_yscale("log")
    axes.set_ylabel(quantity)
    missing = sum(len(c.points) - len(list(c.measured())) for c in curves)
    if missing:
        axes.set_title(f"{missing} of the points not measured", fontsize="small", color="grey")


def _legend(styles: Styles) -> list[Any]:
    """The law, the other parameters as colours where they vary, the laws of the weights."""
    from matplotlib.lines import Line2D

    def entry(label: str, **style: Any) -> Line2D:
        return Line2D([], [], label=label, **style)

    shown = [entry("law", color="black", linewidth=1)]
    if any(True for curve in styles.curves for _ in curve.finite()):
        shown.append(entry("at finite size", color="grey", linewidth=4, alpha=0.5))
    if len(styles.names) <= MOST_NAMED:
        shown += [entry(n, color=styles.colour(n, ""), linewidth=4) for n in styles.names]
    for weights in styles.weights:
        colour = "grey" if styles.names else styles.colour("", weights)
        marker = styles.marker(weights)
        shown.append(entry(f"{weights} weights", linestyle="", marker=marker, color=colour))
    return shown


def _lower(axes: Any, curves: Sequence[Curve], tolerance: float, styles: Styles) -> None:
    """What was measured over what is claimed, and the tolerance; differences where that is 0."""
    ratio = all(claimed != 0 for c in curves for *_, claimed in c.measured())
    for curve in curves:
        _draw(axes, [_compared(point, ratio) for point in curve.measured()], curve, styles)
    axes.axhline(1 if ratio else 0, color="black", linewidth=1)
    if ratio:
        for edge in (1 - tolerance, 1 + tolerance):
            axes.axhline(edge, color="black", linewidth=0.8, linestyle=":")
    axes.set_ylabel(f"measured / law (dotted: ±{tolerance:g})" if ratio else "measured - law")


def _compared(point: Five, ratio: bool) -> Five:
    x, estimate, low, high, claimed = point
    if not ratio:
        return x, estimate - claimed, low - claimed, high - claimed, claimed
    low, high = sorted((low / claimed, high / claimed))
    return x, estimate / claimed, low, high, claimed


def _x_axis(axes: Any, name: str, values: Sequence[Value]) -> None:
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
