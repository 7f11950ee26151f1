"""Compiled experiments: the expectation that a law is about, measured without sampling code.

The derivation's start says what to draw and to compute, its end what is claimed. The variance
bound comes from the expectation calculus with the samplers' moments, where that covers it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from sympy import Expr, Integer, Rational, Symbol

from varlaw.checks.compiled.backends import Backend
from varlaw.checks.compiled.claims import Claim, claim_of, unbiased
from varlaw.checks.compiled.models import Model, Unmeasurable, model_of
from varlaw.checks.compiled.program import Program
from varlaw.checks.experiments.measuring import Task, measure_trial
from varlaw.checks.experiments.moments import Number, evaluate, exact, expected, normal
from varlaw.checks.experiments.registry import Trial
from varlaw.checks.journal import Journal
from varlaw.checks.report import Measurement
from varlaw.checks.sampling import LAWS, Discrete, Law
from varlaw.derivations import catalogue
from varlaw.symbolic.arrays import Entry, Moment
from varlaw.symbolic.assumptions import Kind
from varlaw.symbolic.derivation import Derivation, RuleError
from varlaw.symbolic.language import Text, read
from varlaw.symbolic.terms import Expectation, IndexSum

Subject = str | catalogue.Law | Derivation | Expr

SIZES = (5, 4, 6, 3, 7, 8)  # of dimensions that are not given
NUMBERS = tuple(Rational(k, k + 1) for k in range(2, 10))  # of other positive symbols
PLACE = Integer(2)  # of an index that does not run
HIGHEST = 8  # copies of sums in the square of a statistic, for the calculus to take seconds
ROUNDINGS = 32  # how many roundings one replicate may differ by


@dataclass(frozen=True)
class Compiled:
    """A compiled experiment made ready.

    `values` are those of all symbols, `notes` say how dependent arrays are sampled; `bounded`
    whether the trial's variance is a bound, or nothing is known of it.
    """

    trial: Trial
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
) -> Trial:
    """The trial that measures what a law, a derivation or an expression claims.

    `weights` is the law of varlaw.checks.sampling.LAWS that all arrays follow unless they are
    declared Gaussian; `values` are those of dimensions and other symbols, with others than 1 for
    those not given. `claimed` stands in for the claim.

    Raises UnknownLaw; Unmeasurable, with the reason, where there is no such experiment; ValueError
    for a value that is none.

        >>> trial = compiled("linear-fourth", m=2, weights="skewed")
        >>> trial.numbers
        4
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
    claim = claim_of(subject, frozenset(given))
    statistic = unbiased(claim.start)
    known = _values(claim, given)
    model = model_of(statistic, lambda e: evaluate(e, known), LAWS[weights])
    inside = model.put_in(statistic)
    program = Program(inside, model.drawn, known, backend)
    aim = evaluate(exact(read(claimed)), known) if claimed is not None else _aim(claim, model, known)
    if not (aim.is_number and aim.is_real):
        raise Unmeasurable(f"the claim {aim} is no number")
    variance = _variance(inside, known, model)
    bounded = variance is not None
    spread = math.sqrt(variance) if variance else abs(float(aim))
    scale = abs(float(aim)) or spread or 1.0
    trial = Trial(
        program.draw,
        program.numbers,
        aim,
        (variance or 0.0) + (ROUNDINGS * backend.epsilon * scale) ** 2,
        _neighbours(aim, scale),
        scale,
        program.work,
    )
    return Compiled(trial, claim, backend, known, tuple(model.notes), bounded)


def _given(values: Mapping[str, Text]) -> dict[str, Expr]:
    found = {}
    for name, value in values.items():
        number = read(value)
        if not number.is_number or number.is_real is False:
            raise ValueError(f"{name} is a real number, not {value}")
        found[name] = number
    return found


