"""Grids as they are typed, and laws measured over them."""

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from varlaw.checks.executors import Work
from varlaw.checks.experiments import measuring
from varlaw.checks.experiments.run import Settings, plan
from varlaw.checks.experiments.run import measure as measure_task
from varlaw.checks.grids import MOST_POINTS, values
from varlaw.checks.journal import folder
from varlaw.checks.statistics.verdicts import Verdict
from varlaw.checks.sweep import axes, sweep
from varlaw.derivations.catalogue import UnknownLaw

TOLERANCE = 0.05


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("512", (512,)),
        ("1/2", (Fraction(1, 2),)),
        ("0.25, 3", (Fraction(1, 4), 3)),
        ("64:256:+64", (64, 128, 192, 256)),
        ("64:250:+64", (64, 128, 192)),
        ("1:2:+1/2", (1, Fraction(3, 2), 2)),
        ("64:65536:x2", tuple(64 * 2**k for k in range(11))),
        ("64 : 1000 : *4", (64, 256)),
        ("1:2:lin5", (1, Fraction(5, 4), Fraction(3, 2), Fraction(7, 4), 2)),
        ("1:100:log3", (1, 10, 100)),
        ("1/10:1000:log5", (Fraction(1, 10), 1, 10, 100, 1000)),
        ("8,1:4:x2,2", (8, 1, 2, 4)),
    ],
)
def test_values(text: str, found: tuple) -> None:
    assert values(text) == found
    assert all(isinstance(value, int) == (value == int(value)) for value in values(text))


def test_values_of_a_dimension_are_whole() -> None:
    found = values("1:1000:log20", whole=True)
    nearest = {round(1000 ** (k / 19)) for k in range(20)}
    assert found == tuple(sorted(nearest))
    assert values("1:10:x1.5", whole=True) == (1, 2, 3, 5, 8)  # 1.5, 2.25, 3.375, 5.06, 7.59
    assert values("1:2:lin3", whole=True) == (1, 2)
    assert values("5/2", whole=True) == (Fraction(5, 2),), "for the experiment to refuse"


