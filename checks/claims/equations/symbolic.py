"""Links over names without values: identities, inequalities, multiples of one another."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Any

from varlaw.checks.claims.declarations.between import Between
from varlaw.checks.claims.equations import identities
from varlaw.checks.claims.equations.boundaries import failing
from varlaw.checks.claims.equations.compare import Finding
from varlaw.checks.claims.equations.convexity import by_convexity
from varlaw.checks.claims.equations.indexed_sums import by_indices
from varlaw.checks.claims.equations.matrices import commuting, may_be_matrix
from varlaw.checks.claims.equations.multiples import names_of, of_a_decimal
from varlaw.checks.claims.equations.one_sided import told_by
from varlaw.checks.claims.equations.sums_by_induction import by_induction
from varlaw.checks.claims.values.algebra import Algebra, symbol
from varlaw.checks.claims.values.functions import NoValue
from varlaw.checks.claims.values.numbers import Scope
from varlaw.checks.statistics.verdicts import Verdict
from varlaw.symbolic.formulas.tree import Head, Node, plain

ATOMS = (Head.NAME, Head.NUMBER, Head.DIGITS, Head.PERCENT, Head.INFINITY)
COMPUTED = (Head.SUM, Head.PRODUCT, Head.INTEGRAL)  # nobody sets conditions with these
PIECES = ("relu", "max", "min", "sign")  # functions with pieces
ZERO = Node(Head.NUMBER, (), "0")
MOST_CASES = 2  # names with three cases each
LARGE = Fraction(20)  # so large may a whole number be meant, where nothing is said
WANTED = {">=": (0, 1), ">": (1,), "<=": (0, -1), "<": (-1,)}


@dataclass(frozen=True)
class Asked:
    """What is known of the names in a link, and how it is meant.

    `signs` says of names whether they are positive. A link that is part of a longer derivation, or
    that uses definitions, is no condition: `insist`; `sure` says that it is claimed for all values
    of its names, which are declared; `whole` are those that are 1, 2, 3, ....
    """

    signs: Mapping[str, bool]
    ranges: Mapping[str, Between] = field(default_factory=dict)
    insist: bool = False
    sure: bool = False
    whole: frozenset[str] = frozenset()


def decided(left: Node, sign: str, right: Node, scope: Scope, asked: Asked) -> Finding | None:
    """The verdict on a link over names; None where it may be meant as a condition on them."""
    names, signs, insist = names_of(left, right), asked.signs, asked.insist
    positive = {name: signs.get(name, identities.positive_by_custom(name)) for name in names}
    if sign in ("=", "~="):
        multiple = of_a_decimal(left, right, sign, positive, scope)
        if multiple is not None:
            return multiple
    if sign == "~=" or sign == "!=":
        return None
    if sign == "=" and (found := by_indices(left, right)) is not None:
        return found
    endless = any(_endless(node) for side in (left, right) for node in side.walk())
    near = names - set(asked.ranges) if endless and not asked.sure else ()
    seen = identities.sampled(left, right, positive, scope, asked.whole, near, asked.ranges)
    if not seen.clear and not insist and any(map(_without_ends, (left, right))):
        return None
    if not seen.clear:
        raise NoValue("the sides could not be computed at any of the points that were tried")
    wanted = WANTED.get(sign, (0,))
    if not seen.signs <= {0, *wanted}:
        return _failed(left, sign, right, scope, positive, seen, asked)
    point = None
    if sign != "=":
        point = failing(left, sign, right, positive, scope, asked.ranges, asked.whole)
    if point is not None:
        told = f"fails at {identities.shown(point)} ({identities.names_shown(positive)})"
        if asked.sure:
            return Finding(Verdict.REFUTED, "", told, "counter-example")
        return Finding(Verdict.UNDECIDED, "", told) if insist or _claims(left, right) else None
    why = _proof(left, sign, right, positive, scope, asked.ranges, asked.whole) or _by_cases(
        left, sign, right, positive, scope
    )
    if not why and not asked.sure and any(map(_improper, (left, right))):
        positive = {name: above or name in seen.above for name, above in positive.items()}
        why = _proof(left, sign, right, positive, scope, asked.ranges, asked.whole)
    about = identities.names_shown(positive)
    if endless:
        about += ", where the sums converge"
    elif seen.clear < identities.POINTS:
        about += ", where both sides are real"
    elif any(_divides(node, positive) for side in (left, right) for node in side.walk()):
        about += ", where nothing is divided by zero"
    matrices = sorted(name for name in names - set(signs) if may_be_matrix(name))
    if why and matrices and not commuting(left, sign, right, positive, scope):
        told = f"{why} for numbers, but {', '.join(matrices)} may be matrices: declare them real"
        return Finding(Verdict.UNDECIDED, "", told)
    if why and seen.branch is not None:
        told = f"{why}, {about}; not so at {identities.shown(seen.branch)}: say which are positive"
        return Finding(Verdict.UNDECIDED, "", told)
    ends = endless and not all(between.open for between in asked.ranges.values())
    if why and asked.sure and (ends or seen.clear < identities.POINTS):
        told = f"{why}, {about}; not for all that are declared: give bounds, such as x > 0"
        return Finding(Verdict.UNDECIDED, "", told)
    if why:
        return Finding(Verdict.VERIFIED, "", f"{why}, {about}", "normal form or certificate")
    if not insist and sign != "=" and not _claims(left, right):
        return None
    told = f"holds at {seen.clear} random points, {about}, but no proof was found"
    return Finding(Verdict.UNDECIDED, "", told)


def _proof(
    left: Node,
    sign: str,
    right: Node,
    positive: Mapping[str, bool],
    scope: Scope,
    ranges: Mapping[str, Between] | None = None,
    whole: frozenset[str] = frozenset(),
) -> str:
    made: dict[str, Any] = {
        name: symbol(name, above, name in whole) for name, above in positive.items()
    }
    algebra = Algebra(made, scope.log_base, gammas=True)
    if sign == "=" and by_induction(left, right, algebra):
        return "induction over the last term"
    from_one = dict.fromkeys(whole if sign in (">=", "<=") else (), Between(Fraction(1)))
    for name, between in {**from_one, **(ranges or {})}.items():
        if sign in (">=", "<=") or (between.open and name not in whole):
            made[name] = between.symbol(name, positive[name])
    algebra = Algebra(made, scope.log_base, gammas=True)
    try:
        a, b = algebra.expression(left), algebra.expression(right)
    except NoValue:
        return ""
    if sign in ("=", "<=", ">=") and identities.equal(a, b):
        return "exact normal form"
    if sign == "=":
        return ""
    larger, smaller = (a, b) if sign in (">", ">=") else (b, a)
    strict = sign in ("<", ">")
    why = identities.not_negative(larger - smaller, strict)
    if not why and not strict and not algebra.hidden:
        why = by_convexity(larger - smaller)
    if not why and larger.is_nonnegative and smaller.is_nonnegative:
        why = identities.not_negative(larger**2 - smaller**2, strict)
        return f"{why}, for the squares of the sides" if why else ""
    return why


def _by_cases(
    left: Node, sign: str, right: Node, positive: Mapping[str, bool], scope: Scope
) -> str:
    """A proof for every choice of signs of the names that are not positive, and for zero."""
    open_names = sorted(name for name, above in positive.items() if not above)
    nodes = [node for side in (left, right) for node in side.walk()]
    pieces = any(node.head is Head.ABSOLUTE or node.text in PIECES for node in nodes)
    bound = any(node.head in COMPUTED for node in nodes)
    if not pieces or bound or not 0 < len(open_names) <= MOST_CASES:
        return ""
    above = dict.fromkeys(positive, True)
    choices = []
    for name in open_names:
        plus = Node(Head.NAME, (), name)
        choices.append((plus, Node(Head.NEGATIVE, (plus,)), ZERO))
    for chosen in product(*choices):
        values = dict(zip(open_names, chosen, strict=True))
        a, b = (_signed(side, values) for side in (left, right))
        if not (_proof(a, sign, b, above, scope) or _in_orders(a, sign, b, scope)):
            return ""
    return "a proof for each choice of signs"


def _in_orders(left: Node, sign: str, right: Node, scope: Scope) -> bool:
    """Whether there is a proof for two positive names in either order, and for equal ones."""
    names = sorted(names_of(left, right))
    if len(names) != 2:
        return False
    one, other = (Node(Head.NAME, (), name) for name in names)
    more = Node(Head.NAME, (), "more than it")
    above = dict.fromkeys((*names, plain(more)), True)
    return all(
        _proof(_signed(left, order), sign, _signed(right, order), above, scope)
        for order in (
            {names[0]: Node(Head.ADD, (other, more))},
            {names[1]: Node(Head.ADD, (one, more))},
            {names[0]: other},
        )
    )


def _signed(side: Node, values: Mapping[str, Node]) -> Node:
    if side.head is Head.NAME:
        return values.get(plain(side), side)
    parts = tuple(_signed(part, values) for part in side.parts)
    if side.head is Head.CALL and side.text == "relu" and len(parts) == 1:
        return replace(side, text="max", parts=(*parts, ZERO))
    return replace(side, parts=parts)


def _failed(
    left: Node,
    sign: str,
    right: Node,
    scope: Scope,
    positive: Mapping[str, bool],
    seen: identities.Sampled,
    asked: Asked,
) -> Finding | None:
    """A link that fails at some point: refuted, unless it may be a condition."""
    if not (asked.sure or _claims(left, right)):
        return None
    wanted = WANTED.get(sign, (0,))
    bad = next(side for side in sorted(seen.points) if side not in (0, *wanted))
    at = identities.shown(seen.points[bad])
    above = dict.fromkeys(positive, True)
    fractions = {name for name in positive if identities.fraction_by_custom(name)}
    counts = {name for name in positive if identities.whole_by_custom(name)} - fractions
    for signs, whole, small, told in (
        (above, (), (), "for positive names: say which are positive"),
        (positive, counts, (), "for whole numbers"),
        (above, counts, (), "for positive and whole numbers"),
        (above, (), fractions, "for names between 0 and 1"),
    ):
        if asked.sure and not whole:
            continue
        all_whole = asked.whole.union(whole)
        inner = identities.sampled(left, right, signs, scope, all_whole, small, asked.ranges)
        if inner.clear and inner.signs <= {0, *wanted}:
            return Finding(Verdict.UNDECIDED, "", f"fails at {at}, but not {told}")
    if sign != "=" and not asked.sure and counts:
        large = {**asked.ranges, **dict.fromkeys(counts, Between(LARGE))}
        inner = identities.sampled(left, right, positive, scope, counts, (), large)
        if inner.clear and inner.signs <= set(wanted):
            told = f"fails at {at}, but not for large {', '.join(sorted(counts))}"
            return Finding(Verdict.UNDECIDED, "", told)
    a, b = names_of(left), names_of(right)
    one_sided = len(seen.signs - {0}) == 1 and 0 not in seen.signs
    computed = any(node.head in COMPUTED for side in (left, right) for node in side.walk())
    if (
        sign == "="
        and asked.insist
        and not asked.sure
        and told_by(left, right, a, b, positive, scope)
    ):
        told = f"{', '.join(sorted(a ^ b))} on one side only may have a value that makes it true"
        return Finding(Verdict.UNDECIDED, "", f"fails at {at}, but {told}", one_sided=True)
    insist = asked.insist or asked.sure
    if sign == "=" and not (insist or (a == b and (one_sided or seen.constant or computed))):
        return None
    value = f"fails at {at}"
    return Finding(
        Verdict.REFUTED, "", f"{value} ({identities.names_shown(positive)})", "counter-example"
    )


def _divides(node: Node, positive: Mapping[str, bool]) -> bool:
    """Whether a formula is divided by something over names that is not known to differ from 0."""
    if node.head is not Head.DIVIDE or not names_of(node.parts[1]):
        return False
    names = {*positive, *names_of(node.parts[1])}
    made = {name: symbol(name, bool(positive.get(name))) for name in names}
    try:
        return not Algebra(made).expression(node.parts[1]).is_nonzero
    except NoValue:
        return True


def _endless(node: Node) -> bool:
    return node.head is Head.SUM and len(node.parts) == 4 and node.parts[3].head is Head.INFINITY


def _improper(side: Node) -> bool:
    return any(
        node.head is Head.INTEGRAL and any(part.head is Head.INFINITY for part in node.walk())
        for node in side.walk()
    )


def _without_ends(side: Node) -> bool:
    """Whether a sum, product or integral stands in it that does not say over what."""
    return any(node.head in COMPUTED and len(node.parts) < 4 for node in side.walk())


def _claims(left: Node, right: Node) -> bool:
    """Whether a relation says something of its sides: both compound, with a name in common."""
    return compound(left, right) and bool(names_of(left) & names_of(right))


def compound(*sides: Node) -> bool:
    """Whether no side is a bare name or number."""
    return all(side.head not in ATOMS for side in sides)
