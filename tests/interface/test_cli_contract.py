"""docs/cli.md says what the command line has: every option of every command, and no other."""

import json
import re
import shlex
from pathlib import Path

import click
import pytest

from varlaw.cli import main
from varlaw.console import Exit

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
OPTION = re.compile(r"(?<!\^\()(?<![\w-])--?[a-z][a-z-]*")  # and no exponent such as ^(-l/2)
EXAMPLE = re.compile(r"<!-- example: varlaw (.*?) -->\n\n```json\n(.*?)```", re.DOTALL)


def section(command: str) -> str:
    """The text of a command's section, without its sub-sections' siblings."""
    return TEXT.partition(f"\n## {command}\n")[2].partition("\n## ")[0]


def documented(command: str) -> set[str]:
    """The options in the first column of the section's tables."""
    rows = [line.split(" | ")[0] for line in section(command).splitlines() if line[:3] == "| `"]
    return {option for row in rows for option in OPTION.findall(row)}


def options(command: click.Command) -> set[str]:
    """The options that click knows of, except --help, which every command has."""
    declared = [p for p in command.params if isinstance(p, click.Option)]
    return {name for option in declared for name in (*option.opts, *option.secondary_opts)}


def test_the_commands():
    sections = set(re.findall(r"^## varlaw (\S+)$", TEXT, re.MULTILINE))
    assert sections == set(main.commands)


@pytest.mark.parametrize("name", main.commands)
def test_the_options(name):
    assert documented(f"varlaw {name}") == options(main.commands[name])


def test_the_options_before_the_command():
    assert documented("varlaw") == options(main) | {"-h", "--help"}


def test_no_other_option_is_mentioned():
    known = set().union(*(options(command) for command in main.commands.values()))
    text = TEXT.replace("python -m", "")
    assert set(OPTION.findall(text)) <= known | options(main) | {"-h", "--help", "--"}


def test_a_wrong_option_is_noticed():
    assert OPTION.findall("`-o PATH`, `--out-put PATH` or two-fold x^(-l/2)") == ["-o", "--out-put"]


@pytest.mark.parametrize("name", main.commands)
def test_defaults_and_choices(name):
    for option in main.commands[name].params:
        (row,) = [
            line
            for line in section(f"varlaw {name}").splitlines()
            if line.startswith("| `") and option.opts[-1] in OPTION.findall(line.split(" | ")[0])
        ] or [""]
        if isinstance(option.type, click.Choice):
            assert f"`{option.opts[-1]} " + r"\|".join(option.type.choices) + "`" in row
        if isinstance(option.default, int | float) and not isinstance(option.default, bool):
            assert f"{option.default} unless given" in row


def test_the_exit_codes():
    codes = {int(code) for code in re.findall(r"^\| (\d+) \|", TEXT, re.MULTILINE)}
    assert codes == set(map(int, Exit))


def keys_of(content: object) -> set[str]:
    """The places in a JSON document; an empty list counts if all are empty."""
    found = {p.replace("[]", "") for p in paths(content)}
    return {p for p in found if not any(other.startswith(f"{p}.") for other in found)}


def paths(content: object, place: str = "") -> set[str]:
    """The places in a JSON document: `laws[].steps.total`."""
    if isinstance(content, dict):
        return {p for key, value in content.items() for p in paths(value, f"{place}.{key}")}
    if isinstance(content, list) and content:
        return {p for value in content for p in paths(value, f"{place}[]")}
    return {place.removeprefix(".")}


EXAMPLES = EXAMPLE.findall(TEXT)


def test_there_are_examples():
    assert {command.split()[0] for command, _ in EXAMPLES} == set(main.commands)


@pytest.mark.parametrize(("command", "example"), EXAMPLES, ids=[c for c, _ in EXAMPLES])
def test_the_examples_have_the_keys_of_the_real_output(varlaw, command, example):
    """The example of a list may be shorter, so its places are among the real ones, and name all."""
    result = varlaw(*shlex.split(command))
    assert result.code == 0
    shown, real = json.loads(example), json.loads(result.out)
    assert keys_of(shown) == keys_of(real)
    assert {k: shown[k] for k in ("schema", "version")} == {
        k: real[k] for k in ("schema", "version")
    }
