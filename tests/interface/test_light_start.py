"""The command line starts without the heavy libraries: help and the list need none of them."""

import subprocess
import sys

import pytest

HEAVY = {"mpmath", "numpy", "rich", "scipy", "sympy"}

# Runs code in a fresh interpreter, then prints on standard error what that imported.
PROBE = """
import sys
try:
    {code}
except SystemExit as stop:
    assert not stop.code, f"exit code {{stop.code}}"
print("IMPORTED", *sys.modules, file=sys.stderr)
"""
COMMAND = "import runpy; sys.argv = {argv!r}; runpy.run_module('varlaw', run_name='__main__')"


def heavy_after(code: str) -> tuple[set[str], str]:
    """Return the heavy libraries that ``code`` imports, and what it printed."""
    run = subprocess.run(
        [sys.executable, "-c", PROBE.format(code=code)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 0, run.stderr
    imported = run.stderr.rpartition("IMPORTED")[2].split()
    return HEAVY & {name.partition(".")[0] for name in imported}, run.stdout


@pytest.mark.parametrize("arguments", [["--help"], ["list"]], ids=" ".join)
def test_command_starts_light(arguments: list[str]) -> None:
    heavy, printed = heavy_after(COMMAND.format(argv=["varlaw", *arguments]))
    assert printed.strip(), "the command printed nothing, so it showed nothing about its start"
    assert not heavy


def test_import_is_light() -> None:
    heavy, _ = heavy_after("import varlaw")
    assert not heavy


def test_a_heavy_start_is_noticed() -> None:
    heavy, _ = heavy_after("import rich.table")
    assert heavy == {"rich"}
