"""The journal of a run: what is finished is kept in a file, so that a run can be gone on with.

One SQLite file for each run; what the run is (laws, settings, version and source of varlaw) is its
fingerprint, so that results of another run are never taken for those of this one.
"""

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varlaw.checks.report import (
    AssumptionReport,
    FittedOrder,
    Measurement,
    Proof,
    StepReport,
)
from varlaw.checks.statistics.verdicts import Verdict

TABLES = """
create table if not exists results (task text primary key, value text not null);
create table if not exists chunks (task text, number integer, value blob not null,
                                   primary key (task, number));
"""
WAIT = 60.0  # seconds for another process to finish writing
Values = NDArray[np.float64]


def fingerprint(run: Mapping[str, Any]) -> str:
    """What a run is: its settings, and the source that carries it out."""
    text = json.dumps([_source(), np.__version__, run], sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


@cache
def _source() -> str:
    """A digest of the installed package."""
    import varlaw.checks
    import varlaw.derivations
    import varlaw.symbolic

    digest = hashlib.blake2b(digest_size=12)
    for package in (varlaw.symbolic, varlaw.derivations, varlaw.checks):
        root = Path(str(package.__file__)).parent
        for path in sorted(root.rglob("*")):
            if path.suffix in (".py", ".lark", ".json", ".bib"):
                digest.update(str(path.relative_to(root)).encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()


def folder() -> Path:
    """Where journals are kept: in the user's cache."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "varlaw" / "runs"


class Journal:
    """The file of one run. Raises OSError where it cannot be written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with self._open() as file:
                file.executescript(TABLES)
        except sqlite3.Error as error:
            raise OSError(0, str(error), str(path)) from error

    def _open(self) -> sqlite3.Connection:
        file = sqlite3.connect(self.path, timeout=WAIT)
        file.execute("pragma journal_mode = wal")
        file.execute("pragma synchronous = normal")
        return file

    def result(self, task: str) -> Any:
        """What a task gave, or None."""
        with self._open() as file:
            row = file.execute("select value from results where task = ?", (task,)).fetchone()
        return None if row is None else _read(json.loads(row[0]))

    def keep(self, task: str, value: Any) -> None:
        """Keep what a task gave; the chunks of its replicates are then no longer needed."""
        with self._open() as file:
            file.execute("insert or replace into results values (?, ?)", (task, _written(value)))
            file.execute("delete from chunks where task = ?", (task,))

    def chunk(self, task: str, number: int, draw: Callable[[], Values]) -> Values:
        """The replicates of one chunk: as kept, or drawn now and kept."""
        with self._open() as file:
            row = file.execute(
                "select value from chunks where task = ? and number = ?", (task, number)
            ).fetchone()
        if row is not None:
            return np.frombuffer(row[0], dtype=np.float64)
        values = np.ascontiguousarray(draw(), dtype=np.float64)
        with self._open() as file:
            file.execute(
                "insert or ignore into chunks values (?, ?, ?)", (task, number, values.tobytes())
            )
        return values

    def close(self) -> None:
        """Take the file away: the run is finished."""
        for suffix in ("", "-wal", "-shm"):
            with suppress(OSError):
                Path(f"{self.path}{suffix}").unlink()


KINDS: dict[str, type] = {
    kind.__name__: kind for kind in (AssumptionReport, FittedOrder, Measurement, StepReport)
}
WORDS: dict[str, type[Proof] | type[Verdict]] = {"Proof": Proof, "Verdict": Verdict}


def register(kind: type) -> type:
    """Let records of another kind be kept."""
    KINDS[kind.__name__] = kind
    return kind


def _written(value: Any) -> str:
    return json.dumps(_plain(value))


def _plain(value: Any) -> Any:
    """A value as JSON can hold it: numbers to the last bit, tuples and records by their kind."""
    if isinstance(value, Proof | Verdict):
        return {"word": type(value).__name__, "value": str(value)}
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, tuple):
        return {"tuple": [_plain(part) for part in value]}
    if type(value).__name__ in KINDS:
        fields = {name: _plain(getattr(value, name)) for name in value.__dataclass_fields__}
        return {"record": type(value).__name__, "fields": fields}
    return value


def _read(found: Any) -> Any:
    if not isinstance(found, dict):
        return found
    if "word" in found:
        return WORDS[found["word"]](found["value"])
    if "float" in found:
        return float.fromhex(found["float"])
    if "tuple" in found:
        return tuple(map(_read, found["tuple"]))
    fields = {name: _read(part) for name, part in found["fields"].items()}
    return KINDS[found["record"]](**fields)
