"""The command `varlaw kernel`."""

from typing import Any

import click

from varlaw.console import Mathematics, formats, say, say_json


def _two(context: click.Context, parameter: click.Parameter, text: str) -> tuple[str, str]:
    """Two values with a comma between them; a single one is meant twice."""
    first, comma, second = text.partition(",")
    if not first.strip() or (comma and not second.strip()) or "," in second:
        raise click.BadParameter(f"{text!r} is not of the form A or A,B", context, parameter)
    return first, second if comma else first


@click.command("kernel", cls=Mathematics)
@click.argument("f", metavar="F")
@click.argument("g", metavar="[G]", required=False)
@click.option("--rho", metavar="R", help="Correlation, a number or a name.")
@click.option(
    "--variances", callback=_two, default="1", metavar="V1[,V2]", help="Variances; 1 unless given."
)
@click.option(
    "--means", callback=_two, default="0", metavar="M1[,M2]", help="Means; 0 unless given."
)
@click.option("--map", "maps", is_flag=True, help="The maps of a layer with activation F instead.")
@click.option(
    "--weight-variance", metavar="W", help="With --map: fan-in times Var(w); 1 unless given."
)
@click.option(
    "--bias-variance", metavar="B", help="With --map: variance of a bias; 0 unless given."
)
@click.option(
    "--digits",
    type=click.IntRange(1, 10_000),
    default=15,
    show_default=True,
    help="Significant digits, all of them proved.",
)
@formats("text", "latex", "json")
def gaussian_kernel(f: str, g: str | None, form: str, **options: Any) -> None:
    """The mean of F(z1) G(z2) for correlated Gaussians; G is F unless given.

    F and G are such as 'relu', 'gelu(x)' or 'x^2', each in a variable of its own. With --map: the
    fixed points of a layer's variance map and correlation map, with their slopes.
    """
    of_map = {name: options.pop(name) for name in ("weight_variance", "bias_variance")}
    if options.pop("maps"):
        _layer_maps(f, g, form, of_map, options)
        return
    if any(of_map.values()):
        raise click.UsageError("'--weight-variance' and '--bias-variance' are for '--map'")
    if options["rho"] is None:
        raise click.UsageError("give the correlation, such as '--rho 0.3' or '--rho rho'")
    from varlaw import kernels

    found = kernels.answer(f, g, **options)
    if form == "json":
        say_json(kernels.record(found))
    else:
        say(kernels.latex(found) if form == "latex" else kernels.text(found))


def _layer_maps(
    f: str, g: str | None, form: str, of_map: dict[str, Any], options: dict[str, Any]
) -> None:
    if g is not None or options["rho"] is not None or form == "latex":
        raise click.UsageError("'--map' takes one function, no '--rho', and no LaTeX")
    from varlaw import layer_maps

    weight, bias = of_map["weight_variance"] or "1", of_map["bias_variance"] or "0"
    found = layer_maps.answer(f, weight, bias, options["digits"])
    if form == "json":
        say_json(layer_maps.record(found))
    else:
        say(layer_maps.text(found))
