"""Closed forms of Gaussian moments against SymPy's `stats.E`, in one run.

`python benchmarks/closed_forms.py [SECONDS]` prints the CPU time of each closed form, first and
warm, and that of `sympy.stats.E` within a limit of SECONDS (default 10) per moment.
"""

import multiprocessing
import statistics
import sys
import time

from sympy import (
    Abs,
    Expr,
    Heaviside,
    Integral,
    Max,
    Min,
    Piecewise,
    Rational,
    Symbol,
    cos,
    erf,
    exp,
    sin,
    sqrt,
)
from sympy.stats import E, Normal

from varlaw.symbolic import activations as table
from varlaw.symbolic.gaussian.closed import closed_form

x = Symbol("x", real=True)
a, s = Symbol("a", positive=True), Symbol("s", positive=True)
gelu = x * (1 + erf(x / sqrt(2))) / 2
elu = Piecewise((x, x > 0), (a * (exp(x) - 1), True))

# name: (the function for us, the function for SymPy, the variance)
MOMENTS: dict[str, tuple[Expr, Expr, Expr]] = {
    "relu": (table.relu(x), Max(x, 0), Rational(1)),
    "relu^2": (table.relu(x) ** 2, Max(x, 0) ** 2, Rational(1)),
    "relu^2, s": (table.relu(x) ** 2, Max(x, 0) ** 2, s**2),
    "relu6^2, s": (table.relu6(x) ** 2, Min(Max(x, 0), 6) ** 2, s**2),
    "abs": (table.absolute(x), Abs(x), Rational(1)),
    "step": (table.step(x), Heaviside(x), Rational(1)),
    "hardtanh^2": (table.hardtanh(x) ** 2, Max(-1, Min(x, 1)) ** 2, Rational(1)),
    "elu, alpha": (table.elu(x, a), elu, Rational(1)),
    "elu^2, alpha, s": (table.elu(x, a) ** 2, elu**2, s**2),
    "exp, a": (exp(a * x), exp(a * x), Rational(1)),
    "gelu": (table.gelu(x), gelu, Rational(1)),
    "gelu^2": (table.gelu(x) ** 2, gelu**2, Rational(1)),
    "gelu^2, s": (table.gelu(x) ** 2, gelu**2, s**2),
    "gelu'^2": (gelu.diff(x) ** 2, gelu.diff(x) ** 2, Rational(1)),
    "erf^2, s": (erf(x) ** 2, erf(x) ** 2, s**2),
    "sin^2, s": (sin(x) ** 2, sin(x) ** 2, s**2),
    "cos": (cos(x), cos(x), Rational(1)),
    "snake^2, a": ((x + sin(a * x) ** 2 / a) ** 2, (x + sin(a * x) ** 2 / a) ** 2, Rational(1)),
}


def by_sympy(name: str, answer: "multiprocessing.Queue[tuple[float, bool]]") -> None:
    _, f, variance = MOMENTS[name]
    began = time.process_time()
    value = E(f.subs(x, Normal("X", 0, sqrt(variance))))
    answer.put((time.process_time() - began, not value.has(Integral)))


def within(name: str, limit: float) -> float | None:
    """SymPy's CPU time, or None if it did not answer with a closed form in time."""
    context = multiprocessing.get_context("fork")
    answer = context.Queue()
    process = context.Process(target=by_sympy, args=(name, answer))
    process.start()
    process.join(limit)
    if process.is_alive():
        process.terminate()
        process.join()
        return None
    seconds, closed = answer.get()
    return seconds if closed else None


def timed(name: str) -> float:
    f, _, variance = MOMENTS[name]
    began = time.process_time()
    closed_form(f, x, Rational(0), variance)
    return time.process_time() - began


def main() -> None:
    limit = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    timed("relu^2")
    print(f"{'E of':18s} {'first ms':>9s} {'warm ms':>8s} {'SymPy ms':>9s} {'ratio':>7s}")
    firsts, ratios = [], []
    for name in MOMENTS:
        first = timed(name)
        warm = statistics.median(timed(name) for _ in range(5))
        theirs = within(name, limit)
        firsts.append(first)
        shown = f"{theirs * 1e3:9.0f} {theirs / first:6.0f}x" if theirs else f"{'none':>9s}"
        ratios += [theirs / first] if theirs else []
        print(f"{name:18s} {first * 1e3:9.2f} {warm * 1e3:8.2f} {shown}")
    median, ratio = statistics.median(firsts) * 1e3, statistics.median(ratios)
    print(f"median first {median:.2f} ms, ratio {ratio:.0f}x")


if __name__ == "__main__":
    main()
