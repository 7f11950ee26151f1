"""`varlaw verify`: the table, the JSON, the exit codes, and bad input.

How evidence is shown is tested on made-up reports; the last part runs the real engine.
"""

import json
import sys
from dataclasses import replace
from types import ModuleType

import pytest

import varlaw as vl
from varlaw import checks, evidence
from varlaw.checks.report import (
    AssumptionReport,
    LawReport,
    Measurement,
    Proof,
    Report,
    StepReport,
)
from varlaw.checks.statistics import Verdict
from varlaw.derivations.catalogue import entries

GOOD, BAD, OPEN, LOOSE = Verdict.VERIFIED, Verdict.REFUTED, Verdict.UNDECIDED, Verdict.LOOSE

MEASURED = Measurement(
    "m Var[w]", "uniform", 2.0, 2.00031, 1.99816, 2.00309, "proved", 4096, GOOD,
    (("1/m", 1.0, BAD), ("2/n", 3.0, BAD)),
)  # fmt: skip
HE = LawReport(
    "he", "forward", "Var[w[i, j]] = 2/m", GOOD,
    (StepReport("expand", Proof.PROVED, "at 3 values of m"), StepReport("solve", Proof.PROVED, "")),
    (
        AssumptionReport("w: symmetric", True, "law", "w = 2 or -1: 3/4, not 1/2"),
        AssumptionReport("x: zero mean", False, "none"),
        AssumptionReport("w: identically distributed", None, "derivation"),
        AssumptionReport("m: wide limit", None, "not representable"),
    ),
    (("w: symmetric",),),
    (MEASURED, replace(MEASURED, weights="two-point")),
    1.5,
)  # fmt: skip
LONG = "x[l] = (1 + s2)^(-l/2)*x[0] + Sum[k = 0..l - 1]((1 + s2)^(k/2 - l/2)*F[k])"
DECAY = replace(HE, name="post-norm-decay", family="residual", statement=LONG)
WRONG = replace(
    HE, name="lecun", verdict=BAD,
    steps=(StepReport("count", Proof.REFUTED, "m - 1 is not m"),),
    measured=(MEASURED, replace(MEASURED, verdict=BAD, claimed=1.0)),
)  # fmt: skip
UNKNOWN = replace(
    HE, name="xavier", verdict=OPEN,
    measured=(replace(MEASURED, verdict=OPEN, estimate=None, low=None, high=None, why="budget"),),
)  # fmt: skip


class Engine(ModuleType):
    """In place of the real one: remembers how it was called, gives what it was told to."""

    def __init__(self, *laws: LawReport, stop: BaseException | None = None) -> None:
        super().__init__("varlaw.checks.verify")
        self.laws, self.stop = laws, stop

    def verify(self, names, *, error_rate, seed, on_law, progress, **options):
        self.called = {"names": names, "error_rate": error_rate, "seed": seed, **options}
        for law in self.laws if on_law else ():
            on_law(law)
        if self.stop:
            raise self.stop
        return Report(self.laws, error_rate, seed)


@pytest.fixture
def engine(monkeypatch):
    def put(*laws, **options):
        made = Engine(*laws, **options)
        monkeypatch.setitem(sys.modules, made.__name__, made)
        monkeypatch.setattr(checks, "verify", made, raising=False)
        return made

    return put


@pytest.mark.parametrize(
    ("laws", "code"),
    [
        ((HE, DECAY), 0),
        ((HE, replace(HE, verdict=LOOSE)), 0),
        ((HE, WRONG), 1),
        ((UNKNOWN, HE), 3),
        ((UNKNOWN, WRONG, HE), 1),
    ],
)
@pytest.mark.parametrize("form", ["text", "json"])
def test_exit_codes(varlaw, engine, laws, code, form):
    engine(*laws)
    result = varlaw("verify", "--format", form)
    assert result.code == code
    assert not result.err


UNASKED = {"executor": None, "resume": False, "backend": None, "sufficient": False}


def test_the_sets_of_assumptions_are_for_those_who_see_them(varlaw, engine):
    for options, wanted in ((["-v"], True), (["--json"], True), ([], False)):
        made = engine(HE)
        varlaw("verify", "he", *options)
        assert made.called["sufficient"] is wanted


