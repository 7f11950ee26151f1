"""Which files are documents: named ones, and those in folders."""

import os
import sys
from collections.abc import Iterable, Sequence
from fnmatch import fnmatch
from pathlib import Path
from stat import S_ISREG

from varlaw.checks.documents.reading import MOST_BYTES, SUFFIXES

STANDARD_INPUT = Path("-")


def find_files(
    paths: Iterable[str | Path], files: Sequence[str] = (), exclude: Sequence[str] = ()
) -> list[Path]:
    """The documents among these paths, folders walked, sorted and without repetition.

    In a folder only files count that match one of the patterns `files` (all documents if there are
    none) and none of `exclude`; patterns are matched with the path inside the folder, and with
    that from where we are, and a * goes over slashes. Hidden files and folders are left out, and
    links that lead out of the folder. A file that is named counts always.

    Raise ValueError for what is not there or no document.
    """
    found: set[Path] = set()
    for path in map(Path, paths):
        if path.is_dir():
            found.update(_walk(path, files, exclude))
        elif path == STANDARD_INPUT or (path.is_file() and path.suffix.lower() in SUFFIXES):
            found.add(path)
        elif path.is_file():
            raise ValueError(f"{path}: no document: known are {', '.join(SUFFIXES)}")
        elif path.exists():
            raise ValueError(f"{path}: not a regular file")
        else:
            raise ValueError(f"{path}: no such file or folder")
    return sorted(found)


def _walk(folder: Path, files: Sequence[str], exclude: Sequence[str]) -> Iterable[Path]:
    inside = folder.resolve()
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(parent, name)
            ways = _ways(path.relative_to(folder))
            if not path.is_absolute():
                ways |= _ways(path)
            if (
                not name.startswith(".")
                and path.suffix.lower() in SUFFIXES
                and (not files or _matches(ways, files))
                and not _matches(ways, exclude)
                and path.is_file()
                and (not path.is_symlink() or path.resolve().is_relative_to(inside))
            ):
                yield path


def _ways(path: Path) -> set[str]:
    """A path and the folders on the way to it."""
    return {path.as_posix(), *(parent.as_posix() for parent in path.parents)}


def _matches(ways: set[str], patterns: Sequence[str]) -> bool:
    """Whether a path, or a folder on the way to it, matches one of the patterns."""
    return any(fnmatch(way, pattern.rstrip("/")) for pattern in patterns for way in ways)


def read_bytes(path: Path) -> bytes:
    """What is in a file, or on standard input; of one that is too large only so much as shows it.

    Raise ValueError with one line for a file that cannot be opened.
    """
    try:
        if path == STANDARD_INPUT:
            return sys.stdin.buffer.read(MOST_BYTES + 1)
        with open(path, "rb", opener=_at_once) as file:
            if not S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ValueError(f"{path}: not a regular file")
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or error}") from None


def _at_once(path: str, flags: int) -> int:
    """Open without waiting for the writer of a pipe that took the file's place."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
