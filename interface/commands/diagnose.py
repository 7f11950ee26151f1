"""The command `varlaw diagnose`."""

import click

from varlaw.console import formats, say, say_json, width


@click.command("diagnose")
@click.argument("symptom", required=False)
@formats("text", "json")
def diagnose(symptom: str | None, form: str) -> None:
    """From a symptom in the first steps of training to the law behind it, and what to measure."""
    from varlaw import diagnosis
    from varlaw.derivations.diagnosis import UnknownSymptom
    from varlaw.derivations.diagnosis import symptom as found

    try:
        rows = diagnosis.ordered() if symptom is None else (found(symptom),)
    except UnknownSymptom as error:
        raise click.UsageError(str(error)) from error
    if form == "json":
        say_json(diagnosis.record(rows))
    else:
        say(diagnosis.text(rows, min(width() or 100, 100)))
