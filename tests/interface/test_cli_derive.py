"""`varlaw derive`: the forms, and files that are written whole or not at all."""

import json
import os
import stat
from pathlib import Path

import pytest

from varlaw import documents
from varlaw.cli import main
from varlaw.console import write_file
from varlaw.derivations import catalogue
from varlaw.derivations.catalogue import entries, find
from varlaw.symbolic.printers import FORMATS

FORMS = {"text": ".txt", "latex": ".tex", "markdown": ".md", "json": ".json"}


@pytest.fixture
def few(monkeypatch):
    """A few laws for `--all`: printing every one of them takes long."""
    chosen = ("he", *catalogue.names()[::30])
    monkeypatch.setattr(catalogue, "names", lambda: chosen)
    return chosen


def test_all_are_the_laws_of_the_catalogue():
    assert set(catalogue.names()) == set(entries())


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_written_to_standard_output(varlaw, form):
    result = varlaw("derive", "lecun", "--format", form)
    assert result.code == 0
    assert not result.err
    assert result.out.strip()


def test_text_is_the_default(varlaw):
    assert varlaw("derive", "lecun").out == varlaw("derive", "lecun", "--format", "text").out


def test_the_text_justifies_every_step(varlaw):
    shown = " ".join(varlaw("derive", "lecun").out.split()).lower()
    account = find("lecun").account()
    for step in account.derivation.steps:
        assert account.reason(step).lower() in shown


def test_latex_is_a_document_or_a_fragment(varlaw):
    document = varlaw("derive", "he", "--format", "latex").out
    assert document == varlaw("derive", "he", "--format", "latex", "--standalone").out
    assert r"\documentclass" in document
    assert document.rstrip().endswith(r"\end{document}")
    fragment = varlaw("derive", "he", "--format", "latex", "--fragment").out
    assert r"\begin{document}" not in fragment
    assert r"\begin{align" in fragment


def test_labels(varlaw):
    fragment = varlaw("derive", "he", "--format", "latex", "--fragment", "--label", "eq:he").out
    assert r"\label{eq:he}" in fragment
    assert r"\label" not in varlaw("derive", "he", "--format", "latex", "--fragment").out
    wrong = ["--format", "latex", "--label", "a}b"]
    assert varlaw("derive", "he", *wrong).refused().startswith("the label 'a}b' may have")


def test_renames(varlaw):
    plain = varlaw("derive", "he", "--format", "latex").out
    renamed = varlaw("derive", "he", "--format", "latex", "--rename", "m=n_{in}").out
    assert "n_{in}" in renamed
    assert "n_{in}" not in plain


@pytest.mark.parametrize(
    ("rename", "message"),
    [
        ("m", "invalid value for '--rename': 'm' is not of the form A=B"),
        ("m=", "invalid value for '--rename': 'm=' is not of the form A=B"),
        (r"m=\input{secret}", r"'\\input{secret}' is not a name in LaTeX"),
        ("m=n}}", "'n}}' is not a name in LaTeX"),
        ("nosuch=k", "no symbol 'nosuch' here"),
    ],
)
def test_wrong_renames(varlaw, rename, message):
    told = varlaw("derive", "he", "--format", "latex", "--rename", rename).refused()
    assert told.startswith(message)


def test_json(varlaw):
    content = json.loads(varlaw("derive", "lecun", "--json").out)
    assert content["schema"].startswith("varlaw.")
    assert content["version"] == 1
    assert content == json.loads(varlaw("derive", "lecun", "--format", "json").out)


def test_all_as_json(varlaw, few):
    content = json.loads(varlaw("derive", "--all", "--json").out)
    assert {"schema", "version", "laws"} == set(content)
    assert [law["name"] for law in content["laws"]] == list(few)


def test_all_on_standard_output(varlaw, few):
    shown = varlaw("derive", "--all").out
    assert all(find(name).entry.title in " ".join(shown.split()) for name in few)


@pytest.mark.usefixtures("few")
def test_all_in_one_latex_document(varlaw):
    shown = varlaw("derive", "--all", "--format", "latex").out
    assert shown.count(r"\begin{document}") == shown.count(r"\end{document}") == 1


def test_the_formats_are_those_of_the_printers():
    (option,) = (p for p in main.commands["derive"].params if p.name == "form")
    assert {*option.type.choices, "bib"} == set(FORMATS)
    assert {name: FORMATS[name].suffix for name in FORMS} == FORMS


