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
    type=click.IntRange(1, 100_000),
    show_default="15; 8 with --all",
    help="Significant digits, all of them proved.",
)
@formats("text", "latex", "json")
def activation_gain(
    name: str | None, everything: bool, expression: str | None, form: str, **options: Any
) -> None:
    """The gains of an activation: factors of its output that keep a moment, forward or backward.

    Also where the variances of a deep network settle, and what libraries publish. NAME is such as
    'gelu', EXPR such as 'leaky_relu(x, 1/5)'.
    """
    if (name is not None) + everything + (expression is not None) != 1:
        raise click.UsageError("give one of a name, --expr and --all")
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
