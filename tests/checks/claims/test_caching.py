"""Findings are kept for the same bytes and settings, and for nothing else."""

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from varlaw.checks.claims import caching
from varlaw.checks.claims.caching import STOPPED, Cache
from varlaw.checks.claims.findings import Findings, Link, Note, Spot
from varlaw.checks.documents.clock import LATE
from varlaw.checks.documents.configuration import Configuration

SPOT = Spot(1, 2, 1, 9, None, "$1 = 2$")
LINK = Link(SPOT, "1 = 2", "=", "refuted", "1", "not equal", "exact fraction")
FOUND = Findings((LINK,), (Note(SPOT, "ignores nothing"),), (), 3, 1, 2)
SETTINGS = Configuration(context="n = 3")


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "kept")


def test_what_is_kept_comes_back(cache: Cache) -> None:
    key = cache.key(b"$1 = 2$", ".md", SETTINGS)
    assert cache.get(key) is None
    cache.put(key, FOUND)
    assert cache.get(key) == FOUND
    assert stat.S_IMODE(cache.folder.stat().st_mode) == 0o700


def test_a_key_depends_on_all_that_decides(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    key = cache.key(b"$1 = 2$", ".md", SETTINGS)
    assert key == cache.key(b"$1 = 2$", ".md", replace(SETTINGS, strict=True))
    others = [
        cache.key(b"$1 = 3$", ".md", SETTINGS),
        cache.key(b"$1 = 2$", ".tex", SETTINGS),
        cache.key(b"$1 = 2$", ".md", replace(SETTINGS, context="n = 4")),
        cache.key(b"$1 = 2$", ".md", replace(SETTINGS, macros={"n": "3"})),
        cache.key(b"$1 = 2$", ".md", replace(SETTINGS, log_base="2")),
    ]
    monkeypatch.setattr(caching, "_fingerprint", lambda: "another version")
    others.append(cache.key(b"$1 = 2$", ".md", SETTINGS))
    assert len({key, *others}) == 7


def test_what_depends_on_the_machine_is_not_kept(cache: Cache) -> None:
    cache.put("k", replace(FOUND, links=(replace(LINK, verdict="undecided", rule=STOPPED),)))
    assert cache.get("k") is None


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"links": [{"spot": 3}]}', "[" * 100_000])
def test_spoilt_files_count_as_none(cache: Cache, text: str) -> None:
    cache.put("k", FOUND)
    (cache.folder / "k.json").write_text(text)
    assert cache.get("k") is None


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "kept")
    cache.put("k", FOUND)
    assert cache.get("k") is None


def test_the_oldest_are_let_go(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching, "MOST", 4)
    for number in range(5):
        cache.put(str(number), FOUND)
    assert len(list(cache.folder.glob("*.json"))) == 3


def test_what_was_cut_off_for_want_of_time_is_not_kept(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    note = Note(Spot(1, 1, 1, 2, None, "x"), f"reading {LATE}: 3 formulas are not read")
    cache.put("a", Findings(problems=(note,)))
    cache.put("b", Findings(problems=(replace(note, message="$ is not closed"),)))
    assert cache.get("a") is None and cache.get("b") is not None
