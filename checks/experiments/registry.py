"""What an experiment is, and the table of all of them, filled by the decorator `experiment`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from sympy import Expr, Rational

from varlaw.checks.experiments.moments import Laws, Number, Scaled, evaluate, exact
from varlaw.checks.report import SamplerName
from varlaw.checks.statistics.intervals import Interval
from varlaw.checks.statistics.methods import BY_VARIANCE, Method
from varlaw.checks.statistics.sampling import LAWS, Law
from varlaw.derivations import catalogue
from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.language import Text, read

Draws = NDArray[Any]
Draw = Callable[[Generator, int], Draws]

PACKAGE = "varlaw.checks.experiments"
ANY = ("normal", "uniform", "skewed")
SYMMETRIC = ("normal", "uniform", "rademacher")
NON_GAUSSIAN = ("uniform", "rademacher")  # symmetric ones
HUGE = 10**100  # beyond this the third powers of parameters are no doubles
ROUNDING = 1e-9  # a variance bound is this much larger than its exact value


@dataclass(frozen=True)
class Case:
    """The law under test, the parameters of the experiment and the law of the weights."""

    law: catalogue.Law
    weights: Law
    values: Mapping[str, Number]

    def __getitem__(self, name: str) -> Expr:
        return exact(self.values[name])

    def size(self, name: str) -> int:
        """A dimension or depth."""
        return int(self[name])

    def scaled(self, variance: Number) -> Scaled:
        """The weights with some variance."""
        return Scaled(self.weights, variance)

    def claim(self, laws: Laws | None = None, **more: Number) -> Expr:
        """The right-hand side of the derived statement, at the parameters and at further values."""
        return self.at(self.law.statement.rhs, laws, **more)

    def claim_at(self, arrays: Mapping[str, Sequence[Number]], **more: Number) -> Expr:
        """The claim where the arrays hold given values: for laws that hold in every draw."""
        claim = self.claim(None, **more)
        entries = claim.atoms(Entry)
        return claim.xreplace(
            {e: exact(arrays[e.array.name][int(e.indices[0]) - 1]) for e in entries}
        )

    def at(self, expression: Expr, laws: Laws | None = None, **more: Number) -> Expr:
        """An expression at the parameters and at further values."""
        return evaluate(expression, {**self.values, **more}, laws)


@dataclass(frozen=True)
class Trial:
    """An experiment made ready: how to draw, what is claimed, how far draws may spread.

    `draw(rng, replicates)` gives one number per replicate, each from a fresh draw of everything
    random: `numbers` random numbers, and about `work` numbers held at once (`numbers` of them, if
    it is 0). Its expectation is claimed to be `claimed`, and `neighbours` are what wrong laws claim
    instead. `variance` bounds its variance, from the samplers alone. Where a claim is 0, tolerances
    are in units of `scale`.

    A `method` says otherwise: that the numbers are bounded, that a quantile of theirs is claimed
    (with what then takes the place of the variance), or that nothing is known of their tail.
    `sampler` says whether weights are drawn, or pre-activations given the batch: see
    `varlaw.checks.simulate`. The latter is never the only evidence for a law.
    """

    draw: Draw
    numbers: int
    claimed: Number
    variance: Number | float
    neighbours: Mapping[str, Number]
    scale: float = 1.0
    work: int = 0
    method: Method = BY_VARIANCE
    sampler: SamplerName = "direct"

    def averaged(self, count: int) -> "Trial":
        """The trial whose replicates are means over `count` of this one's."""

        def draw(rng: Generator, replicates: int) -> Draws:
            groups = self.draw(rng, replicates * count).reshape(replicates, count)
            return np.asarray(groups.mean(axis=1))

        return replace(
            self,
            draw=draw,
            numbers=count * self.numbers,
            variance=float(self.variance) / count,
            work=count * (self.work or self.numbers),
        )

    def finer(self, part: float) -> "Trial":
        """The trial in units of its claim and less it: its tolerance is `part` of what it was."""
        claim = float(self.claimed)

        def draw(rng: Generator, replicates: int) -> Draws:
            return np.asarray(self.draw(rng, replicates) / claim - 1)

        return replace(
            self,
            draw=draw,
            claimed=0,
            variance=float(self.variance) / claim**2,
            neighbours={k: Fraction(float(v) / claim - 1) for k, v in self.neighbours.items()},
            scale=part,
        )

    @property
    def spread(self) -> float:
        """The variance bound as a float, rounded up; not 0, since replicates differ by rounding."""
        least = 1e-16 * (float(self.claimed) ** 2 or self.scale**2)
        return max(float(self.variance) * (1 + ROUNDING), least)


@dataclass(frozen=True)
class LimitTrial:
    """A limit law made ready: v(n) = limit + b n^(-order) is measured at three sizes n.

    `wrong_orders` are exponents that the measured values must refute, and `margins` the precision
    to aim at for each size, relative to the limit, at a tolerance of 1 %.
    """

    sizes: tuple[int, ...]
    trials: tuple[Trial, ...]
    claimed: Number
    neighbours: Mapping[str, Number]
    margins: tuple[float, ...]
    order: float = 1.0
    wrong_orders: tuple[float, ...] = (0.5, 2.0)

    @property
    def sampler(self) -> SamplerName:
        """Direct if all trials are."""
        drawn = all(trial.sampler == "direct" for trial in self.trials)
        return "direct" if drawn else "conditional"


