"""Blocks in depth: a symbolic GPT-style stack solved, and sweeps over settings.

`python benchmarks/blocks.py` prints the CPU seconds, that of the stack with the start of Python,
and those of 10,000 settings, at the first and at a second call.
"""

import resource
import subprocess
import sys
import time

import numpy as np

LAYER = (
    "prenorm(attention(d, T, value=1/d, out=1/d)) >> "
    "prenorm(linear(d, 4*d, var=1/d) >> {f} >> linear(4*d, d, var=1/(4*d)))"
)
SOLVE = """
from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.state import ONE, Gradient
stack, state = read_block("repeat({layer}, 96)"), start("q0", "r0")
stack.forward(state), stack.backward(Gradient(second_moment=ONE), state)
"""
SETTINGS = 10_000
SWEPT = [
    "repeat(prenorm(linear(d, 4*d, var=v/d) >> relu >> linear(4*d, d, var=w/(4*d))), 96)",
    "repeat(prenorm(linear(d, 4*d, var=v/d) >> gelu >> linear(4*d, d, var=w/(4*d))), 96)",
    "repeat(gelu >> linear(d, d, var=w/d, bias=v), 32)",
    "repeat(tanh >> linear(d, d, var=w/d, bias=v), 16)",
]


def solved(f: str) -> float:
    """The CPU seconds of a fresh Python that solves 96 layers forward and backward."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = SOLVE.replace("{layer}", LAYER.format(f=f))
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def swept(text: str) -> tuple[float, float]:
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
        sweep(block, ["d", "v", "w"], arrays, start(1))
        taken.append(time.process_time() - began)
    return taken[0], taken[1]


def main() -> None:
    for f in ("relu", "gelu"):
        print(f"96 layers with {f}, symbolic, from the start: {solved(f):.2f} s")
    for text in SWEPT:
        first, again = swept(text)
        print(f"{SETTINGS} settings: {first:.3f} s, again {again:.3f} s  {text}")


if __name__ == "__main__":
    main()
