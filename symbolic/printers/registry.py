"""The formats of documents, found by name: one small module each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from varlaw.symbolic.names import suggestion
from varlaw.symbolic.notation import NotationError, notation
from varlaw.symbolic.printers.account import Account

Writer = Callable[..., Any]


@dataclass(frozen=True)
class Format:
    """A format: its name, the suffix of its files, and the function that writes accounts."""

    name: str
    suffix: str
    write: Writer


FORMATS: dict[str, Format] = {}


def document_format(name: str, suffix: str) -> Callable[[Writer], Writer]:
    """Register `write(accounts, notation, **options)` as the format called `name`."""

    def register(write: Writer) -> Writer:
        FORMATS[name] = Format(name, suffix, write)
        return write

    return register


def render(
    accounts: Account | Sequence[Account],
    form: str,
    *,
    rename: Mapping[str, str] | None = None,
    **options: Any,
) -> Any:
    """Accounts in a format: a text, or for "json" a record.

    `rename` maps names to LaTeX. Raises ValueError for an unknown format, NotationError for a name
    that is not in play, is no safe LaTeX, or would make two things print alike.
    """
    if form not in FORMATS:
        raise ValueError(f"unknown format {form!r}{suggestion(form, FORMATS)}")
    told = [accounts] if isinstance(accounts, Account) else list(accounts)
    chosen = notation(rename)
    if rename:
        from varlaw.symbolic.printers.clashes import check_renames

        check_renames(chosen, [part for account in told for part in account.printed])
    return FORMATS[form].write(told, chosen, **options)


__all__ = ["FORMATS", "Format", "NotationError", "document_format", "render"]
