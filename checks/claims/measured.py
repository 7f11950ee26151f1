"""Claims about expectations measured: sampled under laws that meet what is declared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING

from sympy import Expr, Integer

from varlaw.checks.claims.declarations.context import Context, Network
from varlaw.checks.claims.declarations.distributions import Distribution
from varlaw.checks.claims.expectations.sampled_laws import AS_DECLARED, is_named
from varlaw.checks.claims.guarded import Call, Stopped, results
from varlaw.checks.claims.values.functions import NoValue
from varlaw.checks.report import Measurement
from varlaw.checks.statistics.verdicts import BUDGET, Verdict
from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.assumptions import Kind
from varlaw.symbolic.blocks.state import BlockError
from varlaw.symbolic.formulas.tree import Node
from varlaw.symbolic.terms import Covariance, Expectation, Variance

if TYPE_CHECKING:
    from varlaw.symbolic.language import Text

LAWS = ("uniform", "skewed", "rademacher")  # in the order of preference
MOST_LAWS = 2
PREPARING = 60.0  # seconds of the processor's time to prepare a measurement
MEASURING = 600.0  # for one within the usual budget; more for a larger one
MEGABYTES = 4000


@dataclass(frozen=True)
class Settings:
    """How claims are measured; the error rate holds for all of them together.

    `budget` is the number of random numbers that one measurement may take.
    """

    tolerance: float = 0.01
    error_rate: float = 1e-6
    seed: int = 0
    budget: int = BUDGET
    jobs: int = 1
    values: "Mapping[str, Text] | None" = None


@dataclass(frozen=True)
class Quantity:
    """`start`, an expression in expectations, is claimed to be `claimed`.

    `slack` is the relative error that the digits of the claim leave open, `laws` are those of the
    arrays by their names.
    """

    start: Expr
    claimed: Expr
    slack: Fraction = Fraction(0)
    laws: Mapping[str, Distribution] = field(default_factory=dict)


@dataclass(frozen=True)
class OfNetwork:
    """E[y^2] of the output of a network is claimed to be what a formula says."""

    network: Network
    context: Context
    claimed: Node


@dataclass(frozen=True)
class _Question:
    quantity: Quantity | OfNetwork
    law: str
    settings: Settings


def measure(
    quantities: Sequence[Quantity | OfNetwork], settings: Settings
) -> list[tuple[Measurement, ...] | str]:
    """The measurements of each quantity, or why there are none.

    Each is sampled with up to two laws that meet the declarations. Raises ValueError for a given
    value that is none.
    """
    calls = [Call(_laws, (quantity, settings), PREPARING, MEGABYTES) for quantity in quantities]
    laws = [f.reason if isinstance(f, Stopped) else f for f in results(calls, settings.jobs)]
    count = sum(len(found) for found in laws if not isinstance(found, str))
    share = replace(settings, error_rate=settings.error_rate / max(count, 1))
    questions = [
        (place, _Question(quantity, law, share))
        for place, (quantity, found) in enumerate(zip(quantities, laws, strict=True))
        for law in ([] if isinstance(found, str) else found)
    ]
    seconds = MEASURING * max(1.0, settings.budget / BUDGET)
    calls = [Call(_measured, question, seconds, MEGABYTES) for _, question in questions]
    measured = [
        _stopped(question, found.reason) if isinstance(found, Stopped) else found
        for (_, question), found in zip(questions, results(calls, settings.jobs), strict=True)
    ]
    return [
        found
        if isinstance(found, str)
        else tuple(one for one, (at, _) in zip(measured, questions, strict=True) if at == place)
        for place, found in enumerate(laws)
    ]


def _laws(asked: tuple[Quantity | OfNetwork, Settings]) -> list[str] | str:
    """The laws to sample with, or why there are none."""
    quantity, settings = asked
    if isinstance(quantity, OfNetwork):
        return ["normal", "uniform"]
    from varlaw.checks.compiled.models import Unmeasurable
    from varlaw.checks.compiled.trials import prepare

    if is_named(quantity.laws):
        random = quantity.start.has(Expectation, Variance, Covariance)
        return [AS_DECLARED] if random else "there is no expectation of anything random in it"
    gaussian = all(e.array.has(Kind.GAUSSIAN) for e in quantity.start.atoms(Entry))
    found: list[str] = []
    why = ""
    for law in ("normal",) if gaussian else LAWS:
        if len(found) == MOST_LAWS:
            break
        try:
            prepare(quantity.start, law, settings.values, claimed=quantity.claimed)
        except (Unmeasurable, LookupError) as error:
            why = why or str(error)
        else:
            found.append(law)
    return found or why


def _measured(question: _Question) -> Measurement:
    from varlaw.checks.compiled.trials import measure_claim

    settings, quantity = question.settings, question.quantity
    if isinstance(quantity, OfNetwork):
        return _of_network(quantity, question.law, settings)
    if question.law == AS_DECLARED:
        return _of_named(quantity, settings)
    return measure_claim(
        quantity.start,
        weights=question.law,
        values=settings.values,
        claimed=quantity.claimed,
        tolerance=max(settings.tolerance, float(quantity.slack)),
        error_rate=settings.error_rate,
        seed=settings.seed,
        budget=settings.budget,
    )


def _of_named(asked: Quantity, settings: Settings) -> Measurement:
    """By draws from the laws that are declared, where the tables of laws have none of them."""
    from varlaw.checks.claims.expectations.sampled_laws import measured
    from varlaw.checks.compiled.models import Unmeasurable
    from varlaw.symbolic.language import read

    try:
        return measured(
            asked.start,
            asked.claimed,
            asked.laws,
            {name: read(value) for name, value in (settings.values or {}).items()},
            settings.seed,
            settings.budget,
            max(settings.tolerance, float(asked.slack)),
            settings.error_rate,
        )
    except (Unmeasurable, TypeError, ValueError, ZeroDivisionError) as error:
        return _undecided(str(asked.start).replace("**", "^"), AS_DECLARED, str(error))


def _of_network(asked: OfNetwork, law: str, settings: Settings) -> Measurement:
    """E[y^2] over networks drawn anew, by an interval that is asymptotic."""
    from varlaw.checks.blocks import measure as simulate
    from varlaw.checks.claims.links.networks import claimed_value, known
    from varlaw.checks.statistics.verdicts import Interval, judge
    from varlaw.symbolic.language import read

    given = {name: read(value) for name, value in (settings.values or {}).items()}
    try:
        found = known(asked.network, asked.context, given)
        claimed = claimed_value(asked.claimed, given)
        mean = found.state.mean
        free = mean.is_Symbol and mean not in found.state.second_moment.free_symbols
        state = replace(found.state, mean=Integer(0)) if free else found.state
        one = simulate(found.block, state, seed=settings.seed, law=law)["forward"]
    except (NoValue, BlockError) as error:
        return _undecided(f"E[{asked.network.name}^2]", law, f"{error}: --set NAME=VALUE")
    apart = NormalDist().inv_cdf(1 - settings.error_rate / 2) * one.error
    low, high, count = one.estimate - apart, one.estimate + apart, one.replicates
    verdict = judge(Interval(low, high, "asymptotic", count), claimed, settings.tolerance)
    name = f"E[{asked.network.name}^2]"
    return Measurement(name, law, claimed, one.estimate, low, high, "asymptotic", count, verdict)


def _stopped(question: _Question, why: str) -> Measurement:
    asked = question.quantity
    if isinstance(asked, OfNetwork):
        return _undecided(f"E[{asked.network.name}^2]", question.law, why)
    return _undecided(str(asked.start).replace("**", "^"), question.law, why)


def _undecided(quantity: str, law: str, why: str) -> Measurement:
    none, nan = None, float("nan")
    return Measurement(
        quantity, law, nan, none, none, none, "asymptotic", 0, Verdict.UNDECIDED, why=why
    )
