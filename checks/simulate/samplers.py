"""Two samplers of deep nets at initialisation: *direct* and *conditional*.

Both give the forward pass of many independent networks, layer by layer. Weights are drawn and
multiplied in float32, with half the memory and time of float64; second moments are accumulated in
float64, since a float32 dot product of 2^24 squares is off by 6e-5. Buffers are allocated once and
filled in place, so an object serves one thread.

Random numbers come from one stream, or from a sequence of streams, one per replicate: then a
network has the same bits however networks are grouped.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, DTypeLike, NDArray

from varlaw.checks.report import SamplerName
from varlaw.checks.simulate.nets import Net, Values
from varlaw.checks.statistics.sampling import LAWS, Law

Source = Generator | Sequence[Generator]
Squares = NDArray[np.float64]

BLOCK = 1 << 16  # weights held at once, where a matrix has no more
# Where second moments must lie for entries to keep their precision; squares are float64
RANGES = {np.dtype(np.float32): (1e-60, 1e60), np.dtype(np.float64): (1e-300, 1e300)}


class Sampler(ABC):
    """How the weights of a net are drawn, and its forward pass with them."""

    name: ClassVar[SamplerName]
    copies: int = 1  # how many networks share their random numbers

    def __init__(self, net: Net, dtype: DTypeLike = np.float32) -> None:
        self.net = net
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        if self.dtype not in RANGES:
            raise ValueError(f"nets are drawn in float32 or float64, not {self.dtype}")
        least, most = RANGES[self.dtype]  # so that q_l and s2 q_l, before activation, both fit
        self._range = least / min(1.0, net.s2), most / max(1.0, net.s2)
        self._held: dict[str, Values] = {}

    def layers(
        self, source: Source, inputs: ArrayLike, networks: int
    ) -> Iterator[tuple[Values, Squares]]:
        """h_0..h_L of `networks` networks, each with its second moments.

        `inputs` are n_0 numbers, a batch of them (batch, n_0), or a batch for each network. Each
        h_l has the shape (networks, batch, n_l) and is overwritten two layers on; q_l = mean of
        h_l^2 over the units is float64, of shape (networks, batch).

        Raises ValueError for inputs of another width, and FloatingPointError where activations
        come near the ends of the range of floats: float64 then reaches further.
        """
        given = np.atleast_2d(np.asarray(inputs, dtype=self.dtype))
        widths = self.net.widths
        shape = (networks, given.shape[-2], widths[0])
        if given.shape not in (shape, shape[1:]):
            raise ValueError(f"inputs of shape {given.shape} do not fit {networks} x {widths[0]}")
        if networks % self.copies:
            raise ValueError(f"networks come in groups of {self.copies}, which {networks} are not")
        if not isinstance(source, Generator) and len(source) * self.copies != networks:
            raise ValueError(f"{len(source)} streams for {networks // self.copies} replicates")
        h = self._buffer("even", shape)
        h[...] = given
        q = self._second_moment(h)
        yield h, q
        for layer, (_, units) in enumerate(pairwise(widths)):
            z = self._buffer(("odd", "even")[layer % 2], (*shape[:2], units))
            self._multiply(source, h, q, self.net.std(layer), z)
            self.net.activate(z, z)
            h, q = z, self._second_moment(z)
            yield h, q

    def replicates(self, estimates: Squares) -> Squares:
        """One number per replicate: the mean of those of the networks that share random numbers."""
        means: Squares = estimates.reshape(self.copies, -1).mean(axis=0)
        return means

    @abstractmethod
    def _multiply(self, source: Source, h: Values, q: Squares, std: float, out: Values) -> None:
        """h W with fresh weights of some std, for every network."""

    def _second_moment(self, h: Values) -> Squares:
        """The mean of h^2 over the units: one pairwise sum in float64 per input."""
        squares = self._buffer("squares", h.shape, np.dtype(np.float64))
        np.square(h, out=squares, dtype=np.float64)
        q: Squares = squares.mean(axis=-1)
        least, most = self._range
        if not ((q == 0) | (least < q) & (q < most)).all():
            raise FloatingPointError(f"activations left the range of {self.dtype}")
        return q

    def _buffer(
        self, name: str, shape: tuple[int, ...], dtype: np.dtype[Any] | None = None
    ) -> Values:
        """A contiguous array of some shape, in memory that is kept under a name."""
        size = prod(shape)
        if name not in self._held or self._held[name].size < size:
            self._held[name] = np.empty(size, dtype or self.dtype)
        return self._held[name][:size].reshape(shape)


class Direct(Sampler):
    """Draw every weight matrix and multiply: the real thing, for weights of any law.

    >>> from varlaw.checks.statistics.sampling import stream
    >>> from varlaw.checks.simulate import constant, relu
    >>> nets = Direct(constant(8, depth=3, activate=relu, s2=2.0), LAWS["uniform"])
    >>> [h.shape for h, q in nets.layers(stream(1), np.ones((2, 8)), networks=5)]
    [(5, 2, 8), (5, 2, 8), (5, 2, 8), (5, 2, 8)]
    """

    name = "direct"

    def __init__(
        self, net: Net, weights: Law = LAWS["normal"], dtype: DTypeLike = np.float32
    ) -> None:
        super().__init__(net, dtype)
        self.weights = weights

    def _multiply(self, source: Source, h: Values, q: Squares, std: float, out: Values) -> None:
        size = h.shape[-1], out.shape[-1]
        block = max(1, BLOCK // (size[0] * size[1]))
        for first in range(0, len(h), block):
            some = slice(first, first + block)
            w = self._buffer("weights", (len(h[some]), *size))
            _fill(self.weights, source if isinstance(source, Generator) else source[some], w)
            np.matmul(h[some], w, out=out[some])
        out *= self.dtype.type(std)


class Conditional(Sampler):
    """Draw the pre-activations given the batch, for Gaussian weights: exact in law, all layers.

    Given the batch H (an input per row), H W has iid columns N(0, s2/n H H^T). So with an
    independent Gaussian matrix G and R from the QR decomposition H^T = Q R, the rows of R^T G have
    the law of H W, at a cost of batch x units, not width x units. QR stands up to a batch of rank
    one, as deep in a ReLU net, where a Cholesky decomposition of the Gram matrix fails; a batch of
    one takes its norm alone.

    Forward only: W is never drawn, and a backward pass must draw it given the forward pass (a new
    independent W would have the wrong joint law). It takes for granted that pre-activations are
    Gaussian given the batch, so it is never the only evidence for a law about that step; such a law
    is measured with `Direct` as well.

    With `mirrored`, G in one half of the networks is -G in the other, so that network k and
    k + networks/2 are a pair: each has the law of a network, at half the random numbers, and one
    replicate is the mean of both. For ReLU they are negatively correlated besides; for an odd or
    even activation the second says nothing new.
    """

    name = "conditional"

    def __init__(self, net: Net, dtype: DTypeLike = np.float32, *, mirrored: bool = False) -> None:
        super().__init__(net, dtype)
        self.copies = 2 if mirrored else 1

    def _multiply(self, source: Source, h: Values, q: Squares, std: float, out: Values) -> None:
        networks, batch, width = h.shape
        if batch == 1:
            self._normal(source, out)
            out *= (std * np.sqrt(q * width))[..., None].astype(self.dtype)
            return
        triangle = np.asarray(np.linalg.qr(h.swapaxes(1, 2), mode="r"))
        factor = triangle.swapaxes(1, 2)
        factor *= self.dtype.type(std)
        g = self._buffer("normal", (networks, factor.shape[-1], out.shape[-1]))
        self._normal(source, g)
        np.matmul(factor, g, out=out)

    def _normal(self, source: Source, out: Values) -> None:
        drawn = len(out) // self.copies
        _fill(LAWS["normal"], source, out[:drawn])
        if self.copies == 2:
            np.negative(out[:drawn], out=out[drawn:])


def _fill(law: Law, source: Source, out: Values) -> None:
    """Draws from one stream, or for each network from its own."""
    if isinstance(source, Generator):
        law.fill(source, out)
    else:
        for rng, part in zip(source, out, strict=True):
            law.fill(rng, part)


def second_moments(sampler: Sampler, source: Source, inputs: ArrayLike, networks: int) -> Squares:
    """q_0..q_L of some networks, of shape (L + 1, networks, batch)."""
    return np.stack([q for _, q in sampler.layers(source, inputs, networks)])
