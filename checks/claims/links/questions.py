"""Links without random variables: all that the verdict on one depends on, and the verdict."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from varlaw.checks.claims.declarations.between import ranges_of
from varlaw.checks.claims.declarations.context import Context
from varlaw.checks.claims.equations.compare import Finding, compared
from varlaw.checks.claims.equations.multiples import names_of
from varlaw.checks.claims.equations.symbolic import Asked, decided
from varlaw.checks.claims.links.customs import otherwise
from varlaw.checks.claims.values.functions import NoValue
from varlaw.checks.claims.values.numbers import Scope
from varlaw.checks.statistics.verdicts import Verdict
from varlaw.symbolic.formulas.names import bare
from varlaw.symbolic.formulas.tree import Head, Node

OTHER_BASES = (10, 2)  # of logarithms that are written without one


@dataclass(frozen=True)
class Question:
    """A link without random variables, and all that its verdict depends on.

    `insist`: it is no condition on its names; `sure`: it is claimed for all values of them that
    are declared.
    """

    left: Node
    sign: str
    right: Node
    log_base: int | None
    signs: tuple[tuple[str, bool], ...]
    insist: bool
    bounds: tuple[tuple[str, str, Fraction], ...] = ()
    sure: bool = False
    whole: frozenset[str] = frozenset()

    @property
    def natural(self) -> bool:
        """Whether a logarithm is written without its base, and none is set."""
        return self.log_base is None and any(
            node.head is Head.CALL and node.text == "log" and len(node.parts) == 1
            for side in (self.left, self.right)
            for node in side.walk()
        )

    def answer(self) -> Finding | None:
        scope = Scope(log_base=self.log_base)
        try:
            if not names_of(self.left, self.right):
                return compared(self.left, self.sign, self.right, scope)
            signs = dict(self.signs)
            ranges = ranges_of(self.bounds)
            asked = Asked(signs, ranges, self.insist, self.sure, self.whole)
            return decided(self.left, self.sign, self.right, scope, asked)
        except NoValue as error:
            return Finding(Verdict.UNDECIDED, reason=str(error))


def answered(left: Node, sign: str, right: Node, context: Context, insist: bool) -> Finding | None:
    """The verdict on a link without random variables; None where it may be a condition."""
    names = names_of(left, right)
    signs = tuple(pair for pair in context.signs if pair[0] in names)
    bounds = tuple(bound for bound in context.bounds if bound[0] in names)
    sure = context.stated and bool(names) and names <= {name for name, _ in signs}
    a, b = bare(left), bare(right)
    whole = context.whole & names
    asked = Question(a, sign, b, context.log_base, signs, insist, bounds, sure, whole)
    return _remembered(asked)


@lru_cache(maxsize=4096)
def _remembered(asked: Question) -> Finding | None:
    """The verdict; documents say many links twice."""
    found, names = asked.answer(), names_of(asked.left, asked.right)
    if found is not None and found.verdict is Verdict.REFUTED and not names:
        for told, left, right in otherwise(asked.left, asked.right):
            other = replace(asked, left=left, right=right).answer()
            if other is not None and other.verdict is Verdict.VERIFIED:
                return Finding(Verdict.UNDECIDED, found.value, told)
    if found is None or not asked.natural:
        return found
    if found.verdict is Verdict.REFUTED or found.one_sided:
        opposite, word = Verdict.VERIFIED, "right"
    elif found.verdict is Verdict.VERIFIED and asked.sign == "!=":
        opposite, word = Verdict.REFUTED, "wrong"
    else:
        return found
    for base in OTHER_BASES:
        other = replace(asked, log_base=base).answer()
        if other is not None and other.verdict is opposite:
            told = f"log is natural here; to base {base} it would be {word}"
            return Finding(Verdict.UNDECIDED, found.value, told)
    return found
