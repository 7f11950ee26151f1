"""Messages about names that are not known."""

from collections.abc import Iterable


def suggestion(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'relu'?`, or nothing when no known name is near."""
    from difflib import get_close_matches  # only where something is wrong: help starts faster

    near = get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else ""
