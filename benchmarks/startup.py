"""How long the command line takes to start, as ratios against two imports of the same run.

    python benchmarks/startup.py [RUNS]

CPU time counts user and system time of the child process. The runs of all commands are
interleaved, so that a busy spell of the machine falls on all of them.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

Measurement = tuple[float, float]  # CPU and wall-clock seconds

REFERENCES = {
    "import argparse": [sys.executable, "-c", "import argparse"],
    "import sympy": [sys.executable, "-c", "import sympy"],
}


def commands() -> dict[str, list[str]]:
    """Return the starts to measure, by the name under which they are printed."""
    script = str(Path(sys.executable).with_name("varlaw"))
    return {
        **REFERENCES,
        "varlaw --help": [script, "--help"],
        "varlaw list": [script, "list"],
        "python -m varlaw --help": [sys.executable, "-m", "varlaw", "--help"],
    }


def measure(command: list[str]) -> Measurement:
    """Run ``command`` once, its output discarded, and return its CPU and wall-clock seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, wall


def main(runs: int = 7) -> None:
    starts = commands()
    for command in starts.values():
        measure(command)  # unmeasured: writes the byte code, warms the disk cache
    taken: dict[str, list[Measurement]] = {name: [] for name in starts}
    for _ in range(runs):
        for name, command in starts.items():
            taken[name].append(measure(command))

    cpu = {name: median(seconds for seconds, _ in all_runs) for name, all_runs in taken.items()}
    wall = {name: median(seconds for _, seconds in all_runs) for name, all_runs in taken.items()}
    against = "".join(f"{'CPU / ' + name:>23}" for name in REFERENCES)
    print(f"{f'median of {runs} runs':26}{'CPU [ms]':>10}{'wall [ms]':>11}{against}")
    for name in starts:
        ratios = "".join(f"{cpu[name] / cpu[reference]:23.2f}" for reference in REFERENCES)
        print(f"{name:26}{1e3 * cpu[name]:10.0f}{1e3 * wall[name]:11.0f}{ratios}")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:2]))