def test_options_reach_the_engine(varlaw, engine):
    made = engine(HE)
    options = (
        "--set m=512 --set n=3 --tolerance 0.02 --error-rate 1e-3 --seed 7 --budget 1e10 --jobs 2"
    )
    assert varlaw("verify", "he", "lecun", "he", *options.split(), "--steps-only").code == 0
    assert made.called == {
        "names": ("he", "lecun"), "overrides": {"m": "512", "n": "3"}, "tolerance": 0.02,
        "error_rate": 1e-3, "seed": 7, "budget": 10**10, "jobs": 2, "steps_only": True, **UNASKED,
    }  # fmt: skip


def test_defaults(varlaw, engine):
    made = engine(HE)
    assert varlaw("verify").code == 0
    assert made.called == {
        "names": None, "overrides": {}, "tolerance": 0.01, "error_rate": 1e-6, "seed": 0,
        "budget": 5 << 29, "jobs": None, "steps_only": False, **UNASKED,
    }  # fmt: skip


def test_json_is_the_report(varlaw, engine):
    engine(HE, WRONG)
    content = json.loads(varlaw("verify", "--json").out)
    assert content == json.loads(json.dumps(Report((HE, WRONG), 1e-6, 0).to_json()))
    assert set(content) == {"schema", "version", "laws", "error_rate", "seed"}
    law = content["laws"][0]
    assert set(law) >= {
        "name", "family", "statement", "verdict", "steps", "assumptions", "measured", "seconds",
    }  # fmt: skip
    assert set(law["steps"]) >= {"total", "proved", "checked", "unchecked"}
    assert set(law["assumptions"][0]) >= {"name", "needed", "scope", "counterexample"}
    assert set(law["measured"][0]) >= {
        "quantity", "claimed", "estimate", "low", "high", "interval", "replicates", "verdict",
        "sampler",
    }  # fmt: skip


def test_json_has_null_where_there_is_no_finite_number(varlaw, engine):
    infinite = replace(MEASURED, low=float("-inf"), high=float("nan"))
    engine(replace(HE, measured=(infinite,)))
    out = varlaw("verify", "--json").out
    assert "NaN" not in out
    assert "Infinity" not in out
    measured = json.loads(out)["laws"][0]["measured"][0]
    assert (measured["low"], measured["high"]) == (None, None)


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


def test_an_interrupt_keeps_what_is_finished(varlaw, engine):
    engine(DECAY, HE, stop=KeyboardInterrupt())
    result = varlaw("verify", "he", "lecun", "post-norm-decay")
    assert result.code == 130
    assert [line.split()[0] for line in result.out.splitlines()[1:3]] == ["he", "post-norm-decay"]
    assert "stopped after 2 of 3 laws" in result.err
    assert "Traceback" not in result.err


def test_an_interrupt_keeps_the_json_whole(varlaw, engine):
    engine(HE, stop=KeyboardInterrupt())
    result = varlaw("verify", "--json")
    assert result.code == 130
    assert [law["name"] for law in json.loads(result.out)["laws"]] == ["he"]
    assert f"stopped after 1 of {len(entries())} laws" in result.err


def test_an_interrupt_before_any_law_is_finished(varlaw, engine):
    engine(stop=KeyboardInterrupt())
    result = varlaw("verify", "--json")
    assert result.code == 130
    assert json.loads(result.out)["laws"] == []
    assert varlaw("verify").out.startswith("0 laws")


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


def test_names_in_python_may_be_a_list(engine):
    made = engine(HE)
    vl.verify(["he", "lecun"])
    assert made.called["names"] == ("he", "lecun")
    with pytest.raises(ValueError, match="empty"):
        vl.verify([])