@pytest.mark.parametrize("text", ["1:1000:log20", "1/3:7:log9", "1/7:20000:log6"])
def test_values_spaced_by_logarithm_have_even_ratios(text: str) -> None:
    found = values(text)
    step = math.log(found[-1] / found[0]) / (len(found) - 1)
    for k, value in enumerate(found):
        assert math.log(value / found[0]) == pytest.approx(k * step, abs=1e-3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("64:128", "no range: write START:END:STEP"),
        ("64:128:2", "such as x2, [+]64, log20 or lin10"),
        ("1:2:3:4", "no range"),
        ("128:64:x2", "the smaller end first"),
        ("64:64:x2", "the smaller end first"),
        ("0:64:x2", "start above 0"),
        ("0:1:log5", "start above 0"),
        ("1:64:x1", "never ends: multiply by more than 1"),
        ("1:64:x1/2", "never ends"),
        ("1:64:+0", "never ends: add something positive"),
        ("1:64:log1", "ask for 2 or more"),
        ("1:64:lin2.5", "ask for 2 or more"),
        ("1,,2", "empty place"),
        ("", "empty place"),
        ("m", "a grid is made of numbers"),
        ("1:m:x2", "a grid is made of numbers"),
        ("sqrt(2)", "a grid is made of numbers"),
        ("__import__('os')", "."),
        ("1:1e12:+1", "more than 10000 values: take larger steps"),
        ("1:2:x(1 + 1e-300)", "more than 10000 values"),
        ("1:2:lin10001", "more than 10000 values"),
        ("1:1e350:log3", "beyond 1e300"),
    ],
)
def test_what_is_no_grid(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as refused:
        values(text)
    assert "\n" not in str(refused.value)


def test_the_most_points() -> None:
    assert len(values(f"1:{MOST_POINTS}:+1")) == MOST_POINTS
    with pytest.raises(ValueError, match="has 20000 points, over 10000"):
        axes("he", {"m": "1:200:+1", "n": "1:100:+1"})


@pytest.mark.parametrize(
    ("law", "grid", "message"),
    [
        ("he", {"q": "1"}, "no parameter 'q'; it has m, n"),
        ("pre-norm-growth", {"L": "1:8:x2"}, "no parameter 'L'; did you mean 'l'"),
        ("relu-square", {"m": "1"}, "no parameter 'm'; it has none"),
        ("he", {"m": "2:1:x2"}, "^m: '2:1:x2' runs from 2 to 1"),
        ("he", {}, "give the grid of a parameter of 'he'; it has m, n"),
    ],
)
def test_grids_that_fit_no_law(law: str, grid: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        axes(law, grid)


def test_a_value_out_of_range_and_an_unknown_law() -> None:
    with pytest.raises(ValueError, match="m is a dimension"):
        sweep("he", {"m": "5/2"})
    with pytest.raises(UnknownLaw):
        sweep("hee", {"m": "5"})


def test_a_law_over_a_grid() -> None:
    """v[l] = l s2 + 1, by the formula as published, with every law of weights."""
    found = sweep("pre-norm-growth", {"l": "1,2", "s2": "3/2"}, tolerance=TOLERANCE)
    assert found.axes == {"l": (1, 2), "s2": (Fraction(3, 2),)}
    assert [r.values["l"] for r in found.readings] == [1, 1, 1, 2, 2, 2]
    for reading in found.readings:
        law = reading.values["l"] * 1.5 + 1
        assert reading.measured.claimed == pytest.approx(law)
        assert reading.measured.low <= law <= reading.measured.high
        assert reading.measured.verdict is Verdict.VERIFIED
    assert found.verdict is Verdict.VERIFIED
    assert not list(folder().glob("*")), "a finished run leaves nothing behind"


@pytest.fixture
def planned(monkeypatch) -> list:
    """The tasks of sweeps, which are then not carried out."""
    tasks = []

    def only_plan(task, journal):
        tasks.append(task)
        return Work(_nothing, task, _nothing)

    monkeypatch.setattr("varlaw.checks.sweep.measuring", only_plan)
    return tasks


def test_the_error_rate_is_shared_and_every_point_has_its_streams(planned) -> None:
    sweep("post-norm-decay", {"l": "2,3", "s2": "1/2"})
    assert sum(task.alpha for task in planned) == pytest.approx(1e-6)
    assert len({task.key for task in planned}) == len(planned) == 2 * 5
    assert {task.point for task in planned} == {("l=2", "s2=1/2"), ("l=3", "s2=1/2")}


def test_what_does_not_depend_on_the_grid_is_measured_once(planned, monkeypatch) -> None:
    def with_a_constant(laws, settings):
        (task,) = plan(laws, settings)
        return [task, replace(task, quantity="another", values=())]

    monkeypatch.setattr("varlaw.checks.sweep.plan", with_a_constant)
    found = sweep("relu-std", {"v": "1,2"})
    assert [reading.values for reading in found.readings] == [{"v": 1}, {}, {"v": 2}]
    assert {task.alpha for task in planned} == {1e-6 / 3}


def _nothing(task):
    from varlaw.checks.experiments.run import without

    return without(task, "not asked for"), 0.0


def test_a_wrong_law_is_refuted_over_the_grid(monkeypatch) -> None:
    """The same measurements judge a law that is 10 % off: refuted at every point."""
    import varlaw.checks.experiments.run as run

    good = run.measure_trial

    def off(task, trial, journal=None):
        return good(task, replace(trial, claimed=trial.claimed * 11 / 10, neighbours={}), journal)

    monkeypatch.setattr(run, "measure_trial", off)
    found = sweep("relu-std", {"v": "1,2"}, tolerance=0.02)
    assert [r.measured.verdict for r in found.readings] == [Verdict.REFUTED] * 2
    assert found.verdict is Verdict.REFUTED


def test_a_point_has_the_same_bits_in_any_grid_with_its_alpha() -> None:
    alone = sweep("relu-std", {"v": "2"}, tolerance=TOLERANCE, error_rate=1e-6)
    among = sweep("relu-std", {"v": "1,2"}, tolerance=TOLERANCE, error_rate=2e-6)
    assert among.readings[1].measured == alone.readings[0].measured
    other = among.readings[0].measured
    assert other.estimate != alone.readings[0].measured.estimate


def test_two_workers_give_the_same_bits() -> None:
    one, two = (sweep("relu-std", {"v": "1,2"}, tolerance=TOLERANCE, jobs=jobs) for jobs in (1, 2))
    assert [r.measured for r in one.readings] == [r.measured for r in two.readings]


def test_over_the_budget_is_undecided_with_the_reason() -> None:
    found = sweep("he", {"m": "1000000", "n": "1000"})
    for reading in found.readings:
        assert reading.measured.verdict is Verdict.UNDECIDED
        assert "over the budget" in reading.measured.why
        assert reading.measured.claimed == 1
    deep = sweep("pre-norm-growth", {"l": "1001"})
    assert {r.measured.why for r in deep.readings} == {
        "not measured: experiments have at most 1000 layers, not 1001"
    }


def test_the_layers_of_a_net_of_a_thousand_are_decided() -> None:
    found = sweep("depth-power", {"l": "1000", "c": "3/2"}, tolerance=0.05)
    by_layers = [r.measured for r in found.readings if "mean over l layers" in r.measured.quantity]
    assert len(by_layers) == 3
    assert {m.verdict for m in by_layers} == {Verdict.VERIFIED}


def test_a_larger_budget_decides_more() -> None:
    few, more = (
        sweep("he", {"m": "5"}, tolerance=TOLERANCE, budget=budget) for budget in (10**4, 10**8)
    )
    assert {r.measured.verdict for r in few.readings} == {Verdict.UNDECIDED}
    assert {r.measured.verdict for r in more.readings} == {Verdict.VERIFIED}


def test_a_limit_law_tells_its_fit() -> None:
    found = sweep("post-norm-layernorm", {"d": "32"}, tolerance=TOLERANCE)
    (reading,) = found.readings
    fit = reading.measured.fit
    assert reading.measured.verdict is Verdict.VERIFIED
    assert fit.sizes == (32, 64, 128) and fit.order == 1
    assert fit.verdict is Verdict.VERIFIED and 0 < fit.low < fit.high
    estimates = [estimate for estimate, _, _ in fit.values]
    assert estimates == sorted(estimates, reverse=True), "the error is b/n with b > 0"
    limit = 1.5 ** (-3 / 2)  # each of 3 layers divides by sqrt(1 + s2) at s2 = 1/2
    for n, (_, low, high) in zip(fit.sizes, fit.values, strict=True):
        assert low - limit <= fit.high / n and high - limit >= fit.low / n * 0.8


def test_what_is_interrupted_is_gone_on_with(monkeypatch) -> None:
    grid = {"v": "1,2,3"}
    whole = sweep("relu-std", grid, tolerance=TOLERANCE)

    def stop(place, reading):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep("relu-std", grid, tolerance=TOLERANCE, on_reading=stop)
    with pytest.raises(ValueError, match="nothing to resume"):
        sweep("relu-std", {"v": "1,2"}, tolerance=TOLERANCE, resume=True)
    drawn = []
    good = measuring.stream
    monkeypatch.setattr(measuring, "stream", lambda *key: drawn.append(key) or good(*key))
    resumed = sweep("relu-std", grid, tolerance=TOLERANCE, resume=True)
    assert [r.measured for r in resumed.readings] == [r.measured for r in whole.readings]
    assert {key[4] for key in drawn} == {"v=2", "v=3"}, "the first point is not drawn again"


def test_progress_counts_the_measurements() -> None:
    told = []
    sweep("relu-std", {"v": "1,2"}, tolerance=0.1, progress=lambda *what: told.append(what))
    assert told == [("v=1", 1, 2), ("v=2", 2, 2)]


def test_without_a_grid_the_streams_are_those_of_verify() -> None:
    (task,) = plan(["relu-std"], Settings(tolerance=0.1))
    assert task.point == () and task.key == ("relu-std", task.quantity, "normal")
    assert measure_task(task).fit is None
