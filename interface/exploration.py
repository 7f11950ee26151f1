"""Blocks on the command line: `varlaw explore`."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from sympy import Expr

from varlaw.symbolic.blocks.block import Block, Sequential, start
from varlaw.symbolic.blocks.depth import Depth, depth
from varlaw.symbolic.blocks.enclosed import accurate, enclosure
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.recurrence import Growth
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.solve import KEEPS, bounded_from, losses, solve
from varlaw.symbolic.blocks.state import ONE, BlockError, Gradient, State
from varlaw.symbolic.gaussian.decimals import Enclosed
from varlaw.symbolic.language import read
from varlaw.symbolic.language_text import typed

if TYPE_CHECKING:
    from varlaw.checks.blocks import Measured

BITS = 64
PHASE = ("chi", "q", "limit", "rate", "length")
STABLE = {True: "stable", False: "not stable", None: "stability not known"}


@dataclass(frozen=True)
class Answer:
    """What was found; `why` says what keeps the backward map from being known."""

    state: State
    out: State
    gradient: Gradient | None
    why: str
    depth: Depth | None
    unknown: str | None
    solved: dict[str, Expr | str]
    bounds: dict[str, Expr]
    losses: dict[str, Expr]
    measured: "dict[str, Measured]"


def answer(
    blocks: str,
    values: Mapping[str, str],
    second_moment: str,
    correlation: str | None,
    unknown: str | None,
    measure: bool,
    seed: int,
) -> Answer:
    """The maps of blocks, or a usage error."""
    try:
        names = {name: read(value) for name, value in values.items()}
        block = read_block(source(blocks), names)
        given = [None if t is None else read(t, names=names) for t in (second_moment, correlation)]
        state = start(given[0] if given[0] is not None else second_moment, given[1])
        out, (gradient, why) = block.forward(state), _backward(block, state)
        deep = _depth(block, state)
        solved = _solved(block, unknown, state) if unknown else {}
        bounds = _bounds(block, unknown, state) if unknown else {}
        made = _losses(block, unknown, state) if unknown else {}
        measured = _measured(block, state, seed) if measure else {}
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    return Answer(state, out, gradient, why, deep, unknown, solved, bounds, made, measured)


def source(text: str) -> str:
    """The text of a file, if there is one of that name; else the text."""
    try:
        is_file = Path(text).is_file()
    except (OSError, ValueError):
        is_file = False
    if not is_file:
        return text
    try:
        return Path(text).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise BlockError(f"{text} is not a text in UTF-8") from None


def _backward(block: Block, state: State) -> tuple[Gradient | None, str]:
    try:
        return block.backward(Gradient(second_moment=ONE), state), ""
    except BlockError as error:
        return None, str(error)


def _depth(block: Block, state: State) -> Depth | None:
    """The laws in depth of the only repeated block at the top, if there is exactly one."""
    repeated, parts = None, block.parts if isinstance(block, Sequential) else (block,)
    for part in parts:
        if isinstance(part, Repeat):
            if repeated is not None:
                return None
            repeated, entering = part, state
        state = part.forward(state)
    if repeated is None:
        return None
    return depth(repeated, entering)


def _solved(block: Block, unknown: str, state: State) -> dict[str, Expr | str]:
    """What keeps each second moment, or why there is no answer."""
    if not unknown.isidentifier():
        raise BlockError(f"{unknown!r} is not a name")
    found: dict[str, Expr | str] = {}
    for keep in KEEPS:
        try:
            found[keep] = solve(block, unknown, keep, state)
        except BlockError as error:
            found[keep] = str(error)
    if all(isinstance(value, str) for value in found.values()):
        if not _bounds(block, unknown, state):
            raise BlockError(str(found["forward"]))
        return {}
    return found


def _bounds(block: Block, unknown: str, state: State) -> dict[str, Expr]:
    """The least exponents of the depth that keep each side bounded."""
    found = {}
    for side in ("forward", "backward"):
        with suppress(BlockError):
            found[side] = bounded_from(block, unknown, side, state)
    return found


def _losses(block: Block, unknown: str, state: State) -> dict[str, Expr]:
    """What each compromise makes least, where that is known."""
    try:
        return losses(block, unknown, state)
    except BlockError:
        return {}


def _measured(block: Block, state: State, seed: int) -> "dict[str, Measured]":
    from varlaw.checks.blocks import measure

    return measure(block, state, seed=seed)


def _decimal(value: Expr) -> float | None:
    """The number that an expression is; None where it has names."""
    if value.free_symbols:
        return None
    found = accurate(lambda: enclosure(value, {}), BITS)
    return None if found is None else float(found.mid())


def text(found: Answer) -> str:
    """Forward, backward, depth, what was solved and what was measured."""
    lines = [f"forward   {_side(found.out.second_moment)}"]
    if found.out.mean != 0:
        lines.append(f"  mean    {typed(found.out.mean)} ({found.out.mean_regime})")
    if found.out.product is not None:
        lines.append(f"  correlation  {typed(found.out.correlation)}")
    if found.depth is not None:
        lines.append(f"  growth  {found.depth.forward}")
        lines += [
            f"  fixed point  {p.value.digits}, slope {_digits(p.slope)}, {STABLE[p.stable]}"
            for p in (found.depth.points.found if found.depth.points else [])
        ]
    lines.append(f"  regime  {found.out.regime}")
    if found.depth is not None:
        lines += _depth_lines(found.depth)
    if found.gradient is None:
        lines.append(f"backward  not known: {found.why}")
    else:
        lines.append(f"backward  {_side(found.gradient.second_moment)}")
        if found.depth is not None:
            lines.append(f"  growth  {found.depth.backward}")
        lines.append(f"  regime  {found.gradient.regime}")
    for keep, value in found.solved.items():
        told = value if isinstance(value, str) else f"{found.unknown} = {typed(value)}"
        if not isinstance(value, str) and keep in found.losses:
            told += f", the least mean of {typed(found.losses[keep])} of both ratios r"
        lines.append(f"solved, {keep}: {told}")
    lines += [
        f"bounded in depth, {side}: {found.unknown} >= {typed(value)}"
        for side, value in found.bounds.items()
    ]
    lines += [f"measured, {name}: {one}" for name, one in found.measured.items()]
    return "\n".join(lines)


def _depth_lines(depth: Depth) -> list[str]:
    """Correlation, phases, and what there is by layer, where it is known."""
    lines = []
    if depth.correlation.kind:
        lines.append(f"  correlation in depth  {depth.correlation}")
    for phase in depth.phases:
        known = {key: value for key in PHASE if (value := getattr(phase, key)) is not None}
        told = ", ".join(f"{key} {typed(value)}" for key, value in known.items())
        lines.append(f"  phase  {phase.name or 'not known'}: {told}")
    for name in ("ratio", "share"):
        if (value := getattr(depth, name)) is not None:
            lines.append(f"  {name} after l layers  {typed(value)}")
    return lines


def _side(value: Expr) -> str:
    decimal = None if value.is_Rational else _decimal(value)
    return typed(value) if decimal is None else f"{typed(value)} = {decimal:.10g}"


def record(found: Answer) -> Mapping[str, Any]:
    """The answer as a record; `backward` holds `null` where it is not known."""
    out, gradient, deep = found.out, found.gradient, found.depth
    return {
        "schema": "varlaw.explore",
        "version": 1,
        "forward": {
            "second_moment": typed(out.second_moment),
            "value": _decimal(out.second_moment),
            "mean": typed(out.mean),
            "correlation": None if out.product is None else typed(out.correlation),
            **_growth(deep.forward if deep else None),
            "fixed_points": [
                {"value": p.value.digits, "slope": _digits(p.slope), "stable": p.stable}
                for p in (deep.points.found if deep and deep.points else [])
            ],
            "fixed_points_complete": deep.points.complete if deep and deep.points else None,
            "regime": str(out.regime),
            "regimes": _regimes(out),
        },
        "backward": {
            "second_moment": None if gradient is None else typed(gradient.second_moment),
            "value": None if gradient is None else _decimal(gradient.second_moment),
            **_growth(deep.backward if deep and gradient else None),
            "regime": None if gradient is None else str(gradient.regime),
            "regimes": None if gradient is None else _regimes(gradient),
            "why": found.why,
        },
        "depth": None if deep is None else _depth_record(deep),
        "solved": {
            "name": found.unknown,
            **{keep: _solution(found.solved.get(keep)) for keep in KEEPS},
            "bounded": {side: _text(found.bounds.get(side)) for side in ("forward", "backward")},
            "losses": {keep: typed(loss) for keep, loss in found.losses.items()},
        },
        "measured": {
            side: None if (one := found.measured.get(side)) is None else one.record()
            for side in ("forward", "product", "backward")
        },
    }


def _solution(value: Expr | str | None) -> str | None:
    return typed(value) if isinstance(value, Expr) else None


def _digits(value: Enclosed | None) -> str | None:
    return None if value is None else value.digits


def _growth(growth: Growth | None) -> dict[str, str | None]:
    """The class of growth with its rate and limit; null without depth, or where not known."""
    if growth is None:
        return {"growth": None, "rate": None, "limit": None, "asymptotic": None}
    return {
        "growth": growth.kind or None,
        "rate": None if growth.rate is None else typed(growth.rate),
        "limit": None if growth.limit is None else typed(growth.limit),
        "asymptotic": None if growth.asymptotic is None else typed(growth.asymptotic),
    }


def _regimes(flow: State | Gradient) -> dict[str, str | None]:
    """What each number rests on; null for one that is not followed."""
    return {
        name: None if getattr(flow, name) is None else str(regime)
        for name, regime in flow.regimes.items()
    }


def _depth_record(depth: Depth) -> dict[str, Any]:
    """Correlation, phases, and what there is by layer."""
    return {
        "correlation": _growth(depth.correlation),
        "phases": [
            {"phase": phase.name or None, **{key: _text(getattr(phase, key)) for key in PHASE}}
            for phase in depth.phases
        ],
        "ratio": _text(depth.ratio),
        "share": _text(depth.share),
    }


def _text(value: Expr | None) -> str | None:
    return None if value is None else typed(value)
