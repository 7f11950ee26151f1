"""`varlaw list` and `varlaw show`, and the manners that all commands share."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from varlaw import listing
from varlaw.derivations import catalogue
from varlaw.derivations.catalogue import entries, find

KEYS = {"name", "family", "title", "statement", "regime", "assumptions", "sources", "pitfalls"}
SOURCES = Path(catalogue.__file__).parent


def names_in_the_sources() -> set[str]:
    """The names of laws as a plain search of the syntax trees finds them."""
    found = set()
    for path in SOURCES.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "law":
                found |= {k.value.value for k in node.keywords if k.arg == "name"}
    return found


def test_list_names_every_law_once(varlaw):
    result = varlaw("list")
    assert result.code == 0
    assert not result.err
    laws = [line.split()[0] for line in result.out.splitlines() if line.startswith("  ")]
    assert sorted(laws) == sorted(names_in_the_sources())


def test_list_has_each_family_once_as_a_heading(varlaw):
    lines = [line for line in varlaw("list").out.splitlines() if line and line[0] != " "]
    assert sorted(lines) == sorted({entry.family for entry in entries().values()})


def test_list_json(varlaw):
    content = json.loads(varlaw("list", "--json").out)
    assert (content["schema"], content["version"]) == ("varlaw.list", 1)
    assert {law["name"] for law in content["laws"]} == names_in_the_sources()
    assert all(set(law) == KEYS for law in content["laws"])
    assert all(law["statement"] and law["sources"] for law in content["laws"])


def test_the_alias_of_the_format(varlaw):
    assert varlaw("list", "--json").out == varlaw("list", "--format", "json").out
    assert "exclude" in varlaw("list", "--json", "--format", "text").refused()


def words(text: str) -> str:
    return " ".join(text.split())


def test_show(varlaw):
    result = varlaw("show", "he")
    law = find("he")
    assert result.code == 0
    shown = words(result.out)
    assert words(law.to_text()) in shown
    for text in (law.entry.title, law.entry.regime, law.entry.family, *map(str, law.usual)):
        assert words(text) in shown
    for step in law.derivation.steps:
        assert words(law.account().reason(step)).lower() in shown.lower()


def test_show_tells_what_a_law_rests_on_and_its_note(varlaw):
    law = next(law for law in map(find, entries()) if law.entry.rests_on and law.entry.note)
    shown = " ".join(varlaw("show", law.name).out.split())
    assert law.entry.note in shown
    assert all(name in shown for name in law.entry.rests_on)


def test_show_json(varlaw):
    content = json.loads(varlaw("show", "lecun", "--json").out)
    assert (content["schema"], content["version"]) == ("varlaw.show", 1)
    law = content["law"]
    assert set(law) == KEYS | {"used", "without", "rests_on", "note", "steps"}
    assert law["statement"] == "Var[w[i, j]] = 1/m"
    assert "w: zero mean" in law["assumptions"]
    assert law["without"] == ["x: zero mean", "x: independent entries", "w: Gaussian"]


def test_show_with_the_audit(varlaw):
    audit = json.loads(varlaw("show", "residual-sum", "--json", "--audit").out)["law"]["audit"]
    scopes = {answer["name"]: answer["scope"] for answer in audit}
    assert scopes["F uncorrelated with x"] == "law"
    assert scopes["x: zero mean"] == "none"
    shown = varlaw("show", "residual-sum", "--audit").out
    assert "x: zero mean: not needed" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "hee"], "unknown law 'hee'; did you mean 'he'?"),
        (["show", "xavire"], "unknown law 'xavire'; did you mean 'xavier'?"),
        (["lst"], "unknown command 'lst'; did you mean 'list'?"),
        (["he"], "unknown command 'he', but a law: varlaw show he"),
        (["list", "--jsn"], "unknown option '--jsn'; did you mean '--json'?"),
        (["show"], "missing argument 'LAW'"),
        (["show", "he", "lecun"], "got unexpected extra argument (lecun)"),
        (["list", "--format", "xml"], "invalid value for '--format': 'xml' is not one of"),
        (["list", "--format"], "option '--format' requires an argument"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage_is_one_line(varlaw, arguments, message):
    assert varlaw(*arguments).refused().startswith(message)


def test_no_command_shows_the_help_as_an_error(varlaw):
    result = varlaw()
    assert (result.code, result.out) == (2, "")
    assert "Usage: varlaw" in result.err


def test_version(varlaw):
    from importlib.metadata import version

    assert varlaw("--version").out == f"varlaw {version('varlaw')}\n"


def broken(*_):
    raise KeyError("inner\nworkings")


def test_an_internal_error_is_one_line_with_a_hint(varlaw, monkeypatch):
    monkeypatch.setattr(listing, "laws", broken)
    message = varlaw("list").refused()
    assert message.startswith("internal error: KeyError: ")
    assert "VARLAW_DEBUG" in message


def test_the_traceback_can_be_had(varlaw, monkeypatch):
    monkeypatch.setattr(listing, "laws", broken)
    monkeypatch.setenv("VARLAW_DEBUG", "1")
    result = varlaw("list")
    assert result.code == 2
    assert "Traceback" in result.err
    assert result.err.splitlines()[-1].startswith("varlaw: internal error: ")


def interrupted(*_):
    raise KeyboardInterrupt


def test_an_interrupt_has_its_own_exit_code(varlaw, monkeypatch):
    monkeypatch.setattr(listing, "laws", interrupted)
    result = varlaw("list")
    assert (result.code, result.out) == (130, "")
    assert result.err.strip() == "varlaw: interrupted"


COMMAND = [sys.executable, "-m", "varlaw"]


def test_python_dash_m(varlaw):
    result = subprocess.run([*COMMAND, "list"], capture_output=True, text=True, check=True)
    assert result.stdout == varlaw("list").out
    assert not result.stderr


def test_usage_errors_of_python_dash_m():
    result = subprocess.run([*COMMAND, "show", "hee"], capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "varlaw: unknown law 'hee'; did you mean 'he'?\n"


def test_a_reader_that_goes_away_is_no_error():
    reader, writer = os.pipe()
    os.close(reader)
    try:
        result = subprocess.run([*COMMAND, "list"], stdout=writer, stderr=subprocess.PIPE)
    finally:
        os.close(writer)
    assert (result.returncode, result.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_one_line():
    with open("/dev/full", "w") as full:
        result = subprocess.run([*COMMAND, "list"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 2
    assert result.stderr.startswith("varlaw: cannot write to standard output: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_output_survives_a_narrow_encoding(encoding):
    environment = os.environ | {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    command = [*COMMAND, "show", "post-norm-decay"]
    run = subprocess.run(command, capture_output=True, env=environment)
    assert (run.returncode, run.stderr) == (0, b"")
    assert b"(x[t] + F[t])" in run.stdout


def test_the_shell_completes_the_names_of_laws():
    environment = os.environ | {
        "_VARLAW_COMPLETE": "bash_complete",
        "COMP_WORDS": "varlaw show post-norm-de",
        "COMP_CWORD": "2",
    }
    code = "from varlaw.cli import main; main(prog_name='varlaw')"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert run.stdout.split() == ["plain,post-norm-decay"]
