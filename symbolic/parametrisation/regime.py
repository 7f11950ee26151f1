"""What follows from the exponents: sizes with their reasons, stability, and the regime."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from sympy import Expr, Max, oo

from varlaw.symbolic.language_text import typed
from varlaw.symbolic.parametrisation import sizes
from varlaw.symbolic.parametrisation.layers import ZERO, Exponents, Kind
from varlaw.symbolic.parametrisation.parametrisation import Parametrisation
from varlaw.symbolic.parametrisation.sizes import COHERENT, INCOHERENT, reason

START, FIRST, LATER = "at the start", "first step", "in training"


class Regime(StrEnum):
    """What a parametrisation does in the wide limit."""

    FEATURES = "feature learning"
    LAZY = "lazy (kernel)"
    TRIVIAL = "trivial"
    UNSTABLE = "unstable"


class DepthRegime(StrEnum):
    """What a stack of residual blocks does in the deep limit."""

    BLOCKS = "every block learns"
    LINEAR = "blocks learn, each linear in its own weights"
    TRIVIAL = "trivial: blocks stand still"
    UNSTABLE = "unstable"


@dataclass(frozen=True)
class Size:
    """The size of a quantity: its exponent as a formula and as a number, and why."""

    layer: str
    quantity: str
    formula: Expr
    exponent: Expr
    reason: str
    base: str = "n"

    @property
    def text(self) -> str:
        """The size as a power, such as n^(-1/2)."""
        return power(self.base, self.exponent)

    @property
    def rule(self) -> str:
        """The formula as text, with its number in front: 1 - a - c."""
        number, rest = self.formula.as_coeff_Add()
        text = typed(rest)
        sign, text = ("-", text[1:]) if text[0] == "-" else ("+", text)
        return f"{typed(number)} {sign} {text}" if number else typed(rest)


@dataclass(frozen=True)
class Depth:
    """The derived behaviour in depth."""

    sizes: tuple[Size, ...]
    regime: DepthRegime
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Analysis:
    """The derived behaviour in width, and in depth where there are residual branches.

    `updates` are the exponents r >= 0 of layers whose outputs move like n^-r by their own steps in
    training, `first` those at the first step; r is the least of `updates` (Yang and Hu 2021, 3.2).
    `logits` and `logits_move` are exponents of the outputs at the start and of their change. Where
    pre-activations do not start at order 1 nothing is said of what comes after: those are empty
    and None.
    """

    sizes: tuple[Size, ...]
    first: Mapping[Kind, Expr]
    updates: Mapping[Kind, Expr]
    logits: Expr | None
    logits_move: Expr | None
    regime: Regime
    reasons: tuple[str, ...]
    depth: Depth | None

    @property
    def r(self) -> Expr | None:
        """The exponent r of the features: they move like n^-r."""
        found = [r for kind, r in self.updates.items() if kind is not Kind.OUTPUT]
        return min(found) if found else None

    @property
    def stable(self) -> bool:
        """Whether nothing grows with the width, and with the depth."""
        deep = self.depth is not None and self.depth.regime is DepthRegime.UNSTABLE
        return self.regime is not Regime.UNSTABLE and not deep


def power(base: str, exponent: Expr) -> str:
    """A power as text; 0 for the exponent minus infinity."""
    if exponent == -oo:
        return "0"
    shown = typed(exponent)
    return f"{base}^{shown}" if shown.isdigit() else f"{base}^({shown})"


def analyse(p: Parametrisation) -> Analysis:
    """Derive the sizes of a parametrisation and classify it (Yang and Hu 2021, theorem 3.3)."""
    out = p.layers[Kind.OUTPUT].width
    start = [_start(kind, layer.width) for kind, layer in p.layers.items()]
    depth = _deep(p) if p.residual else None
    if wrong := _started_wrong(start):
        return Analysis(tuple(start), {}, {}, None, None, Regime.UNSTABLE, tuple(wrong), depth)
    slopes = list(_slopes(p))
    first = {
        kind: _own(p, kind, FIRST, ZERO if kind is Kind.OUTPUT else slopes[0].exponent)
        for kind in p.layers
    }
    training = {
        kind: _own(p, kind, LATER, ZERO if kind is Kind.OUTPUT else slopes[-1].exponent)
        for kind in p.layers
    }
    gradients = [_gradient(p, kind, slopes[0].exponent) for kind in p.layers]
    updates = {kind: -size.exponent for kind, size in training.items()}
    moved = Max(*(-r for kind, r in updates.items() if kind is not Kind.OUTPUT))
    through = _size(
        "output",
        "change through the features",
        sizes.through_features(),
        out,
        {sizes.r: -moved},
        reason(Kind.OUTPUT, COHERENT),
    )
    logits = next(size.exponent for size in start if size.layer == Kind.OUTPUT)
    move = Max(training[Kind.OUTPUT].exponent, through.exponent)
    regime, reasons = _classified(updates, moved, logits, move)
    shown = [size for kind, size in first.items() if size.exponent != training[kind].exponent]
    return Analysis(
        sizes=(*start, *slopes, *gradients, *shown, *training.values(), through),
        first={kind: -size.exponent for kind, size in first.items()},
        updates=updates,
        logits=logits,
        logits_move=move,
        regime=regime,
        reasons=tuple(reasons),
        depth=depth,
    )


def _started_wrong(start: list[Size]) -> list[str]:
    return [
        f"{size.layer}: {size.quantity} {'grow' if size.exponent > 0 else 'vanish'}, {size.text}"
        for size in start
        if size.exponent > 0 or (size.exponent < 0 and _must_stay(size.layer))
    ]


def _size(
    layer: str,
    quantity: str,
    formula: Expr,
    at: Exponents,
    values: Mapping[Expr, Expr],
    why: str,
    base: str = "n",
) -> Size:
    known = {sizes.a: at.a, sizes.b: at.b, sizes.c: at.c, **values}
    value = formula.xreplace(known)
    return Size(layer, quantity, formula, value, why, base)


def _start(kind: Kind, at: Exponents) -> Size:
    what = "outputs" if kind is Kind.OUTPUT else "pre-activations"
    return _size(kind, f"{what} {START}", sizes.forward(kind), at, {}, reason(kind, INCOHERENT))


def _slopes(p: Parametrisation) -> Iterator[Size]:
    """The gradient at features: at the start, behind a hidden layer, and once the readout moved."""
    out = p.layers[Kind.OUTPUT].width
    entry = sizes.exponent_of(sizes.WIDTH**-sizes.a * sizes.WIDTH**-sizes.b, sizes.WIDTH)
    first = _size(
        "features", f"gradient {START}", entry, out, {}, "one effective weight of the readout"
    )
    yield first
    if Kind.HIDDEN in p.layers:
        yield _size(
            "features",
            f"gradient behind a hidden layer {START}",
            sizes.backward(),
            p.layers[Kind.HIDDEN].width,
            {sizes.g: first.exponent},
            f"n terms, {INCOHERENT}",
        )
    step = sizes.entry_step(p.optimizer).xreplace({sizes.a: out.a, sizes.c: out.c, sizes.g: ZERO})
    if step > first.exponent:
        yield _size(
            "features",
            f"gradient {LATER}",
            sizes.entry_step(p.optimizer),
            out,
            {sizes.g: ZERO},
            "the readout's own step, which outgrows its initial weights",
        )


def feature_gradient(p: Parametrisation) -> Expr:
    """The exponent of the gradient at features in training, once the readout moved."""
    return [*_slopes(p)][-1].exponent


def _gradient(p: Parametrisation, kind: Kind, slope: Expr) -> Size:
    at = {sizes.g: ZERO if kind is Kind.OUTPUT else slope}
    why = "multiplier, times the gradient at its output, times one feature"
    width = p.layers[kind].width
    return _size(kind, f"gradient of a weight {START}", sizes.weight_gradient(), width, at, why)


def _own(p: Parametrisation, kind: Kind, when: str, slope: Expr) -> Size:
    formula, at = sizes.own_step(kind, p.optimizer), p.layers[kind].width
    why = reason(kind, COHERENT)
    return _size(kind, f"change by its own step, {when}", formula, at, {sizes.g: slope}, why)


def _classified(
    updates: Mapping[Kind, Expr], moved: Expr, logits: Expr, move: Expr
) -> tuple[Regime, list[str]]:
    wrong = [
        f"{kind}: its own step moves its outputs by {power('n', -r)}"
        for kind, r in updates.items()
        if r < 0
    ]
    if move > 0 and updates[Kind.OUTPUT] >= 0:
        wrong.append(
            f"output: features that move by {power('n', moved)} move it by {power('n', move)}"
        )
    if wrong:
        return Regime.UNSTABLE, wrong
    told = [
        f"outputs start at {power('n', logits)} and move by {power('n', move)}",
        f"features move by {power('n', moved)}",
    ]
    still = [kind for kind, r in updates.items() if r > 0]
    if move < 0:
        return Regime.TRIVIAL, [*told, "the outputs do not move in the wide limit"]
    if moved < 0:
        return Regime.LAZY, [*told, "features stand still in the wide limit, the outputs move"]
    told += [f"{kind}: its own step vanishes, {power('n', -updates[kind])}" for kind in still]
    return Regime.FEATURES, told


def _must_stay(layer: str) -> bool:
    return layer not in (Kind.OUTPUT, Kind.BIAS)


def _deep(p: Parametrisation) -> Depth:
    hidden = p.layers[Kind.HIDDEN].depth
    at = {sizes.s: p.branch}
    start = _size(
        "stream",
        f"sum of the branches {START}",
        sizes.stream(),
        hidden,
        at,
        f"L terms, {INCOHERENT}",
        "L",
    )
    own, all_of = [], []
    for kind in filter(lambda kind: kind.repeated, p.layers):
        depth = p.layers[kind].depth
        block, stream = sizes.block_step(p.optimizer), sizes.stream_step(p.optimizer)
        why = "multiplier, rate and, under SGD, the branch's gradient"
        own.append(_size(kind, "change within a block by its own step", block, depth, at, why, "L"))
        why = f"L terms, {COHERENT}"
        all_of.append(
            _size(kind, "change of the stream by all blocks", stream, depth, at, why, "L")
        )
    found = (start, *own, *all_of)
    wrong = [
        f"{size.layer}: {size.quantity} grows, {size.text}" for size in found if size.exponent > 0
    ]
    if wrong:
        return Depth(found, DepthRegime.UNSTABLE, tuple(wrong))
    told = tuple(f"{size.layer}: {size.quantity} {size.text}" for size in found)
    if all_of[0].exponent < 0:
        return Depth(found, DepthRegime.TRIVIAL, told)
    lazy = own[0].exponent < 0
    return Depth(found, DepthRegime.LINEAR if lazy else DepthRegime.BLOCKS, told)
