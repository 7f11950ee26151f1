"""Blocks on the command line: `varlaw explore`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from sympy import Expr

from varlaw.console import Exit
from varlaw.explored import Depth, Exploration
from varlaw.symbolic.blocks.block import Block, Sequential, start
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.recurrence import Growth
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.roots import fixed_points
from varlaw.symbolic.blocks.solve import KEEPS, solve
from varlaw.symbolic.blocks.state import ONE, BlockError, Gradient, State
from varlaw.symbolic.blocks.written import with_values, written
from varlaw.symbolic.gaussian.decimals import Enclosed
from varlaw.symbolic.language import Text, read
from varlaw.symbolic.language_text import typed

if TYPE_CHECKING:
    from varlaw.checks.blocks.verdicts import Judged
    from varlaw.symbolic.printers.blocks import Told

DIGITS = 12
STABLE = {True: "stable", False: "not stable", None: "stability not known"}


def answer(blocks: str, *, name: str = "", **options: Any) -> Exploration:
    """As `explore`; what cannot be done is a usage error.

    Of a named variant among others it is none that there is no solution.
    """
    try:
        found = explore(_source(blocks), **options)
    except ValueError as error:
        raise click.UsageError(f"{name}: {error}" if name else str(error)) from error
    reasons = [value for value in found.solved.values() if isinstance(value, str)]
    if reasons and len(reasons) == len(found.solved) and not name:
        raise click.UsageError(reasons[0])
    return found


def explore(
    blocks: Block | str,
    *,
    values: Mapping[str, Text] | None = None,
    second_moment: Text = "q0",
    correlation: Text | None = None,
    solve: str | None = None,
    measure: bool = False,
    **measuring: Any,
) -> Exploration:
    """What blocks of a network at initialisation do to second moments.

    `blocks` is a block (see `varlaw.blocks`) or a text of the notation; `values` are put in place
    of its names. The input has Gaussian features of mean 0 and this `second_moment` (E[x^2] of one
    feature); with a `correlation` that of a feature for two inputs, or tokens, is followed.
    `solve` is the name of a parameter, for which the values are found that keep second moments.
    With `measure` the blocks are simulated too, with options as of `Exploration.measure`.

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
    given = [
        read(t, names=names) if isinstance(t, str) else t for t in (second_moment, correlation)
    ]
    state = start(*given)
    out, (gradient, why) = block.forward(state), _backward(block, state)
    depth = _depth(block, state)
    solved = _solved(block, solve, state) if solve else {}
    measured = _measured(block, state, measuring) if measure else {}
    return Exploration(block, state, out, gradient, why, depth, solve, solved, measured)


def _source(text: str) -> str:
    """The text of a file, if there is one of that name; else the text."""
    if not _is_file(text):
        return text
    try:
        return Path(text).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise BlockError(f"{text} is not a text in UTF-8") from None


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


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
    path = repeated.recurrence(entering)
    try:
        backward = repeated.product(entering).growth
    except BlockError:
        backward = Growth("")
    forward, backward = (_in(growth, repeated.depth) for growth in (path.growth, backward))
    numeric = path.linear is None and not path.step.free_symbols - {path.variable}
    points = list(fixed_points(path.step, path.variable).found) if numeric else []
    return Depth(forward, backward, points)


def _in(growth: Growth, depth: Expr) -> Growth:
    """The class of growth; not known where its rate depends on the depth itself."""
    rate = growth.rate
    return growth if rate is None or not rate.has(*depth.free_symbols) else Growth("")


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
    return found


def _measured(block: Block, state: State, measuring: Mapping[str, Any]) -> "dict[str, Judged]":
    from varlaw.checks.blocks.verdicts import verdicts

    return verdicts(block, state, **measuring)


def _decimal(value: Expr) -> float | None:
    """The number that an expression is; None where it has names."""
    found = value.evalf(DIGITS)
    return float(found) if found.is_Float or found.is_Integer or found.is_Rational else None


def named(blocks: Sequence[str], variants: Mapping[str, str]) -> dict[str, str]:
    """Texts or files by name: files by their stem, texts by themselves. Raises usage errors."""
    found: dict[str, str] = {}
    for text in blocks:
        name = Path(text).stem if _is_file(text) else text
        if name in found:
            raise click.UsageError(f"two variants are called {name!r}: name them by --compare")
        found[name] = text
    if clash := found.keys() & variants.keys():
        raise click.UsageError(f"two variants are called {min(clash)!r}")
    return found | dict(variants)


def exit_code(*found: Exploration) -> Exit:
    """What the command exits with: by the worst verdict, if anything was measured."""
    verdicts = {str(one.verdict) for each in found for one in each.measured.values()}
    if "refuted" in verdicts:
        return Exit.REFUTED
    return Exit.UNDECIDED if "undecided" in verdicts else Exit.WELL


