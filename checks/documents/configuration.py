"""The settings of `varlaw check`: [tool.varlaw.check] of pyproject.toml, [check] of varlaw.toml.

[tool.varlaw.check]
files = ["docs/*.md"]             # of a folder's documents only these
exclude = ["docs/old"]            # and not these
context = "z ~ N(0, 1)"           # declarations that hold in every document
context-file = "docs/context.varlaw"   # or a file of them
macros = { E = "\\\\mathbb{E}" }    # what the author's commands stand for
log-base = "e"                    # of \\log without a base: "e", 2 or 10
strict = true                     # undecided and loose links fail, too
seconds = 6                       # of the processor's time for each document
"""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

LOG_BASES = ("e", "2", "10")
MOST_BYTES = 1_000_000
SECONDS = 6.0
READING = 0.6  # the part of them that reading may take
_MACRO = re.compile(r"\\?([A-Za-z]+)\*?")


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a project has set; a command line's own options come before it."""

    files: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    context: str = ""
    macros: Mapping[str, str] = field(default_factory=dict)  # by name, without the backslash
    log_base: str = "e"
    strict: bool = False
    seconds: float = SECONDS
    source: Path | None = None

    @property
    def reading(self) -> float:
        """Seconds that reading a document may take."""
        return READING * self.seconds


def find_configuration(start: Path) -> Configuration:
    """The configuration nearest to a file or folder, in it or in a folder above; else the default.

    Raise ValueError with one line that names the file, for what is not as it should be.
    """
    here = start.absolute()
    for folder in (here, *here.parents):
        for name, table in (
            ("varlaw.toml", ("check",)),
            ("pyproject.toml", ("tool", "varlaw", "check")),
        ):
            path = folder / name
            settings = _table(path, table) if path.is_file() else None
            if settings is not None:
                return _configuration(path, settings)
    return Configuration()


def _table(path: Path, names: tuple[str, ...]) -> dict[str, Any] | None:
    """The named table of a file, None if it is not there."""
    found: Any
    try:
        found = tomllib.loads(read_text(path))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ValueError(f"{path}: no TOML: {error}") from None
    for name in names:
        if not isinstance(found, dict):
            raise ValueError(f"{path}: [{'.'.join(names)}] is no table")
        if name not in found:
            return None
        found = found[name]
    if not isinstance(found, dict):
        raise ValueError(f"{path}: [{'.'.join(names)}] is no table")
    return found


def read_text(path: Path) -> str:
    """What a file of settings or declarations says; of an endless one not more than 1 MB is read.

    Raise ValueError with one line.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise ValueError(f"{path}: larger than {MOST_BYTES / 1e6:g} MB")
        return data.decode()
    except UnicodeDecodeError:
        raise ValueError(f"{path}: no UTF-8 text") from None
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or error}") from None


def _configuration(path: Path, settings: dict[str, Any]) -> Configuration:
    values: dict[str, Any] = {}
    for key, value in settings.items():
        if key not in _KEYS:
            raise ValueError(f"{path}: unknown key {key!r}; known are {', '.join(_KEYS)}")
        try:
            values[key] = _KEYS[key](value)
        except TypeError as error:
            raise ValueError(f"{path}: {key} must be {error}") from None
    if name := values.pop("context-file", None):
        values["context"] = f"{values.get('context', '')}\n{_inside(path, name)}".strip()
    return Configuration(source=path, **{key.replace("-", "_"): values[key] for key in values})


def _inside(path: Path, name: str) -> str:
    """The text of a file below the configuration's folder: a project reads nothing else."""
    folder = path.parent.resolve()
    file = (folder / name).resolve()
    if not file.is_relative_to(folder):
        raise ValueError(f"{path}: context-file {name!r} is not below the configuration's folder")
    if not file.is_file():
        raise ValueError(f"{path}: context-file {name!r}: no such file")
    return read_text(file)


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise TypeError("a list of strings")
    return tuple(value)


def _one_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a string")
    return value


def _macros(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise TypeError("a table of strings")
    names = {name: _MACRO.fullmatch(name) for name in value}
    if wrong := [name for name, matched in names.items() if not matched]:
        raise TypeError(f"a table whose names are letters, not {wrong[0]!r}")
    return {matched[1]: value[name] for name, matched in names.items() if matched}


def _log_base(value: Any) -> str:
    if isinstance(value, bool) or str(value) not in LOG_BASES:
        raise TypeError(f"one of {', '.join(LOG_BASES)}")
    return str(value)


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < inf:
        raise TypeError("a number of seconds above 0")
    return float(value)


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("true or false")
    return value


_KEYS: dict[str, Callable[[Any], Any]] = {
    "files": _texts,
    "exclude": _texts,
    "context": _one_text,
    "context-file": _one_text,
    "macros": _macros,
    "log-base": _log_base,
    "strict": _switch,
    "seconds": _seconds,
}
