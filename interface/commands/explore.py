"""The command `varlaw explore`."""

from typing import Any

import click

from varlaw.console import formats, pairs, say, say_json


@click.command("explore")
@click.argument("blocks", metavar="TEXT|FILE")
@click.option(
    "--set",
    "values",
    multiple=True,
    callback=pairs,
    metavar="NAME=VALUE",
    help="Put a value in place of a name; may be repeated.",
)
@click.option(
    "--second-moment",
    default="q0",
    show_default=True,
    metavar="Q",
    help="Second moment of the input.",
)
@click.option(
    "--correlation", metavar="R", help="Follow the correlation of two inputs, or two tokens."
)
@click.option(
    "--solve",
    metavar="NAME",
    help="Find the value of a name that keeps second moments forward, backward, or both.",
)
@click.option("--measure", is_flag=True, help="Compare with a simulation; all names need values.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Its seed.")
@formats("text", "json")
def explore(blocks: str, form: str, **options: Any) -> None:
    """What blocks of a network do to second moments, forward, backward and in depth.

    TEXT is such as 'repeat(prenorm(linear(d, 4d, var=2/d) >> relu >> linear(4d, d, var=1/d)), L)'.
    """
    from varlaw import exploration

    found = exploration.answer(blocks, **options)
    if form == "json":
        say_json(exploration.record(found))
    else:
        say(exploration.text(found))
