"""What was found of blocks, as an object: `varlaw.explore`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sympy import Expr

from varlaw.symbolic.blocks.block import Block
from varlaw.symbolic.blocks.crossing import Crossing
from varlaw.symbolic.blocks.depth import Depth
from varlaw.symbolic.blocks.finite import Scatter
from varlaw.symbolic.blocks.recurrence import Growth
from varlaw.symbolic.blocks.solve import Range
from varlaw.symbolic.blocks.state import BlockError, Gradient, Regime, State
from varlaw.symbolic.blocks.stream import Part
from varlaw.symbolic.blocks.written import with_values
from varlaw.symbolic.language import Text

if TYPE_CHECKING:
    from varlaw.checks.blocks.verdicts import Judged
    from varlaw.symbolic.blocks.weights import WeightGradient


@dataclass(frozen=True, repr=False)
class Exploration:
    """What blocks do to second moments, forward, backward and in depth.

    `state` enters the `block` and `forward` leaves it: moments of one feature. `backward` is the
    gradient in one entry of the input for the `probe`, of second moment 1, at the output, None
    where it is not covered, and `why` says what keeps it from being known. `answers` has where the
    ratio of second moments is the factor `within` as a function of the parameter `unknown`
    ("forward", "backward", and means of both such as "arithmetic"), or why it is so nowhere; `part`
    is what they are for, `ranges` has the values that keep ratios within the factor. `measured` is
    what a simulation found. `bounds` are the least exponents of the depth that keep a side bounded,
    `losses` what means make least. `scatter` is how the second moment of one input differs between
    seeds, where it was asked for. `weights` has the second moments of the gradients of weights,
    layer by layer, of a loss that is summed over so many `tokens`, where that was asked for.
    """

    block: Block
    state: State
    probe: Gradient
    forward: State
    backward: Gradient | None
    why: str
    depth: Depth | None
    unknown: str | None
    within: Expr
    part: Part | None
    answers: Mapping[str, Crossing | str]
    ranges: Mapping[str, Range]
    bounds: Mapping[str, Expr]
    losses: Mapping[str, Expr]
    scatter: Scatter | None
    tokens: Expr | None
    weights: "Sequence[WeightGradient]"
    measured: "Mapping[str, Judged]"

    @property
    def growth(self) -> Growth | None:
        """How the second moment goes with depth; None unless one block is repeated."""
        return None if self.depth is None else self.depth.forward

    @property
    def solved(self) -> Mapping[str, Expr | str]:
        """The values of the parameter that was solved for, or why there is none."""
        return {
            keep: one if isinstance(one, str) else one.value for keep, one in self.answers.items()
        }

    @property
    def regime(self) -> Regime:
        """What the second moment at the output rests on."""
        return self.forward.regime

    def measure(
        self, values: Mapping[str, Text] | None = None, **options: Any
    ) -> "dict[str, Judged]":
        """Verdicts by simulation, with values for all names: `tolerance`, `error_rate`, `seed`.

        The blocks are run for real with Gaussian weights until each of "forward", "backward" and
        "product" is verified or refuted, or a `budget` of random numbers is used up; see
        `varlaw.checks.blocks.verdicts.verdicts`. Raises BlockError where a name has no value, or
        the network is too large.

        >>> from varlaw import explore
        >>> found = explore("linear(m, 64, var=1/m)").measure({"m": 64, "q0": 1}, tolerance=0.2)
        >>> str(found["forward"].verdict), found["forward"].claimed
        ('verified', 1.0)
        """
        from varlaw.checks.blocks.verdicts import verdicts

        found = self.at(values) if values else self
        return verdicts(found.block, found.state, found.probe, **options)

    def at(self, values: Mapping[str, Text]) -> "Exploration":
        """The same with values in place of names, those of the input included."""
        from varlaw.exploration import explore
        from varlaw.symbolic.language import read

        names = {name: read(value) for name, value in values.items()}
        rho = None if self.state.product is None else self.state.correlation
        given = {
            "second_moment": self.state.second_moment,
            "correlation": rho,
            "mean": self.state.mean,
            "gradient_correlation": self.probe.product,
            "weight_gradients": self.tokens,
        }
        put = {
            name: value
            and value.subs({s: names[s.name] for s in value.free_symbols if s.name in names})
            for name, value in given.items()
        }
        return explore(self.block, values=values, **put)

    def latex(self, *, standalone: bool = True) -> str:
        """The derivation block by block, as a document that compiles or a piece of one."""
        from varlaw.explore_documents import told
        from varlaw.symbolic.printers.blocks import latex

        return latex(told(self), standalone=standalone)

    def markdown(self) -> str:
        """The derivation block by block, as Markdown with formulas between dollars."""
        from varlaw.explore_documents import told
        from varlaw.symbolic.printers.blocks import markdown

        return markdown(told(self))

    _repr_markdown_ = markdown

    def _repr_latex_(self) -> str:
        from varlaw.symbolic.printers.blocks import formula

        return rf"$\displaystyle {formula(self.forward.second_moment)}$"

    def initialisation(self, library: str = "numpy", keep: str = "forward") -> str:
        """Code of "numpy", "torch" or "jax" that draws the weights; with what was solved put in.

        `keep` is the solution that is taken, where a parameter was solved for. Raises BlockError
        where there is none, or no code is written for a block.
        """
        from varlaw.initialisation import initialisation

        if self.unknown is None:
            return initialisation(self.block, library)
        value = self.solved.get(keep, "nothing was solved")
        if isinstance(value, str):
            raise BlockError(value)
        return initialisation(with_values(self.block, {self.unknown: value}), library)

    def to_json(self) -> Mapping[str, Any]:
        """The record that `varlaw explore --json` prints."""
        from varlaw.explored_forms import record

        return record(self)

    def __str__(self) -> str:
        from varlaw.explored_forms import text

        return text(self)

    __repr__ = __str__
