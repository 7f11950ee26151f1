"""Made-up reports of `varlaw verify`, and an engine that gives them."""

from dataclasses import replace
from types import ModuleType

from varlaw.checks.report import AssumptionReport, LawReport, Measurement, Proof, Report, StepReport
from varlaw.checks.statistics.verdicts import Verdict

GOOD, BAD, OPEN, LOOSE = Verdict.VERIFIED, Verdict.REFUTED, Verdict.UNDECIDED, Verdict.LOOSE

MEASURED = Measurement(
    "m Var[w]", "uniform", 2.0, 2.00031, 1.99816, 2.00309, "proved", 4096, GOOD,
    (("1/m", 1.0, BAD), ("2/n", 3.0, BAD)),
)  # fmt: skip

HE = LawReport(
    "he", "forward", "Var[w[i, j]] = 2/m", GOOD,
    (StepReport("expand", Proof.PROVED, "at 3 values of m"), StepReport("solve", Proof.PROVED, "")),
    (
        AssumptionReport("w: symmetric", True, "law", "w = 2 or -1: 3/4, not 1/2"),
        AssumptionReport("x: zero mean", False, "none"),
        AssumptionReport("w: identically distributed", None, "derivation"),
        AssumptionReport("m: wide limit", None, "not representable"),
    ),
    (("w: symmetric",),),
    (MEASURED, replace(MEASURED, weights="two-point")),
    1.5,
)  # fmt: skip

LONG = "x[l] = (1 + s2)^(-l/2)*x[0] + Sum[k = 0..l - 1]((1 + s2)^(k/2 - l/2)*F[k])"
DECAY = replace(HE, name="post-norm-decay", family="residual", statement=LONG)

WRONG = replace(
    HE, name="lecun", verdict=BAD,
    steps=(StepReport("count", Proof.REFUTED, "m - 1 is not m"),),
    measured=(MEASURED, replace(MEASURED, verdict=BAD, claimed=1.0)),
)  # fmt: skip

UNKNOWN = replace(
    HE, name="xavier", verdict=OPEN,
    measured=(replace(MEASURED, verdict=OPEN, estimate=None, low=None, high=None, why="budget"),),
)  # fmt: skip


class Engine(ModuleType):
    """In place of the real one: remembers how it was called, gives what it was told to."""

    def __init__(self, *laws: LawReport, stop: BaseException | None = None) -> None:
        super().__init__("varlaw.checks.verify")
        self.laws, self.stop = laws, stop

    def verify(self, names, *, error_rate, seed, on_law, progress, **options):
        self.called = {"names": names, "error_rate": error_rate, "seed": seed, **options}
        for law in self.laws if on_law else ():
            on_law(law)
        if self.stop:
            raise self.stop
        return Report(self.laws, error_rate, seed)
