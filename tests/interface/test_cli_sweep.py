"""`varlaw sweep`: table, CSV, JSON lines, pictures, refusals, and what an interrupt leaves."""

import csv
import json
import math
from dataclasses import replace
from importlib import util
from io import StringIO

import pytest

from varlaw import sweep_plot, sweeps
from varlaw.checks import sweep as engine
from varlaw.checks.report import FittedOrder, Measurement
from varlaw.checks.statistics.verdicts import Verdict
from varlaw.checks.sweep import Reading, Sweep

GOOD, BAD, OPEN = Verdict.VERIFIED, Verdict.REFUTED, Verdict.UNDECIDED
RUN = ("sweep", "relu-std", "--set", "v=1,2", "--tolerance", "0.1", "--jobs", "1")
# Var[relu(z)]/E[relu(z)^2] of a centred Gaussian: 1 - (1/(2 pi))/(1/2)
RATIO = 1 - 1 / math.pi

MEASURED = Measurement("E[y]", "normal", 2.0, 2.01, 1.97, 2.05, "proved", 4096, GOOD)
LOST = replace(
    MEASURED, estimate=None, low=None, high=None, verdict=OPEN, why="over the budget", replicates=0
)
FIT = FittedOrder(1.0, (8, 16, 32), ((2.2, 2.1, 2.3), (2.1, 2.0, 2.2), (2.0, 1.9, 2.1)), 3, 4, GOOD)


def made(*readings: Reading, axes=None) -> Sweep:
    return Sweep("law", "a = b", axes or {"m": (8, 16)}, readings, 0.1, 1e-6, 0)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_the_table(varlaw):
    result = varlaw(*RUN)
    assert result.code == 0 and not result.err
    head, blank, titles, first, second, _, last = result.out.splitlines()
    assert head.startswith("relu-std: ") and not blank
    assert titles.split() == ["v", "quantity", "weights", "claimed", "measured", "verdict"]
    assert first.split()[0] == "1" and second.split()[0] == "2"
    assert f"{RATIO:.6g}" in first and first.endswith("verified")
    assert last == "2 measurements: 2 verified; tolerance 0.1, error rate 1e-06, seed 0"


def test_json_lines(varlaw):
    lines = [json.loads(line) for line in varlaw(*RUN, "--json").out.splitlines()]
    assert [line["at"] for line in lines] == [{"v": 1}, {"v": 2}]
    for line in lines:
        assert (line["schema"], line["version"], line["law"]) == ("varlaw.sweep", 1, "relu-std")
        assert line["claimed"] == pytest.approx(RATIO)
        assert line["low"] < RATIO < line["high"]
        assert (line["verdict"], line["fit"], line["tolerance"]) == ("verified", None, 0.1)


def test_csv_says_the_same(varlaw, tmp_path):
    path = tmp_path / "found.csv"
    assert varlaw(*RUN, "-o", str(path)).out == ""
    rows = list(csv.DictReader(StringIO(path.read_text())))
    lines = [json.loads(line) for line in varlaw(*RUN, "--json").out.splitlines()]
    assert [float(row["v"]) for row in rows] == [1, 2]
    for row, line in zip(rows, lines, strict=True):
        assert all(float(row[k]) == line[k] for k in ("claimed", "estimate", "low", "high"))
        assert (row["weights"], row["verdict"], row["order"]) == ("normal", "verified", "")


def test_what_is_not_known_is_empty():
    lost = replace(LOST, claimed=math.nan)
    sweep = made(Reading({"m": 8}, lost, 0.5))
    (row,) = csv.DictReader(StringIO(sweeps.csv_text(sweep)))
    assert {row[k] for k in ("claimed", "estimate", "low", "high")} == {""}
    line = json.loads(sweeps.json_lines(sweep))
    assert {line[k] for k in ("claimed", "estimate", "low", "high")} == {None}
    text = sweeps.text(sweep)
    assert "over the budget" in text and "nan" not in text
    assert "1 measurement: 1 undecided" in text


def test_a_limit_law_shows_its_error():
    sweep = made(Reading({"m": 8}, replace(MEASURED, fit=FIT), 0.5))
    assert "b n^(-1), b in [3, 4]: order verified" in sweeps.text(sweep)
    fit = json.loads(sweeps.json_lines(sweep))["fit"]
    assert fit["coefficient"] == {"low": 3, "high": 4}
    assert fit["values"][1] == {"size": 16, "estimate": 2.1, "low": 2.0, "high": 2.2}
    (row,) = csv.DictReader(StringIO(sweeps.csv_text(sweep)))
    assert (row["order"], row["coefficient_low"], row["coefficient_high"]) == ("1.0", "3", "4")


