"""Networks layer by layer on the command line: `varlaw explore --layers`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from varlaw.console import say, say_json
from varlaw.exploration import source
from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.layerwise import Layer, layers
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.language import read
from varlaw.table import Cell, Table

if TYPE_CHECKING:
    from varlaw.checks.blocks.layerwise import MeasuredLayer

COLUMNS = {
    "second_moment": "E[x^2]",
    "product": "E[x x']",
    "branch": "branch",
    "logits": "logits",
    "gradient": "gradient",
}


def answer(
    blocks: str,
    values: Mapping[str, str],
    second_moment: str,
    correlation: str | None,
    mean: str,
    measure: bool,
    gradients: bool,
    seed: int,
    **_: Any,
) -> "Sequence[Layer] | Sequence[MeasuredLayer]":
    """The layers of blocks, or a usage error."""
    try:
        names = {name: read(value) for name, value in values.items()}
        block = read_block(source(blocks), names)
        state = start(second_moment, correlation, mean)
        if not measure:
            return layers(block, state)
        from varlaw.checks.blocks.layerwise import measure_layers

        return measure_layers(block, state, seed=seed, gradients=gradients)
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def show(blocks: str, form: str, *, whole: bool, **options: Any) -> None:
    """Print the table, or the record."""
    if any(options[name] for name in ("solve", "scatter", "weight_gradients")) or (
        options["within"] != "1"
    ):
        raise click.UsageError(
            "--layers does not go with --solve, --within, --scatter or --weight-gradients"
        )
    if options["gradient_correlation"] != "0":
        raise click.UsageError("--layers has gradients that do not correlate at the end")
    if options["gradients"] and not (whole and options["measure"]):
        raise click.UsageError("--gradients goes with --layers --measure")
    found = answer(blocks, **options)
    if form == "json":
        say_json(record(found))
    else:
        say(text(found))


def text(found: "Sequence[Layer] | Sequence[MeasuredLayer]") -> str:
    """A row a layer; of what was measured, how far it is from what is predicted."""
    rows = [
        (layer.name, *(cell for name in COLUMNS for cell in _cells(layer, name))) for layer in found
    ]
    titles = (
        "layer",
        *(title for name in COLUMNS.values() for title in (name, "measured", "apart")),
    )
    return Table(titles, [tuple(map(Cell, row)) for row in rows]).text()


def _cells(layer: Any, name: str) -> tuple[str, str, str]:
    value = getattr(layer, name)
    if value is None:
        return "", "", ""
    if isinstance(value, float):
        return f"{value:.5g}", "", ""
    apart = f"{value.estimate / value.claimed - 1:+.2%}" if value.claimed else ""
    return f"{value.claimed:.5g}", f"{value.estimate:.5g} +- {value.error:.1g}", apart


def record(found: "Sequence[Layer] | Sequence[MeasuredLayer]") -> Mapping[str, Any]:
    """The layers as a record; what is `null` is not there, or not known."""
    return {
        "schema": "varlaw.explore-layers",
        "version": 1,
        "layers": [
            {"name": layer.name} | {name: _entry(getattr(layer, name)) for name in COLUMNS}
            for layer in found
        ],
    }


def _entry(value: Any) -> Any:
    """What was claimed, and of measurements the estimate with its error."""
    if value is None or isinstance(value, float):
        return None if value is None else {"claimed": value}
    return value.record()
