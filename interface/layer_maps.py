"""The maps of a layer on the command line: `varlaw kernel F --map`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import click
from sympy import Expr, Integer, oo

from varlaw.symbolic.gaussian.correlation_map import CorrelationMap, depth_scale
from varlaw.symbolic.gaussian.decimals import Enclosed
from varlaw.symbolic.gaussian.edge_of_chaos import Critical, critical_weight_variances
from varlaw.symbolic.gaussian.fixed_points import FixedPoint, LayerMap
from varlaw.symbolic.gaussian.functions import function_of
from varlaw.symbolic.language import read
from varlaw.symbolic.language_text import typed

MORE = 12  # digits of q beyond those asked for, for its correlation map
ONE = Integer(1)


@dataclass(frozen=True)
class Found:
    """A fixed point of the variance map, with the correlation map there; none at q = 0."""

    point: FixedPoint
    exact: Expr | None
    correlations: tuple[FixedPoint, ...]


@dataclass(frozen=True)
class Answer:
    """The maps of a layer, to so many digits."""

    layer: LayerMap
    found: tuple[Found, ...]
    critical: tuple[Critical, ...]
    digits: int
    seconds: float


def answer(f: str, weight_variance: str, bias_variance: str, digits: int) -> Answer:
    """The maps of a layer with an activation, or a usage error."""
    start = perf_counter()
    try:
        function, x = function_of(f)
        weight, bias = (read(text, real=True) for text in (weight_variance, bias_variance))
        if not weight.is_number or not bias.is_number or function.free_symbols - {x}:
            raise click.UsageError("the maps of a layer need numbers: give the parameters values")
        if not weight.is_positive or not bias.is_nonnegative:
            raise click.UsageError(
                "the weight variance is positive, the bias variance not negative"
            )
        layer = LayerMap(function, x, weight, bias)
        return Answer(
            layer,
            tuple(_found(layer, digits)),
            critical_weight_variances(function, x, bias, digits),
            digits,
            perf_counter() - start,
        )
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _found(layer: LayerMap, digits: int) -> Iterator[Found]:
    exact, precise = layer.fixed_points(digits), layer.fixed_points(digits + MORE)
    if layer.identity:  # then the correlation map is the same at every q
        precise = exact = (FixedPoint(ONE, None, ONE, None),)
    for shown, point in zip(exact, precise, strict=True):
        if point.exact == 0:
            yield Found(shown, None, ())
        else:
            correlation = CorrelationMap(layer, point)
            yield Found(shown, correlation.exact, correlation.fixed_points(digits))


def text(answer: Answer) -> str:
    """Each fixed point in a line, those of its correlation map below it."""
    layer = answer.layer
    weight, bias = layer.weight_variance, layer.bias_variance
    square = f"E[{typed(layer.function)}^2]"
    mean = square if weight == 1 else f"{typed(weight)}*{square}"
    lines = [
        f"variance map q -> {mean}{'' if bias == 0 else f' + {typed(bias)}'}"
        f" for {typed(layer.variable)} ~ N(0, q)"
    ]
    if layer.exact is not None:
        lines.append(f"  = {typed(layer.exact)}")
    if not answer.found:
        lines.append("  no fixed point was found")
    for found in answer.found:
        lines.append("  every q is fixed" if layer.identity else f"  {_line('q', found.point)}")
        lines += [f"    {_line('c', point)}" for point in found.correlations]
    for critical in answer.critical:
        lines.append(
            f"  edge of chaos at weight variance {_value(critical.exact, critical.weight_variance)}"
            f", q = {critical.q.digits}"
        )
    return "\n".join(lines)


def _line(name: str, point: FixedPoint) -> str:
    slope = _value(point.exact_slope, point.slope)
    words = {True: "stable", False: "unstable", None: "marginal"}
    line = f"{name} = {_value(point.exact, point.value)}: slope {slope}, {words[point.stable]}"
    scale = None if point.slope is None else depth_scale(point.slope, 6)
    return line if scale is None else f"{line}, depth scale {scale.digits}"


def _value(exact: Expr | None, enclosed: Enclosed | None) -> str:
    """A number as it is told: infinite, whole or a fraction, else its digits."""
    if exact is not None and (exact.is_Rational or enclosed is None):
        return "infinite" if exact == oo else typed(exact)
    return "not known" if enclosed is None else enclosed.digits


def record(answer: Answer) -> Mapping[str, Any]:
    """The maps as a record."""
    layer = answer.layer
    return {
        "schema": "varlaw.kernel-map",
        "version": 1,
        "f": typed(layer.function),
        "weight_variance": typed(layer.weight_variance),
        "bias_variance": typed(layer.bias_variance),
        "exact": None if layer.exact is None else typed(layer.exact),
        "every_q": layer.identity,
        "fixed_points": [
            {
                **_point(found.point),
                "correlation_map": None if found.exact is None else typed(found.exact),
                "correlations": [_point(point) for point in found.correlations],
            }
            for found in answer.found
        ],
        "critical": [
            {
                "weight_variance": _number(critical.exact, critical.weight_variance),
                "q": critical.q.digits,
            }
            for critical in answer.critical
        ],
        "seconds": round(answer.seconds, 6),
    }


def _point(point: FixedPoint) -> dict[str, Any]:
    scale = None if point.slope is None else depth_scale(point.slope)
    return {
        "value": _number(point.exact, point.value),
        "slope": _number(point.exact_slope, point.slope),
        "stable": point.stable,
        "depth_scale": None if scale is None else scale.digits,
    }


def _number(exact: Expr | None, enclosed: Enclosed | None) -> dict[str, Any]:
    return {
        "exact": None if exact is None else "infinite" if exact == oo else typed(exact),
        "digits": None if enclosed is None else enclosed.digits,
        "radius": None if enclosed is None else enclosed.radius,
    }
