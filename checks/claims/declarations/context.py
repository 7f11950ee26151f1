"""What is declared about a document's names: values, signs, random variables and arrays.

A line holds one declaration: `z ~ N(0, 1)`, `x[i] ~ iid(mean = 0, var = s2) for i = 1..n`,
`n = 768`, `sigma > 0`, `y[j] = sum_i x[i] w[i,j]`, `mu real`, `t minimises (m t - 1)^2`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from varlaw.checks.claims.declarations.definitions import NEVER
from varlaw.checks.claims.declarations.distributions import NAMES
from varlaw.checks.claims.values.exact import rational
from varlaw.symbolic.formulas.names import bare, free_names, outside
from varlaw.symbolic.formulas.tree import Chain, Head, Node, plain

EXTREME = re.compile(r"([A-Za-z]\w*)\s+(minimi[sz]es|maximi[sz]es)\s+(.+)")
REAL = re.compile(r"([A-Za-z][\w, ]*?)\s+(?:is |are )?(real|positive|natural)")
LAST_REAL = re.compile(rf"(.+[^\w, ].*?),\s*({REAL.pattern})")  # x ~ N(mu, 1), mu real
FIRST_REAL = re.compile(rf"({REAL.pattern}),\s*(.+)")
SPLIT = re.compile(r"[;\n]")
NETWORK = re.compile(  # a bracket before that of its input, and what only blocks have in it
    r"([A-Za-z]\w*)\s*=\s*(?=.*(?:>>|[(,]\s*\w+\s*=|norm\())(.*\))\s*\(\s*([A-Za-z]\w*)\s*\)",
    re.DOTALL,
)
RANGE = re.compile(r"\s+for\s+|\s+with\s+|\s+where\s+")
Ranges = tuple[tuple[str, tuple[Node, Node]], ...]  # of indices: first and last value


@dataclass(frozen=True)
class Variable:
    """A random variable, or an array with indices, and its law as a call: N(0, 1).

    `ranges` are the first and last value of indices as they are declared with the array.
    """

    name: str
    indices: tuple[str, ...]
    law: Node
    ranges: Ranges = ()


@dataclass(frozen=True)
class Family:
    """A name with indices that stands for a formula: y[j] = sum_i x[i] w[i,j]."""

    name: str
    indices: tuple[str, ...]
    value: Node


@dataclass(frozen=True)
class Network:
    """What comes out of blocks: y = (linear(d, n, var=2/d) >> relu)(x); `blocks` as written."""

    name: str
    blocks: str
    input: str


@dataclass(frozen=True)
class Context:
    """Declarations, as plain data that can be sent to another process.

    `signs` says of names whether they are positive, False being any real number; `bounds` between
    which numbers they are (name, sign, number); `ranges` are the
    first and last value of indices; `extremes` are names with what they make least (1) or greatest
    (-1); `towards` is the name that goes to infinity in limits; `problems` the lines that were not
    understood, and why; `stated` says that what stands here is meant as a claim.
    """

    values: tuple[tuple[str, Node], ...] = ()
    signs: tuple[tuple[str, bool], ...] = ()
    variables: tuple[Variable, ...] = ()
    families: tuple[Family, ...] = ()
    ranges: Ranges = ()
    extremes: tuple[tuple[str, int, Node], ...] = ()
    log_base: int | None = None
    towards: str = ""
    problems: tuple[tuple[str, str], ...] = ()
    stated: bool = False
    networks: tuple[Network, ...] = ()
    bounds: tuple[tuple[str, str, Fraction], ...] = ()
    whole: frozenset[str] = frozenset()  # names of 1, 2, 3, ...
    moments: tuple[tuple[str, int, Node], ...] = ()  # of inputs of networks: E[x^2] is (x, 2, ...)

    def value(self, name: str) -> Node | None:
        return dict(self.values).get(name)

    def extreme(self, name: str) -> tuple[int, Node] | None:
        """Which extreme of what formula a name is the place of."""
        return {known: (sign, formula) for known, sign, formula in self.extremes}.get(name)

    def settles(self, name: str) -> bool:
        """Whether it is declared what a name is."""
        return self.value(name) is not None or self.extreme(name) is not None

    def variable(self, name: str) -> Variable | None:
        """The random variable or array with that name; the last one declared."""
        found = [variable for variable in self.variables if variable.name == name]
        return found[-1] if found else None

    def family(self, name: str) -> Family | None:
        found = [family for family in self.families if family.name == name]
        return found[-1] if found else None

    @property
    def numbers(self) -> set[str]:
        """The names that are said to stand for numbers, in ranges and parameters of laws too."""
        found = {name for name, _ in (*self.values, *self.signs)}
        found |= {n for _, pair in self.ranges for end in pair for n in free_names(end)}
        return found | {n for v in self.variables for part in v.law.parts for n in free_names(part)}

    @property
    def spreads(self) -> set[str]:
        """The names in variances, deviations, second moments and in U(-a, a): positive ones."""
        found: set[str] = set()
        for variable in self.variables:
            for place, part in enumerate(variable.law.parts):
                if part.head is Head.RELATION:
                    if plain(part.parts[0]) not in ("mean", "mu", "low", "high"):
                        found |= free_names(part.parts[1])
                elif place == 1 and (
                    not variable.law.text.lower().startswith("u")
                    or bare(variable.law.parts[0]) == Node(Head.NEGATIVE, (bare(part),))
                ):
                    found |= free_names(part)
        return found

    @property
    def random(self) -> bool:
        """Whether anything random is declared."""
        return bool(self.variables)

    def without(self, *names: str) -> "Context":
        """The context without what it says that these names stand for: numbers or random."""
        return replace(
            self,
            values=tuple(pair for pair in self.values if pair[0] not in names),
            variables=tuple(v for v in self.variables if v.name not in names),
            families=tuple(family for family in self.families if family.name not in names),
            networks=tuple(network for network in self.networks if network.name not in names),
        )

    def joined(self, other: "Context") -> "Context":
        """Both declarations; where they clash the other's hold."""
        named = [name for name, _ in other.values]
        named += [variable.name for variable in other.variables]
        named += [family.name for family in other.families]
        named += [network.name for network in other.networks]
        kept = self.without(*named)
        return Context(
            kept.values + other.values,
            self.signs + other.signs,
            kept.variables + other.variables,
            kept.families + other.families,
            self.ranges + other.ranges,
            self.extremes + other.extremes,
            self.log_base if other.log_base is None else other.log_base,
            other.towards or self.towards,
            self.problems + other.problems,
            networks=kept.networks + other.networks,
            bounds=self.bounds + other.bounds,
            whole=self.whole | other.whole,
            moments=self.moments + other.moments,
        )


