"""What was found of blocks, as text and as a record."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from sympy import Expr, preorder_traversal

from varlaw.explored import Exploration
from varlaw.symbolic.blocks.crossing import Crossing, large
from varlaw.symbolic.blocks.depth import Depth
from varlaw.symbolic.blocks.enclosed import accurate
from varlaw.symbolic.blocks.finite import Scatter
from varlaw.symbolic.blocks.lines import enclosure
from varlaw.symbolic.blocks.recurrence import Growth
from varlaw.symbolic.blocks.solve import KEEPS, Range
from varlaw.symbolic.blocks.state import Gradient, State, joint
from varlaw.symbolic.blocks.weights import WeightGradient
from varlaw.symbolic.blocks.written import written
from varlaw.symbolic.gaussian.decimals import Enclosed
from varlaw.symbolic.language_text import in_decimals, typed

BITS = 64
LONGEST = 1000  # characters of a formula in text
PHASE = ("chi", "q", "limit", "rate", "length")
STABLE = {True: "stable", False: "not stable", None: "stability not known"}


def _decimal(value: Expr) -> float | None:
    """The number that an expression is; None where it has names."""
    if value.free_symbols:
        return None
    found = accurate(lambda: enclosure(value, {}), BITS)
    return None if found is None else float(found.mid())


def text(found: Exploration) -> str:
    """Forward, backward, depth, what was solved and what was measured."""
    lines = [f"forward   {shown(found.forward.second_moment)}"]
    if found.forward.mean != 0:
        lines.append(f"  mean    {shown(found.forward.mean)} ({found.forward.mean_regime})")
    if found.forward.product is not None:
        lines.append(f"  correlation  {shown(found.forward.correlation)}")
    if found.depth is not None:
        lines.append(f"  growth  {found.depth.forward}")
        lines += [
            f"  fixed point  {p.value.digits}, slope {_digits(p.slope)}, {STABLE[p.stable]}"
            for p in (found.depth.points.found if found.depth.points else [])
        ]
    lines.append(f"  regime  {found.forward.regime}")
    if found.depth is not None:
        lines += _depth_lines(found.depth)
    if found.backward is None:
        lines.append(f"backward  not known: {found.why}")
    else:
        lines.append(f"backward  {shown(found.backward.second_moment)}")
        if found.backward.product != 0:
            lines.append(f"  correlation  {shown(found.backward.correlation)}")
        if found.depth is not None:
            lines.append(f"  growth  {found.depth.backward}")
        lines.append(f"  regime  {found.backward.regime}")
    lines += [f"{title}: {told}" for _, title, told in solved_lines(found)]
    lines += [
        f"bounded in depth, {side}: {found.unknown} >= {typed(value)}"
        for side, value in found.bounds.items()
    ]
    if found.tokens is not None:
        lines += _weight_lines(found.tokens, found.weights)
    if found.scatter is not None:
        lines += _scatter_lines(found.scatter)
    lines += [f"measured, {name}: {one}" for name, one in found.measured.items()]
    return "\n".join(lines)


def solved_lines(found: Exploration) -> list[tuple[str, str, str]]:
    """What was solved: the side, or the mean of both, a title and what is told."""
    lines = []
    at = "" if found.within == 1 else f" ratio {typed(found.within)}"
    if found.answers and found.part is not None and found.part.rest is not None:
        rest = written(found.part.rest)
        told = f"behind which no second moment depends on {found.unknown}"
        lines.append(("forward", "solved for the blocks before", f"{rest}, {told}"))
    for keep, value in found.answers.items():
        told = solution(found.unknown, value)
        if not isinstance(value, str) and keep in found.losses:
            told += f", the least mean of {typed(found.losses[keep])} of both ratios r"
        lines.append((keep, f"solved, {keep}{at}", told))
    for side, one in found.ranges.items():
        what = "both ratios" if side == "both" else "the ratio"
        told = f"{_between(str(found.unknown), one)} keeps {what} within {typed(found.within)}"
        lines.append((side, f"within, {side}", told))
    return lines


def solution(name: str | None, found: Crossing | str) -> str:
    """A name and what was solved for it, or why nothing was."""
    if isinstance(found, str):
        return found
    told = f"{name} = {typed(found.value)}"
    if found.large:
        told += f", where {large(found.large)}"
    return told if found.value.is_positive else f"{told}, where that is positive"


def _between(name: str, found: Range) -> str:
    low, high = (None if end is None else typed(end) for end in (found.low, found.high))
    if high is None:
        return f"any {name}" if low is None else f"{name} >= {low}"
    return f"{name} <= {high}" if low is None else f"{low} <= {name} <= {high}"


def _scatter_lines(found: Scatter) -> list[str]:
    order = "exact" if found.exact else "to order 1/width"
    return [
        f"between seeds  mean {shown(found.mean)} ({order})",
        f"  relative variance  {shown(found.relative_variance)} ({order})",
        f"  std of the logarithm  {shown(found.log_std)} (to order 1/width)",
        f"  typical value  {shown(found.typical)} (to order 1/width)",
    ]


def _weight_lines(tokens: Expr, weights: Sequence[WeightGradient]) -> list[str]:
    regime = joint([one.regime for one in weights])
    return [
        f"gradients of weights, of a loss summed over tokens or inputs: {typed(tokens)}",
        *(f"  {one.path} {one.name}  {shown(one.second_moment)}" for one in weights),
        f"  regime  {regime}" if weights else "  there are no weights",
    ]


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
            lines.append(f"  {name} after l layers  {shown(value)}")
    return lines


def shown(value: Expr) -> str:
    """An expression with its value where it has one; only the value of a very long expression."""
    value = in_decimals(value)
    if value.is_Float:
        return f"{float(value):.10g}"
    long = any(True for _ in islice(preorder_traversal(value), LONGEST, None))
    formula = "" if long else typed(value)
    plain = value.is_Rational and len(formula) <= len("1/1234567890")
    decimal = None if plain else _decimal(value)
    if long or len(formula) > LONGEST:
        told = "a long formula, which --json shows"
        return told if decimal is None else f"{decimal:.10g} ({told})"
    return formula if decimal is None else f"{formula} = {decimal:.10g}"


def record(found: Exploration) -> Mapping[str, Any]:
    """The answer as a record; `backward` holds `null` where it is not known."""
    out, gradient, deep = found.forward, found.backward, found.depth
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
            "correlation": None if gradient is None else typed(gradient.correlation),
            **_growth(deep.backward if deep and gradient else None),
            "regime": None if gradient is None else str(gradient.regime),
            "regimes": None if gradient is None else _regimes(gradient),
            "why": found.why,
        },
        "weight_gradients": _weight_record(found.tokens, found.weights),
        "depth": None if deep is None else _depth_record(deep),
        "solved": _solved_record(found),
        "scatter": None if found.scatter is None else _scatter_record(found.scatter),
        "measured": {
            side: None if (one := found.measured.get(side)) is None else one.record()
            for side in ("forward", "product", "backward", "gradient_product")
        },
    }


def _weight_record(
    tokens: Expr | None, weights: Sequence[WeightGradient]
) -> Mapping[str, Any] | None:
    """The second moments of gradients of weights; null where they were not asked for."""
    if tokens is None:
        return None
    layers = [
        {
            "layer": one.path,
            "weight": one.name,
            "second_moment": typed(one.second_moment),
            "value": _decimal(one.second_moment),
            "regime": str(one.regime),
        }
        for one in weights
    ]
    return {"tokens": typed(tokens), "layers": layers}


def _scatter_record(found: Scatter) -> Mapping[str, Any]:
    names = ("mean", "relative_variance", "log_std", "typical")
    return {
        **{name: typed(getattr(found, name)) for name in names},
        "values": {name: _decimal(getattr(found, name)) for name in names},
        "exact": found.exact,
    }


def _solved_record(found: Exploration) -> Mapping[str, Any]:
    """What was solved, with what the values hold for."""
    solved = {keep: one for keep, one in found.answers.items() if isinstance(one, Crossing)}
    rest = None if found.part is None else found.part.rest
    return {
        "name": found.unknown,
        "factor": None if found.unknown is None else typed(found.within),
        **{keep: typed(solved[keep].value) if keep in solved else None for keep in KEEPS},
        "large": {
            keep: [str(name) for name in one.large] for keep, one in solved.items() if one.large
        },
        "within": {
            side: {"from": _text(one.low), "to": _text(one.high)}
            for side, one in found.ranges.items()
        },
        "before": None if rest is None else written(rest),
        "bounded": {side: _text(found.bounds.get(side)) for side in ("forward", "backward")},
        "losses": {keep: typed(loss) for keep, loss in found.losses.items()},
    }


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
