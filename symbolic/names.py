"""Messages about names that are not known."""

from collections.abc import Iterable


def suggestion(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'relu'?`, or nothing when no known name is near."""
    from difflib import get_close_matches  # only where something is wrong: help starts faster

    cutoff = 0.5 if len(name) > 1 else 1.0  # one letter is in many names
    near = get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return f"; did you mean {near[0]!r}?" if near else ""
