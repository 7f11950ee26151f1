"""Standardised laws for weights and inputs, with exact moments, and reproducible random streams.

Every law of the table LAWS has mean 0, variance 1 and rational moments; a caller scales by a
standard deviation and shifts with `shifted`.
"""

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import index
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.random import SFC64, Generator, SeedSequence
from numpy.typing import NDArray

__all__ = ["LAWS", "Discrete", "Law", "Normal", "Shifted", "Uniform", "shifted", "stream"]

Shape = int | tuple[int, ...]


@dataclass(frozen=True)
class Law(ABC):
    """The law of one real random variable x.

    `symmetric` means that x and -x have the same law; `bound` is a number that |x| never
    exceeds, None if there is none.
    """

    name: str
    symmetric: bool
    gaussian: bool
    bound: float | None

    @abstractmethod
    def moment(self, k: int) -> Fraction:
        """E[x^k], exactly, for any k >= 0."""

    @abstractmethod
    def sample(self, rng: Generator, shape: Shape) -> NDArray[np.float64]:
        """Independent draws in an array of the given shape."""

    def fill(self, rng: Generator, out: NDArray[Any]) -> None:
        """Fill a contiguous array of float32 or float64 with independent draws."""
        out[...] = self.sample(rng, out.shape)


@dataclass(frozen=True)
class Normal(Law):
    """N(0, 1): E[x^k] = (k - 1)!! for even k, 0 for odd k."""

    name: str = "normal"
    symmetric: bool = True
    gaussian: bool = True
    bound: float | None = None

    def moment(self, k: int) -> Fraction:
        return Fraction(0 if k % 2 else math.prod(range(1, k, 2)))

    def sample(self, rng: Generator, shape: Shape) -> NDArray[np.float64]:
        return rng.standard_normal(shape)

    def fill(self, rng: Generator, out: NDArray[Any]) -> None:
        rng.standard_normal(out=out, dtype=out.dtype.type)


