"""The verdict on each link of a chain; links that are no claims get none."""

from dataclasses import replace
from itertools import islice

from varlaw.checks.claims.declarations.context import EMPTY, Context
from varlaw.checks.claims.declarations.definitions import DEFINES, Definitions
from varlaw.checks.claims.equations.compare import Finding
from varlaw.checks.claims.equations.multiples import names_of
from varlaw.checks.claims.equations.symbolic import compound
from varlaw.checks.claims.expectations.largest import bounded, equivalent, is_largest
from varlaw.checks.claims.links.asymptotics import approaches, limit_node, tends
from varlaw.checks.claims.links.extremes import extremal
from varlaw.checks.claims.links.implications import implied
from varlaw.checks.claims.links.intervals import is_interval, together
from varlaw.checks.claims.links.questions import answered
from varlaw.checks.claims.links.scales import other_unit
from varlaw.checks.claims.links.separators import otherwise_right
from varlaw.checks.claims.links.units import in_one_unit, may_go_by_1024, units_in
from varlaw.checks.claims.links.verdict import Judgement
from varlaw.checks.claims.values.functions import NoValue
from varlaw.checks.claims.values.literals import literal_of
from varlaw.checks.claims.values.numbers import Scope
from varlaw.checks.statistics.verdicts import Verdict
from varlaw.symbolic.formulas.names import free_names, inserted, outside, substituted
from varlaw.symbolic.formulas.tree import Chain, Head, Node, plain
from varlaw.symbolic.formulas.vocabulary import ELEMENTARY

CLAIMS = ("=", "~=", "!=", "<", ">", "<=", ">=")
NO_CLAIM = {
    ":=": "a definition",
    "~": "a distribution or an asymptotic relation",
    "->": "an arrow",
    "prop": "a proportion, whose factor is not given",
    "in": "a membership",
    "<<": "a relation without a sharp meaning",
    ">>": "a relation without a sharp meaning",
}
ARROWS = ("->", "~")
IMPLIES = ("=>", "<=>")
SHAPES = (Head.WORD, Head.TUPLE, Head.NORM, Head.TRANSPOSE, Head.GIVEN, Head.RELATION, Head.LIMIT)
CLOSED = (Head.EXPECTATION, Head.NAME, Head.CASES, Head.INDICATOR)
ORDERED = ("<", ">", "<=", ">=")
MOST_WAYS = 16


def judge_chain(
    chain: Chain, context: Context = EMPTY, definitions: Definitions | None = None
) -> list[Judgement]:
    """The judgement on each link, in order."""
    known = Definitions() if definitions is None else definitions
    return [judge_link(chain, place, context, known) for place in range(len(chain.links))]


def judge_link(chain: Chain, place: int, context: Context, known: Definitions) -> Judgement:
    """The judgement on one link of a chain, counted from 0; none on what claims nothing."""
    found = _judged(chain, place, context, known)
    if found.verdict is None and context.stated:
        told = f"it is said to be a claim, and looks like {found.reason}"
        return replace(found, verdict=Verdict.UNDECIDED, reason=told)
    return found


def _judged(chain: Chain, place: int, context: Context, known: Definitions) -> Judgement:
    left, sign, right = chain.links[place]
    why = _no_claim(chain, place, context, known)
    if why:
        return Judgement(left, sign, right, None, reason=why)
    try:
        found = _found(chain, place, context, known)
    except NoValue as error:
        found = Finding(Verdict.UNDECIDED, reason=str(error))
    except RecursionError:
        found = Finding(Verdict.UNDECIDED, reason="nested too deep")
    if found is None:
        return Judgement(left, sign, right, None, reason="a condition on its names")
    if found.verdict is Verdict.REFUTED and (told := otherwise_right(left, sign, right, context)):
        found = Finding(Verdict.UNDECIDED, found.value, told)
    if found.verdict is not Verdict.VERIFIED and _named(chain, place, context):
        return Judgement(left, sign, right, None, reason="another value of a name")
    return Judgement(left, sign, right, found.verdict, found.value, found.reason, found.rule)


def _no_claim(chain: Chain, place: int, context: Context, known: Definitions) -> str:
    """Why a link is no claim; empty if it is one."""
    left, sign, right = chain.links[place]
    if sign in ARROWS and context.towards:
        return ""
    if sign in NO_CLAIM:
        return NO_CLAIM[sign]
    if limit_node(left, sign, right):
        return ""
    if sign in IMPLIES:
        return ""
    called = {n.text for side in (left, right) for n in side.walk() if n.head is Head.CALL}
    if (free_names(left) | free_names(right) | called) & known.redefined:
        return "a letter that usually is a constant or a function and is none here"
    if any(near in IMPLIES for near in chain.between[max(place - 1, 0) : place + 2]):
        return "a part of an implication"
    if is_interval(left, sign, right):
        left, right = (Node(Head.ADD, side.parts) for side in (left, right))
    inside = [node for side in (left, right) for node in outside(side, CLOSED)]
    if any(node.head in SHAPES and node.parts for node in inside):
        return "a shape, an interval or prose"
    if Head.WORD in (left.head, right.head):
        return "prose"
    if sign in ("=", "~=", "eqq") and _defines(chain, place, context, known):
        return "a definition or an assumption"
    return ""


