"""The examples in docstrings run, each module loaded once and under its installed name.

``pytest --doctest-modules`` would load the modules a second time under their folders' names
(``symbolic.arrays`` beside ``varlaw.symbolic.arrays``), with a second copy of every class and
registry, so the standard library's runner is used on the modules as everybody imports them.
"""

import doctest
import importlib
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def modules_with_examples() -> list[str]:
    """Return the dotted names of all modules whose text holds an example."""
    found = []
    for package, folder in PROJECT["tool"]["setuptools"]["package-dir"].items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            if ">>> " in path.read_text(encoding="utf-8"):
                inside = path.relative_to(ROOT / folder).with_suffix("").parts
                found.append(".".join([package, *(part for part in inside if part != "__init__")]))
    return found


def run_examples(module: ModuleType) -> doctest.TestResults:
    return doctest.testmod(module, report=False)


def test_there_are_examples() -> None:
    assert modules_with_examples()


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples(name: str) -> None:
    results = run_examples(importlib.import_module(name))
    assert results.attempted, "the examples of this module are in no docstring that is run"
    assert not results.failed, "see the captured output"


def test_a_wrong_example_fails() -> None:
    module = ModuleType("wrong", ">>> 1 + 1\n3\n>>> 2 + 2\n4\n")
    assert run_examples(module) == doctest.TestResults(failed=1, attempted=2)