def test_bibliography(varlaw, tmp_path, few):
    shown = varlaw("derive", "he", "--bib").out
    assert varlaw("derive", "he", "-o", str(tmp_path / "he.bib")).code == 0
    assert (tmp_path / "he.bib").read_text(encoding="utf-8") == shown
    for key in find("he").entry.sources:
        assert shown.count(f"{{{key},") == 1
    every = varlaw("derive", "--all", "--bib").out
    for key in {key for name in few for key in find(name).entry.sources}:
        assert every.count(f"{{{key},") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "give a law or --all, and not both"),
        ("he --all", "give a law or --all, and not both"),
        ("hee", "unknown law 'hee'; did you mean 'he'?"),
        ("he --format latx", "invalid value for '--format': 'latx' is not one of"),
        ("he --json --format text", "'--json' and '--format text' exclude one another"),
        ("he --format text --fragment", "'--fragment' is for '--format latex'"),
        ("he --standalone --json", "'--standalone' is for '--format latex'"),
        ("he --format json --label a", "'--label' is for '--format latex'"),
        ("he --format latex --standalone --fragment", "'--standalone' and '--fragment' exclude"),
        ("he --bib --format latex", "'--bib' and '--format' exclude one another"),
        ("he --bib --fragment", "'--fragment' is for '--format latex'"),
        ("he -o he.md --fragment", "'--fragment' is for '--format latex'"),
        ("he --rename m=n --rename m=k", "invalid value for '--rename': 'm' is given twice"),
    ],
)
def test_bad_input_is_one_line(varlaw, arguments, message):
    assert varlaw("derive", *arguments.split()).refused().startswith(message)


@pytest.mark.parametrize("options", [["--standalone"], ["--fragment"], ["--label", "eq"]])
def test_options_of_latex_imply_it(varlaw, options):
    implied = varlaw("derive", "he", *options)
    assert implied.code == 0
    assert implied.out == varlaw("derive", "he", "--format", "latex", *options).out


@pytest.mark.parametrize(("form", "suffix"), FORMS.items())
def test_a_file_holds_what_standard_output_shows(varlaw, tmp_path, form, suffix):
    """Its name says the form, where no form is given."""
    path = tmp_path / f"law{suffix}"
    result = varlaw("derive", "he", "-o", str(path))
    assert (result.code, result.out, result.err) == (0, "", "")
    shown = varlaw("derive", "he", "--format", form).out
    assert path.read_bytes() == shown.encode()
    assert list(tmp_path.iterdir()) == [path]


def test_a_minus_is_standard_output(varlaw):
    assert varlaw("derive", "he", "-o", "-").out == varlaw("derive", "he").out


@pytest.mark.parametrize("form", FORMS)
def test_all_in_a_directory(varlaw, tmp_path, few, form):
    target = tmp_path / "laws"
    assert varlaw("derive", "--all", "--format", form, "-o", str(target)).code == 0
    names = {path.name for path in target.iterdir()}
    assert names == {name + FORMS[form] for name in few}
    path = target / f"he{FORMS[form]}"
    assert path.read_text(encoding="utf-8") == varlaw("derive", "he", "--format", form).out


@pytest.mark.usefixtures("few")
def test_where_nothing_can_be_written(varlaw, tmp_path):
    (tmp_path / "file").write_text("kept")
    inside = str(tmp_path / "file" / "law.tex")
    missing = str(tmp_path / "missing" / "law.tex")
    for path in (missing, inside, str(tmp_path)):
        message = varlaw("derive", "he", "-o", path).refused()
        assert message.startswith(f"cannot write {path!r}: ")
    for path in (missing, str(tmp_path / "file")):
        message = varlaw("derive", "--all", "-o", path).refused()
        assert message.startswith(f"cannot make {path!r}: ")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "kept"


def test_one_law_that_fails_leaves_nothing_half_done(varlaw, tmp_path, monkeypatch, few):
    def document(laws, wanted):
        if laws[0].name == few[-1]:
            raise RuntimeError("no")
        return "text\n"

    monkeypatch.setattr(documents, "document", document)
    assert varlaw("derive", "--all", "-o", str(tmp_path / "laws")).code == 2
    assert not list(tmp_path.iterdir())


def fail(*_):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("broken", ["replace", "chmod"])
def test_a_write_that_fails_keeps_the_old_file(varlaw, tmp_path, monkeypatch, broken):
    path = tmp_path / "he.txt"
    path.write_text("old")
    monkeypatch.setattr(os, broken, fail)
    message = varlaw("derive", "he", "-o", str(path)).refused()
    assert message == f"cannot write {str(path)!r}: No space left on device"
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_files_have_the_usual_rights(tmp_path):
    path = tmp_path / "new"
    before = os.umask(0o027)
    try:
        write_file(path, "text")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    write_file(path, "more")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("more", 0o604)


def test_links_and_devices_stay_what_they_are(tmp_path):
    (tmp_path / "real").write_text("old")
    link = tmp_path / "link"
    link.symlink_to("real")
    write_file(link, "new")
    assert link.is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    device = Path(os.devnull)
    write_file(device, "gone")
    assert not device.is_file()
