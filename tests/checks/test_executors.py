"""Work is done once, by whatever does it; processes that die are replaced."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from varlaw.checks.executors import Work, results
from varlaw.checks.verify import verify


def double(value: int) -> int:
    return 2 * value


def lost(value: object) -> str:
    return f"lost {value}"


def dies_once(marker: str) -> str:
    """Kill the process at the first call."""
    if not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def dies(value: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def done(work: list[Work], jobs: int = 1, executor: object = None) -> dict[int, object]:
    found: dict[int, object] = {}
    with results(work, jobs, executor) as ready:  # type: ignore[arg-type]
        for position, result in ready:
            assert position not in found, "counted twice"
            found[position] = result
    return found


DOUBLES = [Work(double, k, lost) for k in range(5)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_local_work(jobs: int) -> None:
    assert done(DOUBLES, jobs) == {k: 2 * k for k in range(5)}


def test_any_executor() -> None:
    with ThreadPoolExecutor(2) as pool:
        assert done(DOUBLES, executor=pool) == {k: 2 * k for k in range(5)}
        assert pool.submit(double, 1).result() == 2  # it stays open


def test_a_process_that_is_killed_is_replaced(tmp_path: Path) -> None:
    work = [Work(dies_once, str(tmp_path / "died"), lost), *DOUBLES]
    found = done(work, 2)
    assert found[0] == "done"
    assert [found[k + 1] for k in range(5)] == [0, 2, 4, 6, 8]


def test_what_kills_its_process_again_and_again_is_given_up() -> None:
    found = done([Work(dies, "x", lost), *DOUBLES], 2)
    assert found == {0: "lost x"} | {k + 1: 2 * k for k in range(5)}


MAIN = """
import sys, time
from pathlib import Path
from varlaw.checks.executors import Work, results
sys.path.insert(0, sys.argv[2])
from test_executors import lasts, lost
with results([Work(lasts, f"{sys.argv[1]}/{k}", lost) for k in (1, 2)], jobs=2) as found:
    list(found)
"""


def lasts(path: str) -> None:
    Path(path).write_text(str(os.getpid()), encoding="ascii")
    time.sleep(120)


@pytest.mark.skipif(os.name == "nt", reason="processes have no parent to look for")
def test_workers_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    here = str(Path(__file__).parent)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([here, *sys.path])}
    main = subprocess.Popen([sys.executable, "-c", MAIN, str(tmp_path), here], env=environment)
    assert eventually(lambda: len([f for f in tmp_path.iterdir() if f.read_text()]) == 2)
    workers = [int(file.read_text()) for file in tmp_path.iterdir()]
    assert all(map(runs, workers))
    main.kill()
    main.wait()
    assert eventually(lambda: not any(map(runs, workers)))


def eventually(condition: Callable[[], bool]) -> bool:
    for _ in range(300):
        if condition():
            return True
        time.sleep(0.1)
    return False


def runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")  # one that has ended may still be in the table
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"


def test_an_error_is_an_error() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        done([Work(int, "one", lost), *DOUBLES], 2)


def same(report) -> list[tuple]:
    """All that a report says, without how long it took."""
    return [
        (law.name, law.verdict, law.steps, law.measured, law.assumptions) for law in report.laws
    ]


def test_a_dask_cluster_gives_the_same_bits() -> None:
    distributed = pytest.importorskip("distributed")
    options = {"tolerance": 0.05, "seed": 3}
    here = verify(["lecun"], **options)
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as client:
        there = verify(["lecun"], executor=client.get_executor(), **options)
    assert same(there) == same(here)
    assert here.laws[0].measured
