"""A run that is cut off is gone on with: nothing is lost, nothing done twice, the same bits."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from varlaw.checks import journal as journals
from varlaw.checks.experiments import measuring
from varlaw.checks.journal import Journal, fingerprint, folder
from varlaw.checks.report import AssumptionReport, Measurement, Proof, StepReport
from varlaw.checks.statistics.verdicts import Verdict
from varlaw.checks.verify import Reasoning, verify

LAWS = ["lecun", "residual-sum"]
OPTIONS = {"tolerance": 0.05, "seed": 5}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


RECORDS = [
    (
        Measurement(
            "E[y]", "normal", 0.1, 1 / 3, -math.inf, math.inf, "proved", 7,
            Verdict.UNDECIDED, (("a", 2.0, Verdict.REFUTED),), "why",
        ),
        0.25,
    ),
    Reasoning(
        "a = b", (StepReport("expand", Proof.PROVED, "why"),),
        (AssumptionReport("x: zero mean", True, "law", "a model"),),
        (("a", "b"), ("c",)), (), 1.5, True,
    ),
]  # fmt: skip


@pytest.mark.parametrize("record", RECORDS, ids=["measurement", "reasoning"])
def test_records_come_back_to_the_last_bit(record: object, tmp_path: Path) -> None:
    kept = Journal(tmp_path / "a.sqlite")
    assert kept.result("task") is None
    kept.keep("task", record)
    assert Journal(tmp_path / "a.sqlite").result("task") == record


def test_what_is_not_a_number_comes_back(tmp_path: Path) -> None:
    kept = Journal(tmp_path / "a.sqlite")
    kept.keep("task", (math.nan, None, True))
    number, nothing, yes = kept.result("task")
    assert math.isnan(number) and nothing is None and yes is True


def test_chunks_are_drawn_once(tmp_path: Path) -> None:
    kept, drawn = Journal(tmp_path / "a.sqlite"), []

    def draw() -> np.ndarray:
        drawn.append(1)
        return np.array([0.1, math.inf, -3.0])

    first = kept.chunk("task", 0, draw)
    again = Journal(tmp_path / "a.sqlite").chunk("task", 0, draw)
    assert first.tobytes() == again.tobytes() and len(drawn) == 1
    kept.chunk("task", 1, draw)
    assert len(drawn) == 2
    kept.keep("task", 1)  # the chunks have done their duty
    kept.chunk("task", 0, draw)
    assert len(drawn) == 3


def test_another_run_has_another_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    run = {"laws": ["he"], "seed": 1}
    first = fingerprint(run)
    assert first == fingerprint(dict(run))
    assert first != fingerprint(run | {"seed": 2})
    monkeypatch.setattr(journals, "_source", lambda: "changed")
    assert first != fingerprint(run)


def same(report) -> list[tuple]:
    return [
        (law.name, law.verdict, law.steps, law.measured, law.assumptions) for law in report.laws
    ]


def test_a_run_that_is_interrupted_is_resumed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "LONG", 1)  # keep chunks as well
    whole = verify(LAWS, **OPTIONS)
    assert not list(folder().iterdir()), "a finished run leaves nothing behind"

    def stop(law: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verify(LAWS, on_law=stop, **OPTIONS)
    (path,) = folder().glob("*.sqlite")
    assert Journal(path).result("lecun: reasoning") is not None
    drawn = []
    good = measuring.stream
    monkeypatch.setattr(measuring, "stream", lambda *key: drawn.append(key) or good(*key))
    resumed = verify(LAWS, resume=True, **OPTIONS)
    assert same(resumed) == same(whole)
    assert not [key for key in drawn if key[1] == "lecun" and key[3] == "normal"]
    with pytest.raises(ValueError, match="nothing to resume"):
        verify(LAWS, resume=True, **OPTIONS)


def test_a_run_with_other_settings_is_not_resumed() -> None:
    with pytest.raises(KeyboardInterrupt):
        verify(LAWS, on_law=_stop, **OPTIONS)
    with pytest.raises(ValueError, match="nothing to resume"):
        verify(LAWS, resume=True, tolerance=0.05, seed=6)


def _stop(law: object) -> None:
    raise KeyboardInterrupt


def test_without_a_cache_there_is_no_journal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    assert verify(["residual-sum"], steps_only=True).verdict is Verdict.VERIFIED


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [3, 6])
def test_kill_minus_nine_and_resume(seconds: float) -> None:
    command = [sys.executable, "-m", "varlaw", "verify", *LAWS, "he", "--json", "--seed", "9"]
    whole = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    process = subprocess.Popen([*command, "--jobs", "2"], stdout=subprocess.DEVNULL)
    time.sleep(seconds)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    again = command + (["--resume"] if list(folder().glob("*.sqlite")) else [])
    resumed = json.loads(subprocess.run(again, capture_output=True, text=True, check=True).stdout)
    for report in (whole, resumed):
        for law in report["laws"]:
            del law["seconds"]
    assert resumed == whole
