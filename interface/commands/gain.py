"""The command `varlaw gain`."""

from typing import Any

import click

from varlaw.console import formats, say, say_json, width


@click.command("gain")
@click.argument("name", required=False)
@click.option("--all", "everything", is_flag=True, help="Every activation of the table.")
@click.option("--expr", "expression", metavar="EXPR", help="A function instead of a name.")
@click.option("--mean", default="0", show_default=True, metavar="M", help="Mean of its argument.")
@click.option(
    "--variance", default="1", show_default=True, metavar="V", help="Its variance, not its std."
)
@click.option(
    "--digits",
    type=click.IntRange(1, 30_000),
    show_default="15; 8 with --all",
    help="Significant digits, all of them proved.",
)
@click.option(
    "--shape",
    "way",
    type=click.Choice(["dks", "tat"]),
    help="Instead of gains, the affine maps around it that suit a deep network.",
)
@click.option("--target", metavar="T", help="What --shape wants of the network.")
@click.option("--depth", type=click.IntRange(1, 10_000), help="Its layers, for --shape.")
@click.option("--blocks", metavar="N,..", help="Instead of layers residual blocks, by group.")
@click.option("--branch", type=click.IntRange(1, 100), help="Layers in each of the blocks.")
@click.option(
    "--shortcut", metavar="W", help="Weight of their shortcuts; branches have sqrt(1 - W^2)."
)
@formats("text", "latex", "json")
def activation_gain(
    name: str | None,
    everything: bool,
    expression: str | None,
    form: str,
    way: str | None,
    target: str | None,
    depth: int | None,
    blocks: str | None,
    branch: int | None,
    shortcut: str | None,
    **options: Any,
) -> None:
    """The gains of an activation: factors of its output that keep a moment, forward or backward.

    Also where the variances of a deep network settle, and what libraries publish. NAME is such as
    'gelu', or a function such as 'leaky_relu(x, 1/5)'; --expr is for one that is a name too, as x.
    """
    if (name is not None) + everything + (expression is not None) != 1:
        raise click.UsageError("give one of a name, --expr and --all")
    if way is not None:
        if everything or form == "latex" or (options["mean"], options["variance"]) != ("0", "1"):
            raise click.UsageError(
                "--shape goes with neither --all, --mean, --variance nor --format latex"
            )
        network = (blocks, branch, shortcut)
        if any(network) and (depth or not all(network)):
            raise click.UsageError("give --depth, or all of --blocks, --branch and --shortcut")
        _shape(
            str(name or expression),
            way,
            target,
            network if all(network) else depth or 1,
            form,
            options["digits"] or 15,
        )
        return
    if any(option is not None for option in (target, depth, blocks, branch, shortcut)):
        raise click.UsageError("--target and --depth belong to --shape")
    from varlaw import gains

    options["digits"] = digits = options["digits"] or (8 if everything else 15)
    if everything:
        answers = gains.everything(**options)
    else:
        answers = [gains.answer(name, expression, **options)]
    if form == "json":
        say_json(gains.record(answers, digits))
    elif form == "latex":
        say("\n\n".join(gains.latex(found, digits) for found in answers))
    elif everything:
        say(gains.all_text(answers, digits))
    else:
        say(gains.text(answers[0], digits, width()))


def _shape(
    function: str, way: str, target: str | None, network: Any, form: str, digits: int
) -> None:
    from varlaw import shapes

    whole = network if isinstance(network, int) else shapes.residual(*network)
    found = shapes.answer(function, way, target, whole, digits)
    if form == "json":
        say_json(shapes.record(found, digits))
    else:
        say(shapes.text(found, digits))
