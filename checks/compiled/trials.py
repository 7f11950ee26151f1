"""Compiled experiments: the expectation that a law is about, measured without sampling code.

The derivation's start says what to draw and to compute, its end what is claimed. The variance
bound comes from the expectation calculus with the samplers' moments, where that covers it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from sympy import Expr, Integer, Mul, Rational, Symbol, Tuple

from varlaw.checks.compiled.backends import Backend
from varlaw.checks.compiled.claims import Claim, claim_of
from varlaw.checks.compiled.functions import FunctionOfMeans, function_of_means
from varlaw.checks.compiled.models import Model, Unmeasurable, model_of
from varlaw.checks.compiled.program import Program
from varlaw.checks.compiled.spreads import variance_of
from varlaw.checks.experiments.measuring import Task, measure_trial, undecided
from varlaw.checks.experiments.moments import Number, evaluate, exact, expected
from varlaw.checks.experiments.registry import (
    AnyTrial,
    ComposedTrial,
    Trial,
)
from varlaw.checks.journal import Journal
from varlaw.checks.report import Measurement
from varlaw.checks.statistics.methods import Asymptotic, ByVariance
from varlaw.checks.statistics.sampling import LAWS, stream
from varlaw.checks.statistics.verdicts import BUDGET
from varlaw.derivations import catalogue
from varlaw.symbolic.arrays import Entry, Moment
from varlaw.symbolic.derivation import Derivation, RuleError, derive
from varlaw.symbolic.language import Text, read
from varlaw.symbolic.ranges import Range
from varlaw.symbolic.terms import Expectation, IndexSum

Subject: TypeAlias = str | catalogue.Law | Derivation | Expr

SIZES = (5, 4, 6, 3, 7, 8)  # of dimensions that are not given
NUMBERS = tuple(Rational(k, k + 1) for k in (2, 5, 3, 7, 4, 9, 6, 8))  # of other positive symbols
PLACE = Integer(2)  # of an index that does not run
PILOT = 1 << 14  # draws for a plan where no variance is known
PILOT_NUMBERS = 1 << 22
ROUNDINGS = 32  # how many roundings one replicate may differ by


@dataclass(frozen=True)
class Compiled:
    """A compiled experiment made ready.

    `values` are those of all symbols, `notes` say how dependent arrays are sampled; `bounded`
    whether the trial's variance is a bound, or nothing is known of it.
    """

    trial: Trial | ComposedTrial
    claim: Claim
    backend: Backend
    values: Mapping[str, Expr]
    notes: tuple[str, ...]
    bounded: bool


def compiled(
    subject: Subject,
    *,
    weights: str = "uniform",
    backend: Backend | None = None,
    claimed: Text | Expr | None = None,
    **values: Text,
) -> Trial | ComposedTrial:
    """The trial that measures what a law, a derivation or an expression claims.

    What is no polynomial in expectations, such as a quotient, is a ComposedTrial.

    `weights`, of varlaw.checks.statistics.sampling.LAWS, is followed by all arrays not
    declared Gaussian; `values` are those of dimensions and other symbols, with others than 1 for
    those not given. `claimed` stands in for the claim.

    Raises UnknownLaw; Unmeasurable, with the reason, where there is no such experiment; ValueError
    for a value that is none.

        >>> trial = compiled("linear-fourth", m=2, weights="rademacher", q=1, s2=1)
        >>> trial.claimed
        19/2
    """
    return prepare(subject, weights, values, backend or Backend(), claimed).trial


def prepare(
    subject: Subject,
    weights: str = "uniform",
    values: Mapping[str, Text] | None = None,
    backend: Backend | None = None,
    claimed: Text | Expr | None = None,
) -> Compiled:
    """As `compiled`, with what it was made from."""
    backend, given = backend or Backend(), _given(values or {})
    if isinstance(subject, str):
        subject = catalogue.find(subject)
    if claimed is not None and isinstance(subject, Expr):
        subject = derive(subject)
    claim = claim_of(subject, frozenset(given))
    if claimed is not None:
        claim = replace(claim, end=exact(read(claimed)))
    means = function_of_means(claim.start)
    known = values_for(claim, given)
    model = model_for(means, known, weights)
    aim = aim_of(claim, model, known)
    if not (aim.is_number and aim.is_real):
        raise Unmeasurable(f"the claim {aim} is no number")
    if means.function.is_Dummy:
        (statistic,) = means.statistics.values()
        trial: Trial | ComposedTrial = _trial(statistic, aim, model, known, backend)
    else:
        trial = composed(means, aim, model, known, backend)
    parts = trial.trials if isinstance(trial, ComposedTrial) else (trial,)
    bounded = all(isinstance(part.method, ByVariance) for part in parts)
    return Compiled(trial, claim, backend, known, tuple(model.notes), bounded)


def model_for(means: FunctionOfMeans, values: Mapping[str, Expr], weights: str) -> Model:
    statistics = Tuple(*means.statistics.values())
    return model_of(statistics, lambda e: evaluate(e, values), LAWS[weights])


def composed(
    means: FunctionOfMeans, aim: Expr, model: Model, values: Mapping[str, Expr], backend: Backend
) -> ComposedTrial:
    """A trial for each expectation; a few draws say how precise each has to be, for the plan."""
    if aim == 0:
        raise Unmeasurable("a function of expectations that is 0 has no relative tolerance")
    means, about, trials = means.given(values), {}, []
    for mean, statistic in means.statistics.items():
        program = Program(model.put_in(statistic), model.drawn, values, backend)
        about[mean], _ = pilot(program)
        trials.append(_trial(statistic, exact(Fraction(about[mean])), model, values, backend))
    margins = means.margins(about, float(aim))
    others = _neighbours(aim, abs(float(aim)))
    return ComposedTrial(tuple(trials), means.interval, aim, others, margins)


def _trial(
    statistic: Expr, aim: Expr, model: Model, known: Mapping[str, Expr], backend: Backend
) -> Trial:
    """The trial of one statistic."""
    inside = model.put_in(statistic)
    program = Program(inside, model.drawn, known, backend)
    variance = variance_of(inside, known, model)
    guess = variance if variance is not None else pilot(program)[1]
    scale = abs(float(aim)) or math.sqrt(guess) or 1.0
    return Trial(
        program.draw,
        program.numbers,
        aim,
        guess + (ROUNDINGS * backend.epsilon * scale) ** 2,
        _neighbours(aim, scale),
        scale,
        program.work,
        ByVariance() if variance is not None else Asymptotic(),
    )


def _given(values: Mapping[str, Text]) -> dict[str, Expr]:
    found = {}
    for name, value in values.items():
        number = exact(value) if isinstance(value, (int, Fraction)) else read(value)
        if not number.is_number or number.is_real is False:
            raise ValueError(f"{name} is a real number, not {value}")
        found[name] = number
    return found


def values_for(claim: Claim, given: Mapping[str, Expr]) -> dict[str, Expr]:
    """A value for each symbol: as given, as the law settles it, or one that is not 1."""
    declared = {
        s for e in claim.start.atoms(Entry) for part in e.array.args for s in _symbols(part)
    }
    settled = set().union(*(e.free_symbols for e in claim.settled.values()))
    symbols = {s.name: s for s in claim.end.free_symbols | settled}
    symbols |= {s.name: s for s in claim.start.free_symbols | declared}
    free = [symbols[n] for n in sorted(symbols.keys() - given.keys() - claim.settled.keys())]
    places = {s for e in claim.start.atoms(Entry) for s in e.free_symbols}
    parts = set().union(*(size.free_symbols for size in claim.whole))
    dimensions = [s for s in free if (s.is_integer or s in parts) and s not in places]
    others = [s for s in free if not (s.is_integer or s in parts)]
    found = dict(given)
    found |= {s.name: PLACE for s in free if s in places}
    found |= {s.name: Integer(SIZES[k % len(SIZES)]) for k, s in enumerate(dimensions)}
    found |= {s.name: NUMBERS[k % len(NUMBERS)] for k, s in enumerate(others)}
    for size in claim.whole:
        part, parts = size.as_numer_denom()
        if part.is_Symbol and part.name not in given:  # a multiple of the number of parts
            found[part.name] *= evaluate(parts, found)
    for name, value in claim.settled.items():
        found[name] = evaluate(value, found)
    return found


def _symbols(part: object) -> set[Symbol]:
    return set(getattr(part, "atoms", lambda *_: set())(Symbol))


def aim_of(claim: Claim, model: Model, values: Mapping[str, Expr]) -> Expr:
    """The claimed number, with the moments of what is sampled."""
    end = claim.end
    if end.has(Expectation):  # joint moments of entries that may depend on one another
        joint = {e: Expectation(model.put_in(e.args[0])) for e in end.atoms(Expectation)}
        end = end.xreplace(joint)
        try:
            means = sorted(end.atoms(Expectation), key=str)
            found = {e: expected(e.args[0], values, model.drawn) for e in means}
        except RuleError as error:
            raise Unmeasurable(f"the claim is no number: {error}") from error
        end = end.xreplace(found).replace(IndexSum, counted)
        if end.has(IndexSum):
            raise Unmeasurable(f"a sum is left in the claim {end}")
    if end.has(Entry):
        raise Unmeasurable(f"it equates what is random: its claim is {end}")
    if missing := {m.name for m in end.atoms(Moment)} - model.marginals.keys():
        raise Unmeasurable(f"no law for {', '.join(sorted(missing))}")
    return evaluate(end, values, model.marginals)


def pilot(program: Program) -> tuple[float, float]:
    """About the mean and the variance, from a few draws: a plan's, never an interval's."""
    count = max(16, min(PILOT, PILOT_NUMBERS // max(1, program.numbers, program.work)))
    with np.errstate(all="ignore"):
        drawn = program.draw(stream(0, "pilot"), count)
        found = float(drawn.mean()), float(drawn.var())
    return found if all(map(math.isfinite, found)) else (1.0, 1.0)


def _neighbours(aim: Expr, scale: float) -> dict[str, Number]:
    if aim == 0:
        return {"one standard deviation": Fraction(scale), "minus it": -Fraction(scale)}
    return {"twice the claim": 2 * aim, "half the claim": aim / 2}


def counted(summand: Expr, *ranges: Range) -> Expr:
    """A sum of equal terms as their number times one of them; others stay as they are."""
    bound = {index for r in ranges for index in r.indices}
    if bound & summand.free_symbols or any(bound & r.free_bounds for r in ranges):
        return IndexSum(summand, *ranges)
    return summand * Mul(*(r.size() for r in ranges))


def measure_claim(
    subject: Subject,
    *,
    weights: str = "uniform",
    values: Mapping[str, Text] | None = None,
    backend: Backend | None = None,
    claimed: Text | Expr | None = None,
    tolerance: float = 0.01,
    error_rate: float = 1e-6,
    seed: int = 0,
    budget: int = BUDGET,
) -> Measurement:
    """Measure what a law, a derivation or an expression claims, up to a budget of random numbers.

    The other arguments are those of `compiled`, which says what is raised.
    """
    made = prepare(subject, weights, values, backend, claimed)
    name = subject if isinstance(subject, str) else str(getattr(subject, "name", "claim"))
    task = Task(name, made.claim.text, weights, (), error_rate, tolerance, seed, budget)
    return measure_compiled(task, made.trial, made.backend)


def measure_compiled(
    task: Task, trial: AnyTrial, backend: Backend, journal: Journal | None = None
) -> Measurement:
    """Carry out a compiled trial; numbers too coarse for the tolerance leave it undecided."""
    if ROUNDINGS * backend.epsilon > task.tolerance:
        why = f"{backend.dtype} is too coarse for a tolerance of {task.tolerance:g}"
        found = undecided(task, trial, why)
    else:
        found = measure_trial(task, trial, journal)
    return replace(found, backend=str(backend), streams=backend.source)