def _values(claim: Claim, given: Mapping[str, Expr]) -> dict[str, Expr]:
    """A value for each symbol: as given, as the law settles it, or one that is not 1."""
    declared = {s for e in claim.start.atoms(Entry) for part in e.array.args for s in _symbols(part)}
    settled = set().union(*(e.free_symbols for e in claim.settled.values()))
    symbols = claim.start.free_symbols | claim.end.free_symbols | declared | settled
    free = sorted(
        (s for s in symbols if s.name not in given.keys() | claim.settled.keys()), key=str
    )
    places = {s for e in claim.start.atoms(Entry) for s in e.free_symbols}
    dimensions = [s for s in free if s.is_integer and s not in places]
    others = [s for s in free if not s.is_integer]
    found = dict(given)
    found |= {s.name: PLACE for s in free if s in places}
    found |= {s.name: Integer(SIZES[k % len(SIZES)]) for k, s in enumerate(dimensions)}
    found |= {s.name: NUMBERS[k % len(NUMBERS)] for k, s in enumerate(others)}
    for name, value in claim.settled.items():
        found[name] = evaluate(value, found)
    return found


def _symbols(part: object) -> set[Symbol]:
    return set(getattr(part, "atoms", lambda *_: set())(Symbol))


def _aim(claim: Claim, model: Model, values: Mapping[str, Expr]) -> Expr:
    """The claimed number, with the moments of what is sampled."""
    end = claim.end
    if end.has(Expectation):  # joint moments of entries that may depend on one another
        joint = {e: Expectation(model.put_in(e.args[0])) for e in end.atoms(Expectation)}
        end = end.xreplace(joint)
        found = {e: expected(e.args[0], values, model.drawn) for e in end.atoms(Expectation)}
        end = end.xreplace(found)
        if end.has(IndexSum):
            raise Unmeasurable(f"a sum is left in the claim {end}")
    if missing := {m.name for m in end.atoms(Moment)} - model.marginals.keys():
        raise Unmeasurable(f"no law for {', '.join(sorted(missing))}")
    return evaluate(end, values, model.marginals)


def _variance(statistic: Expr, values: Mapping[str, Expr], model: Model) -> float | None:
    """The variance of the statistic, from the samplers' moments; None where that is out of reach.

    None is also the answer for sums of so many copies that the calculus would take long.
    """
    if 2 * _copies(statistic) > HIGHEST:
        return None
    try:
        mean, square = (expected(s, values, model.drawn) for s in (statistic, statistic**2))
    except (RuleError, LookupError, ValueError):
        return None
    found = float(square - mean**2)
    return max(found, 0.0) if math.isfinite(found) else None


def _copies(e: Expr) -> int:
    """How many copies of a sum are multiplied in an expression that is multiplied out."""
    if isinstance(e, IndexSum):
        return len(e.bound) * max(1, _copies(e.summand))
    if e.is_Mul:
        return sum(map(_copies, e.args))
    if e.is_Pow and e.exp.is_Integer and e.exp > 0:
        return int(e.exp) * _copies(e.base)
    return max((_copies(part) for part in e.args if isinstance(part, Expr)), default=0)


def _neighbours(aim: Expr, scale: float) -> dict[str, Number]:
    if aim == 0:
        return {"one standard deviation": Fraction(scale), "minus it": -Fraction(scale)}
    return {"twice the claim": 2 * aim, "half the claim": aim / 2}


def admitted(law: catalogue.Law) -> tuple[str, ...]:
    """The laws of weights that meet all declarations of a law; none if there is no experiment.

    Where a step rests on there being no probability at zero, the law is a continuous one.
    """
    continuous = any(a.kind is Kind.NO_ATOM for a in law.derivation.assumptions)
    found = []
    for name in ("normal", "uniform", "rademacher", "skewed"):
        if continuous and isinstance(LAWS[name], Discrete):
            continue
        try:
            prepare(law, name)
        except (Unmeasurable, LookupError):
            continue
        found.append(name)
    return tuple(found)