def _named(chain: Chain, place: int, context: Context) -> bool:
    """Whether the left side is a name that no context and no earlier side gives a value."""
    name = chain.sides[place]
    if (
        name.head is not Head.NAME
        or plain(name) == "pi"
        or chain.between[place] not in ("=", "~=", "eqq")
    ):
        return False
    stands = place > 0 and chain.between[place - 1] in DEFINES
    return not stands and not context.settles(plain(name))


def _defines(chain: Chain, place: int, context: Context, known: Definitions) -> bool:
    """Whether a link says what a name is, and nothing that could be wrong."""
    left, _, right = chain.links[place]
    if left.head is Head.CALL and left.text not in ELEMENTARY:
        if context.stated and names_of(left, right) <= {name for name, _ in context.signs}:
            return False  # relu(x) = x where x real
        return all(part.head is Head.NAME for part in left.parts) and len(names_of(left)) > 0
    if place == 0 and _is_segment(left) and right.head is Head.ROOT:
        return True
    if left.head is not Head.NAME or context.settles(plain(left)):
        return False
    if (
        place
        and chain.between[place - 1] in DEFINES
        and chain.sides[place - 1].head is not Head.NAME
    ):
        return False  # x = name = y: the name stands for x
    if plain(left) in ("pi", "e") and literal_of(right) is not None:
        return False
    if literal_of(right) is None:
        return True
    return not any(
        literal_of(value) is None and known.knows_all(names_of(value))
        for value in known.of(plain(left))
    )


def _is_segment(side: Node) -> bool:
    """Whether capitals side by side name the distance of two points: AB = sqrt(OA^2 + OB^2)."""
    capitals = side.head is Head.MULTIPLY and len(side.parts) == 2
    if not capitals or any(p.head is not Head.NAME or p.parts for p in side.parts):
        return False
    one, other = side.parts
    return (
        one.end == other.start
        and len(one.text) == len(other.text) == 1
        and (one.text.isupper() and other.text.isupper())
    )


def _found(chain: Chain, place: int, context: Context, known: Definitions) -> Finding | None:
    left, sign, right = chain.links[place]
    if sign in IMPLIES:
        return implied(chain, place, context)
    if context.networks:
        from varlaw.checks.claims.links.networks import decided as decided_by_blocks
        from varlaw.checks.claims.links.networks import network_in

        if (network := network_in(context, left, right)) is not None:
            return decided_by_blocks(left, sign, right, network, context)
    if is_interval(left, sign, right):
        pairs = [Chain((a, b), (sign,)) for a, b in zip(left.parts, right.parts, strict=True)]
        return together([_found(pair, 0, context, known) for pair in pairs])
    if sign in ARROWS:
        left = equivalent(left, context) if sign == "~" else left
        return tends(left, sign, right, context.towards, context)
    if limit_node(left, sign, right):
        return approaches(left, right, context)
    if left.head is Head.NAME and place and chain.between[place - 1] == "=":
        left = chain.sides[place - 1]
    sign = "=" if sign == "eqq" else sign
    if left.head is Head.NAME and (extreme := context.extreme(plain(left))) is not None:
        return extremal(plain(left), extreme, sign, right, context)
    scope = Scope(log_base=context.log_base)
    derived = len(chain.links) > 1 or context.stated
    left, right = (substituted_by(context, side) for side in (left, right))
    if any(n.head is Head.EXPECTATION for side in (left, right) for n in side.walk()):
        from varlaw.checks.claims.expectations import matrix_moments
        from varlaw.checks.claims.expectations.probability import expected

        if is_largest(left) or is_largest(right):
            return bounded(left, sign, right, context)
        if matrix_moments.has_matrices(context, left, right):
            return matrix_moments.decided(left, sign, right, context)
        return expected(left, sign, right, context, scope)
    if (units := units_in(left, right)) and not known.knows(units):
        return _of_quantities(left, sign, right, context, units)
    first = answered(left, sign, right, context, derived)
    if first is None and sign in ORDERED and _estimates(chain, place):
        left, right = (Node(Head.TUPLE, (side,), "()") for side in (left, right))
        first = answered(left, sign, right, context, derived)
        if first is not None and first.verdict is Verdict.REFUTED:
            told = f"{first.reason}; it may be meant for some of these only"
            first = Finding(Verdict.UNDECIDED, first.value, told)
    if first is not None and first.verdict in (Verdict.VERIFIED, Verdict.LOOSE):
        return first
    ordered = sign not in ("=", "~=") and not compound(left, right)
    if ordered or not known.knows(names_of(left, right)):
        return first
    if left.head is Head.NAME:  # two statements of one decimal do not confirm each other
        known = known.formulas(plain(left))
    return _with_definitions(left, sign, right, context, known, first) or first


