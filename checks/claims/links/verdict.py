"""The verdict on one link of a chain of relations."""

from dataclasses import dataclass

from varlaw.checks.statistics.verdicts import Verdict
from varlaw.symbolic.formulas.tree import Node


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is found on left, sign, right.

    `value` is what the tool finds for the side that was to be known, as plain text in the project's
    grammar or proved digits; `reason` one line: why so, or what is missing. A link that is no claim
    (a definition, an assumption, a shape, prose) has no verdict.
    """

    left: Node
    sign: str
    right: Node
    verdict: Verdict | None
    value: str = ""
    reason: str = ""
    rule: str = ""  # how it was decided: "enclosure", "normal form", "law he", ...