EMPTY = Context()


def read_context(
    lines: Iterable[str], log_base: int | None = None, before: Context | None = None
) -> Context:
    """The context that lines declare; `;` sets declarations apart, `#` begins a comment.

    What was declared `before` is a part of it; its problems are not.
    """
    from varlaw.symbolic.formulas.limits import NotRead

    context = Context(log_base=log_base) if before is None else replace(before, problems=())
    for line in lines:
        for text in map(str.strip, SPLIT.split(line.partition("#")[0])):
            try:
                context = _with(context, text) if text else context
            except (NotRead, ValueError) as error:
                problem = (text, str(error))
                context = replace(context, problems=(*context.problems, problem))
    return context


def _with(context: Context, text: str) -> Context:
    """The context with a declaration. Raises NotRead or ValueError."""
    from varlaw.symbolic.formulas.reader import read_plain

    parts = split_at_commas(text)
    if any(map(NETWORK.fullmatch, parts)):
        for part in parts:
            context = _with_network(context, part)
        return context
    if found := FIRST_REAL.fullmatch(text):
        return _with(_with(context, found[1]), found[4])
    if found := LAST_REAL.fullmatch(text):
        return _with(_with(context, found[1]), found[2])
    text = text.replace("()", "")  # Rademacher()
    if found := REAL.fullmatch(text):
        names = found[1].replace(",", " ").split()
        signs = tuple((name, found[2] != "real") for name in names)
        whole = context.whole.union(names if found[2] == "natural" else ())
        return replace(context, signs=context.signs + signs, whole=whole)
    if found := EXTREME.fullmatch(text):
        formulas = read_plain(found[3], variables=(found[1],)).expressions
        if len(formulas) != 1:
            raise ValueError(f"{found[1]} needs one formula")
        extreme = (found[1], 1 if found[2].startswith("min") else -1, formulas[0])
        return replace(context, extremes=(*context.extremes, extreme))
    chains = [chain for part in RANGE.split(text) for chain in read_plain(part).chains]
    if not chains:
        raise ValueError("it declares nothing")
    before = context
    for chain in chains:
        context = declare(context, chain)
    if ranges := context.ranges[len(before.ranges) :]:
        made = tuple(
            v if any(v is old for old in before.variables) else replace(v, ranges=ranges)
            for v in context.variables
        )
        context = replace(context, variables=made)
    return context


