"""Expectation calculus against expanding at a fixed size with SymPy, in one run.

`python benchmarks/calculus.py` prints CPU seconds and ratios. The alternative multiplies
(Sum_{i<=d} q_i k_i)^p out with SymPy at one width d and replaces powers by moments, which gives
one number where the calculus gives the polynomial in d.
"""

import statistics
import time
from collections.abc import Callable

from sympy import Integer, Mul, Poly, Symbol, symbols

from varlaw.checks.steps.proofs import prove
from varlaw.symbolic.declarations import dimensions, indices, random_array
from varlaw.symbolic.strategy import normal_form
from varlaw.symbolic.terms import Expectation, Sum

REPEATS = 5


def seconds(work: Callable[[], object], repeats: int = REPEATS) -> float:
    """Median CPU time."""
    found = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return statistics.median(found)


def calculus(power: int) -> Expectation:
    d, i = dimensions("d"), indices("i")
    q, k = (random_array(name, mean=0, variance=1) for name in "qk")
    return Expectation(Sum(q[i] * k[i], (i, 1, d)) ** power)


def by_sympy(power: int, width: int) -> object:
    names = symbols(f"q0:{width} k0:{width}")
    q, k = names[:width], names[width:]
    total = Poly(sum(a * b for a, b in zip(q, k, strict=True)) ** power, *names)
    moments = {0: Integer(1), 1: Integer(0), 2: Integer(1)}
    moments |= {order: Symbol(f"m{order}") for order in range(3, power + 1)}
    return sum(c * Mul(*(moments[e] for e in powers)) for powers, c in total.terms())


def main() -> None:
    print(f"{'what':34s} {'calculus':>9s} {'SymPy':>9s} {'ratio':>7s} {'proof':>9s}")
    for power, width in ((4, 8), (6, 8), (8, 8)):
        ours = seconds(lambda p=power: normal_form(calculus(p)))
        theirs = seconds(lambda p=power, w=width: by_sympy(p, w), 3)
        proof = seconds(lambda p=power: prove(normal_form(calculus(p))), 1)
        label = f"E[(q.k)^{power}], SymPy at d = {width}"
        print(f"{label:34s} {ours:9.3f} {theirs:9.3f} {theirs / ours:6.1f}x {proof:9.3f}")
    m, n, i, k, j = *dimensions("m n"), *indices("i k j")
    x, u, w = random_array("x"), random_array("u", mean=0), random_array("w", mean=0)
    two = Expectation(Sum(x[i] * u[i, k] * w[k, j], (i, 1, m), (k, 1, n)) ** 4)
    print(f"{'E[y^4] of y = x W1 W2':34s} {seconds(lambda: normal_form(two)):9.3f}")


if __name__ == "__main__":
    main()