@pytest.mark.parametrize(("verdict", "code"), [(GOOD, 0), (BAD, 1), (OPEN, 3)])
def test_exit_codes(varlaw, monkeypatch, verdict, code):
    found = made(Reading({"m": 8}, replace(MEASURED, verdict=verdict), 0.1))
    monkeypatch.setattr(engine, "sweep", lambda *_, **__: found)
    assert varlaw("sweep", "he", "--set", "m=8").code == code


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("hee", "--set", "m=1"), "unknown law 'hee'; did you mean 'he'?"),
        (("he",), "give the grid of a parameter of 'he'; it has m, n"),
        (("he", "--set", "m=64:128"), "m: '64:128' is no range: write START:END:STEP"),
        (("he", "--set", "q=1"), "the experiments of 'he' have no parameter 'q'; it has m, n"),
        (("relu-square", "--set", "m=1"), "have no parameter 'm'; it has none"),
        (("he", "--set", "m=1/2"), "m is a dimension: a positive integer, not 1/2"),
        (("he", "--set", "m=1e400"), "m is between 1e-100 and 1e100 in experiments, not 1"),
        (("relu-std", "--set", "v=1e-400"), "v is between 1e-100 and 1e100 in experiments"),
        (("he", "--set", "m=1:20000:+1"), "m: '1:20000:+1' has more than 10000 values"),
        (("he", "--set", "m=2", "--plot", "a.gif"), "a picture is a .png, .svg or .pdf file"),
        (("he", "--set", "m=2", "-o", "no/such/a.csv"), "there is no such folder"),
        (("he", "--set", "m=2", "--resume"), "there is nothing to resume"),
        (("he", "--set", "m=2", "--json", "--format", "csv"), "'--json' and '--format csv'"),
    ],
)
def test_refusals(varlaw, arguments, message):
    assert message in varlaw("sweep", *arguments).refused()


def test_without_matplotlib(varlaw, monkeypatch):
    monkeypatch.setattr(sweep_plot, "find_spec", lambda name: None)
    refused = varlaw("sweep", "he", "--set", "m=2", "--plot", "a.png").refused()
    assert refused == "a picture needs matplotlib: pip install 'varlaw[plot]'"


def test_an_interrupt_writes_what_is_finished(varlaw, monkeypatch, tmp_path):
    def stopped(law, grid, *, on_reading, **options):
        on_reading(1, Reading({"m": 16}, MEASURED, 0.1))
        on_reading(0, Reading({"m": 8}, MEASURED, 0.1))
        raise KeyboardInterrupt

    monkeypatch.setattr(engine, "sweep", stopped)
    path = tmp_path / "found.jsonl"
    result = varlaw("sweep", "he", "--set", "m=8,16,32", "-o", str(path))
    assert result.code == 130
    assert [line for line in result.err.splitlines() if line] == [
        "varlaw: stopped after 2 measurements; --resume goes on",
        "varlaw: interrupted",
    ]
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["at"]["m"] for line in lines] == [8, 16]


needs_matplotlib = pytest.mark.skipif(util.find_spec("matplotlib") is None, reason="no matplotlib")
SIGNATURES = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@needs_matplotlib
@pytest.mark.parametrize("suffix", SIGNATURES)
def test_pictures(suffix):
    readings = [
        Reading({"m": m, "n": n}, found, 0.1)
        for m, found in ((8, replace(MEASURED, fit=FIT)), (16, MEASURED), (32, LOST))
        for n in (1, 2)
    ]
    sweep = made(*readings, axes={"m": (8, 16, 32), "n": (1, 2)})
    content = sweep_plot.picture(sweep, suffix)
    assert content.startswith(SIGNATURES[suffix])
    assert content == sweep_plot.picture(sweep, suffix), "the same sweep is the same file"


@needs_matplotlib
def test_the_axes_have_names(varlaw, tmp_path):
    path = tmp_path / "found.svg"
    assert varlaw(*RUN, "--plot", str(path)).code == 0
    text = path.read_text()
    for label in ("v", "Var[h]/E[h^2]", "measured / law", "law", "normal weights"):
        assert f"<!-- {label}" in text


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ([1, 2, 4, 8], True), ([1, 10, 100], True), ([1, 2, 3, 4], False), ([64, 128, 192], False),
        ([1, 100], True), ([1, 2], False), ([1], False), ([1, 2, 4, 6, 9, 13, 18, 26, 38], True),
    ],
)  # fmt: skip
def test_axes_are_logarithmic_where_the_grid_is(numbers, expected):
    assert sweep_plot.logarithmic(numbers) is expected