def _with_network(context: Context, text: str) -> Context:
    """The context with a network, or with a moment of its input. Raises NotRead or ValueError."""
    from varlaw.symbolic.formulas.reader import read_plain

    if found := NETWORK.fullmatch(text):
        network = Network(*found.groups())
        context = context.without(network.name)
        return replace(context, networks=(*context.networks, network))
    chains = read_plain(text).chains
    if len(chains) != 1 or chains[0].signs != ("=",):
        return _with(context, text)
    moment, value = chains[0].sides
    if moment.head is not Head.EXPECTATION or moment.text != "E" or len(moment.parts) != 1:
        return _with(context, text)
    (inside,), order = moment.parts, 1
    if inside.head is Head.POWER and inside.parts[1].text == "2":
        inside, order = inside.parts[0], 2
    return replace(context, moments=(*context.moments, (plain(inside), order, value)))


def split_at_commas(text: str) -> list[str]:
    """The parts of a text between commas outside brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def declare(context: Context, chain: Chain) -> Context:
    """The context with one more declaration. Raises ValueError for what declares nothing."""
    for left, sign, right in chain.links:
        context = _declared(context, left, sign, right)
    return context


def _declared(context: Context, left: Node, sign: str, right: Node) -> Context:
    if left.head is Head.ABSOLUTE and sign in ("<", "<="):  # |r| < 1
        context = _declared(context, left.parts[0], sign, right)
        opposite = Node(Head.NEGATIVE, (right,))
        return _declared(context, left.parts[0], {"<": ">", "<=": ">="}[sign], opposite)
    if left.head is not Head.NAME:
        if sign in ("<", "<=") and right.head is Head.NAME:
            return _declared(context, right, {"<": ">", "<=": ">="}[sign], left)
        raise ValueError("a declaration begins with a name")
    name, indices = left.text, tuple(plain(part) for part in left.parts)
    if sign == "~":
        if right.head is Head.NAME and not right.parts:
            right = Node(Head.CALL, (), right.text, right.start, right.end)
        if right.head is not Head.CALL:
            raise ValueError(f"the law of {plain(left)} is not a distribution")
        if right.text not in NAMES:
            raise ValueError(f"{right.text} is not a distribution that is known")
        if not all(part.head is Head.NAME for part in left.parts):
            name, indices = plain(left), ()  # x_1 is a name of its own
        context = context.without(name)
        return replace(context, variables=(*context.variables, Variable(name, indices, right)))
    if sign in ("=", ":="):
        return _valued(context, left, right, name, indices)
    if sign in (">", ">=", "<", "<=", "in"):
        if context.variable(name) is not None or context.family(name) is not None:
            raise ValueError(f"{plain(left)} is random: say E[... | {plain(left)} {sign} ...]")
        above = (sign == ">" and right.head is Head.NUMBER) or _two_sided(sign, right)
        name = plain(left)
        value = rational(right)
        if value is not None and sign != "in":
            above = above or dict(context.signs).get(name, False)
            context = replace(context, bounds=(*context.bounds, (name, sign, value)))
        return replace(context, signs=(*context.signs, (name, above)))
    raise ValueError(f"{plain(left)} {sign} ... declares nothing")


def _two_sided(sign: str, right: Node) -> bool:
    return sign == ">=" and right.head is Head.NUMBER and right.text.strip("0.") != ""


def _valued(
    context: Context, left: Node, right: Node, name: str, indices: tuple[str, ...]
) -> Context:
    if right.head is Head.TUPLE and right.text == "..":
        first, last = right.parts
        return replace(context, ranges=(*context.ranges, (plain(left), (first, last))))
    if plain(left) in free_names(right):
        raise ValueError(f"{plain(left)} is given by itself")
    known = {variable.name for variable in context.variables}
    known |= {family.name for family in context.families}
    cores = {node.text for node in right.walk() if node.head is Head.NAME}
    if cores & known:
        context = context.without(name)
        return replace(context, families=(*context.families, Family(name, indices, right)))
    if any(node.head in NEVER for node in outside(right)):
        raise ValueError(f"the value of {plain(left)} is not a formula")
    context = context.without(plain(left))
    return replace(context, values=(*context.values, (plain(left), right)))
