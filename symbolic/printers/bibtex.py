"""BibTeX: the sources of some accounts, each once."""

from collections.abc import Sequence

from varlaw.symbolic.notation import Notation
from varlaw.symbolic.printers.account import Account
from varlaw.symbolic.printers.registry import document_format


@document_format("bib", ".bib")
def write(accounts: Sequence[Account], notation: Notation) -> str:
    """The entries of all sources, sorted by key; they have no symbols that could be renamed."""
    sources = {source.key: source.bibtex for account in accounts for source in account.sources}
    return "\n\n".join(sources[key] for key in sorted(sources)) + "\n"
