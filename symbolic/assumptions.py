"""Assumptions: the declared properties that steps rest on, and their order of implication."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """A kind of assumption; the value is how it is written in reports."""

    ZERO_MEAN = "zero mean"
    INDEPENDENT_ENTRIES = "independent entries"
    IDENTICAL = "identically distributed"
    SYMMETRIC = "symmetric"
    GAUSSIAN = "Gaussian"
    INDEPENDENT = "independent of"
    UNCORRELATED = "uncorrelated with"
    NO_ATOM = "no probability at zero"
    WIDE = "wide limit"
    ORTHONORMAL = "orthonormal rows"
    SUMS_TO_ONE = "sums to 1"


RELATIONS = (Kind.INDEPENDENT, Kind.UNCORRELATED)


@dataclass(frozen=True, order=True)
class Assumption:
    """One declared property of one random array, or of a pair of them."""

    kind: Kind
    subjects: tuple[str, ...]

    def __str__(self) -> str:
        if self.kind in RELATIONS:
            return f"{self.subjects[0]} {self.kind} {self.subjects[1]}"
        return f"{self.subjects[0]}: {self.kind}"

    @property
    def representable(self) -> bool:
        """Whether dropping it can be tried out in a finite model."""
        return self.kind not in (Kind.WIDE, Kind.ORTHONORMAL, Kind.SUMS_TO_ONE)
