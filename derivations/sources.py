"""The bibliography of the laws: every key that a law names as its source."""

from functools import cache
from importlib.resources import files

from varlaw.symbolic.names import suggestion
from varlaw.symbolic.printers.bibliography import BibliographyError, Source, read_bibliography

__all__ = ["BibliographyError", "bibliography", "source"]


@cache
def bibliography() -> dict[str, Source]:
    """All sources by key, from `sources.bib`."""
    return read_bibliography(
        files("varlaw.derivations").joinpath("sources.bib").read_text(encoding="utf-8")
    )


def source(key: str) -> Source:
    """The source called `key`. Raises BibliographyError, with the nearest key."""
    known = bibliography()
    if key not in known:
        raise BibliographyError(f"no source {key!r} in sources.bib{suggestion(key, known)}")
    return known[key]
