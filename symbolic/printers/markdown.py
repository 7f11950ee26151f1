"""Markdown with $$ blocks, as GitHub and MyST show them."""

import re
from collections.abc import Iterator, Sequence

from varlaw.symbolic.notation import Notation
from varlaw.symbolic.printers.account import Account, Block
from varlaw.symbolic.printers.lines import broken
from varlaw.symbolic.printers.mathematics import SIGNS, LatexMath
from varlaw.symbolic.printers.prose import prose
from varlaw.symbolic.printers.registry import document_format
from varlaw.symbolic.printers.wording import (
    hypotheses,
    lead_text,
    reason_text,
    statement_tex,
    symbols_text,
    uses_text,
)

_FORMULA = re.compile(r"(\$[^$]*\$)")
WIDEST = 38.0  # em: where lines of a chain are broken


@document_format("markdown", ".md")
def write(accounts: Sequence[Account], notation: Notation) -> str:
    """Accounts as Markdown, one section each."""
    return "\n\n".join("\n\n".join(_parts(account, notation)) for account in accounts) + "\n"


def chain(account: Account, notation: Notation) -> list[str]:
    """The blocks of a chain as `aligned` environments."""
    return [_aligned(block, LatexMath(notation, over=True)) for block in account.blocks]


def _parts(account: Account, notation: Notation) -> Iterator[str]:
    printer = LatexMath(notation, over=True)
    if account.title:
        yield f"## {_sentence(account.title, notation)}"
    yield _display(statement_tex(account, printer))
    facts = {
        "Regime": _sentence(account.regime, notation),
        "Note": _sentence(account.note, notation),
        "Symbols": _text("; ".join(symbols_text(account, printer))),
        "Assumptions": _text(hypotheses(account, printer)),
        "Uses": _text("; ".join(uses_text(account, printer))),
    }
    lines = [f"- **{name}:** {fact}" for name, fact in facts.items() if fact]
    lines += [f"- **Source:** {source.text}" for source in account.sources]
    if lines:
        yield "\n".join(lines)
    for block in account.blocks:
        if block.lead:
            yield _text(lead_text(block, notation))
        yield _display(_aligned(block, printer))


def _sentence(text: str, notation: Notation) -> str:
    return _text(prose(text, notation))


def _text(tex: str) -> str:
    """LaTeX text as Markdown text."""
    return "".join(
        _inline(part[1:-1]) if part.startswith("$") else re.sub(r"\\([#$%&_{}])", r"\1", part)
        for part in _FORMULA.split(tex)
    )


def _inline(tex: str) -> str:
    return f"${_portable(tex)}$"


def _display(tex: str) -> str:
    return f"$$\n{_portable(tex)}\n$$"


def _portable(tex: str) -> str:
    r"""GitHub refuses \operatorname."""
    return tex.replace(r"\operatorname{", r"\mathrm{")


def _aligned(block: Block, printer: LatexMath) -> str:
    lines = []
    for row in block.rows:
        left = printer.doprint(row.left) if row.left is not None else ""
        first, *others = broken(row.right, printer, WIDEST)
        sign = SIGNS.get(row.sign, "")
        why = _reason(reason_text(row, printer.notation))
        lines.append(f"{left} &{sign} {first}" + (f" && {why}" if why else ""))
        lines += [rf"&\quad {{}} {piece}" for piece in others]
    inner = " \\\\\n".join(lines)
    return f"\\begin{{aligned}}\n{inner}\n\\end{{aligned}}"


def _reason(text: str) -> str:
    r"""A justification inside mathematics: \text{...} with its formulas outside."""
    return "".join(
        part[1:-1] if part.startswith("$") else rf"\text{{{part}}}"
        for part in _FORMULA.split(text)
        if part
    )
