"""The table of `varlaw verify`, on made-up reports."""

from dataclasses import replace

import pytest
from reports import BAD, DECAY, HE, MEASURED, OPEN, UNKNOWN, WRONG

import varlaw as vl
from varlaw import evidence
from varlaw.checks.report import Report


def test_one_line_for_each_law_when_piped(varlaw, engine):
    engine(HE, DECAY)
    title, he, decay, blank, last = varlaw("verify").out.splitlines()
    evidence = ["steps", "assumptions", "quantity", "measured", "claimed"]
    columns = ["law", *evidence, "verdict", "statement"]
    assert title.split() == columns
    for line, law in ((he, HE), (decay, DECAY)):
        starts = [title.index(column) for column in columns]
        cells = [line[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)]
        measured = ["m Var[w]", "2.0003 [1.9981, 2.0031]", "2"]
        assert cells == [law.name, "2/2", "1/4 needed", *measured, "verified", law.statement]
    assert not blank
    assert last == "2 laws: 2 verified; 4 steps: 4 proved; error rate 1e-06, seed 0"


def test_verdicts_on_asymptotic_intervals_are_counted(varlaw, engine):
    doubtful = replace(MEASURED, interval="asymptotic")
    undecided = replace(doubtful, verdict=OPEN)
    engine(replace(HE, measured=(MEASURED, doubtful, undecided)))
    *_, last = varlaw("verify").out.splitlines()
    assert last.endswith("; error rate 1e-06, not of 1 asymptotic verdict, seed 0")


def test_no_colour_when_piped(varlaw, engine):
    engine(HE)
    assert "\033" not in varlaw("verify", "-v").out
    assert "\033[32mverified" in evidence.text(Report((HE,), 1e-6, 0), colour=True)


@pytest.mark.parametrize("width", [60, 80, 100, 120, 160, 200])
def test_the_table_fits_the_terminal(width):
    lines = evidence.text(Report((HE, DECAY), 1e-6, 0), width).splitlines()[:-2]
    assert max(map(len, lines)) <= max(width, 75)
    text = " ".join(" ".join(lines).split())
    assert "Var[w[i, j]] = 2/m" in text
    assert {word for law in (HE, DECAY) for word in law.statement.split()} <= set(text.split())
    assert text.count("2.0003 [1.9981, 2.0031]") == 2
    assert text.count("1/4 needed") == 2
    assert text.count("m Var[w]") == 2
    assert text.count(" 2/2") == 2


def test_a_wide_terminal_has_one_line_for_each_law():
    report = Report((HE, DECAY), 1e-6, 0)
    assert evidence.text(report, 200) == evidence.text(report)


def test_what_was_not_measured_has_no_column(varlaw, engine):
    engine(replace(HE, measured=()))
    out = varlaw("verify", "--steps-only").out
    assert "verified" in out
    assert "measured" not in out


def test_the_line_shows_the_measurement_that_decides():
    assert evidence.shown_measurement(HE) is HE.measured[0]
    assert evidence.shown_measurement(WRONG) is WRONG.measured[1]
    assert evidence.shown_measurement(replace(HE, measured=())) is None


def test_problems_are_listed(varlaw, engine):
    engine(HE, replace(WRONG, problems=("step 1 (count): m - 1 is not m", "broken at m = 2")))
    lines = varlaw("verify").out.splitlines()
    place = lines.index("problems")
    assert lines[place + 1 : place + 3] == [
        "  lecun: step 1 (count): m - 1 is not m",
        "  lecun: broken at m = 2",
    ]
    assert lines[-1].startswith("2 laws: 1 verified, 1 refuted; 3 steps: 2 proved, 1 refuted;")


def test_no_problems_no_heading(varlaw, engine):
    engine(HE)
    assert "problems" not in varlaw("verify").out


def test_verbose_shows_what_lies_behind(varlaw, engine):
    engine(HE)
    brief, full = varlaw("verify").out, varlaw("verify", "-v").out
    for text in (
        "step 1 (expand) proved: at 3 values of m",
        "w: symmetric: needed; without it: w = 2 or -1: 3/4, not 1/2",
        "x: zero mean: not needed",
        "w: identically distributed: needed by this derivation only",
        "m: wide limit: not representable in a finite model",
        "sufficient: w: symmetric",
        "with two-point weights",
        "against 1/m = 1: refuted",
        "proved interval, 4096 replicates, direct sampler",
    ):
        assert text in full
        assert text not in brief


def test_verbose_shows_why_nothing_was_measured(varlaw, engine):
    engine(UNKNOWN)
    told = "m Var[w] with uniform weights: measured nothing, claimed 2, undecided: budget"
    assert told in varlaw("verify", "-v").out


@pytest.mark.parametrize(
    ("numbers", "shown"),
    [
        ((1.99816, 2.00031, 2.00309), "2.0003 [1.9981, 2.0031]"),
        ((0.0120, 0.0123, 0.0126), "0.01230 [0.01200, 0.01260]"),
        ((9876.2, 10012.7, 10143.9), "10013 [9876, 10144]"),
        ((1.2e-7, 1.23e-7, 1.26e-7), "1.230e-07 [1.200e-07, 1.260e-07]"),
        ((-0.02, 0.001, 0.02), "0.001 [-0.020, 0.020]"),
        ((2.0, 2.0, 2.0), "2.000000 [2.000000, 2.000000]"),
        ((float("-inf"), 1.5, float("inf")), "1.5 [-inf, inf]"),
        ((0.0, 0.0, 0.0), "0.000000 [0.000000, 0.000000]"),
    ],
)
def test_measured_values(numbers, shown):
    low, value, high = numbers
    measured = replace(MEASURED, low=low, estimate=value, high=high)
    assert evidence.measured_text(measured) == shown


def test_what_has_no_experiment_is_marked(varlaw, engine):
    engine(replace(HE, measured=(), measurable=True), replace(DECAY, measured=()))
    he, decay = varlaw("verify").out.splitlines()[1:3]
    assert "proved, not measured" in he
    assert "not measured" not in decay


def test_a_claim_that_is_unknown_is_not_shown(varlaw, engine):
    engine(replace(UNKNOWN, measured=(replace(UNKNOWN.measured[0], claimed=float("nan")),)))
    out = varlaw("verify", "-v").out
    assert "nan" not in out
    assert "measured nothing, undecided: budget" in out


def test_verify_in_python_shows_itself_as_the_table(engine):
    made = engine(HE, WRONG)
    found = vl.verify("he", "lecun", tolerance=0.05)
    assert made.called["names"] == ("he", "lecun")
    assert made.called["tolerance"] == 0.05
    assert isinstance(found, Report)
    assert found.verdict is BAD
    assert repr(found) == evidence.text(Report((HE, WRONG), 1e-6, 0))
    html = found._repr_html_()
    assert html.count("<tr>") == 3
    assert "<td>Var[w[i, j]] = 2/m</td>" in html
