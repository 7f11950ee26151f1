"""Programs: which arrays a statistic of drawn arrays needs, and one number per replicate."""

import math
from collections.abc import Mapping

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from sympy import Basic, Expr, Integer

from varlaw.checks.compiled.backends import Array, Backend
from varlaw.checks.compiled.evaluation import Evaluation, Scope
from varlaw.checks.compiled.models import Affine, Unmeasurable
from varlaw.checks.experiments.moments import evaluate
from varlaw.checks.statistics.sampling import Law
from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.sequences import IndexProduct
from varlaw.symbolic.terms import IndexSum

FEWEST_STEPS = 100  # from one number to the next that a standard deviation has to span
MOST_TRIED = 1 << 20  # random numbers of one replicate that is drawn to see whether it works


class Program:
    """The array code of one statistic of drawn arrays; it draws, and computes, on a backend.

    The statistic holds no names and no expectations any more: its leaves are numbers, symbols
    with values, and entries of the arrays whose laws are given. `numbers` is how many random
    numbers one replicate takes, `work` how many numbers are held at once for it.

    Raises Unmeasurable for what has no array code.
    """

    def __init__(
        self,
        statistic: Expr,
        laws: Mapping[str, Affine],
        values: Mapping[str, Expr],
        backend: Backend,
    ) -> None:
        self.laws, self.values, self.backend = laws, values, backend
        self.statistic = separated(statistic, statistic.free_symbols)
        self.axes: dict[Basic, int] = {}
        self.extents: dict[str, list[tuple[int, int]]] = {}
        self._survey(self.statistic, {})
        self._look_for_coarse()
        self.numbers = sum(math.prod(self._shape(name)) for name in self.extents)
        self.work = self.numbers
        if self.numbers > MOST_TRIED:
            return
        with np.errstate(all="ignore"):
            self.draw(np.random.default_rng(0), 1)  # what has no array code is found out here

    def draw(self, rng: Generator, replicates: int) -> NDArray[np.float64]:
        """One number per replicate, each from fresh draws."""
        sampler = self.backend.sampler(rng)
        drawn: dict[str, Array] = {}
        for name in sorted(self.extents):
            law = self.laws[name]
            assert isinstance(law.base, Law)
            sample = sampler.sample(law.base, (*self._shape(name), replicates))
            std, mean = math.sqrt(law.variance), float(law.mean)
            sample = sample * std if std != 1 else sample
            drawn[name] = sample + mean if mean else sample
        value = Evaluation(self, drawn, replicates).value(self.statistic, {})
        if isinstance(value, float):
            return np.full(replicates, value)
        return self.backend.host(self.backend.xp.reshape(value, (-1,)))

    def number(self, expression: Expr) -> Expr:
        """The value of an expression in which nothing is random. Raises Unmeasurable."""
        try:
            return evaluate(expression, self.values)
        except LookupError as error:
            raise Unmeasurable(str(error.args[0])) from error

    def whole(self, expression: Basic) -> int:
        """The value of a bound or an index."""
        value = self.number(expression)
        if not value.is_Integer:
            raise Unmeasurable(f"{expression} is {value}, no whole number")
        return int(value)

    def range_of(self, index: Basic, scope: Scope) -> tuple[int, int]:
        if index in scope:
            return scope[index]
        place = self.whole(index)
        return place, place

    def inner(self, e: IndexSum, scope: Scope) -> Scope:
        """The scope inside a sum."""
        within = dict(scope)
        for r in e.ranges:
            bounds = self.whole(r.lower), self.whole(r.upper)
            within |= dict.fromkeys(r.indices, bounds)
        return within

    def factors(self, e: IndexProduct) -> list[Expr]:
        """The factors of a product over an index, written out."""
        places = range(self.whole(e.lower), self.whole(e.upper) + 1)
        return [e.term.xreplace({e.index: Integer(k)}) for k in places]

    def offsets(self, name: str) -> list[int]:
        return [low for low, _ in self.extents[name]]

    def _shape(self, name: str) -> tuple[int, ...]:
        return tuple(high - low + 1 for low, high in self.extents[name])

    def _look_for_coarse(self) -> None:
        """Raise Unmeasurable where rounding at the mean of an array hides how it scatters."""
        for name in self.extents:
            law = self.laws[name]
            step = abs(float(law.mean)) * self.backend.epsilon
            if 0 < float(law.variance) < (FEWEST_STEPS * step) ** 2:
                kind = self.backend.dtype
                raise Unmeasurable(f"{kind} is too coarse for {name}, whose mean is {law.mean}")

    def _survey(self, e: Basic, scope: Scope) -> None:
        """Find out which entries are needed, and give each index an axis."""
        if isinstance(e, Entry):
            needed = [self.range_of(index, scope) for index in e.indices]
            known = self.extents.setdefault(e.array.name, needed)
            self.extents[e.array.name] = [
                (min(a, c), max(b, d)) for (a, b), (c, d) in zip(known, needed, strict=True)
            ]
        elif isinstance(e, IndexSum):
            for index in e.bound:
                self.axes.setdefault(index, len(self.axes))
            self._survey(e.summand, self.inner(e, scope))
        elif isinstance(e, IndexProduct):
            for factor in self.factors(e):
                self._survey(factor, scope)
        else:
            for part in e.args:
                self._survey(part, scope)


def separated(e: Expr, taken: set[Basic]) -> Expr:
    """The expression with sums inside sums renamed where an index would mean two things."""
    if isinstance(e, IndexSum):
        e = e.avoiding(taken)
        if not isinstance(e, IndexSum):
            return separated(e, taken)
        return IndexSum(separated(e.summand, taken | set(e.bound)), *e.ranges)
    if not e.has(IndexSum):
        return e
    return e.func(*(separated(a, taken) if isinstance(a, Expr) else a for a in e.args))
