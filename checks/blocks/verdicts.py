"""Verdicts on the moments of blocks, from the blocks run for real."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sympy import Expr

from varlaw.checks.blocks.measuring import PROBE, Simulation, distance
from varlaw.checks.blocks.running import children, number, parts, whole
from varlaw.checks.statistics.asymptotic import START, AsymptoticSequence, mixture
from varlaw.checks.statistics.intervals import Interval, NoInterval
from varlaw.checks.statistics.verdicts import Verdict, place, share
from varlaw.symbolic.blocks.attention import Attention
from varlaw.symbolic.blocks.block import Block
from varlaw.symbolic.blocks.convolution import Conv
from varlaw.symbolic.blocks.linear import Linear
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.state import Approximation, BlockError, Gradient, Regime, State

TOLERANCE = 0.05
ERROR_RATE = 1e-6
BUDGET = 1e9  # random numbers: some twenty seconds at most
GROWING = math.sqrt(2)  # of the number of replicates from look to look
ALLOWED = 10  # relative error of the wide limit, in layers / width
UNSIZED = {  # approximations whose error has no bound here, and what it comes from
    Approximation.TOKENS: "their number",
    Approximation.SAMPLES: "their number",
    Approximation.POSITIONS: "their differences",
    Approximation.GATES: "their differences from token to token",
}
WIDE = Approximation.WIDE, "the width"
SCALES = {"product": "forward", "gradient_product": "backward"}  # whose share the margin is
UNKNOWN = Interval(-math.inf, math.inf, "asymptotic", 0)


@dataclass(frozen=True)
class Judged:
    """A claim, what was measured of it with an interval, and the verdict.

    `error` is the standard error of the estimate; `why` says why there is no verdict, or what a
    verdict leaves open.
    """

    claimed: float
    estimate: float
    error: float
    low: float
    high: float
    replicates: int
    verdict: Verdict
    why: str = ""

    def __str__(self) -> str:
        end = f" ({self.why})" if self.why else ""
        known = math.isfinite(self.high)
        within = f"in [{self.low:.6g}, {self.high:.6g}]" if known else f"+- {self.error:.2g}"
        return (
            f"{self.verdict}: {self.estimate:.6g} {within} of {self.replicates} networks,"
            f" {distance(self.estimate, self.claimed)}{end}"
        )

    def record(self) -> dict[str, Any]:
        """The values as a record."""
        return {**vars(self), "verdict": str(self.verdict)}


@dataclass
class _Quantity:
    """One claim under test: its margins in absolute terms, and the interval so far.

    A claim is refuted beyond `margin` and `allowance`, one of the wide limit beyond it and `wide`.
    """

    claimed: float
    margin: float
    allowance: float
    wide: float
    cost: float
    regime: Regime
    sequence: AsymptoticSequence
    squares: float = 0.0
    verdict: Verdict = Verdict.UNDECIDED
    interval: Interval = UNKNOWN

    def look(self) -> None:
        try:
            self.interval = self.sequence.interval()
        except NoInterval:  # all are equal, as a norm at the end makes them
            mean = self.sequence.estimate
            self.interval = Interval(mean, mean, self.sequence.kind, self.sequence.count)
        inner, outer = self.margin, self.margin + self.allowance
        if place(self.interval, self.claimed - inner, self.claimed + inner) is Verdict.VERIFIED:
            self.verdict = Verdict.VERIFIED
        if place(self.interval, self.claimed - outer, self.claimed + outer) is Verdict.REFUTED:
            self.verdict = Verdict.REFUTED

    @property
    def settled(self) -> bool:
        """Whether more replicates would say no more: decided, or apart within the allowance."""
        low, high = self.claimed - self.margin, self.claimed + self.margin
        return (
            self.verdict is not Verdict.UNDECIDED
            or place(self.interval, low, high) is Verdict.REFUTED
        )

    def judged(self, followed: float | None = None) -> Judged:
        sequence, mean = self.sequence, self.sequence.estimate
        variance = max(self.squares / sequence.count - mean**2, 0.0)
        error = math.sqrt(variance / max(sequence.count - 1, 1))
        ends = self.interval.low, self.interval.high
        why = "" if self.verdict is not Verdict.UNDECIDED else self._why(variance)
        if why and followed is not None and not self.regime.isdisjoint(UNSIZED):
            why += f"; token by token {followed:.6g} is claimed: {self._of(followed)}"
        return Judged(self.claimed, mean, error, *ends, sequence.count, self.verdict, why)

    def _of(self, value: float) -> Verdict:
        """The verdict on another value, of the wide limit, within the same relative error."""
        margin = self.margin * abs(value / self.claimed) if self.claimed else self.margin
        near = place(self.interval, value - margin, value + margin)
        if near is not Verdict.REFUTED:
            return near
        outer = margin + self.wide
        beyond = place(self.interval, value - outer, value + outer)
        return beyond if beyond is Verdict.REFUTED else Verdict.UNDECIDED

    def _why(self, variance: float) -> str:
        """Why there is no verdict."""
        apart = abs(self.sequence.estimate - self.claimed)
        share = f"{apart / abs(self.claimed):.1%}" if self.claimed else f"{apart:.3g}"
        if self.settled:
            limit, cause = next(((a, UNSIZED[a]) for a in UNSIZED if a in self.regime), WIDE)
            return f"{limit}: apart by {share}, which {cause} may explain"
        room = abs(self.margin - apart)
        if room < self.margin / 4:
            return "too near an end of the tolerance"
        networks = 2 * max(variance * mixture(self.sequence.alpha) / room**2, START)
        takes = f"about {networks:.1g} networks, {networks * self.cost:.1g} random numbers"
        if apart > self.margin:
            return f"apart by {share}, of too few networks: more is known from {takes}"
        return f"a verdict takes {takes}"


def verdicts(
    block: Block,
    state: State,
    probe: Gradient = PROBE,
    *,
    tolerance: float = TOLERANCE,
    error_rate: float = ERROR_RATE,
    budget: float = BUDGET,
    seed: int = 0,
    law: str = "normal",
) -> dict[str, Judged]:
    """Verdicts on the second moments "forward" and "backward" and the "product" of two inputs.

    With a `probe` of two inputs that correlate, at the output, on their "gradient_product", too.

    Networks are drawn until each claim has a verdict, or `budget` random numbers are used up. A
    claim is verified where its confidence sequence lies within claimed (1 +- tolerance), refuted
    where it lies outside; of a product the margin is that share of the second moment. The
    sequences hold at all looks at once and share the `error_rate`; they are asymptotic, since
    nothing bounds the tails, and say nothing before 1000 networks.

    What rests on the wide limit is refuted only beyond the tolerance and 10 layers / width, the
    order of its error, more; between the two it is undecided. Nothing is refuted that rests on
    many tokens or samples, or on means over positions. Raises BlockError as `Simulation.of` does.
    """
    simulation = Simulation.of(block, state, law, probe)
    most = int(budget / simulation.cost)
    streams = np.random.SeedSequence(seed)
    found = dict(_quantities(simulation, tolerance, error_rate, max(most, START)))
    count = 0
    for upto in _looks(most):
        values = simulation.run(streams.spawn(upto - count))
        count = upto
        for name, quantity in found.items():
            quantity.sequence.update(values[name])
            quantity.squares += float((values[name] ** 2).sum())
            if not quantity.settled:
                quantity.look()
        if all(quantity.settled for quantity in found.values()):
            break
    undecided = any(quantity.verdict is Verdict.UNDECIDED for quantity in found.values())
    followed = _by_token(simulation) if undecided and probe.product == 0 else {}
    return {name: quantity.judged(followed.get(name)) for name, quantity in found.items()}


def _by_token(simulation: Simulation) -> dict[str, float]:
    """What is claimed where attention's tokens are followed one by one; nothing if they are not."""
    from varlaw.symbolic.blocks.layerwise import followed

    try:
        return followed(simulation.block, simulation.state)
    except BlockError:
        return {}


