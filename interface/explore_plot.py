"""The picture of blocks: second moments forward and of gradients backward, layer by layer."""

from collections.abc import Mapping
from io import BytesIO
from typing import TYPE_CHECKING, Any

import click

from varlaw.explored import Exploration
from varlaw.sweep_plot import METADATA, WIDE

if TYPE_CHECKING:
    from varlaw.checks.blocks.profile import Point, Profile

ERRORS = 2  # standard errors to each side
TITLES = "second moment", "second moment of the gradient"


def profiles(found: Mapping[str, Exploration], measure: bool, seed: int) -> "dict[str, Profile]":
    """The moments by layer of each variant, or a usage error."""
    from varlaw.checks.blocks.profile import measured, profile

    try:
        return {
            name: measured(one.block, one.state, seed=seed)
            if measure
            else profile(one.block, one.state)
            for name, one in found.items()
        }
    except ValueError as error:
        raise click.UsageError(f"a picture: {error}") from error


def picture(drawn: "Mapping[str, Profile]", suffix: str) -> bytes:
    """The picture as the content of a file with this suffix: a curve for each variant."""
    import matplotlib

    matplotlib.use("agg")
    matplotlib.rcParams["svg.hashsalt"] = "varlaw"
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for axes, title, side in zip(panels, TITLES, ("forward", "backward"), strict=True):
        values: list[float] = []
        for number, (name, one) in enumerate(drawn.items()):
            line = getattr(one, side)
            if line is None:
                continue
            axes.plot(range(len(line)), line, color=f"C{number}", linewidth=1.2, label=name)
            points = getattr(one, f"measured_{side}")
            _measured(axes, points, f"C{number}")
            values += [*line, *(point.estimate for point in points)]
        if values and min(values) > 0 and max(values) >= WIDE * min(values):
            axes.set_yscale("log")
        axes.set_title(title, fontsize="medium")
        axes.set_xlabel("blocks from the input")
        axes.xaxis.get_major_locator().set_params(integer=True)
        if not values:
            axes.text(0.5, 0.5, "not known", ha="center", transform=axes.transAxes)
    handles, labels = panels[0].get_legend_handles_labels()
    note = f"points: measured, with {ERRORS} standard errors"
    if any(one.measured_forward for one in drawn.values()):
        handles.append(matplotlib.lines.Line2D([], [], marker="o", linestyle="", color="grey"))
        labels.append(note)
    if len(labels) > 1:
        figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    made = BytesIO()
    form = suffix.lower()
    figure.savefig(made, format=form[1:], dpi=150, metadata=METADATA[form])
    pyplot.close(figure)
    return made.getvalue()


def _measured(axes: Any, points: "tuple[Point, ...]", colour: str) -> None:
    places = [point.place for point in points]
    bars = [ERRORS * point.error for point in points]
    style = {"fmt": "o", "markersize": 3, "elinewidth": 1, "capsize": 2}
    if points:
        axes.errorbar(places, [p.estimate for p in points], bars, color=colour, **style)