def _of_quantities(
    left: Node, sign: str, right: Node, context: Context, units: tuple[str, str]
) -> Finding | None:
    """The verdict on a link between numbers with units; not false if right by 1024 for 1000."""
    found = answered(*_between(in_one_unit(left, right), sign), context, True)
    if found is None or found.verdict is not Verdict.REFUTED or not may_go_by_1024(*units):
        return found
    other = answered(*_between(in_one_unit(left, right, by_1024=True), sign), context, True)
    if other is None or other.verdict not in (Verdict.VERIFIED, Verdict.LOOSE):
        return found
    told = f"right if {units[0]} and {units[1]} go by 1024: write KiB, MiB, .., or declare it"
    return Finding(Verdict.UNDECIDED, found.value, told)


def _between(sides: tuple[Node, Node], sign: str) -> tuple[Node, str, Node]:
    return sides[0], sign, sides[1]


def _estimates(chain: Chain, place: int) -> bool:
    """Whether a name stands among estimates of formulas with it, as in f(m) >= m >= g(m).

    There it is no condition on the name, as it may be in `0 < m <= n`.
    """
    left, _, right = chain.links[place]
    if (left.head is Head.NAME) == (right.head is Head.NAME):
        return False
    name = plain(left if left.head is Head.NAME else right)
    others = [side for side in chain.sides if plain(side) != name]
    return len(others) > 1 and all(compound(o) and name in names_of(o) for o in others)


def substituted_by(context: Context, side: Node) -> Node:
    try:
        return substituted(side, dict(context.values))
    except ValueError as error:
        raise NoValue(str(error)) from None


def _with_definitions(
    left: Node,
    sign: str,
    right: Node,
    context: Context,
    known: Definitions,
    first: Finding | None,
) -> Finding | None:
    """The verdict with names replaced by their definitions; `first` is the one without.

    True with the nearest definitions is true. False is what is so with all, where there is no doubt
    that they are meant, or where it is so over the same names on both sides with those that are.
    """
    refuted: list[Finding] = []
    sure = [first] if first is not None and first.verdict is Verdict.REFUTED else []
    doubt = unsure = one_sided = ""
    for values in islice(known.environments(names_of(left, right)), MOST_WAYS):
        try:
            a, b = substituted(left, values), substituted(right, values)
        except ValueError:
            continue
        found = answered(a, sign, b, context, True)
        if found is None:
            continue
        told = f"with {', '.join(sorted(values))} as defined in the document"
        found = replace(found, reason=f"{found.reason}, {told}" if found.reason else told)
        if found.verdict in (Verdict.VERIFIED, Verdict.LOOSE):
            if all(_current(known, name, value, context) for name, value in values.items()):
                return found
            doubt = f"true {told}, but not where it was last defined"
        elif found.verdict is Verdict.UNDECIDED:
            if found.one_sided:
                one_sided = found.reason  # no doubt where other definitions refute the link
            else:
                doubt = doubt or found.reason
        elif inserted(left, right) or inserted(right, left):
            unsure = f"{found.reason}, but numbers are put in here for names that have others there"
        elif any(_over_another(n) for side in (left, right) for n in side.walk()):
            unsure = f"{found.reason}, where what is integrated does not hold the variable"
        elif other_unit(a, sign, b, context):
            unsure = f"{found.reason}, by a power of 1000, as for other units"
        elif all(map(known.meant, values)):
            refuted.append(found)
            sure += [found] if names_of(a) == names_of(b) else []
        else:
            unsure = f"{found.reason}, which may not be meant here"
    if refuted and not doubt and not unsure:
        return refuted[0]
    if sure and not doubt:
        return sure[0]
    told = doubt or unsure or one_sided
    return Finding(Verdict.UNDECIDED, reason=told) if told else None


def _over_another(node: Node) -> bool:
    r"""Whether what is integrated holds names, but not the variable: \int x \, d\alpha."""
    if node.head is not Head.INTEGRAL:
        return False
    body, variable, *_ = node.parts
    return bool(names_of(body)) and plain(variable) not in free_names(body)


def _current(known: Definitions, name: str, value: Node, context: Context) -> bool:
    """Whether a value is the current one of a name, or either is a decimal of the other.

    A number does not take the place of a formula over names: it is its value, as in E = 18.
    """
    nearest = known.current(name)
    if nearest is not None and literal_of(nearest) is not None and names_of(value):
        nearest = known.formulas(name).current(name)
    if nearest is None or value == nearest:
        return nearest is not None
    return any(
        literal_of(decimal) is not None
        and (found := answered(other, "~=", decimal, context, True)) is not None
        and found.verdict is Verdict.VERIFIED
        for other, decimal in ((value, nearest), (nearest, value))
    )
