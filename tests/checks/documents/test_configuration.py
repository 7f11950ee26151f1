"""Settings of a project: found above the document, checked, and confined to the project."""

from pathlib import Path

import pytest

from varlaw.checks.documents.configuration import Configuration, find_configuration

SETTINGS = r"""
files = ["docs/*.md"]
exclude = ["docs/old"]
context = "z ~ N(0, 1)"
context-file = "context.varlaw"
macros = { E = "\\mathbb{E}", "\\Var" = "\\mathrm{Var}" }
log-base = 2
strict = true
"""


@pytest.mark.parametrize(
    ("name", "table"), [("varlaw.toml", "[check]"), ("pyproject.toml", "[tool.varlaw.check]")]
)
def test_all_settings(tmp_path: Path, name: str, table: str) -> None:
    (tmp_path / name).write_text(table + SETTINGS)
    (tmp_path / "context.varlaw").write_text("x > 0")
    below = tmp_path / "docs" / "deep"
    below.mkdir(parents=True)
    found = find_configuration(below / "a.md")
    assert found == Configuration(
        files=("docs/*.md",),
        exclude=("docs/old",),
        context="z ~ N(0, 1)\nx > 0",
        macros={"E": r"\mathbb{E}", "Var": r"\mathrm{Var}"},
        log_base="2",
        strict=True,
        source=tmp_path / name,
    )


def test_the_nearest_file_with_our_table_counts(tmp_path: Path) -> None:
    below = tmp_path / "below"
    below.mkdir()
    (tmp_path / "pyproject.toml").write_text("[tool.varlaw.check]\nstrict = true")
    (below / "pyproject.toml").write_text("[project]\nname = 'x'")
    assert find_configuration(below).strict
    (below / "varlaw.toml").write_text("[check]\nlog-base = '10'")
    assert find_configuration(below) == Configuration(log_base="10", source=below / "varlaw.toml")


def test_defaults(tmp_path: Path) -> None:
    (tmp_path / "varlaw.toml").write_text("[check]")
    assert find_configuration(tmp_path) == Configuration(source=tmp_path / "varlaw.toml")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("strickt = true", "unknown key 'strickt'; known are files, exclude"),
        ("strict = 1", "strict must be true or false"),
        ("files = 'a'", "files must be a list of strings"),
        ("exclude = [1]", "exclude must be a list of strings"),
        ("context = ['a']", "context must be a string"),
        ("macros = ['a']", "macros must be a table of strings"),
        ("macros = { 'a b' = 'c' }", "macros must be a table whose names are letters, not 'a b'"),
        ("log-base = 3", "log-base must be one of e, 2, 10"),
        ("log-base = true", "log-base must be one of e, 2, 10"),
        ("context-file = '../a'", "is not below the configuration's folder"),
        ("context-file = '/etc/hostname'", "is not below the configuration's folder"),
        ("context-file = 'missing'", "no such file"),
        ("strict =", "no TOML"),
        ("x = " + "[" * 5000, "no TOML"),
    ],
)
def test_wrong_settings_are_one_line_with_the_file(
    tmp_path: Path, settings: str, message: str
) -> None:
    path = tmp_path / "varlaw.toml"
    path.write_text("[check]\n" + settings)
    with pytest.raises(ValueError) as caught:
        find_configuration(tmp_path)
    line = str(caught.value)
    assert line.startswith(f"{path}: ") and message in line and "\n" not in line


@pytest.mark.parametrize("text", [b"check = 1", b"\xff"])
def test_wrong_files(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "varlaw.toml").write_bytes(text)
    with pytest.raises(ValueError, match=r"varlaw\.toml: "):
        find_configuration(tmp_path)


def test_a_link_does_not_lead_the_context_out(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret").write_text("secret")
    (inside / "context").symlink_to(tmp_path / "secret")
    (inside / "varlaw.toml").write_text("[check]\ncontext-file = 'context'")
    with pytest.raises(ValueError, match="is not below"):
        find_configuration(inside)


@pytest.mark.parametrize("value", ["0", "-1", "true", "'6'", "inf", "nan"])
def test_seconds_are_above_zero(tmp_path: Path, value: str) -> None:
    (tmp_path / "varlaw.toml").write_text(f"[check]\nseconds = {value}\n", encoding="utf-8")
    with pytest.raises(ValueError, match="seconds must be a number of seconds above 0"):
        find_configuration(tmp_path)


def test_seconds(tmp_path: Path) -> None:
    (tmp_path / "varlaw.toml").write_text("[check]\nseconds = 60\n", encoding="utf-8")
    assert find_configuration(tmp_path).seconds == 60
