"""Blocks in depth: symbolic GPT-style stacks solved, whole models, and sweeps over settings.

`python benchmarks/blocks.py` prints the CPU seconds: those of stacks, models and solutions with the
start of Python, as `varlaw explore` takes them, with what was solved, and those of 10,000 settings,
at the first and at a second call. The exit code is 1 where a command fails, or solves nothing that
it was asked to solve; such cases are named.
"""

import json
import resource
import subprocess
import sys
import time

import numpy as np
from sympy import Rational

PLAIN = (
    "repeat(prenorm(attention(d, T, value=1/d, out=w/d)) >> "
    "prenorm(linear(d, 4*d, var=1/d) >> {f} >> linear(4*d, d, var=w/(4*d))), 96)"
)
DENSE = "repeat(prenorm(linear(d, 4*d, var=1/d) >> {f} >> linear(4*d, d, var=w/(4*d))), {n})"
CAUSAL = (
    "repeat("
    "prenorm(attention(d, T, heads=h, query=1/d, key=1/d, value=1/d, out=w/d, causal=1)) >> "
    "prenorm(linear(d, 4*d, var=1/d) >> {f} >> linear(4*d, d, var=w/d)), 96)"
)
MODEL = f"embedding(d, var=1) >> {CAUSAL} >> layernorm >> linear(d, n, var=1/d)"
NUMBERS = ["--set", "d=768", "--set", "T=64", "--set", "h=12", "--set", "n=50257"]
SOLVED = ["--solve", "w", "--within", "2"]
EXPLORED = [
    *([DENSE.format(f=f, n=96), *SOLVED] for f in ("relu", "gelu")),
    [DENSE.format(f="gelu", n="L"), "--solve", "w", "--within", "c"],
    *([PLAIN.format(f=f), "--correlation", "0"] for f in ("relu", "gelu")),
    *([PLAIN.format(f=f), "--correlation", "0", *SOLVED] for f in ("relu", "gelu")),
    *([CAUSAL.format(f=f), "--correlation", "0", *SOLVED] for f in ("relu", "gelu")),
    [MODEL.format(f="gelu")],
    *([MODEL.format(f=f), *SOLVED] for f in ("relu", "gelu")),
    [MODEL.format(f="gelu"), *SOLVED, *NUMBERS],
    [MODEL.format(f="gelu"), *NUMBERS, "--set", "w=1/192"],
    ["linear(8, 8, var=v, bias=1/10) >> tanh", "--second-moment", "1", "--solve", "v"],
    *(
        [model]
        for model in (
            "gpt2(small)",
            "gpt2(xl)",
            "bert(base)",
            "bert(large)",
            "llama(7b)",
            "llama(8b)",
            "t5(small)",
            "t5(11b)",
            "t5v11(small)",
        )
    ),
    *([model, "--correlation", "0"] for model in ("vit(base)", "vit(huge)", "resnet(50)")),
    ["gpt2(small)", "--layers"],
]
SETTINGS = 10_000
SWEPT = [
    "repeat(prenorm(linear(d, 4*d, var=v/d) >> relu >> linear(4*d, d, var=w/(4*d))), 96)",
    "repeat(prenorm(linear(d, 4*d, var=v/d) >> gelu >> linear(4*d, d, var=w/(4*d))), 96)",
    "repeat(gelu >> linear(d, d, var=w/d, bias=v), 32)",
    "repeat(tanh >> linear(d, d, var=w/d, bias=v), 16)",
    "repeat(prenorm(swiglu(d, 4*d, var=v/d, out=w/(4*d))), 96)",
    "repeat(linear(d, d, var=w/d, bias=v) >> mish, 96)",
]
SWEPT_PAIRS = [
    "repeat(postnorm(linear(d, 4*d, var=v/d) >> silu >> linear(4*d, d, var=w/(4*d))), 12)",
    "repeat(prenorm(attention(d, 64, value=1/d, out=1/d)) >> "
    "prenorm(linear(d, 4*d, var=v/d) >> gelu >> linear(4*d, d, var=w/(4*d))), 96)",
    "repeat(tanh >> linear(d, d, var=w/d, bias=v), 96)",
]


def explored(arguments: list[str]) -> tuple[float, str, str]:
    """The CPU seconds of `varlaw explore`, what was solved of both sides, and what failed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "varlaw", "explore", *arguments, "--json"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    if run.returncode:
        return taken, "", f"exit code {run.returncode}: {run.stderr.strip()}"
    if "--solve" not in arguments:
        return taken, "", ""
    record = json.loads(run.stdout)["solved"]
    found = [f"{side}: {record[side]}" for side in ("forward", "backward") if record[side]]
    return taken, "; ".join(found), "" if found else "nothing was solved"


def swept(text: str, correlation: Rational | None = None) -> tuple[float, float]:
    """The CPU seconds of a sweep, first and again."""
    from varlaw.symbolic.blocks.block import start
    from varlaw.symbolic.blocks.reader import read_block
    from varlaw.symbolic.blocks.sweep import sweep

    rng, block = np.random.default_rng(0), read_block(text)
    arrays = [
        rng.integers(16, 512, SETTINGS),
        rng.uniform(0.1, 1, SETTINGS),
        rng.uniform(0.5, 2, SETTINGS),
    ]
    taken = []
    for _ in range(2):
        began = time.process_time()
        sweep(
            block,
            ["d", "v", "w"],
            arrays,
            start(1, correlation),
        )
        taken.append(time.process_time() - began)
    return taken[0], taken[1]


def main() -> int:
    failed = []
    for arguments in EXPLORED:
        taken, solved, wrong = explored(arguments)
        told = f", solved {solved}" if solved else f", FAILED, {wrong}" if wrong else ""
        print(f"{taken:6.2f} s  explore {' '.join(arguments)}{told}", flush=True)
        failed += [" ".join(arguments)] if wrong else []
    for text in SWEPT:
        taken = "{:.3f} s, again {:.3f} s".format(*swept(text))
        print(f"{SETTINGS} settings: {taken}  {text}")
    for text in SWEPT_PAIRS:
        taken = "{:.3f} s, again {:.3f} s".format(*swept(text, Rational(1, 10)))
        print(f"{SETTINGS} settings, correlated: {taken}  {text}")
    for case in failed:
        print(f"failed: explore {case}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
