"""Links about networks of blocks: E[y^2] for y = (linear(d, n, var=2/d) >> relu)(x).

The moments are those of `varlaw.symbolic.blocks`, each with its regime: what holds in the wide
limit only is verified for -> and ~=, never for =.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from flint import arb
from sympy import Dummy, Expr, Symbol, oo

from varlaw.checks.blocks.running import parts
from varlaw.checks.claims.declarations.context import Context, Network
from varlaw.checks.claims.declarations.distributions import NAMES
from varlaw.checks.claims.equations.compare import Finding, Number, against_literal, between
from varlaw.checks.claims.equations.identities import equal
from varlaw.checks.claims.equations.multiples import names_of
from varlaw.checks.claims.expectations.probability import different
from varlaw.checks.claims.values.algebra import Algebra
from varlaw.checks.claims.values.functions import CONSTANTS, NoValue
from varlaw.checks.claims.values.literals import literal_of
from varlaw.checks.statistics.verdicts import Verdict
from varlaw.symbolic.blocks.activation import Activation
from varlaw.symbolic.blocks.attention import Attention
from varlaw.symbolic.blocks.block import Block, Sequential, start
from varlaw.symbolic.blocks.linear import Linear
from varlaw.symbolic.blocks.lines import enclosure
from varlaw.symbolic.blocks.norm import LayerNorm, RMSNorm
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.residual import Gate, Parallel, Residual
from varlaw.symbolic.blocks.state import Approximation, Gradient, Regime, State, joint
from varlaw.symbolic.formulas.tree import Head, Node, plain
from varlaw.symbolic.gaussian.balls import NoEnclosure
from varlaw.symbolic.gaussian.closed import Divergent
from varlaw.symbolic.gaussian.pieces import NotClosed
from varlaw.symbolic.language import read
from varlaw.symbolic.language_text import typed

RULE = "maps of blocks"
# what an equation may rest on, which the reason says; PROBE is what grad_y is defined as
EXACT = {Approximation.SYMMETRIC, Approximation.PROBE}
GRADIENT = "grad_"  # before the name of an output or input: the loss's gradient in one entry
GROWING = EXACT | {Approximation.WIDE, Approximation.TOKENS}  # what a limit in sizes may rest on
LAYERS = (Activation, Attention, Gate, LayerNorm, Linear, Parallel, Repeat, Residual, RMSNorm)
WIDTHS = ("fan_in", "width")
SIZES = (*WIDTHS, "fan_out", "depth", "tokens")


@dataclass(frozen=True)
class Known:
    """A network with what flows into it and out of it."""

    block: Block
    state: State
    out: State
    gradients: tuple[Gradient, ...] = ()  # at the output and at the input, where asked for

    @property
    def regime(self) -> Regime:
        return joint((self.out.regime, *(one.regime for one in self.gradients)))

    def backward(self, name: str) -> "Known":
        """The same with the gradients, that at the output, `name`, of any size. Raises NoValue."""
        last = Gradient(second_moment=Dummy(name, positive=True))
        try:
            return replace(self, gradients=(last, self.block.backward(last, self.state)))
        except ValueError as error:  # BlockError and ReadingError
            raise NoValue(str(error)) from None

    def sizes(self, kinds: tuple[str, ...] = SIZES) -> Iterator[Expr]:
        """Its widths, depths and numbers of tokens, as they are written."""
        for part in parts(self.block):
            found = (getattr(part, kind, None) for kind in kinds)
            yield from (size for size in found if isinstance(size, Expr))


def network_in(context: Context, *sides: Node) -> Network | None:
    """The network whose output, or a gradient of it, stands in a link, if there is one."""
    names = {plain(node) for side in sides for node in side.walk() if node.head is Head.NAME}
    return next((n for n in reversed(context.networks) if {n.name, *gradients_of(n)} & names), None)


def gradients_of(network: Network) -> tuple[str, str]:
    """What the gradients at a network's output and input are called."""
    return GRADIENT + network.name, GRADIENT + network.input


