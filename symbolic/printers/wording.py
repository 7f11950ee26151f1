"""Justifications, assumptions and leads as LaTeX text, their mathematics between dollars."""

import math
from collections.abc import Iterable

from varlaw.symbolic.assumptions import Assumption
from varlaw.symbolic.notation import Notation
from varlaw.symbolic.printers.account import Account, Block, Row, phrases
from varlaw.symbolic.printers.lines import inline
from varlaw.symbolic.printers.mathematics import SIGNS, LatexMath
from varlaw.symbolic.printers.prose import mathematics, prose


def assumptions_text(assumptions: Iterable[Assumption], notation: Notation) -> str:
    """Assumptions by subject: `$w$: independent entries, zero mean; $w$ independent of $x$`."""

    def name(subject: str) -> str:
        label = notation.label(subject.removeprefix("-"), indexed=True).written()
        return f"${'-' if subject.startswith('-') else ''}{label}$"

    return "; ".join(phrases(assumptions, name))


def hypotheses(account: Account, printer: LatexMath, most: float = math.inf) -> str:
    """All that is assumed: the properties that steps rest on, and the declared moments."""
    texts = [assumptions_text(account.assumptions, printer.notation)]
    texts += [inline(fact, printer, most) for fact in account.moments]
    return "; ".join(filter(None, texts))


def symbols_text(account: Account, printer: LatexMath, most: float = math.inf) -> list[str]:
    """What the symbols mean: definitions as formulas, the others in words."""
    texts = [inline(meaning, printer, most) for meaning in account.definitions]
    for key, meaning in account.glossary:
        known = key in account.names
        label = printer.notation.label(key, indexed=key in account.arrays)
        shown = label.written() if known else mathematics(key, printer.notation)
        texts.append(f"${shown}$: {prose(meaning, printer.notation)}")
    if account.distinct:
        texts.append(r"$i_1 \neq i_2 \neq i_3$ stands for pairwise distinct indices")
    return texts


def statement_tex(account: Account, printer: LatexMath) -> str:
    """The statement as a formula; a chain of inequalities is shown as a whole."""
    if not account.chain:
        return str(printer.doprint(account.derivation.statement))
    parts = [f"{SIGNS[sign]} {printer.doprint(right)}" for sign, right in account.chain]
    where = account.equality and mathematics(account.equality, printer.notation)
    end = rf" \quad \text{{with equality only at }} {where}" if where else ""
    return " ".join([str(printer.doprint(account.derivation.head)), *parts]) + end


def uses_text(account: Account, printer: LatexMath, most: float = math.inf) -> list[str]:
    """The laws used, each with its statement and with what it assumes."""
    texts = []
    for law in account.uses:
        inherited = hypotheses(law, printer, most)
        known = set(law.assumptions) <= set(account.assumptions) and set(law.moments) <= set(
            account.moments
        )
        why = "" if known or not inherited else f" (assumes {inherited})"
        texts.append(f"{law.name}, {inline(law.derivation.statement, printer, most)}{why}")
    return texts


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
