"""`varlaw explore --compare`: variants side by side."""

import json

import pytest

B = "linear(d,4*d,var=2/d) >> relu >> linear(4*d,d,var=v/(4*d))"
TWO = [
    *("--compare", f"pre=repeat(prenorm({B}), L)"),
    *("--compare", f"plain=repeat({B}, L)"),
    *("--solve", "v"),
]


def test_table(varlaw):
    lines = varlaw("explore", *TWO).out.splitlines()
    assert [line.split()[0] for line in lines] == ["variant", "pre", "plain"]
    assert "linear, v per layer" in lines[1]
    assert "L*v + q0" in lines[1]
    assert "forward: v = 1" in lines[2]
    assert "v = " not in lines[1]  # no positive v keeps what only grows


def test_json(varlaw):
    found = json.loads(varlaw("explore", *TWO, "--json").out)
    assert (found["schema"], found["version"]) == ("varlaw.explore-comparison", 1)
    pre, plain = found["variants"]
    assert (pre["name"], pre["forward"]["second_moment"]) == ("pre", "L*v + q0")
    assert plain["solved"]["forward"] == "1"
    assert "schema" not in pre


def test_markdown_and_latex(varlaw):
    lines = varlaw("explore", *TWO, "--format", "markdown").out.splitlines()
    assert len({line.count("|") for line in lines}) == 1
    assert r"\section*{\raggedright pre}" in varlaw("explore", *TWO, "--format", "latex").out


def test_files(varlaw, tmp_path):
    for name, text in (("one", "relu"), ("two", "tanh >> linear(4, 4, var=1)")):
        (tmp_path / f"{name}.txt").write_text(text)
    out = varlaw("explore", str(tmp_path / "one.txt"), str(tmp_path / "two.txt")).out
    assert [line.split()[0] for line in out.splitlines()] == ["variant", "one", "two"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give blocks"),
        (("relu", "--compare", "a=reluu"), "a: unknown block 'reluu'"),
        (("missing.txt",), "missing.txt: no such file"),
        (("relu", "relu"), "two variants are called 'relu'"),
        (("relu", "--compare", "relu"), "not of the form NAME=BLOCKS"),
        (("relu", "tanh", "--emit", "numpy"), "for one variant"),
    ],
)
def test_refused(varlaw, arguments, message):
    assert message in varlaw("explore", *arguments).refused()
