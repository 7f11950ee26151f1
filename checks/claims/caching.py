"""Findings kept from run to run, by the content of the document and of this package.

Kept findings are plain JSON in the user's cache folder. They are used again only for the same
bytes, the same settings and the same version, down to the files, of all that decides.
"""

import hashlib
import json
import os
import sys
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkstemp

from varlaw.checks.claims.findings import Findings, findings_of
from varlaw.checks.documents.clock import LATE
from varlaw.checks.documents.configuration import Configuration

PACKAGES = ("varlaw.symbolic", "varlaw.derivations", "varlaw.checks")
LIBRARIES = ("sympy", "python-flint", "mpmath", "lark", "markdown-it-py")
STOPPED = "stopped"  # the rule of links that a slower machine might not have decided
MOST = 2000  # documents that are kept


class Cache:
    """A folder of findings; nothing goes wrong where it cannot be read or written."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or _folder()

    def key(self, data: bytes, suffix: str, settings: Configuration) -> str:
        """The name under which the findings of a document are kept."""
        told = (suffix, settings.context, sorted(settings.macros.items()), settings.log_base)
        whole = hashlib.sha256(repr((_fingerprint(), told)).encode())
        whole.update(data)
        return whole.hexdigest()

    def get(self, key: str) -> Findings | None:
        """The findings that are kept, if any are."""
        try:
            return findings_of(json.loads(self._path(key).read_text("utf-8")))
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return None

    def put(self, key: str, findings: Findings) -> None:
        """Keep findings, unless they depend on how fast this machine is."""
        cut_off = any(LATE in note.message for note in findings.problems)
        if cut_off or any(link.rule == STOPPED for link in findings.links):
            return
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, draft = mkstemp(dir=self.folder)
            with open(handle, "w", encoding="utf-8") as file:
                json.dump(findings.record(), file)
            os.replace(draft, self._path(key))
            self._shrink()

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.json"

    def _shrink(self) -> None:
        """Let go of the oldest half where there are too many."""
        kept = list(self.folder.glob("*.json"))
        if len(kept) > MOST:
            for path in sorted(kept, key=lambda path: path.stat().st_mtime)[: len(kept) // 2]:
                path.unlink(missing_ok=True)


def _folder() -> Path:
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "varlaw" / "check"


@cache
def _fingerprint() -> str:
    """What tells this installation from every other one that might decide otherwise."""
    found = [sys.version, *(f"{name} {version(name)}" for name in LIBRARIES)]
    for package in PACKAGES:
        spec = find_spec(package)
        for place in spec.submodule_search_locations or () if spec else ():
            for path in sorted(Path(place).rglob("*")):
                if path.is_file() and path.suffix != ".pyc":
                    status = path.stat()
                    found.append(f"{path} {status.st_size} {status.st_mtime_ns}")
    return hashlib.sha256("\n".join(found).encode()).hexdigest()
