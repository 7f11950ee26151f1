"""The command `varlaw explore`."""

from pathlib import Path
from typing import Any

import click

from varlaw.commands.running import simulating
from varlaw.console import Exit, formats, pairs, say, say_json, width, write_file


@click.command("explore")
@click.argument("blocks", nargs=-1, metavar="TEXT|FILE...")
@click.option(
    "--compare",
    "variants",
    multiple=True,
    callback=pairs,
    metavar="NAME=BLOCKS",
    help="Compare named variants, texts or files; may be repeated.",
)
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
@click.option("--mean", default="0", show_default=True, metavar="M", help="Mean of the input.")
@click.option(
    "--gradient-correlation",
    default="0",
    show_default=True,
    metavar="R",
    help="Correlation of the gradients of two inputs, or tokens, at the output.",
)
@click.option(
    "--solve",
    metavar="NAME",
    help="Find the value of a name that keeps second moments forward, backward, or both.",
)
@click.option(
    "--within",
    default="1",
    show_default=True,
    metavar="FACTOR",
    help="With --solve, the ratio of second moments, output to input, that is to be kept to.",
)
@click.option(
    "--scatter",
    is_flag=True,
    help="How the second moment scatters from seed to seed, of linear layers and activations.",
)
@click.option(
    "--weight-gradients",
    metavar="N",
    help="Second moments of gradients of weights too, of a loss summed over N tokens, or inputs.",
)
@click.option("--measure", is_flag=True, help="Verdicts by simulation; all names need values.")
@simulating
@click.option("--layers", is_flag=True, help="A table, layer by layer, with each token followed.")
@click.option("--gradients", is_flag=True, help="Measure the gradients of layers too.")
@click.option(
    "--plot",
    type=click.Path(),
    metavar="PATH",
    help="Draw moments layer by layer as a .png, .svg or .pdf; all names need values.",
)
@click.option(
    "--emit",
    type=click.Choice(("numpy", "torch", "jax")),
    help="Write code that draws the weights instead, with what was solved put in.",
)
@click.option(
    "--keep",
    type=click.Choice(
        ("forward", "backward", "arithmetic", "geometric", "quadratic", "contraharmonic")
    ),
    default="forward",
    show_default=True,
    help="The solution that --emit takes.",
)
@formats("text", "latex", "markdown", "json")
def explore(
    blocks: tuple[str, ...],
    variants: dict[str, str],
    form: str,
    layers: bool,
    gradients: bool,
    plot: str | None,
    emit: str | None,
    keep: str,
    **options: Any,
) -> Exit:
    """What blocks of a network do to second moments, forward, backward and in depth.

    TEXT is such as 'repeat(prenorm(linear(d, 4d, var=2/d) >> relu >> linear(4d, d, var=1/d)), L)'.
    Several are compared.
    """
    if not blocks and not variants:
        raise click.UsageError("give blocks, as a text or a file")
    if layers or gradients:
        from varlaw import layers as table

        if len(blocks) + len(variants) != 1 or plot or emit or form in ("latex", "markdown"):
            raise click.UsageError("--layers is a table of one variant, as text or JSON")
        (text,) = (*blocks, *variants.values())
        table.show(text, form, gradients=gradients, whole=layers, **options)
        return Exit.WELL
    from varlaw import exploration
    from varlaw import explore_documents as documents

    if plot is not None:
        from varlaw.sweep_plot import check

        check(plot)
        if options["gradient_correlation"] != "0":
            raise click.UsageError("--plot has gradients that do not correlate at the output")
    several = documents.named(blocks, variants)
    alone = len(several) == 1 and not variants
    answers = {
        name: exploration.answer(text, name="" if alone else name, **options)
        for name, text in several.items()
    }
    if plot is not None:
        from varlaw.explore_plot import picture, profiles

        drawn = profiles(answers, options["measure"], options["seed"])
        write_file(Path(plot), picture(drawn, Path(plot).suffix))
    if not alone:
        from varlaw.comparison import Comparison

        if emit:
            raise click.UsageError("'--emit' is for one variant")
        comparison = Comparison(answers)
        if form == "json":
            say_json(comparison.to_json())
        else:
            say(comparison.document(form, width()))
        return documents.exit_code(*answers.values())
    (found,) = answers.values()
    if emit:
        say(documents.code(found, emit, keep))
    elif form == "json":
        say_json(found.to_json())
    else:
        say(documents.document(found, form))
    return documents.exit_code(found)
