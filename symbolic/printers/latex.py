r"""LaTeX: a document that compiles as it stands, or a fragment for an author's own."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from jinja2 import Environment, StrictUndefined, Template
from sympy import Expr

from varlaw.symbolic.derivation import sign_of
from varlaw.symbolic.notation import Notation, NotationError
from varlaw.symbolic.printers.account import Account, Block, Row
from varlaw.symbolic.printers.lines import broken
from varlaw.symbolic.printers.mathematics import SIGNS, LatexMath
from varlaw.symbolic.printers.prose import prose
from varlaw.symbolic.printers.registry import document_format
from varlaw.symbolic.printers.widths import width
from varlaw.symbolic.printers.wording import (
    hypotheses,
    lead_text,
    reason_text,
    statement_tex,
    symbols_text,
    uses_text,
)

REASON = 0.27  # of the line: the column of justifications
RUNNING = 0.8  # of the line; widths are those in displays, where limits stand below their sums
NUMBER = 2.5  # em: room for a number at the right, where equations have labels
INLINE = 7.0  # em: a left-hand side up to which the chain starts on its line


@dataclass(frozen=True)
class Page:
    """The page written for: `width` of its lines in em."""

    width: float

    @property
    def reason(self) -> float:
        """The width of the column of justifications, in em."""
        return REASON * self.width

    @property
    def running(self) -> float:
        """The width in em of a formula that stays whole in running text."""
        return RUNNING * self.width

    @property
    def short(self) -> int:
        """Characters of a justification that stays on one line."""
        return int(2.4 * self.reason)


OURS = Page(46.5)  # the page of our own document
AUTHORS = Page(34.0)  # the page of an author: LaTeX's own article


@document_format("latex", ".tex")
def write(
    accounts: Sequence[Account],
    notation: Notation,
    *,
    standalone: bool = True,
    label: str | None = None,
) -> str:
    """Accounts as one document (`standalone`), or as a fragment whose results carry `label`."""
    if label is not None and not re.fullmatch(r"[A-Za-z0-9:._-]+", label):
        raise NotationError(f"the label {label!r} may have letters, digits and : . _ - only")
    several = len(accounts) > 1
    bodies = [
        body(
            account, notation, f"{label}-{account.name}" if label and several else label, standalone
        )
        for account in accounts
    ]
    if not standalone:
        return "\n".join(f"{{\\allowdisplaybreaks\\sloppy\n{one.strip()}\n\n}}\n" for one in bodies)
    sources = {source.key: source for account in accounts for source in account.sources}
    listed = sorted(sources.values(), key=lambda source: source.key)
    return _template("document").render(bodies=bodies, sources=listed) + "\n"


def body(
    account: Account, notation: Notation, label: str | None = None, section: bool = True
) -> str:
    """The LaTeX of one account: statement, meanings, assumptions, sources, and the chain."""
    printer = LatexMath(notation, over=True)
    page = OURS if section else AUTHORS
    return _template("account").render(
        account=account,
        heading="section*" if section else "paragraph",
        title=prose(account.title, notation),
        statement=_statement(account, printer, page),
        regime=prose(account.regime, notation),
        note=prose(account.note, notation),
        symbols=symbols_text(account, printer, page.running),
        assumptions=hypotheses(account, printer, page.running),
        uses=uses_text(account, printer, page.running),
        blocks=[
            (
                lead_text(block, notation),
                _aligned(block, printer, page, _tag(label, place, account)),
            )
            for place, block in enumerate(account.blocks)
        ],
    )


def _tag(label: str | None, place: int, account: Account) -> str | None:
    last = place == len(account.blocks) - 1
    return label if label is None or last else f"{label}-{place + 1}"


def _statement(account: Account, printer: LatexMath, page: Page) -> str:
    """The statement in a box, or in several lines where it is too wide for one."""
    statement = account.derivation.statement
    whole = statement_tex(account, printer)
    if width(whole) <= page.width - 4 or account.chain:
        return rf"\boxed{{\;{whole}\;}}"
    left = printer.doprint(statement.lhs)
    sign = SIGNS[sign_of(statement)]
    lines = broken(statement.rhs, printer, page.width - 6 - width(left))
    inner = " \\\\\n  &\\quad {} ".join(lines)
    return f"\\begin{{aligned}}\n  {left} &{sign} {inner}\n  \\end{{aligned}}"


def _aligned(block: Block, printer: LatexMath, page: Page, label: str | None) -> str:
    """A block of rows as an `align`: relations under one another, justifications beside them."""
    first = block.rows[0]
    widest = max(
        (width(printer.doprint(row.left)) for row in block.rows if row.left is not None), default=0
    )
    inline = widest <= INLINE
    reasons = any(row.reason for row in block.rows)
    beside = (page.reason + 1.0) * reasons + NUMBER * bool(label)
    most = page.width - beside - (widest if inline else 1.0) - 2.8
    lines: list[str] = []
    for row in block.rows:
        lines += _row(row, printer, page, inline, most)
    if first.left is None:
        lines = _alone(first.right, printer, most)
    if label:
        lines = [rf"{line} \notag" for line in lines[:-1]] + [rf"{lines[-1]} \label{{{label}}}"]
    name = "align" if label else "align*"
    inner = " \\\\\n".join(f"  {line}" for line in lines)
    return f"\\begin{{{name}}}\n{inner}\n\\end{{{name}}}"


def _row(row: Row, printer: LatexMath, page: Page, inline: bool, most: float) -> list[str]:
    sign = SIGNS.get(row.sign, "")
    left = printer.doprint(row.left) if row.left is not None else ""
    before = [] if inline or not left else _alone(row.left, printer, most)
    start = f"{left} &" if inline and left else "&" if inline else r"&\quad"
    pieces = broken(row.right, printer, most)
    why = _reason(row, printer.notation, page)
    goes_on = r"&\quad {}" if inline else r"&\qquad {}"
    texts = [f"{start} {sign} {pieces[0]}", *(f"{goes_on} {piece}" for piece in pieces[1:])]
    if why and width(pieces[0]) > most + 1:  # cannot be broken: the justification goes below it
        texts[0] = rf"{start} \rlap{{$\displaystyle {sign} {pieces[0]}$}}"
        texts.append(rf"& && {why}")
    elif why:
        texts[0] += f" && {why}"
    return before + texts


def _alone(side: Expr, printer: LatexMath, most: float) -> list[str]:
    """The lines of a side without a relation."""
    first, *others = broken(side, printer, most)
    return [f"& {first}", *(rf"&\quad {{}} {piece}" for piece in others)]


def _reason(row: Row, notation: Notation, page: Page) -> str:
    text = reason_text(row, notation)
    if not text:
        return ""
    if len(re.sub(r"\\[a-z]+|[${}]", "", text)) <= page.short:
        return rf"\text{{\footnotesize {text}}}"
    return rf"\parbox[t]{{{REASON}\linewidth}}{{\raggedright\footnotesize {text}}}"


@cache
def _template(name: str) -> Template:
    environment = Environment(
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        autoescape=False,
    )
    home = files("varlaw.symbolic.printers")
    return environment.from_string(home.joinpath(f"{name}.tex.jinja").read_text(encoding="utf-8"))
