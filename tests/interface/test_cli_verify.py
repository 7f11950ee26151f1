"""`varlaw verify` on made-up reports: exit codes, options, JSON, interrupts, bad input."""

import json
from dataclasses import replace

import pytest
from reports import DECAY, HE, LOOSE, MEASURED, UNKNOWN, WRONG

import varlaw as vl
from varlaw.checks.report import Report
from varlaw.derivations.catalogue import entries


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
