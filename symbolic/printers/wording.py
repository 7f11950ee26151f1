"""Justifications, assumptions and leads as LaTeX text, their mathematics between dollars."""

from collections.abc import Iterable

from varlaw.symbolic.assumptions import Assumption
from varlaw.symbolic.notation import Notation
from varlaw.symbolic.printers.account import Block, Row, grouped
from varlaw.symbolic.printers.prose import prose


def assumptions_text(assumptions: Iterable[Assumption], notation: Notation) -> str:
    """Assumptions by subject: `$w$: independent entries, zero mean; $w$ independent of $x$`."""

    def name(subject: str) -> str:
        return f"${notation.label(subject, indexed=True).written()}$"

    parts = []
    for subject, what, others in grouped(assumptions):
        rest = " and ".join(map(name, others))
        parts.append(f"{name(subject)} {what} {rest}" if others else f"{name(subject)}: {what}")
    return "; ".join(parts)


def reason_text(row: Row, notation: Notation) -> str:
    """The justification of a row, with the assumptions it uses in brackets; empty for none."""
    return _with(prose(row.reason, notation), row.assumptions, notation) if row.reason else ""


def lead_text(block: Block, notation: Notation) -> str:
    """The sentence that leads to a block; empty for the chain itself."""
    if not block.lead:
        return ""
    sentence = prose(f"{block.lead[:1].upper()}{block.lead[1:]}", notation)
    return _with(sentence, block.assumptions, notation) + ("." if ":" in block.lead else ":")


def _with(text: str, assumptions: Iterable[Assumption], notation: Notation) -> str:
    used = assumptions_text(assumptions, notation)
    return f"{text} ({used})" if used else text
