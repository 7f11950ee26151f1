"""The documents that derivations and laws can be written as."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from varlaw.symbolic.printers.account import Account

Renames = Mapping[str, str] | None


class Documented:
    """Base of what can be written out; `account` says what is told.

    `rename` maps names to LaTeX, such as {"m": "n_{in}"}; all methods raise NotationError for a
    rename that is not safe, not in play, or makes two things print alike. This module imports
    nothing heavy, so that a catalogue of laws can be listed without SymPy.
    """

    def account(self) -> "Account":
        """The derivation with the facts that stand around it."""
        raise NotImplementedError

    def _render(self, form: str, **options: Any) -> Any:
        from varlaw.symbolic.printers import render

        return render(self.account(), form, **options)

    def to_latex(
        self, *, standalone: bool = True, label: str | None = None, rename: Renames = None
    ) -> str:
        """A LaTeX document, or a fragment; `label` names the result and, numbered, its blocks.

        A fragment fits the lines of LaTeX's own article class, and its chains break over pages.
        """
        return str(self._render("latex", standalone=standalone, label=label, rename=rename))

    def to_markdown(self, *, rename: Renames = None) -> str:
        """Markdown with $$ blocks."""
        return str(self._render("markdown", rename=rename))

    def to_text(self, *, width: int = 100, rename: Renames = None) -> str:
        """Plain text, at most `width` columns wide; names stay as they are typed."""
        return str(self._render("text", width=width, rename=rename))

    def to_json(self, *, rename: Renames = None) -> dict[str, Any]:
        """A record of texts and lists, ready for `json.dumps`."""
        return dict(self._render("json", rename=rename))

    def to_bib(self) -> str:
        """The sources as BibTeX; empty where there are none."""
        return str(self._render("bib"))

    def _repr_latex_(self) -> str:
        from varlaw.symbolic.notation import PLAIN
        from varlaw.symbolic.printers.markdown import chain

        aligned = chain(self.account(), PLAIN)
        return "\n".join(rf"$\displaystyle {block}$" for block in aligned)
