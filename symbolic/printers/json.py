"""JSON: the chain as a record; expressions as text with explicit products, and as LaTeX."""

from collections.abc import Sequence
from typing import Any

from varlaw.symbolic.derivation import Step
from varlaw.symbolic.notation import Notation
from varlaw.symbolic.printers.account import Account
from varlaw.symbolic.printers.mathematics import SIGNS, latex
from varlaw.symbolic.printers.plain import explicit
from varlaw.symbolic.printers.registry import document_format

SCHEMA = "varlaw.derivation"
VERSION = 1


@document_format("json", ".json")
def write(accounts: Sequence[Account], notation: Notation) -> dict[str, Any]:
    """One account as a record, or several as a record with the list "laws"."""
    records = [_record(account, notation) for account in accounts]
    if len(records) == 1:
        return {"schema": SCHEMA, "version": VERSION, **records[0]}
    return {"schema": f"{SCHEMA}s", "version": VERSION, "laws": records}


def _record(account: Account, notation: Notation) -> dict[str, Any]:
    derivation = account.derivation
    return {
        "name": account.name,
        "title": account.title,
        "statement": explicit(derivation.statement),
        "latex": latex(derivation.statement, notation),
        "regime": account.regime,
        "note": account.note,
        "assumptions": [str(assumption) for assumption in account.assumptions],
        "sources": [source.key for source in account.sources],
        "meanings": [explicit(meaning) for meaning in account.meanings],
        "start": explicit(derivation.start),
        "steps": [_step(step, account, notation) for step in derivation.steps],
    }


def _step(step: Step, account: Account, notation: Notation) -> dict[str, Any]:
    """A step; on equations, `before` and `after` are relations and `relation` is "implies"."""
    before, after = latex(step.before, notation), latex(step.after, notation)
    joint = r"\Longrightarrow" if step.on_equations else SIGNS[step.relation]
    return {
        "before": explicit(step.before),
        "after": explicit(step.after),
        "relation": "implies" if step.on_equations else step.relation,
        "rule": step.rule,
        "reason": account.reason(step),
        "assumptions": [str(assumption) for assumption in sorted(step.assumptions)],
        "latex": f"{before} {joint} {after}",
    }