def known(network: Network, context: Context, given: Mapping[str, Expr] | None = None) -> Known:
    """The network, read, with values put in. Raises NoValue for one that is not covered."""
    algebra = Algebra({}, context.log_base)
    names = {
        name: algebra.expression(value) for name, value in context.values if not names_of(value)
    }
    try:
        names |= given or {}
        block = read_block(network.blocks, names)
        state = _input(network.input, context, names)
        return Known(block, state, block.forward(state))
    except ValueError as error:  # BlockError and ReadingError
        raise NoValue(str(error)) from None


def second_moment_of(link: tuple[Node, Node], network: Network) -> Node | None:
    """What is claimed of E[y^2], where that is one side of a link; else None."""
    for moment, claimed in (link, link[::-1]):
        if moment.head is not Head.EXPECTATION or moment.text != "E" or len(moment.parts) != 1:
            continue
        (inside,) = moment.parts
        if inside.head is Head.POWER and inside.parts[1].text == "2":
            return claimed if plain(inside.parts[0]) == network.name else None
    return None


def claimed_value(node: Node, given: Mapping[str, Expr]) -> float:
    """The number that is claimed. Raises NoValue where names have no values."""
    found = _read(node, given)
    if found.free_symbols:
        raise NoValue(f"no values for {', '.join(sorted(map(str, found.free_symbols)))}")
    return float(found)


def _input(name: str, context: Context, values: Mapping[str, Expr]) -> State:
    """What is declared of the input: x ~ N(0, q), or E[x^2] = q and E[x] = 0 of any law."""
    variable = context.variable(name)
    if variable is not None:
        if NAMES.get(variable.law.text) != "normal" or len(variable.law.parts) != 2:
            raise NoValue(f"{name} has to be N(mean, variance), or to have its moments declared")
        mean, variance = (_read(part, values) for part in variable.law.parts)
        return start(variance + mean**2, mean=mean)
    moments = {order: node for n, order, node in context.moments if n == name}
    if 2 not in moments:
        raise NoValue(f"say what E[{name}^2] is, or that {name} ~ N(0, v)")
    mean = _read(moments[1], values) if 1 in moments else Symbol(f"E_{name}", real=True)
    return replace(start(_read(moments[2], values)), mean=mean, gaussian=False)


def _read(node: Node, values: Mapping[str, Expr]) -> Expr:
    """A formula in the symbols that the notation of blocks has."""
    names = {name: values.get(name, read(name)) for name in names_of(node)}
    return Algebra(names).expression(node)


class Moments(Algebra):
    """Formulas with the moments of a network's output and input."""

    def __init__(self, network: Network, found: Known, symbols: Mapping[str, Expr]) -> None:
        super().__init__(symbols)
        self.states = {network.name: found.out, network.input: found.state}
        self.gradients = dict(zip(gradients_of(network), found.gradients, strict=False))

    def _built(self, node: Node) -> Expr:
        if node.head is not Head.EXPECTATION:
            return super()._built(node)
        (inside, *more), power = node.parts, 1
        if inside.head is Head.POWER and inside.parts[1].text == "2":
            inside, power = inside.parts[0], 2
        if gradient := self.gradients.get(plain(inside)):
            if (node.text, power) == ("E", 2) and not more:
                return gradient.second_moment
            raise NoValue("of gradients only E[grad_y^2] and E[grad_x^2] are known")
        state = self.states.get(plain(inside))
        if state is None or more:
            raise NoValue("of a network E[y^2], E[y] and Var[y] are known")
        if (node.text, power) == ("E", 2):
            return state.second_moment
        if (node.text, power) in (("E", 1), ("Var", 1)):
            return state.mean if node.text == "E" else state.variance
        raise NoValue("of a network E[y^2], E[y] and Var[y] are known")


