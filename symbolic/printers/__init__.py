"""Derivations as documents: LaTeX, Markdown, plain text, JSON, BibTeX; one module per format."""

from varlaw.symbolic.printers import bibtex, json, latex, markdown, text
from varlaw.symbolic.printers.account import Account
from varlaw.symbolic.printers.registry import FORMATS, Format, render

__all__ = ["FORMATS", "Account", "Format", "bibtex", "json", "latex", "markdown", "render", "text"]
