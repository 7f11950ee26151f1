"""How fast documents are read and judged, beside SymPy's reader of LaTeX, in one run.

    python benchmarks/documents.py [FORMULAS]

A document of about 500 characters of prose to each formula is found, read, and judged on one and
on two processes; `sympy.parsing.latex` reads the sides of the same formulas, one by one.
"""

import sys
import time
from contextlib import suppress
from math import sqrt
from random import Random

from lark.exceptions import LarkError
from sympy.parsing.latex import parse_latex

from varlaw.checks.claims.checking import check
from varlaw.checks.documents.reading import read_document
from varlaw.symbolic.formulas import read_formula

PROSE = "Some words about weights and the variance of what they are multiplied with. " * 6


def formulas(count: int, seed: int = 1) -> list[str]:
    """Links of five kinds, one after the other, all true but the definitions."""
    rng = Random(seed)
    found = []
    for number in range(count):
        a, b = rng.randint(2, 99), rng.randint(100, 4000)
        kinds = (
            rf"\sqrt{{{a}/{b}}} \approx {sqrt(a / b):.4f}",
            rf"\frac{{{a}}}{{{b}}} \approx {a / b:.5f}",
            rf"(a_{{{number}}}+b)^2 = a_{{{number}}}^2 + 2 a_{{{number}}} b + b^2",
            rf"\sigma_{{{number}}} = \sqrt{{2/n}}",
            rf"\int_0^{{{a}}} x^2 dx \approx {a**3 / 3:.2f}",
        )
        found.append(kinds[number % len(kinds)])
    return found


def main(count: int = 2000) -> None:
    texts = formulas(count)
    data = "\n\n".join(f"{PROSE}${text}$" for text in texts).encode()
    taken: dict[str, float] = {}

    def timed(name: str, start: float) -> None:
        taken[name] = time.perf_counter() - start

    start = time.perf_counter()
    document = read_document("big.md", data)
    timed("found in the document", start)
    start = time.perf_counter()
    for text in texts:
        read_formula(text)
    timed("read into trees", start)
    few = [side for text in texts[:50] for side in text.replace(r"\approx", "=").split("=")]
    start = time.perf_counter()
    for side in few:
        with suppress(LarkError):  # it does not know subscripted Greek letters
            parse_latex(side, backend="lark")
    taken["sides read by SymPy (lark)"] = (time.perf_counter() - start) * count / 50
    for jobs in (1, 2):
        start = time.perf_counter()
        (found,) = check([document], jobs=jobs)
        timed(f"found, read and judged, {jobs} process{'es' * (jobs > 1)}", start)
    links = len(found.links) + found.no_claims
    print(f"{len(data) / 1e6:.2f} MB, {len(document[0].spans)} formulas, {links} links")
    for name, seconds in taken.items():
        print(f"{name:42}{seconds:8.2f} s{seconds / count * 1e3:9.3f} ms a formula")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