def test_a_crash_keeps_what_is_finished(varlaw, engine):
    engine(HE, stop=RuntimeError("worker died"))
    result = varlaw("verify")
    assert result.code == 2
    assert "he " in result.out
    assert result.err.splitlines()[-1].startswith(
        "varlaw: internal error: RuntimeError: worker died"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("hee", "unknown law 'hee'; did you mean 'he'?"),
        ("he xavire", "unknown law 'xavire'; did you mean 'xavier'?"),
        ("--set m", "invalid value for '--set': 'm' is not of the form NAME=VALUE"),
        ("--set =3", "invalid value for '--set': '=3' is not of the form NAME=VALUE"),
        ("--set m=1 --set m=2", "invalid value for '--set': 'm' is given twice"),
        ("--tolerance 0", "invalid value for '--tolerance': 0 is not between 0 and 1"),
        ("--tolerance -0.1", "invalid value for '--tolerance': -0.1 is not between 0 and 1"),
        ("--tolerance 1", "invalid value for '--tolerance': 1 is not between 0 and 1"),
        ("--tolerance nan", "invalid value for '--tolerance': nan is not between 0 and 1"),
        ("--tolerance wide", "invalid value for '--tolerance': 'wide' is not a valid float"),
        ("--error-rate 0", "invalid value for '--error-rate': 0 is not between 0 and 0.5"),
        ("--error-rate 0.5", "invalid value for '--error-rate': 0.5 is not between 0 and 0.5"),
        ("--error-rate inf", "invalid value for '--error-rate': inf is not between 0 and 0.5"),
        ("--seed -1", "invalid value for '--seed': -1 is not in the range x>=0"),
        ("--seed 1.5", "invalid value for '--seed': '1.5' is not a valid integer range"),
        ("--jobs 0", "invalid value for '--jobs': 0 is not in the range x>=1"),
        ("--format xml", "invalid value for '--format': 'xml' is not one of 'text', 'json'"),
        ("--step-only", "unknown option '--step-only'; did you mean '--steps-only'?"),
    ],
)
def test_bad_input_is_one_line_before_anything_runs(varlaw, engine, arguments, message):
    made = engine(HE)
    assert varlaw("verify", *arguments.split()).refused() == message
    assert not hasattr(made, "called")


def test_what_the_engine_refuses_is_a_usage_error(varlaw, engine):
    engine(stop=ValueError("'--set m=-3': a dimension\nis a positive integer"))
    message = varlaw("verify", "--set", "m=-3").refused()
    assert message == "'--set m=-3': a dimension is a positive integer"


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


# The real engine


def test_real_steps(varlaw):
    result = varlaw("verify", "lecun", "residual-sum", "--steps-only", "--json")
    assert result.code == 0
    laws = json.loads(result.out)["laws"]
    assert [law["name"] for law in laws] == ["lecun", "residual-sum"]
    for law in laws:
        assert law["verdict"] == "verified"
        assert law["measured"] == []
        assert law["steps"]["total"] == law["steps"]["proved"] + law["steps"]["checked"] > 0


def test_real_measurement(varlaw):
    result = varlaw("verify", "lecun", "--tolerance", "0.05", "--json", "--jobs", "1")
    assert result.code == 0
    (law,) = json.loads(result.out)["laws"]
    assert law["measured"]
    for measured in law["measured"]:
        assert measured["verdict"] == "verified"
        assert measured["low"] <= measured["claimed"] <= measured["high"]
    assert varlaw("verify", "lecun", "--tolerance", "0.05").code == 0


@pytest.mark.parametrize("value", ["m=-3", "m=2.5", "m=0", "m=x", "m=", "nosuch=3", "m=2+"])
def test_real_overrides_that_make_no_sense(varlaw, value):
    assert not varlaw("verify", "lecun", "--set", value).refused().startswith("internal error")


# A second measurement, on a backend


def test_a_backend_adds_compiled_measurements(varlaw):
    options = "--backend numpy --dtype float32 --tolerance 0.05 --error-rate 1e-3 --jobs 1 --json"
    result = varlaw("verify", "he", *options.split())
    (law,) = json.loads(result.out)["laws"]
    assert result.code == 0 and law["verdict"] == "verified"
    assert {(m["backend"], m["quantity"]) for m in law["measured"]} == {
        ("numpy, float64", "E[relu(y)^2]/E[x^2]"),
        ("numpy, float32", "E[relu(z[j])^2], compiled"),
    }
    assert {m["streams"] for m in law["measured"]} == {"NumPy, SFC64"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--backend nunpy", "unknown backend 'nunpy'; did you mean 'numpy'?"),
        ("--backend numpy --dtype int8", "unknown type of numbers 'int8'"),
        ("--backend numpy --streams own", "numpy has no random numbers of its own"),
        ("--backend numpy --device cuda", "numpy has no device 'cuda'"),
        ("--device cuda", "--device, --dtype and --streams go with --backend"),
    ],
)
def test_backends_that_do_not_exist_are_usage_errors(varlaw, options, message):
    result = varlaw("verify", "he", *options.split())
    assert result.code == 2 and message in result.err and not result.out
    assert result.err.count("\n") <= 2
