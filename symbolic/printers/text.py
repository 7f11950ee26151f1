"""Plain text for the terminal: one line a step, with its justification."""

import re
from collections.abc import Iterator, Sequence
from textwrap import wrap

from varlaw.symbolic.notation import Notation
from varlaw.symbolic.printers.account import Account, Block, Row, justification, listed
from varlaw.symbolic.printers.plain import plain_text
from varlaw.symbolic.printers.registry import document_format

FIXED = "\xa0"  # a space at which no line is broken
_TIGHT = re.compile(r"\d+ (?=[ΣΠ])|\[[^][]*\]|\([a-z0-9 +-]*\)|[-+] ")
COLUMN = 58  # where justifications begin, if the line is short enough


@document_format("text", ".txt")
def write(accounts: Sequence[Account], notation: Notation, *, width: int = 100) -> str:
    """Accounts as text of at most `width` columns. Names stay as they are typed."""
    return "\n\n".join("\n".join(_lines(account, width)) for account in accounts) + "\n"


def _lines(account: Account, width: int) -> Iterator[str]:
    if account.name:
        yield from _filled("", f"{account.name}: {account.title}", width)
    yield from _filled("", _statement(account), width)
    yield ""
    facts = {
        "regime": account.regime,
        "note": account.note,
        "symbols": "; ".join(
            [
                *map(plain_text, account.definitions),
                *(f"{key}: {text}" for key, text in account.glossary),
            ]
        ),
        "assumes": _hypotheses(account),
        "uses": "; ".join(_uses(account)),
    }
    for name, fact in facts.items():
        if fact:
            yield from _filled(f"{name:<8} ", fact, width)
    for source in account.sources:
        yield from _filled(f"{'source':<8} ", source.text, width)
    for block in account.blocks:
        yield ""
        if block.lead:
            yield from _filled("", _lead(block), width)
        for row in block.rows:
            yield from _row(row, width, bool(block.lead))


def _statement(account: Account) -> str:
    if not account.chain:
        return plain_text(account.derivation.statement)
    parts = [f"{sign} {plain_text(right)}" for sign, right in account.chain]
    where = f", with equality only at {account.equality}" if account.equality else ""
    return " ".join([plain_text(account.derivation.head), *parts]) + where


def _hypotheses(account: Account) -> str:
    return "; ".join(filter(None, [listed(account.assumptions), *map(plain_text, account.moments)]))


def _uses(account: Account) -> Iterator[str]:
    """The laws used, each with its statement and with what it assumes."""
    own = {*account.assumptions, *account.moments}
    for law in account.uses:
        known = {*law.assumptions, *law.moments} <= own
        why = "" if known else f" (assumes {_hypotheses(law)})"
        yield f"{law.name}, {plain_text(law.derivation.statement)}{why}"


def _lead(block: Block) -> str:
    reason = justification(block.lead, block.assumptions)
    return f"{reason[:1].upper()}{reason[1:]}{'.' if ':' in reason else ':'}"


def _filled(start: str, text: str, width: int) -> list[str]:
    rest = " " * len(start)
    return wrap(
        start + text, width, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def _row(row: Row, width: int, equation: bool) -> Iterator[str]:
    left = plain_text(row.left) if row.left is not None else ""
    line = f"{row.sign} {plain_text(row.right)}".strip()
    if equation and left:
        line = f"{left} {line}"
    elif left:
        yield from _filled("  ", left, width)
    lines = _wrapped(_TIGHT.sub(lambda found: found.group().replace(" ", FIXED), line), width)
    if max(map(len, lines), default=0) > width:  # what was to stay together is too long for that
        lines = _wrapped(line, width)
    why = f"[{justification(row.reason, row.assumptions)}]" if row.reason else ""
    if len(lines) == 1 and len(lines[0]) < COLUMN and COLUMN + 1 + len(why) <= width:
        yield f"{lines[0]:<{COLUMN}} {why}".rstrip()
        return
    yield from lines
    if why:
        yield from _filled(" " * 8, why, width)


def _wrapped(line: str, width: int) -> list[str]:
    """A step's line, indented, broken where there are spaces that are not fixed."""
    lines = wrap(
        f"    {line}",
        width,
        subsequent_indent=" " * 8,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [part.replace(FIXED, " ") for part in lines]
