"""The command `varlaw recipes`."""

from collections.abc import Mapping, Sequence

import click

from varlaw.console import formats, pairs, say, say_json, width


def _shape(
    context: click.Context, parameter: click.Parameter, given: Sequence[str]
) -> Mapping[str, str]:
    """NAME=VALUE pairs, also several of them in one text with commas between."""
    return pairs(context, parameter, [part for text in given for part in text.split(",")])


@click.command("recipes")
@click.argument("name", required=False)
@click.option(
    "--shape",
    multiple=True,
    callback=_shape,
    metavar="NAME=VALUE",
    help="Numbers of a shape, such as m=512,n=2048; may be repeated.",
)
@formats("text", "json")
def default_recipes(name: str | None, shape: Mapping[str, str], form: str) -> None:
    """How libraries and models initialise, and the variance of the weights that results.

    NAME is a recipe such as 'pytorch-linear', or a library such as 'keras'; all without it.
    """
    from varlaw import recipes

    found, sizes = recipes.asked(name, shape)
    if form == "json":
        say_json(recipes.record(found, sizes))
    else:
        say(recipes.text(found, sizes, width(), detailed=name is not None))
