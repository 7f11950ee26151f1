r"""Links between intervals by their ends: 80 \pm 3.4 = (76.6, 83.4)."""

from varlaw.checks.claims.equations.compare import Finding
from varlaw.checks.statistics.verdicts import Verdict
from varlaw.symbolic.formulas.tree import Head, Node

SIGNS = ("=", "~=")
BRACKETS = ("()", "[]")
WORST = (Verdict.REFUTED, Verdict.UNDECIDED, Verdict.LOOSE, Verdict.VERIFIED)
ENDS = ("lower end", "upper end")


def is_interval(left: Node, sign: str, right: Node) -> bool:
    """Whether a link says which ends an interval has, one side being a +- b."""
    return (
        sign in SIGNS
        and "+-" in (left.text, right.text)
        and all(
            side.head is Head.TUPLE
            and len(side.parts) == len(ENDS)
            and side.text in (*BRACKETS, "+-")
            for side in (left, right)
        )
    )


def together(found: list[Finding | None]) -> Finding | None:
    """The verdict on both ends: the worse of them; None where one may be a condition."""
    judged = [one for one in found if one is not None]
    if len(judged) < len(found):
        return None
    worst = min(judged, key=lambda one: WORST.index(one.verdict))
    where = ENDS[judged.index(worst)]
    if worst.verdict is not Verdict.VERIFIED:
        return Finding(worst.verdict, worst.value, f"{where}: {worst.reason}", worst.rule)
    value = ", ".join(one.value for one in judged if one.value)
    reasons = sorted({one.reason for one in judged if one.reason})
    return Finding(worst.verdict, value, "; ".join(reasons), worst.rule)
