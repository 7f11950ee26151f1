"""What verification found, as records; how they are shown is the business of the front door."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Literal

from varlaw.checks.statistics.verdicts import Verdict

SCHEMA = "varlaw.verify"
VERSION = 1

SamplerName = Literal["direct", "conditional"]


class Proof(StrEnum):
    """The outcome of a step's checker; a refuted step makes its law refuted."""

    PROVED = "proved"
    CHECKED = "checked"
    UNCHECKED = "unchecked"
    REFUTED = "refuted"


@dataclass(frozen=True)
class StepReport:
    """One step of a derivation and what its checker says of it."""

    rule: str
    outcome: Proof
    why: str


@dataclass(frozen=True)
class AssumptionReport:
    """The audit's answer for one assumption.

    `scope` is "law" (needed: the counter-example breaks the statement), "derivation" (only this
    derivation needs it), "none" (not needed) or "not representable" (no finite model can tell).
    `needed` is True, None, False and None in these cases.
    """

    name: str
    needed: bool | None
    scope: Literal["law", "derivation", "none", "not representable"]
    counterexample: str | None = None


@dataclass(frozen=True)
class FittedOrder:
    """The error of a limit law, v(n) - limit = coefficient n^(-order), as fitted.

    `values` are v(n) at the `sizes` n, each the estimate and its interval's ends; `low` and `high`
    are those of the coefficient, `verdict` that on the order.
    """

    order: float
    sizes: tuple[int, ...]
    values: tuple[tuple[float, float, float], ...]
    low: float
    high: float
    verdict: Verdict


@dataclass(frozen=True)
class Measurement:
    """One quantity, measured with one law of the weights, against the value that the law claims.

    `neighbours` are wrong laws, each with the verdict that the same interval gives: refuted, or
    the experiment cannot tell right from wrong. `sampler` is "direct" where everything random was
    drawn, "conditional" where pre-activations were drawn given the batch. `backend` is the array
    library with its device and type of numbers, `streams` where the random numbers came from. `fit`
    is there for limit laws.
    """

    quantity: str
    weights: str
    claimed: float
    estimate: float | None
    low: float | None
    high: float | None
    interval: Literal["proved", "asymptotic"]
    replicates: int
    verdict: Verdict
    neighbours: tuple[tuple[str, float, Verdict], ...] = ()
    why: str = ""
    sampler: SamplerName = "direct"
    backend: str = "numpy, float64"
    streams: str = "NumPy, SFC64"
    fit: FittedOrder | None = None

    @property
    def asymptotic(self) -> bool:
        """Whether its verdict rests on an asymptotic interval, which no error rate covers."""
        return self.interval == "asymptotic" and self.verdict is not Verdict.UNDECIDED


@dataclass(frozen=True)
class LawReport:
    """All the evidence on one law."""

    name: str
    family: str
    statement: str
    verdict: Verdict
    steps: tuple[StepReport, ...]
    assumptions: tuple[AssumptionReport, ...] = ()
    sufficient: tuple[tuple[str, ...], ...] = ()
    measured: tuple[Measurement, ...] = ()
    seconds: float = 0.0
    problems: tuple[str, ...] = field(default=())
    measurable: bool = False  # whether measurements belong to its evidence in this run
    not_compiled: str = ""  # why a backend was asked for and had nothing to measure

    @property
    def unmeasured(self) -> bool:
        """Whether measurements are missing: the law has random variables and no experiment."""
        return self.measurable and not self.measured

    def count(self, outcome: Proof) -> int:
        """How many steps ended so."""
        return sum(step.outcome is outcome for step in self.steps)


@dataclass(frozen=True)
class Report:
    """The evidence on several laws from one run."""

    laws: tuple[LawReport, ...]
    error_rate: float
    seed: int

    @property
    def verdict(self) -> Verdict:
        """The worst of the laws' verdicts."""
        return worst(law.verdict for law in self.laws)

    def to_json(self) -> dict[str, Any]:
        """The contract of `varlaw verify --json`."""
        return {
            "schema": SCHEMA,
            "version": VERSION,
            "laws": [_law_json(law) for law in self.laws],
            "error_rate": self.error_rate,
            "seed": self.seed,
        }


def _law_json(law: LawReport) -> dict[str, Any]:
    counts: dict[str, int] = {"total": len(law.steps)}
    counts |= {str(outcome): law.count(outcome) for outcome in Proof}
    return {
        "name": law.name,
        "family": law.family,
        "statement": law.statement,
        "verdict": str(law.verdict),
        "steps": counts,
        "assumptions": [asdict(a) for a in law.assumptions],
        "sufficient": [list(group) for group in law.sufficient],
        "measured": [_measured_json(m) for m in law.measured],
        "problems": list(law.problems),
        "not_compiled": law.not_compiled or None,
        "seconds": law.seconds,
    }


def _measured_json(measured: Measurement) -> dict[str, Any]:
    found = asdict(measured) | {"verdict": str(measured.verdict)}
    del found["fit"]
    found["neighbours"] = [
        {"name": name, "claimed": value, "verdict": str(verdict)}
        for name, value, verdict in measured.neighbours
    ]
    return found


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """refuted before undecided before loose before verified."""
    found = set(verdicts)
    for verdict in (Verdict.REFUTED, Verdict.UNDECIDED, Verdict.LOOSE):
        if verdict in found:
            return verdict
    return Verdict.VERIFIED
