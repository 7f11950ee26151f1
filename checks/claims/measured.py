"""Claims about expectations measured: sampled under laws that meet what is declared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from sympy import Expr

from varlaw.checks.executors import Work, results
from varlaw.checks.report import Measurement
from varlaw.checks.statistics import BUDGET, Verdict
from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.assumptions import Kind

if TYPE_CHECKING:
    from varlaw.symbolic.language import Text

LAWS = ("uniform", "skewed", "rademacher")  # in the order of preference
MOST_LAWS = 2
DIED = "the process that measured it died"


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

    `slack` is the relative error that the digits of the claim leave open.
    """

    start: Expr
    claimed: Expr
    slack: Fraction = Fraction(0)


@dataclass(frozen=True)
class _Question:
    quantity: Quantity
    law: str
    settings: Settings


def measure(
    quantities: Sequence[Quantity], settings: Settings
) -> list[tuple[Measurement, ...] | str]:
    """The measurements of each quantity, or why there are none.

    Each is sampled with up to two laws that meet the declarations. Raises ValueError for a given
    value that is none.
    """
    laws = [_laws(quantity, settings) for quantity in quantities]
    count = sum(len(found) for found in laws if not isinstance(found, str))
    share = replace(settings, error_rate=settings.error_rate / max(count, 1))
    questions = [
        (place, _Question(quantity, law, share))
        for place, (quantity, found) in enumerate(zip(quantities, laws, strict=True))
        for law in ([] if isinstance(found, str) else found)
    ]
    measured: dict[int, Measurement] = {}
    work = [Work(_measured, question, _died) for _, question in questions]
    if work:
        with results(work, settings.jobs) as done:
            measured.update(done)
    return [
        found
        if isinstance(found, str)
        else tuple(measured[k] for k, (at, _) in enumerate(questions) if at == place)
        for place, found in enumerate(laws)
    ]


def _laws(quantity: Quantity, settings: Settings) -> list[str] | str:
    """The laws to sample with, or why there are none."""
    from varlaw.checks.compiled.models import Unmeasurable
    from varlaw.checks.compiled.trials import prepare

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


def _died(question: _Question) -> Measurement:
    return Measurement(
        str(question.quantity.start).replace("**", "^"),
        question.law,
        float("nan"),
        None,
        None,
        None,
        "asymptotic",
        0,
        Verdict.UNDECIDED,
        why=DIED,
    )