def document(found: Exploration, form: str) -> str:
    """The answer as text, LaTeX or Markdown, without a line break at its end."""
    try:
        if form == "latex":
            return found.latex().rstrip("\n")
        return found.markdown().rstrip("\n") if form == "markdown" else text(found)
    except BlockError as error:
        raise click.UsageError(str(error)) from error


def code(found: Exploration, library: str, keep: str) -> str:
    """The initialisation as code, without a line break at its end, or a usage error."""
    try:
        return found.initialisation(library, keep).rstrip("\n")
    except BlockError as error:
        raise click.UsageError(str(error)) from error


def text(found: Exploration) -> str:
    """Forward, backward, depth, what was solved and what was measured."""
    lines = [f"forward   {_side(found.forward.second_moment)}"]
    if found.forward.mean != 0:
        lines.append(f"  mean    {typed(found.forward.mean)} (wide limit: of Gaussian features)")
    if found.forward.product is not None:
        lines.append(f"  correlation  {typed(found.forward.correlation)}")
    if found.depth is not None:
        lines.append(f"  growth  {found.depth.forward}")
        lines += [
            f"  fixed point  {p.value.digits}, slope {_digits(p.slope)}, {STABLE[p.stable]}"
            for p in found.depth.points
        ]
    lines.append(f"  regime  {found.forward.regime}")
    if found.backward is None:
        lines.append(f"backward  not known: {found.why}")
    else:
        lines.append(f"backward  {_side(found.backward.second_moment)}")
        if found.depth is not None:
            lines.append(f"  growth  {found.depth.backward}")
        lines.append(f"  regime  {found.backward.regime}")
    for keep, value in found.solved.items():
        told = value if isinstance(value, str) else f"{found.unknown} = {typed(value)}"
        lines.append(f"solved, {keep}: {told}")
    lines += [f"measured, {name}: {one}" for name, one in found.measured.items()]
    return "\n".join(lines)


def told(found: Exploration) -> "Told":
    """The derivation block by block, with growth and regime."""
    from varlaw.symbolic.blocks.derivation import Derivation
    from varlaw.symbolic.printers.blocks import Told

    facts: dict[str, list[tuple[str, str]]] = {"forward": [], "backward": []}
    if found.depth is not None:
        for side, growth in (("forward", found.depth.forward), ("backward", found.depth.backward)):
            if side == "forward" or found.backward is not None:
                facts[side].append(("Growth", str(growth)))
    facts["forward"].append(("Regime", str(found.forward.regime)))
    known = found.backward is not None
    last = ("Regime", str(found.backward.regime)) if found.backward else ("Not known", found.why)
    facts["backward"].append(last)
    for keep, value in found.solved.items():
        side = keep if keep in facts else "backward" if known else "forward"
        text = value if isinstance(value, str) else f"{found.unknown} = {typed(value)}"
        facts[side].append((f"Solved, {keep}", text))
    for name, one in found.measured.items():
        facts[name if name in facts else "forward"].append((f"Measured, {name}", str(one)))
    return Told(written(found.block), Derivation(found.block, found.state), facts)


def _side(value: Expr) -> str:
    decimal = None if value.is_Rational else _decimal(value)
    return typed(value) if decimal is None else f"{typed(value)} = {decimal:.10g}"


def record(found: Exploration) -> Mapping[str, Any]:
    """The answer as a record; `backward` holds `null` where it is not known."""
    out, gradient, depth = found.forward, found.backward, found.depth
    return {
        "schema": "varlaw.explore",
        "version": 1,
        "forward": {
            "second_moment": typed(out.second_moment),
            "value": _decimal(out.second_moment),
            "mean": typed(out.mean),
            "correlation": None if out.product is None else typed(out.correlation),
            **_growth(depth.forward if depth else None),
            "fixed_points": [
                {"value": p.value.digits, "slope": _digits(p.slope), "stable": p.stable}
                for p in (depth.points if depth else [])
            ],
            "regime": str(out.regime),
        },
        "backward": {
            "second_moment": None if gradient is None else typed(gradient.second_moment),
            "value": None if gradient is None else _decimal(gradient.second_moment),
            **_growth(depth.backward if depth and gradient else None),
            "regime": None if gradient is None else str(gradient.regime),
            "why": found.why,
        },
        "solved": {
            "name": found.unknown,
            **{keep: _solution(found.solved.get(keep)) for keep in KEEPS},
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
        return {"growth": None, "rate": None, "limit": None}
    return {
        "growth": growth.kind or None,
        "rate": None if growth.rate is None else typed(growth.rate),
        "limit": None if growth.limit is None else typed(growth.limit),
    }
