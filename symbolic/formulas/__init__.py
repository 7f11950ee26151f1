"""Formulas as authors write them: read into a tree of our own, so far without any meaning."""

from varlaw.symbolic.formulas.cures import cured
from varlaw.symbolic.formulas.limits import NotRead
from varlaw.symbolic.formulas.macros import Macro, document_macros, read_macros
from varlaw.symbolic.formulas.partly import read_partly
from varlaw.symbolic.formulas.reader import Reading, read_formula, read_plain
from varlaw.symbolic.formulas.tree import Chain, Head, Node, plain
from varlaw.symbolic.formulas.written import show

__all__ = [
    "Chain",
    "Head",
    "Macro",
    "Node",
    "NotRead",
    "Reading",
    "cured",
    "document_macros",
    "plain",
    "read_formula",
    "read_macros",
    "read_partly",
    "read_plain",
    "show",
]
