"""The command `varlaw`. Each command imports what it needs when it runs: help starts at once."""

import click

from varlaw.commands.catalogue import list_laws, show
from varlaw.commands.check import check
from varlaw.commands.claim import claim
from varlaw.commands.derive import derive
from varlaw.commands.diagnose import diagnose
from varlaw.commands.explain import explain
from varlaw.commands.explore import explore
from varlaw.commands.gain import activation_gain
from varlaw.commands.kernel import gaussian_kernel
from varlaw.commands.moment import gaussian_moment
from varlaw.commands.parametrisation import describe_parametrisation
from varlaw.commands.recipes import default_recipes
from varlaw.commands.sweep import sweep
from varlaw.commands.verify import verify
from varlaw.console import Exit, Manners

COMMANDS = (
    list_laws,
    show,
    derive,
    verify,
    sweep,
    check,
    explain,
    claim,
    gaussian_moment,
    gaussian_kernel,
    activation_gain,
    explore,
    describe_parametrisation,
    diagnose,
    default_recipes,
)


@click.group(
    cls=Manners,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="varlaw", message="%(prog)s %(version)s")
@click.pass_context
def main(context: click.Context) -> None:
    """Derive the variance laws of neural networks, prove each step, measure each law.

    Exit codes: 0 all well, 1 something refuted, 2 usage or internal error, 3 something undecided,
    130 interrupted.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(Exit.ERROR)


for command in COMMANDS:
    main.add_command(command)
