"""Parameters, tolerances and budgets of experiments, and what is out of range."""

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from planned import QUICK, prepared, task

from varlaw.checks.experiments import (
    Settings,
    Trial,
    experiment,
    measure,
    measure_trial,
    plan,
)
from varlaw.checks.experiments.registry import Experiment
from varlaw.checks.experiments.run import attempt
from varlaw.checks.statistics.verdicts import Verdict


def nothing(rng: np.random.Generator, replicates: int) -> Any:
    return np.full(replicates, math.nan)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"m": -3}, "m is a dimension: a positive integer, not -3"),
        ({"m": "2.5"}, "m is a dimension: a positive integer, not 2.5"),
        ({"m": 2.5}, "m is a dimension: a positive integer, not 2.5"),
        ({"m": 0}, "m is a dimension: a positive integer, not 0"),
        ({"m": "k"}, "m is a dimension: a positive integer, not k"),
        ({"a": "-1"}, "a is a positive number, not -1"),
        ({"a": "0"}, "a is a positive number, not 0"),
        ({"z": 3}, "no selected law has a parameter 'z'; there are a, m, n"),
    ],
)
def test_overrides_out_of_range(overrides: Mapping[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        plan(["he", "he-leaky"], Settings(overrides=overrides))
    assert str(caught.value) == message


def test_overrides_where_nothing_is_drawn() -> None:
    with pytest.raises(ValueError, match="there are none"):
        plan(["overflow-float16"], Settings(overrides={"m": 3}))
    (task_,) = plan(["overflow-float16"], Settings())
    assert task_.values == ()


def test_a_least_dimension() -> None:
    with pytest.raises(ValueError, match=r"^d is at least 8, not 4$"):
        plan(["post-norm-layernorm"], Settings(overrides={"d": 4}))


@pytest.mark.parametrize("value", ["2", "1.01", "0", "-1/2"])
def test_a_keep_rate_lies_between_0_and_1(value: str) -> None:
    with pytest.raises(ValueError, match=rf"^p is (at most 1|a positive number), not {value}$"):
        plan(["residual-drop-path"], Settings(overrides={"p": value}))


@pytest.mark.parametrize(
    ("law", "overrides", "why"),
    [
        ("pre-norm-growth", {"l": 10**6}, "at most 1000 layers, not 1000000"),
        ("linear-fourth", {"s2": "1e100"}, "out of the range of double precision"),
        ("lecun", {"m": 10**12}, "over the budget"),
    ],
)
def test_what_cannot_be_measured_is_undecided(law: str, overrides: Any, why: str) -> None:
    (first, *_) = plan([law], Settings(overrides=overrides))
    found = attempt(first)
    assert found.verdict is Verdict.UNDECIDED and found.estimate is None
    assert why in found.why and "\n" not in found.why


@pytest.mark.parametrize("error", [ValueError("no\nfeasible size"), MemoryError(), OverflowError()])
def test_an_error_in_a_measurement_is_its_reason(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(self: Experiment, *arguments: Any) -> Trial:
        raise error

    monkeypatch.setattr(Experiment, "prepare", fail)
    found = attempt(task("lecun"))
    assert found.verdict is Verdict.UNDECIDED and math.isnan(found.claimed)
    assert found.why.startswith("not measured: ") and "\n" not in found.why


def test_advice_on_the_tolerance_is_one_that_can_be_set() -> None:
    (first, *_) = plan(["lecun"], Settings(overrides={"m": 10**9}))
    assert "a tolerance of" not in measure(first).why


@pytest.mark.parametrize(
    ("setting", "value"),
    [("tolerance", 0.0), ("tolerance", 1.0), ("error_rate", 0.0), ("seed", -1)],
)
def test_settings_out_of_range(setting: str, value: float) -> None:
    with pytest.raises(ValueError, match=setting.replace("_", " ")):
        Settings(**{setting: value})  # type: ignore[arg-type]


def test_overrides_are_used() -> None:
    settings = replace(QUICK, overrides={"m": "9", "a": "1/4"})
    planned = plan(["he-leaky", "lecun"], settings)
    assert {dict(t.values)["m"] for t in planned} == {9}
    found = measure(planned[0])
    assert found.verdict is Verdict.VERIFIED
    assert {dict(t.values).get("a") for t in planned} == {None, Fraction(1, 4)}


def test_equal_fans_make_a_neighbour_true() -> None:
    """At m = n fan-out is no wrong neighbour of fan-in; the others are still refuted."""
    found = measure(task("lecun", values=(("m", 5), ("n", 5))))
    assert found.verdict is Verdict.VERIFIED
    assert "variance 1/n" not in [name for name, _, _ in found.neighbours]


def test_over_budget_is_undecided_before_anything_is_drawn() -> None:
    (first, *_) = plan(["lecun"], Settings(overrides={"m": 10**6}))
    found = measure(first)
    assert found.verdict is Verdict.UNDECIDED and found.replicates == 0
    assert "over the budget" in found.why and "a tolerance of" in found.why
    assert found.low is None and found.estimate is None


def test_the_tolerance_that_is_advised_is_within_budget() -> None:
    planned = task("lecun", tolerance=1e-4)
    advised = float(measure(planned).why.split("a tolerance of ")[1].split()[0])
    trial = replace(prepared(planned)[0], draw=nothing)
    assert "usable number" in measure_trial(replace(planned, tolerance=advised), trial).why
    tighter = replace(planned, tolerance=0.98 * advised)
    assert "over the budget" in measure_trial(tighter, trial).why


def test_two_experiments_on_one_quantity_are_refused() -> None:
    with pytest.raises(ValueError, match="two experiments measure"):
        experiment(law="lecun", quantity="E[y^2]/E[x^2]", weights=("normal",))(lambda case: None)  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize("law", ["lecun", "he", "xavier"])
def test_a_layer_of_width_512_is_within_the_default_budget(law: str) -> None:
    for planned in plan([law], Settings(overrides={"m": 512})):
        trial = replace(prepared(planned)[0], draw=nothing)  # so that it stops at the first batch
        assert "usable number" in measure_trial(planned, trial).why


def test_layer_norm_at_other_widths() -> None:
    (planned,) = plan(["post-norm-layernorm"], replace(QUICK, overrides={"d": 32}))
    assert measure(planned).verdict is Verdict.VERIFIED