@dataclass(frozen=True)
class Uniform(Law):
    """Uniform on [-sqrt(3), sqrt(3)]: E[x^k] = 3^(k/2) / (k + 1) for even k, 0 for odd k."""

    name: str = "uniform"
    symmetric: bool = True
    gaussian: bool = False
    bound: float | None = math.sqrt(3)

    def moment(self, k: int) -> Fraction:
        return Fraction(0 if k % 2 else 3 ** (k // 2), k + 1)

    def sample(self, rng: Generator, shape: Shape) -> NDArray[np.float64]:
        values = rng.random(shape)
        values *= 2 * math.sqrt(3)
        values -= math.sqrt(3)
        return values

    def fill(self, rng: Generator, out: NDArray[Any]) -> None:
        rng.random(out=out, dtype=out.dtype.type)
        out *= 2 * math.sqrt(3)
        out -= math.sqrt(3)


@dataclass(frozen=True)
class Discrete(Law):
    """Finitely many rational values with rational probabilities: pairs (value, probability).

    The common denominator of the probabilities is at most 256, so that one uniform number looked up
    in a small table gives one draw or several, with exactly the stated probabilities.

    Raises ValueError if the facts given do not agree with the atoms.
    """

    atoms: tuple[tuple[Fraction, Fraction], ...]

    def __post_init__(self) -> None:
        law = dict(self.atoms)
        mirrored = {-value: probability for value, probability in self.atoms}
        mistakes = {
            "atoms are repeated": len(law) < len(self.atoms),
            "probabilities are not positive": min(law.values()) <= 0,
            "probabilities do not sum to 1": sum(law.values()) != 1,
            "probabilities have too large a denominator": self._denominator() > 256,
            "symmetry is misstated": self.symmetric != (law == mirrored),
            "bound is not the largest |value|": self.bound != float(max(map(abs, law))),
            "finitely many values are not Gaussian": self.gaussian,
        }
        for mistake, made in mistakes.items():
            if made:
                raise ValueError(f"law '{self.name}': {mistake}")

    def moment(self, k: int) -> Fraction:
        return sum((value**k * probability for value, probability in self.atoms), Fraction(0))

    def sample(self, rng: Generator, shape: Shape) -> NDArray[np.float64]:
        values = np.empty(shape)
        self.fill(rng, values)
        return values

    def fill(self, rng: Generator, out: NDArray[Any]) -> None:
        table = self._table.astype(out.dtype, copy=False)
        several = table.shape[1]
        whole, rest = divmod(out.size, several)
        numbers = rng.integers(len(table), size=whole + (rest > 0), dtype=np.uint16)
        flat = out.reshape(-1)
        rows = flat[: whole * several].reshape(whole, several)
        np.take(table, numbers[:whole], axis=0, out=rows, mode="clip")
        if rest:
            flat[-rest:] = table[numbers[-1], :rest]

    @cached_property
    def _table(self) -> NDArray[np.float64]:
        """Equally likely runs of a few values, at most 256 of them, one per row.

        Among the runs of one value each is there once per unit of the denominator.
        """
        units = np.repeat(
            [float(value) for value, _ in self.atoms],
            [int(probability * self._denominator()) for _, probability in self.atoms],
        )
        several = max(k for k in range(1, 9) if units.size**k <= 256)
        runs = np.meshgrid(*(units,) * several, indexing="ij")
        return np.stack(runs, axis=-1).reshape(-1, several)

    def _denominator(self) -> int:
        return math.lcm(*(probability.denominator for _, probability in self.atoms))


@dataclass(frozen=True)
class Shifted(Law):
    """The law of x + mean, where x follows the law `base`."""

    base: Law
    mean: Fraction

    def moment(self, k: int) -> Fraction:
        """E[(x + mean)^k] = sum_j binomial(k, j) mean^(k - j) E[x^j]."""
        return sum(
            (math.comb(k, j) * self.mean ** (k - j) * self.base.moment(j) for j in range(k + 1)),
            Fraction(0),
        )

    def sample(self, rng: Generator, shape: Shape) -> NDArray[np.float64]:
        return self.base.sample(rng, shape) + float(self.mean)


def shifted(law: Law, mean: Fraction | int) -> Law:
    """The law of x + mean for x of the given law; raw moments stay exact.

    >>> shifted(LAWS["normal"], Fraction(1, 2)).moment(2)
    Fraction(5, 4)
    """
    mean = Fraction(mean)
    if mean == 0:
        return law
    bound = None if law.bound is None else law.bound + float(abs(mean))
    return Shifted(f"{law.name} + {mean}", False, law.gaussian, bound, law, mean)


def stream(seed: int, *key: int | str) -> Generator:
    """The random stream that belongs to a key, such as (name of the experiment, replicate).

    The same seed and key give the same bits in every process, platform and order of calls, and
    different keys independent streams: the key is hashed to 128 bits (BLAKE2b), which join the
    seed in NumPy's SeedSequence. The generator is SFC64.

    >>> bool(stream(1, "he", 3).random() == stream(1, "he", 3).random())
    True
    """
    parts = [part if isinstance(part, str) else index(part) for part in key]
    digest = hashlib.blake2b(repr(parts).encode(), digest_size=16).digest()
    words = tuple(int(word) for word in np.frombuffer(digest, dtype="<u4"))
    return Generator(SFC64(SeedSequence(seed, spawn_key=words)))


def _standardised(*laws: Law) -> Mapping[str, Law]:
    """The table of the given laws by name, once their mean, variance and symmetry are checked."""
    for law in laws:
        if law.moment(1) != 0 or law.moment(2) != 1:
            raise ValueError(f"law '{law.name}' does not have mean 0 and variance 1")
        if law.symmetric and any(law.moment(k) for k in (3, 5, 7)):
            raise ValueError(f"law '{law.name}' is not symmetric")
    return MappingProxyType({law.name: law for law in laws})


def _atoms(*pairs: tuple[str, str]) -> tuple[tuple[Fraction, Fraction], ...]:
    return tuple((Fraction(value), Fraction(probability)) for value, probability in pairs)


LAWS: Mapping[str, Law] = _standardised(
    Normal(),
    Uniform(),  # E[x^4] = 9/5
    Discrete("rademacher", True, False, 1.0, _atoms(("1", "1/2"), ("-1", "1/2"))),  # E[x^4] = 1
    # E[x^3] = 3/2 and E[x^4] = 13/4
    Discrete("skewed", False, False, 2.0, _atoms(("2", "1/5"), ("-1/2", "4/5"))),
    # E[x^3] = 5/6 and E[x^4] = 61/36: asymmetric with light tails, for moments of high order
    Discrete("leaning", False, False, 1.5, _atoms(("3/2", "4/13"), ("-2/3", "9/13"))),
    # a heavy atom at 0, where E[x^4] = 4 is larger than the normal law's 3
    Discrete("three-point", True, False, 2.0, _atoms(("-2", "1/8"), ("0", "3/4"), ("2", "1/8"))),
)
"""The standardised laws by name."""
