"""The command `varlaw verify`."""

from typing import Any

import click

from varlaw.commands.laws import known_law, law_names
from varlaw.commands.running import executor_at, running
from varlaw.console import Exit, colour, complain, formats, pairs, say, say_json, width


@click.command("verify")
@click.argument("laws", nargs=-1, metavar="[LAW]...", shell_complete=law_names)
@click.option(
    "--set",
    "overrides",
    multiple=True,
    callback=pairs,
    metavar="NAME=VALUE",
    help="Fix a symbol in the experiments, such as m=512; may be repeated.",
)
@running
@click.option("--steps-only", is_flag=True, help="Prove the steps, measure nothing.")
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Show the steps, the audit's counter-examples, every measurement.",
)
@formats("text", "json")
def verify(laws: tuple[str, ...], form: str, verbose: bool, **options: Any) -> Exit:
    """Gather all evidence on some laws, or on all: steps proved, assumptions audited, measured."""
    for name in laws:
        known_law(name)
    from varlaw import evidence
    from varlaw.checks.report import LawReport, Report
    from varlaw.derivations.catalogue import entries
    from varlaw.progress import shown_progress

    def present(report: Report) -> None:
        if form == "json":
            say_json(report.to_json())
        else:
            say(evidence.text(report, width(), verbose, colour()), colour())

    wanted = list(dict.fromkeys(laws))
    finished: list[LawReport] = []
    try:
        with shown_progress() as progress, executor_at(options.pop("executor")) as executor:
            report = evidence.verify(
                *wanted,
                progress=progress,
                on_law=finished.append,
                executor=executor,
                sufficient=verbose or form == "json",
                **options,
            )
    except BaseException as error:
        if isinstance(error, ValueError) and not finished:
            raise click.UsageError(str(error)) from error
        order = [name for name in entries() if name in (wanted or entries())]
        done = tuple(sorted(finished, key=lambda law: order.index(law.name)))
        if done or isinstance(error, KeyboardInterrupt):  # what is finished is not lost
            complain(f"stopped after {len(done)} of {len(order)} laws")
            present(Report(done, options["error_rate"], options["seed"]))
        raise
    present(report)
    return evidence.exit_code(report.verdict)
