"""Blocks on the command line: `varlaw explore`."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from sympy import Expr

from varlaw.explored import Exploration
from varlaw.symbolic.blocks.block import Block, Sequential, quantity, sent, size, start
from varlaw.symbolic.blocks.crossing import Crossing
from varlaw.symbolic.blocks.depth import Depth, depth
from varlaw.symbolic.blocks.finite import scatter as seeds
from varlaw.symbolic.blocks.growth import UNKNOWN
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.solve import KEEPS, SIDES, Range, bounded_from, losses, solution
from varlaw.symbolic.blocks.solve import within as range_within
from varlaw.symbolic.blocks.state import BlockError, Gradient, State
from varlaw.symbolic.blocks.stream import Part, part_for
from varlaw.symbolic.blocks.weights import weight_gradients as of_weights
from varlaw.symbolic.blocks.written import with_values
from varlaw.symbolic.language import Text, read

if TYPE_CHECKING:
    from varlaw.checks.blocks.verdicts import Judged

FILE_NAME = re.compile(r"[\w./\\~-]*\w\.[A-Za-z]\w*")  # no block is written so


def answer(blocks: str, *, name: str = "", **options: Any) -> Exploration:
    """As `explore`; what cannot be done is a usage error.

    Of a named variant among others it is none that there is no solution.
    """
    try:
        found = explore(source(blocks), **options)
    except ValueError as error:
        raise click.UsageError(f"{name}: {error}" if name else str(error)) from error
    reasons = [value for value in found.solved.values() if isinstance(value, str)]
    if reasons and len(reasons) == len(found.solved) and not name:
        raise click.UsageError("; ".join(dict.fromkeys(reasons[:2])))  # forward, backward
    return found


def explore(
    blocks: Block | str,
    *,
    values: Mapping[str, Text] | None = None,
    second_moment: Text = "q0",
    correlation: Text | None = None,
    mean: Text = 0,
    gradient_correlation: Text = 0,
    solve: str | None = None,
    within: Text = 1,
    scatter: bool = False,
    weight_gradients: Text | None = None,
    measure: bool = False,
    **measuring: Any,
) -> Exploration:
    """What blocks of a network at initialisation do to second moments.

    `blocks` is a block (see `varlaw.blocks`) or a text of the notation; `values` are put in place
    of its names. The input has Gaussian features of this `mean` and `second_moment` (E[x^2] of one
    feature); with a `correlation` that of a feature for two inputs, or tokens, is followed. The
    gradient at the output has second moment 1, and `gradient_correlation` for two inputs.
    `solve` is the name of a parameter, for which the values are found that keep second moments: at
    which the ratio of that at the output to that at the input is the factor `within`. Of a factor
    above 1 the values are found that keep each ratio, and both, between 1/within and it.
    With `scatter` it is found how the second moment of one input scatters between seeds, at finite
    width, of linear layers and activations. With `weight_gradients`, a number of tokens or inputs,
    the second moments of the gradients of weights are found, layer by layer, of a loss that is
    summed over so many. With `measure` the blocks are simulated too, with
    options as of `Exploration.measure`.

    Raises ValueError (BlockError, ReadingError) for what cannot be read or is not covered; what is
    not covered backward is told in `why` of the answer.

    >>> found = explore("repeat(prenorm(linear(d, d, var=1/d)), L)")
    >>> found.forward.second_moment, found.growth.kind
    (L + q0, 'linear')
    >>> explore("linear(m, n, var=v) >> relu", solve="v").solved["forward"]
    2/m
    """
    names = {name: read(value) for name, value in (values or {}).items()}
    block = read_block(blocks, names) if isinstance(blocks, str) else with_values(blocks, names)
    given = [_text(t, names) for t in (second_moment, correlation, mean, gradient_correlation)]
    state, probe = start(*given[:3]), sent(given[3])
    if solve and probe.product != 0:
        raise BlockError("what is solved for holds for gradients that do not correlate")
    out, (gradient, why) = block.forward(state), _backward(block, state, probe)
    deep = _depth(block, state)
    if deep is not None and probe.product != 0 and _paired(block, state, gradient):
        deep = replace(deep, backward=UNKNOWN, ratio=None)
    factor = quantity(_text(within, names), "factor", positive=True)
    part, solved, ranges, bounds, made = None, {}, {}, {}, {}
    if solve:
        part = _part(block, state, solve)
        solved = _solved(part, solve, factor)
        ranges = _ranges(part, solve, factor)
        bounds = _bounds(part, solve)
        made = _losses(part, solve, factor)
    elif factor != 1:
        raise BlockError("a ratio to keep within a factor goes with a name to solve for")
    between = seeds(block, state.second_moment) if scatter else None
    asked = _text(weight_gradients, names)
    tokens = None if asked is None else size(asked, "number of tokens")
    weights = [] if tokens is None else list(of_weights(block, state, probe, tokens))
    measured = _measured(block, state, probe, measuring) if measure else {}
    if bounds and all(isinstance(value, str) for value in solved.values()):
        solved = {}
    return Exploration(
        block,
        state,
        probe,
        out,
        gradient,
        why,
        deep,
        solve,
        factor,
        part,
        solved,
        ranges,
        bounds,
        made,
        between,
        tokens,
        weights,
        measured,
    )


def _text(value: Text | None, names: Mapping[str, Expr]) -> Text | None:
    """A value, read with others in place of its names where it is a text."""
    return read(value, names=names) if isinstance(value, str) else value


def source(text: str) -> str:
    """The text of a file, if there is one of that name; else the text."""
    if not is_file(text):
        if FILE_NAME.fullmatch(text):
            raise BlockError(f"{text}: no such file")
        return text
    try:
        return Path(text).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise BlockError(f"{text} is not a text in UTF-8") from None


def is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def _backward(block: Block, state: State, probe: Gradient) -> tuple[Gradient | None, str]:
    try:
        return block.backward(probe, state), ""
    except BlockError as error:
        return None, str(error)


def _paired(block: Block, state: State, gradient: Gradient | None) -> bool:
    """Whether second moments of gradients depend on the correlation of those of two inputs."""
    alone, _ = _backward(block, state, sent())
    return not (alone and gradient and alone.second_moment == gradient.second_moment)


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


def _part(block: Block, state: State, unknown: str) -> Part:
    """The part that a name is solved for."""
    if not unknown.isidentifier():
        raise BlockError(f"{unknown!r} is not a name")
    return part_for(block, state, unknown)


def _solved(part: Part, unknown: str, factor: Expr) -> dict[str, Crossing | str]:
    """What keeps each second moment, or why there is no answer."""
    found: dict[str, Crossing | str] = {}
    for keep in KEEPS:
        try:
            found[keep] = solution(part.block, unknown, keep, part.state, factor=factor)
        except BlockError as error:
            found[keep] = str(error)
    return found


def _ranges(part: Part, unknown: str, factor: Expr) -> dict[str, Range]:
    """The values that keep each ratio, and both, within a factor above 1, where they are known."""
    found: dict[str, Range] = {}
    if not factor.free_symbols and not factor > 1:
        return found
    for side in SIDES:
        with suppress(BlockError):
            found[side] = range_within(part.block, unknown, side, factor, part.state)
    if len(found) == len(SIDES):
        found["both"] = found["forward"] & found["backward"]
    return found


def _bounds(part: Part, unknown: str) -> dict[str, Expr]:
    """The least exponents of the depth that keep each side bounded."""
    found = {}
    for side in SIDES:
        with suppress(BlockError):
            found[side] = bounded_from(part.block, unknown, side, part.state)
    return found


def _losses(part: Part, unknown: str, factor: Expr) -> dict[str, Expr]:
    """What each compromise makes least, where that is known."""
    try:
        return losses(part.block, unknown, part.state, factor)
    except BlockError:
        return {}


def _measured(
    block: Block, state: State, probe: Gradient, measuring: Mapping[str, Any]
) -> "dict[str, Judged]":
    from varlaw.checks.blocks.verdicts import verdicts

    return verdicts(block, state, probe, **measuring)
