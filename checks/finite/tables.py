"""Discrete laws with rational values, of which finite models are made.

They have four or five outcomes with generic moments (no two-point laws, in which w^2 is constant),
so that an identity that needs a declaration fails where it is not met.
"""

from dataclasses import dataclass
from math import lcm

from flint import fmpq


def _fraction(text: str) -> fmpq:
    top, _, bottom = text.partition("/")
    return fmpq(int(top), int(bottom or 1))


@dataclass(frozen=True)
class Table:
    """Values with probabilities, as a discrete law."""

    values: tuple[fmpq, ...]
    odds: tuple[int, ...]

    @staticmethod
    def of(values: str, odds: tuple[int, ...]) -> "Table":
        return Table(tuple(_fraction(v) for v in values.split()), odds)

    def moment(self, order: int) -> fmpq:
        total = sum(self.odds)
        return (
            sum((v**order * o for v, o in zip(self.values, self.odds, strict=True)), fmpq(0))
            / total
        )

    def spread(self, second: fmpq) -> "Table | None":
        """The same values with odds that make the second moment `second`, if there are such odds.

        A mean of 0 stays, and where the first five moments are those of N(0, 1) they become those
        of N(0, second).
        """
        if second == 1:
            return self
        if self == NORMAL:
            inner, outer = second * fmpq(4, 3) - second**2, second**2 / 4 - second / 12
            weights = [1 - inner - outer, inner / 2, inner / 2, outer / 2, outer / 2]
        else:  # times 1 + c h(v), where h(v) = v^2 - 1 - tilt v has mean 0, and E[v h(v)] = 0
            tilt = self.moment(3) if self.moment(1) == 0 else fmpq(0)
            slope = (second - 1) / (self.moment(4) - 1 - tilt * self.moment(3))
            weights = [
                o * (1 + slope * (v**2 - 1 - tilt * v))
                for v, o in zip(self.values, self.odds, strict=True)
            ]
        if any(w <= 0 for w in weights):
            return None
        whole = lcm(*(int(w.q) for w in weights))
        return Table(self.values, tuple(int((w * whole).p) for w in weights))

    def __str__(self) -> str:
        chances = [str(fmpq(o, sum(self.odds))) for o in self.odds]
        return f"values {', '.join(map(str, self.values))} with probabilities {', '.join(chances)}"


FOUR = (2, 2, 1, 1)
SYMMETRIC = Table.of("1/3 -1/3 5/3 -5/3", FOUR)  # variance 1
SKEWED = Table.of("-4/5 -3/5 6/5 8/5", FOUR)  # mean 0, variance 1, third moment 91/125
OFFSET = Table.of("-8/5 -1/5 2/5 4/5", FOUR)  # second moment 1, mean -2/5
FACTOR = Table.of("1/5 7/5 1/5 7/5", FOUR)  # positive, second moment 1
SWITCH = Table.of("0 1 1 1", FOUR)
NORMAL = Table.of("0 1 -1 2 -2", (6, 2, 2, 1, 1))  # the moments of N(0, 1) to order 5
