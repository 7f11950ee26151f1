"""The command `varlaw parametrisation`."""

from collections.abc import Mapping
from typing import Any

import click

from varlaw.console import formats, pairs, say, say_json, width

SIZE = click.IntRange(min=1)
NAMED_ONLY = ("branch", "n", "base_width", "blocks", "base_depth", "shape", "measure")


@click.command("parametrisation")
@click.argument("name", required=False)
@click.option(
    "--optimizer",
    default="adam",
    show_default=True,
    type=click.Choice(["sgd", "adam", "sign"]),
    help="SGD, Adam, or the signs of gradients.",
)
@click.option(
    "--layer",
    "layers",
    multiple=True,
    callback=pairs,
    metavar="KIND=A,B,C",
    help="Exponents of a kind of layer, in place of those of NAME; may be repeated.",
)
@click.option("--branch", metavar="S", help="Residual branches are multiplied by L^-S.")
@click.option("--width", "n", type=SIZE, help="Width at which the table has numbers.")
@click.option("--base-width", type=SIZE, help="Width at which the values to scale were tuned.")
@click.option("--depth", "blocks", type=SIZE, help="Number of residual blocks.")
@click.option("--base-depth", type=SIZE, help="Depth at which the values to scale were tuned.")
@click.option(
    "--form",
    "shape",
    type=click.Choice(["multiplier", "std", "rate"]),
    help="Which member of the equivalence class: all multipliers 1, stds 1, or rates equal.",
)
@click.option("--measure", is_flag=True, help="Measure the exponents on networks that are trained.")
@click.option(
    "--backend",
    default="numpy",
    show_default=True,
    type=click.Choice(["numpy", "torch"]),
    help="What trains them.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Their seed."
)
@formats("text", "latex", "json")
def describe_parametrisation(
    name: str | None, layers: Mapping[str, str], form: str, **options: Any
) -> None:
    """How multipliers, initial weights and learning rates go with width, and what follows.

    NAME is such as 'mup'; the known ones are listed without it. KIND is input, embedding, hidden,
    output, bias or gain: effective weights n^-A w, w of std n^-B, learning rate n^-C.
    """
    from varlaw import parametrisation_text, parametrisations

    if options["backend"] != "numpy" and not options["measure"]:
        raise click.UsageError("'--backend' goes with '--measure'")
    if options["measure"] and form == "latex":
        raise click.UsageError("'--measure' has no LaTeX")
    if name is None and not layers:
        if any(options[key] for key in NAMED_ONLY):
            raise click.UsageError("give a name, or layers by '--layer'")
        known = parametrisations.everything(options["optimizer"])
        if form == "json":
            say_json(parametrisations.list_record(known))
        elif form == "latex":
            raise click.UsageError("the list has no LaTeX: give a name")
        else:
            say(parametrisation_text.list_text(known, width()))
        return
    found = parametrisations.answer(name or "custom", layers, **options)
    if form == "json":
        say_json(parametrisations.record(found))
    elif form == "latex":
        say(parametrisation_text.latex_table(found))
    else:
        say(parametrisation_text.text(found, width()))