def decided(left: Node, sign: str, right: Node, network: Network, context: Context) -> Finding:
    """The verdict on a link with a network's moments in it. Raises NoValue."""
    found = known(network, context)
    if names_of(left, right) & set(gradients_of(network)):
        found = found.backward(gradients_of(network)[0])
    values = {n: _read(v, {}) for n, v in context.values if not names_of(v)}
    known_names = {network.name, network.input, *gradients_of(network)}
    names = names_of(left, right) - known_names - set(CONSTANTS)
    algebra = Moments(network, found, {n: values.get(n, read(n)) for n in names})
    a, b = (algebra.expression(side) for side in (left, right))
    if any(one.second_moment in a.free_symbols ^ b.free_symbols for one in found.gradients):
        raise NoValue("gradients have no size of their own: claim the ratio of two")
    whole = {
        s: Symbol(s.name, integer=True, positive=True)
        for size in found.sizes()
        for s in size.free_symbols
    }
    limit = _in_limit(found, left, right)
    told = str(found.regime) if found.regime - EXACT or not limit else "in the wide limit"
    if any(isinstance(p, Repeat) and p.depth.free_symbols for p in parts(found.block)):
        told += ", for a depth of 2 or more"
    compared = _compared(a.xreplace(whole), sign, b.xreplace(whole), literal_of(right))
    if sign == "->" and compared.verdict is Verdict.VERIFIED:
        _grows(found, limit, context.towards, a, b)
    if limit and sign == "=":
        compared = _at_finite_width(compared, found, b)
    return replace(compared, reason="; ".join(filter(None, (compared.reason, told))))


def _in_limit(found: Known, *sides: Node) -> bool:
    """Whether what stands in a link rests on a limit; means do wherever an activation is passed."""
    means = any(
        node.head is Head.EXPECTATION and (node.text != "E" or node.parts[0].head is not Head.POWER)
        for side in sides
        for node in side.walk()
    )
    passed = any(isinstance(part, Activation) for part in parts(found.block))
    return bool(found.regime - EXACT) or (means and passed)


def _compared(a: Expr, sign: str, b: Expr, literal: Any) -> Finding:
    """Both sides as expressions, whatever regime they have."""
    value = typed(a)
    if literal is not None and not literal.whole and not a.free_symbols:
        return against_literal(_number(a), literal, "=")
    if sign not in ("=", "~=", "->"):
        return Finding(Verdict.UNDECIDED, value, f"{sign} between moments of networks", RULE)
    if equal(a, b):
        return Finding(Verdict.VERIFIED, value, "", RULE)
    if not a.free_symbols | b.free_symbols:
        return between(_number(a), "~=" if sign == "~=" else "=", _number(b))
    if at := different(a, b):
        return Finding(Verdict.REFUTED, value, f"differs at {at}", RULE)
    return Finding(Verdict.UNDECIDED, value, "equality was neither proved nor refuted", RULE)


def _number(value: Expr) -> Number:
    def enclosed() -> arb:
        try:
            return enclosure(value, {})
        except (NoEnclosure, NotClosed, Divergent) as error:
            raise NoValue(str(error)) from None

    return Number(None, enclosed, lambda: value)


def _at_finite_width(found: Finding, network: Known, claimed: Expr) -> Finding:
    """An equation, of which only the limit is known."""
    widths = set().union(*(size.free_symbols for size in network.sizes()))
    if found.verdict is Verdict.VERIFIED or found.verdict is Verdict.LOOSE:
        told = "so in the limit only, which is no equation: claim it with ~= or ->"
        return Finding(Verdict.UNDECIDED, found.value, told, RULE)
    if found.verdict is Verdict.REFUTED and (claimed.free_symbols & widths or not widths):
        return Finding(Verdict.UNDECIDED, found.value, "only the limit is known", RULE)
    return found


def _grows(found: Known, limit: bool, name: str, *sides: Expr) -> None:
    """Raise NoValue unless all that has to be large grows with a name, and the sides do not."""
    if any(name in {s.name for s in side.free_symbols} for side in sides):
        raise NoValue(f"a limit that depends on {name}")
    layers = all(isinstance(part, (*LAYERS, Sequential)) for part in parts(found.block))
    if limit and not (layers and found.regime <= GROWING):
        raise NoValue(f"it is not known what has to grow: {found.regime}")
    kinds = (*WIDTHS, "tokens") if Approximation.TOKENS in found.regime else WIDTHS
    sizes = list(found.sizes(kinds))
    if limit and not (sizes and all(size.subs(read(name), oo) == oo for size in sizes)):
        raise NoValue("say what grows, such as: as d -> oo; all widths have to grow with it")
