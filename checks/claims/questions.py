"""Links without random variables: all that the verdict on one depends on, and the verdict."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from varlaw.checks.claims.between import ranges_of
from varlaw.checks.claims.compare import Finding, compared
from varlaw.checks.claims.context import Context
from varlaw.checks.claims.definitions import bare
from varlaw.checks.claims.functions import NoValue
from varlaw.checks.claims.numbers import Scope
from varlaw.checks.claims.symbolic import Asked, decided, names_of
from varlaw.checks.statistics import Verdict
from varlaw.symbolic.formulas.tree import Head, Node

TURNS = ("sin", "cos", "tan", "cot")
ARCS = ("arcsin", "arccos", "arctan")
PI, HALF_TURN = Node(Head.NAME, (), "pi"), Node(Head.NUMBER, (), "180")
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

    @property
    def angles(self) -> bool:
        """Whether there are angles, and no names."""
        sides = (self.left, self.right)
        called = {node.text for side in sides for node in side.walk() if node.head is Head.CALL}
        return bool(called & {*TURNS, *ARCS}) and not names_of(*sides)

    def answer(self) -> Finding | None:
        scope = Scope(log_base=self.log_base)
        try:
            if not names_of(self.left, self.right):
                return compared(self.left, self.sign, self.right, scope)
            signs = dict(self.signs)
            asked = Asked(signs, ranges_of(self.bounds), self.insist, self.sure, self.whole)
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
    found = asked.answer()
    if found is not None and found.verdict is Verdict.REFUTED and asked.angles:
        other = replace(asked, left=_degrees(asked.left), right=_degrees(asked.right)).answer()
        if other is not None and other.verdict is Verdict.VERIFIED:
            told = "angles are in radians here; in degrees it would be right"
            return Finding(Verdict.UNDECIDED, found.value, told)
    if found is None or not asked.natural:
        return found
    if found.verdict is Verdict.REFUTED:
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


def _degrees(node: Node) -> Node:
    """The same with angles in degrees."""
    parts = tuple(map(_degrees, node.parts))
    if node.head is Head.CALL and node.text in TURNS:
        turned = Node(Head.MULTIPLY, (parts[0], PI))
        return replace(node, parts=(Node(Head.DIVIDE, (turned, HALF_TURN)),))
    if node.head is Head.CALL and node.text in ARCS:
        angle = replace(node, parts=parts)
        return Node(Head.DIVIDE, (Node(Head.MULTIPLY, (angle, HALF_TURN)), PI))
    return replace(node, parts=parts)