@dataclass(frozen=True)
class ComposedTrial:
    """A function of several expectations made ready, such as a quotient.

    Each of `trials` measures one of them, and `combine` makes an interval for the function from
    theirs. `margins` are the precisions to aim at, in units of the tolerance.
    """

    trials: tuple[Trial, ...]
    combine: Callable[[Sequence[Interval]], Interval]
    claimed: Number
    neighbours: Mapping[str, Number]
    margins: tuple[float, ...]
    sampler: SamplerName = "direct"


AnyTrial: TypeAlias = Trial | LimitTrial | ComposedTrial


@dataclass(frozen=True)
class Experiment:
    """How one quantity of one law is measured.

    `weights` are the names of the laws of weights it runs with, and `defaults` its parameters: a
    whole number is a dimension or depth, a Fraction a positive real number.
    """

    law: str
    quantity: str
    weights: tuple[str, ...]
    defaults: Mapping[str, int | Fraction]
    least: Mapping[str, int]
    most: Mapping[str, int]
    build: Callable[[Case], AnyTrial]

    @property
    def module(self) -> str:
        """The module that holds it."""
        return self.build.__module__

    def values(self, overrides: Mapping[str, Text]) -> dict[str, int | Fraction]:
        """The parameters, with those overrides that concern this experiment. Raises ValueError."""
        found = dict(self.defaults)
        for name in sorted(found.keys() & overrides.keys()):
            limits = self.least.get(name, 1), self.most.get(name)
            found[name] = parameter(name, overrides[name], found[name], *limits)
        return found

    def prepare(
        self, weights: str, values: Mapping[str, int | Fraction], law: catalogue.Law | None = None
    ) -> AnyTrial:
        """The trial with the weights of one law; `law` stands in for the catalogue's, if given."""
        under_test = law or catalogue.find(self.law)
        return self.build(Case(under_test, LAWS[weights], dict(values)))


def parameter(
    name: str, value: Text, default: int | Fraction, least: int = 1, most: int | None = None
) -> int | Fraction:
    """A value given for a parameter of the kind of `default`. Raises ValueError, in one line."""
    whole = isinstance(default, int)
    kind = "a dimension: a positive integer" if whole else "a positive number"
    number = read(value)
    fits = isinstance(number, Rational) and number > 0 and (not whole or number.q == 1)
    if not fits:
        raise ValueError(f"{name} is {kind}, not {value}")
    if not Rational(1, HUGE) <= number <= HUGE:
        raise ValueError(f"{name} is between 1e-100 and 1e100 in experiments, not {value}")
    if whole and number < least:
        raise ValueError(f"{name} is at least {least}, not {value}")
    if most is not None and number > most:
        raise ValueError(f"{name} is at most {most}, not {value}")
    return int(number) if whole else Fraction(int(number.p), int(number.q))


_TABLE: dict[tuple[str, str], Experiment] = {}


def experiment(
    *,
    law: str,
    quantity: str,
    weights: tuple[str, ...],
    least: Mapping[str, int] | None = None,
    most: Mapping[str, int] | None = None,
    **defaults: int | Fraction,
) -> Callable[[Callable[[Case], AnyTrial]], Experiment]:
    """Make the function that prepares a trial into the experiment on one quantity of a law.

    It is found without being listed anywhere. A limit on a dimension is given as least={"d": 5},
    one on a rate as most={"p": 1}.
    """

    def make(build: Callable[[Case], AnyTrial]) -> Experiment:
        made = Experiment(law, quantity, weights, defaults, least or {}, most or {}, build)
        if (law, quantity) in _TABLE:
            raise ValueError(f"two experiments measure {quantity} of {law}")
        _TABLE[law, quantity] = made
        return made

    return make


@cache
def experiments() -> tuple[Experiment, ...]:
    """All experiments, by family and in the order of their files."""
    for file in sorted(files(PACKAGE).iterdir(), key=lambda f: f.name):
        if file.name.endswith(".py") and not file.name.startswith("__"):
            import_module(f"{PACKAGE}.{file.name.removesuffix('.py')}")
    return tuple(sorted(_TABLE.values(), key=lambda e: e.module))


def experiment_of(law: str, quantity: str, module: str) -> Experiment:
    """One experiment, whose module alone is loaded."""
    import_module(module)
    return _TABLE[law, quantity]


def instead(claim: Number, others: Mapping[str, Number], power: int = 1) -> dict[str, Expr]:
    """What wrong variances claim for a gain that is 1 at the variance `claim`.

    A gain that grows like variance^power, measured at the claimed variance, is (claim/other)^power
    if the other variance is the one that makes it 1.
    """
    return {
        f"variance {name}": (exact(claim) / exact(other)) ** power for name, other in others.items()
    }
