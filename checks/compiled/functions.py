"""Functions of several expectations, such as quotients and roots.

A function is split into expectations that have an unbiased statistic each. Their intervals give
one for the function, by ball arithmetic: at the sum of their error rates.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flint import arb, ctx
from sympy import Add, Dummy, Expr, Float, Mul, Pow

from varlaw.checks.compiled.claims import HEADS, unbiased
from varlaw.checks.compiled.models import Unmeasurable
from varlaw.checks.statistics.verdicts import Interval, Kind
from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.gaussian.values import combined


@dataclass(frozen=True)
class FunctionOfMeans:
    """A function in dummies, each of which stands for the mean of a statistic."""

    function: Expr
    statistics: Mapping[Dummy, Expr]

    def given(self, values: Mapping[str, Expr]) -> "FunctionOfMeans":
        """The function at given values of its symbols. Raises Unmeasurable if some are left."""
        symbols = self.function.free_symbols - set(self.statistics)
        if left := [str(s) for s in symbols if str(s) not in values] or self.function.atoms(Entry):
            raise Unmeasurable(f"{', '.join(sorted(map(str, left)))} is outside of an expectation")
        known = {s: values[str(s)] for s in symbols}
        return FunctionOfMeans(self.function.xreplace(known), self.statistics)

    def at(self, values: Mapping[Dummy, float]) -> float:
        """The function at given means; nan where it has no value."""
        found = self.function.xreplace({x: Float(v) for x, v in values.items()}).evalf()
        return float(found) if found.is_real else math.nan

    def margins(self, values: Mapping[Dummy, float], claimed: float) -> tuple[float, ...]:
        """How precise each mean has to be for the function to be as precise as its claim is large.

        To first order, at about such means, and with an equal part for each.
        """
        part = abs(claimed) / len(self.statistics)
        slopes = [
            abs(FunctionOfMeans(self.function.diff(x), self.statistics).at(values))
            for x in self.statistics
        ]
        if not all(0 < slope < math.inf for slope in slopes):
            raise Unmeasurable("the function of expectations has no slope at the means drawn")
        return tuple(part / slope for slope in slopes)

    def interval(self, means: Sequence[Interval]) -> Interval:
        """An interval for the function, from one for each mean; the whole line where there is none.

        It errs where one of those does, and is proved if all are.
        """
        kind: Kind = "proved" if all(i.kind == "proved" for i in means) else "asymptotic"
        replicates = min(i.replicates for i in means)
        low, high = -math.inf, math.inf
        if all(math.isfinite(end) for i in means for end in (i.low, i.high)):
            balls = [arb(i.low).union(arb(i.high)) for i in means]
            with ctx.workprec(128):
                found = combined(self.function, dict(zip(self.statistics, balls, strict=True)))
            if found.is_finite():
                low, high = float(found.lower()), float(found.upper())
                low, high = math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
        return Interval(low, high, kind, replicates)


def function_of_means(start: Expr) -> FunctionOfMeans:
    """The largest parts of an expression that have an unbiased statistic, and the function of them.

    Raises Unmeasurable for a function that is not covered.
    """
    found: dict[Expr, Dummy] = {}

    def split(e: Expr) -> Expr:
        if not e.atoms(*HEADS):
            return e
        try:
            statistic = unbiased(e)
        except Unmeasurable:
            if not isinstance(e, (Add, Mul, Pow)):
                raise
            return e.func(*map(split, e.args))
        return found.setdefault(statistic, Dummy(real=True))

    function = split(start)
    return FunctionOfMeans(function, {x: statistic for statistic, x in found.items()})
