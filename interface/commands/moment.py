"""The command `varlaw moment`."""

from typing import Any

import click

from varlaw.console import Mathematics, formats, say, say_json, width


@click.command("moment", cls=Mathematics)
@click.argument("expression", metavar="EXPR")
@click.option("--mean", default="0", show_default=True, metavar="M", help="Mean of the variable.")
@click.option(
    "--variance", default="1", show_default=True, metavar="V", help="Its variance, not its std."
)
@click.option("--given", metavar="CONDITION", help="A condition, such as 'x > 0' or 'a < x < b'.")
@click.option("--variable", metavar="NAME", help="The variable, where it is not x.")
@click.option(
    "--positive", multiple=True, metavar="NAME", help="A positive parameter; may be repeated."
)
@click.option(
    "--digits",
    type=click.IntRange(1, 30_000),
    default=15,
    show_default=True,
    help="Significant digits, all of them proved.",
)
@click.option(
    "--steps", is_flag=True, help="Show how the closed form is derived, each step checked."
)
@formats("text", "latex", "json")
def gaussian_moment(expression: str, form: str, **options: Any) -> None:
    """The mean of a function of a Gaussian variable: exactly where possible, and proved digits.

    EXPR is such as 'gelu(x)^2', 'x*Phi(x)', 'max(x, 0)', or LaTeX.
    """
    from varlaw import moments

    found = moments.answer(expression, **options)
    if form == "json":
        say_json(moments.record(found))
    else:
        say(
            moments.latex(found)
            if form == "latex"
            else moments.text(found, min(width() or 100, 100))
        )
