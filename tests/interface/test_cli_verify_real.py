"""`varlaw verify` with the real engine."""

import json

import pytest


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
