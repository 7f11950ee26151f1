"""Expectations of variables of named laws, such as Bernoulli(p), sampled by NumPy and SciPy.

A function of means is estimated at the means of independent draws; its interval is asymptotic, by
the slopes of the function.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from sympy import Dummy, Expr, Integer, Rational, Symbol

from varlaw.checks.claims.declarations.distributions import Distribution
from varlaw.checks.report import Measurement
from varlaw.checks.statistics.sampling import Law, stream
from varlaw.checks.statistics.verdicts import Interval, judge
from varlaw.symbolic.terms import Covariance, Expectation, Variance

AS_DECLARED = "as declared"
MOST = 1 << 22  # draws of each expectation
OTHERS = Rational(7, 10)  # of names without a value; a size is 5
DIRECT = ("normal", "uniform", "rademacher", "iid")  # sampled by the tables of laws
Given = Mapping[str, float]


def _truncated(rng: Generator, shape: Any, given: Given) -> NDArray[np.float64]:
    from scipy.stats import truncnorm

    mean, std = given["mean"], math.sqrt(given["var"])
    low, high = ((given[key] - mean) / std for key in ("low", "high"))
    drawn = truncnorm.rvs(low, high, loc=mean, scale=std, size=shape, random_state=rng)
    return np.asarray(drawn, dtype=np.float64)


def _normal(rng: Generator, shape: Any, given: Given) -> NDArray[np.float64]:
    return rng.normal(given["mean"], math.sqrt(given["var"]), shape)


def _log_normal(rng: Generator, shape: Any, given: Given) -> NDArray[np.float64]:
    return rng.lognormal(given["log_mean"], math.sqrt(given["log_var"]), shape)


SAMPLERS: Mapping[str, Callable[[Generator, Any, Given], NDArray[Any]]] = {
    "normal": _normal,
    "truncated": _truncated,
    "uniform": lambda rng, shape, g: rng.uniform(g["low"], g["high"], shape),
    "bernoulli": lambda rng, shape, g: rng.random(shape) < g["p"],
    "rademacher": lambda rng, shape, g: 2.0 * rng.integers(0, 2, shape) - 1,
    "exponential": lambda rng, shape, g: rng.exponential(1 / g["rate"], shape),
    "laplace": lambda rng, shape, g: rng.laplace(g["mean"], g["scale"], shape),
    "poisson": lambda rng, shape, g: rng.poisson(g["rate"], shape),
    "binomial": lambda rng, shape, g: rng.binomial(int(g["n"]), g["p"], shape),
    "gamma": lambda rng, shape, g: rng.gamma(g["shape"], g["scale"], shape),
    "chi squared": lambda rng, shape, g: rng.chisquare(g["df"], shape),
    "beta": lambda rng, shape, g: rng.beta(g["a"], g["b"], shape),
    "log-normal": _log_normal,
    "student": lambda rng, shape, g: rng.standard_t(g["df"], shape),
}


@dataclass(frozen=True)
class Named(Law):
    """A law as it is declared, with numbers for its parameters; not standardised."""

    name: str
    given: Mapping[str, float] = field(default_factory=dict)
    symmetric: bool = False
    gaussian: bool = False
    bound: float | None = None

    def moment(self, k: int) -> Any:
        raise NotImplementedError  # only draws are asked for

    def sample(self, rng: Generator, shape: int | tuple[int, ...]) -> NDArray[np.float64]:
        return SAMPLERS[self.name](rng, shape, self.given).astype(np.float64)


def is_named(laws: Mapping[str, Distribution]) -> bool:
    """Whether variables have laws that the tables of laws do not hold, and all can be drawn."""
    kinds = {law.kind for law in laws.values()}
    return bool(kinds - set(DIRECT)) and kinds <= set(SAMPLERS)


def measured(
    start: Expr,
    claimed: Expr,
    laws: Mapping[str, Distribution],
    values: Mapping[str, Expr],
    seed: int,
    budget: int,
    tolerance: float,
    error_rate: float,
) -> Measurement:
    """The measurement of an expression in expectations. Raises Unmeasurable."""
    from varlaw.checks.compiled.backends import Backend
    from varlaw.checks.compiled.models import Affine, Unmeasurable
    from varlaw.checks.compiled.program import Program

    start = _in_means(start)
    symbols = start.free_symbols | claimed.free_symbols
    for law in laws.values():
        symbols |= {s for value in law.given.values() for s in value.free_symbols}
    sizes = {s for law in laws.values() if "n" in law.given for s in law["n"].free_symbols}
    known = {s: values.get(s.name, _usual(s, s in sizes)) for s in symbols}
    named = {
        name: Affine(Named(law.kind, given=_numbers(law, known)), Integer(0), Integer(1))
        for name, law in laws.items()
    }
    means = {f: Dummy(real=True) for f in start.atoms(Expectation)}
    function = start.xreplace(means).xreplace(known)
    points: dict[Dummy, float] = {}
    errors: dict[Dummy, float] = {}
    for place, (f, mean) in enumerate(sorted(means.items(), key=lambda pair: str(pair[0]))):
        program = Program(f.args[0], named, {s.name: v for s, v in known.items()}, Backend())
        count = min(MOST, budget // max(program.numbers * len(means), 1))
        if count < 1000:
            raise Unmeasurable(f"over the budget of {budget} random numbers")
        drawn = program.draw(stream(seed, "claim", place), count)
        points[mean], errors[mean] = float(drawn.mean()), float(drawn.std()) / math.sqrt(count)
    estimate = float(function.xreplace(points))
    slopes = [float(function.diff(mean).xreplace(points)) * errors[mean] for mean in points]
    apart = NormalDist().inv_cdf(1 - error_rate / 2) * math.hypot(*slopes)
    low, high, goal = estimate - apart, estimate + apart, float(claimed.xreplace(known))
    verdict = judge(Interval(low, high, "asymptotic", count), goal, tolerance)
    quantity = str(start).replace("**", "^")
    return Measurement(
        quantity, AS_DECLARED, goal, estimate, low, high, "asymptotic", count, verdict
    )


def _in_means(start: Expr) -> Expr:
    """Variances and covariances by their definitions."""
    found = start.replace(
        lambda e: isinstance(e, Variance),
        lambda e: Expectation(e.args[0] ** 2) - Expectation(e.args[0]) ** 2,
    )
    return found.replace(
        lambda e: isinstance(e, Covariance),
        lambda e: (
            Expectation(e.args[0] * e.args[1]) - Expectation(e.args[0]) * Expectation(e.args[1])
        ),
    )


def _usual(symbol: Symbol, whole: bool) -> Expr:
    return Integer(5) if whole or symbol.is_integer else OTHERS


def _numbers(law: Distribution, known: Mapping[Symbol, Expr]) -> dict[str, float]:
    return {key: float(value.xreplace(known)) for key, value in law.given.items()}
