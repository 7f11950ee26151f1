"""The coordinate check of a parametrisation: networks trained for a few steps at growing sizes.

Exponents are slopes of log size against log width (or depth), from independent networks.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sympy import Expr, oo

from varlaw.checks.experiments.coordinate import Exponents, slope, slopes
from varlaw.checks.statistics.sampling import LAWS, stream
from varlaw.checks.training.networks import Array, Network, Trained, backend_of
from varlaw.symbolic.parametrisation.layers import Kind, Optimizer, ParametrisationError
from varlaw.symbolic.parametrisation.parametrisation import Parametrisation
from varlaw.symbolic.parametrisation.regime import DepthRegime, Regime
from varlaw.symbolic.parametrisation.sizes import a as A
from varlaw.symbolic.parametrisation.sizes import b as B
from varlaw.symbolic.parametrisation.sizes import forward as forward_exponent

MATRICES = (Kind.INPUT, Kind.HIDDEN, Kind.OUTPUT)
STEPS = 3
WIDTHS = (64, 128, 256, 512)
DEPTHS = (4, 8, 16, 32)
NARROW = 64  # the width of networks of growing depth
DRAWS = 16
QUANTILE = 4.0  # standard errors on each side: 99.98 % for the 62 degrees of freedom
TOLERANCE = 0.2  # exponents are multiples of 1/2, or at least of 1/4 apart in what is asked


@dataclass(frozen=True)
class Measured:
    """A derived exponent of the width ("n") or depth ("L") beside the measured one."""

    layer: str
    quantity: str
    base: str
    derived: float
    estimate: float
    error: float

    @property
    def interval(self) -> tuple[float, float]:
        """The confidence interval of the measured exponent."""
        return self.estimate - QUANTILE * self.error, self.estimate + QUANTILE * self.error

    @property
    def verdict(self) -> str:
        """`confirmed` or `refuted` to within TOLERANCE, else `undecided`."""
        low, high = (end - self.derived for end in self.interval)
        if low >= -TOLERANCE and high <= TOLERANCE:
            return "confirmed"
        return "refuted" if low > TOLERANCE or high < -TOLERANCE else "undecided"


def measure(
    p: Parametrisation,
    *,
    widths: Sequence[int] = WIDTHS,
    depths: Sequence[int] = DEPTHS,
    draws: int = DRAWS,
    seed: int = 0,
    backend: str = "numpy",
) -> list[Measured]:
    """The derived exponents beside the measured ones.

    Sizes at the start, each layer's change by its own first step, and where nothing grows the
    changes after STEPS steps of all layers, in depth too where there are residual blocks; after
    one step where only the outputs grow. Raises ParametrisationError.
    """
    for sizes in (widths, depths):
        if len(set(sizes)) < 3 or min(sizes) < 2:
            raise ParametrisationError("an exponent needs at least three sizes from 2 on")
    only = {kind: layer for kind, layer in p.layers.items() if kind in MATRICES}
    p, run = replace(p, layers=only), backend_of(backend)
    found = _at_the_start(p, run, widths, draws, seed)
    if p.analysis.first:
        found += _first_steps(p, widths, draws, seed)
    stable = p.analysis.regime is not Regime.UNSTABLE
    if stable or (p.analysis.updates and min(p.analysis.updates.values()) >= 0):
        found += _in_width(p, run, widths, draws, seed, STEPS if stable else 1)
    if stable and p.residual:
        found += _in_depth(p, run, depths, draws, seed)
    return found


def _first_steps(
    p: Parametrisation, widths: Sequence[int], draws: int, seed: int
) -> list[Measured]:
    at = {
        str(kind).replace("output", "readout"): Exponents(
            float(layer.width.a), float(layer.width.b), float(layer.width.c)
        )
        for kind, layer in p.layers.items()
    }
    rule = "sgd" if p.optimizer is Optimizer.SGD else "adam"
    with np.errstate(divide="ignore", invalid="ignore"):  # a readout of zeros sends no gradient
        found = slopes(at, rule, LAWS["normal"], widths=tuple(widths), draws=draws, seed=seed)
    what = "change by its own step, first step"
    return [
        Measured(str(kind), what, "n", float(-r), *found[str(kind).replace("output", "readout")])
        for kind, r in p.analysis.first.items()
        if r is not oo
    ]


def _fits(
    run: Trained,
    nets: Mapping[int, Network],
    draws: int,
    seed: int,
    steps: int,
    seen: Callable[[list[Array], list[Array]], Mapping[str, Array]],
) -> dict[str, tuple[float, float]]:
    """The slopes of the logarithms of what is seen in networks of growing sizes."""
    logs: dict[str, list[float]] = {}
    for net in nets.values():
        for draw in range(draws):
            rng = stream(seed, "coordinates", net.width, net.depth, draw)
            for name, values in seen(*run(net, net.weights(rng), steps)).items():
                logs.setdefault(name, []).append(_log_size(name, values))
    x = np.repeat(np.log(np.array([*nets], dtype=float)), draws)
    return {name: slope(x, np.array(values)) for name, values in logs.items()}


def _log_size(name: str, values: Array) -> float:
    size = float(np.sqrt(np.mean(values**2)))
    if not (math.isfinite(size) and size > 0):
        raise ParametrisationError(f"{name} is {size:g}: too far out for double precision")
    return math.log(size)


def _at_the_start(
    p: Parametrisation, run: Trained, widths: Sequence[int], draws: int, seed: int
) -> list[Measured]:
    """Of the layers up to the first whose pre-activations are not of order 1."""
    derived = {}
    for kind, layer in p.layers.items():
        at = layer.width
        exponent = forward_exponent(kind).xreplace({A: at.a, B: at.b})
        if exponent != -oo:
            derived[_started(kind)] = exponent
        if exponent != 0:
            break

    def seen(before: list[Array], after: list[Array]) -> dict[str, Array]:
        values = {Kind.INPUT: before[0], Kind.HIDDEN: before[-2], Kind.OUTPUT: before[-1]}
        found = {_started(kind): value for kind, value in values.items()}
        return {name: found[name] for name in derived}

    nets = {n: Network(p, n, 1) for n in widths}
    return _told(_fits(run, nets, draws, seed, 0, seen), derived, "n")


def _started(kind: Kind) -> str:
    what = "outputs" if kind is Kind.OUTPUT else "pre-activations"
    return f"{kind}: {what} at the start"


def _in_width(
    p: Parametrisation, run: Trained, widths: Sequence[int], draws: int, seed: int, steps: int
) -> list[Measured]:
    analysis, moved = p.analysis, f"change after {steps} step{'s' * (steps > 1)}"
    derived = {f"input: {moved}": -analysis.updates[Kind.INPUT]}
    if Kind.HIDDEN in p.layers:
        derived[f"hidden: {moved}"] = -min(analysis.updates[k] for k in (Kind.INPUT, Kind.HIDDEN))
    derived[f"output: {moved}"] = analysis.logits_move

    def seen(before: list[Array], after: list[Array]) -> dict[str, Array]:
        change = [y - x for x, y in zip(before, after, strict=True)]
        shown = [change[0], *change[1 : len(derived) - 1], change[-1]]
        return dict(zip(derived, shown, strict=True))

    nets = {n: Network(p, n, 1) for n in widths}
    return _told(_fits(run, nets, draws, seed, steps, seen), derived, "n")


def _in_depth(
    p: Parametrisation, run: Trained, depths: Sequence[int], draws: int, seed: int
) -> list[Measured]:
    analysis = p.analysis.depth
    assert analysis is not None
    start, own, moved = (size.exponent for size in analysis.sizes)
    derived = {
        "stream: sum of the branches at the start": start,
        "hidden: change within the first block": own,
        "stream: change by all blocks": moved,
    }

    def seen(before: list[Array], after: list[Array]) -> dict[str, Array]:
        values = before[-3] - before[0], after[-2] - before[-2], after[-3] - before[-3]
        return dict(zip(derived, values, strict=True))

    nets = {depth: Network(p, NARROW, depth, frozen=True) for depth in depths}
    steps = 1 if analysis.regime is DepthRegime.UNSTABLE else STEPS
    return _told(_fits(run, nets, draws, seed, steps, seen), derived, "L")


def _told(
    found: Mapping[str, tuple[float, float]], derived: Mapping[str, Expr], base: str
) -> list[Measured]:
    told = []
    for name, (estimate, error) in found.items():
        layer, quantity = name.split(": ")
        told.append(Measured(layer, quantity, base, float(derived[name]), estimate, error))
    return told
