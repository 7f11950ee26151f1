"""Claims with their evidence: `varlaw claim`."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from textwrap import fill
from typing import Any

import click

from varlaw.checks.claims.evidence import Derived, Evidence
from varlaw.checks.report import Measurement
from varlaw.console import json_text
from varlaw.evidence import COLOURS, answered, measured_text
from varlaw.moments import steps_told
from varlaw.symbolic.printers import render
from varlaw.symbolic.printers.account import Account

SCHEMA = "varlaw.claim"
VERSION = 1


@dataclass(frozen=True)
class Shown:
    """The format, and for text the width, whether there are colours, and counter-examples."""

    form: str
    width: int = 100
    colour: bool = False
    verbose: bool = False


def document(found: Sequence[Evidence], shown: Shown) -> str:
    """The claims in a format. Raises a usage error where a document has nothing to tell."""
    if shown.form == "json":
        return json_text(record(found))
    if shown.form == "text":
        return "\n\n".join("\n".join(_text(one, shown)) for one in found)
    accounts = [account for one in found for account in _accounts(one)]
    if not accounts:
        why = next((one.underived for one in found if one.underived), "no expectation is claimed")
        raise click.UsageError(f"there is no derivation to write: {why}")
    return str(render(accounts, shown.form)).rstrip("\n")


def _text(one: Evidence, shown: Shown) -> Iterator[str]:
    """The verdict, the derivations, and the rest of the evidence."""
    width, verdict = min(shown.width, 100), str(one.verdict)
    if shown.colour:
        verdict = click.style(verdict, fg=COLOURS[one.verdict], bold=True)
    yield f"{verdict}: {one.text}"
    if told := explained(one):
        yield f"  {told}"
    for derived in one.derived:
        yield ""
        yield derived.derivation.to_text(width=width).rstrip()
        yield ""
        yield steps_told(derived.proofs)
        for assumption in derived.audit:
            told = answered(assumption if shown.verbose else replace(assumption, counterexample=""))
            yield fill(f"  {told}", width, subsequent_indent=" " * 6, break_long_words=False)
    if one.underived:
        yield f"not derived: {one.underived}"
    for measured in one.measured:
        yield _measured(measured)
    if one.unmeasured:
        yield f"not measured: {one.unmeasured}"


def explained(one: Evidence) -> str:
    """What the claimed side is found to be, and why the verdict is what it is."""
    value = f"it is {one.judgement.value}" if one.judgement.value else ""
    return "; ".join(filter(None, (value, one.reason)))


def _measured(measured: Measurement) -> str:
    value = measured_text(measured) or "nothing"
    why = f": {measured.why}" if measured.why else ""
    return (
        f"measured with the law {measured.weights}: {value}, claimed {measured.claimed:.6g}, "
        f"{measured.verdict}{why}"
    )


def _accounts(one: Evidence) -> Iterator[Account]:
    """What documents tell: each derivation under the claim that it is for."""
    for derived in one.derived:
        note = f"The claim is {one.verdict}"
        if told := explained(one):
            note += f": {told}"
        parts = [note, steps_told(derived.proofs), *map(_measured, one.measured)]
        yield Account(derived.derivation, title=f"Claim: {one.text}", note="; ".join(parts) + ".")


def record(found: Sequence[Evidence]) -> dict[str, Any]:
    """The claims as a record."""
    return {"schema": SCHEMA, "version": VERSION, "claims": [_record(one) for one in found]}


def _record(one: Evidence) -> dict[str, Any]:
    return {
        "text": one.text,
        "relation": one.judgement.sign,
        "verdict": str(one.verdict),
        "value": one.judgement.value or None,
        "reason": one.reason,
        "rule": one.judgement.rule or None,
        "derivations": [_derivation(derived) for derived in one.derived],
        "underived": one.underived or None,
        "audit": [asdict(assumption) for d in one.derived for assumption in d.audit],
        "measurements": [_measurement(measured) for measured in one.measured],
        "unmeasured": one.unmeasured or None,
    }


def _derivation(derived: Derived) -> dict[str, Any]:
    """A derivation as `varlaw derive --json` has it, each step with what its checker says."""
    written = derived.derivation.to_json()
    kept = ("statement", "latex", "assumptions", "start", "steps")
    steps = [
        step | {"proof": str(report.outcome), "why": report.why}
        for step, report in zip(written["steps"], derived.proofs, strict=True)
    ]
    return {key: written[key] for key in kept} | {"steps": steps}


def _measurement(measured: Measurement) -> dict[str, Any]:
    kept = ("quantity", "weights", "claimed", "estimate", "low", "high", "interval", "replicates")
    found = asdict(measured)
    return {key: found[key] for key in kept} | {
        "verdict": str(measured.verdict),
        "why": measured.why,
    }