def _looks(most: int) -> Iterator[int]:
    """After how many networks one looks; with too few for a look, some for an estimate."""
    upto = START
    while upto < most:
        yield upto
        upto = int(GROWING * upto)
    yield max(most, 16)


def _quantities(
    simulation: Simulation, tolerance: float, error_rate: float, planned: int
) -> Iterator[tuple[str, _Quantity]]:
    alpha = share(error_rate, len(simulation.claimed))
    layers, width = _layers(simulation.block), _width(simulation.block)
    for name, claimed in simulation.claimed.items():
        scale = abs(simulation.claimed[SCALES.get(name, name)])
        used = simulation.regimes[name]
        allowance, wide = 0.0, ALLOWED * layers / width * scale
        if not used.isdisjoint(UNSIZED):
            allowance = math.inf
        elif Approximation.WIDE in used:
            allowance = wide
        sequence = AsymptoticSequence(alpha, planned)
        margin, cost = tolerance * scale, simulation.cost
        yield name, _Quantity(claimed, margin, allowance, wide, cost, used, sequence)


def _layers(block: Block) -> int:
    """How many layers of weights there are."""
    if isinstance(block, Repeat):
        return whole(block.depth) * _layers(block.block)
    own = isinstance(block, Linear | Attention | Conv)
    return own + sum(_layers(inner) for inner in children(block))


def _width(block: Block) -> float:
    """The least number of features or channels that go in or out of a layer."""
    sizes = [
        number(size)
        for part in parts(block)
        for name in ("fan_in", "fan_out", "width", "channels_in", "channels_out")
        if isinstance(size := getattr(part, name, None), Expr)
    ]
    return min(sizes)
