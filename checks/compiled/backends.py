"""Array libraries that carry compiled experiments out, through the array API standard.

Source of the standard: Consortium for Python Data API Standards, version 2023.12 or later;
array-api-compat fills the gaps of NumPy, CuPy and PyTorch, JAX follows it by itself.
"""

import importlib
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from varlaw.checks.statistics.sampling import Discrete, Law, Normal, Shape, Uniform
from varlaw.symbolic.names import suggestion

Array = Any

MODULES = {
    "numpy": "numpy",
    "torch": "torch",
    "cupy": "cupy",
    "jax": "jax.numpy",
    "array-api-strict": "array_api_strict",
}
DTYPES = ("float64", "float32", "float16")
STREAMS = ("numpy", "own")
OWN = ("torch", "cupy", "jax")  # those with a generator on the device


@dataclass(frozen=True)
class Backend:
    """An array library, with the device and the type of numbers it computes with.

    Sums are accumulated in double precision whatever the type. With `streams` "numpy" the random
    numbers are NumPy's, drawn on the host and moved, and the same for all libraries but for
    rounding; with "own" they come from the library's generator, on the device. An empty device is
    the library's default.

    Raises ValueError for what does not exist, or is not installed.
    """

    name: str = "numpy"
    device: str = ""
    dtype: str = "float64"
    streams: str = "numpy"

    def __post_init__(self) -> None:
        for what, value, known in (
            ("backend", self.name, tuple(MODULES)),
            ("type of numbers", self.dtype, DTYPES),
            ("source of random numbers", self.streams, STREAMS),
        ):
            if value not in known:
                hint = suggestion(value, known) or f"; there are {', '.join(known)}"
                raise ValueError(f"unknown {what} {value!r}{hint}")
        if self.streams == "own" and self.name not in OWN:
            raise ValueError(f"{self.name} has no random numbers of its own; use those of numpy")
        if not hasattr(self.xp, self.dtype):
            raise ValueError(f"{self.name} has no {self.dtype}")
        try:
            self.zeros((1,))
        except Exception as error:  # each library has its own
            raise ValueError(
                f"{self.name} has no device {self.device!r}: {_told(error)}"
            ) from error

    def __str__(self) -> str:
        where = f" on {self.device}" if self.device else ""
        return f"{self.name}{where}, {self.dtype}"

    @property
    def source(self) -> str:
        """Where the random numbers come from."""
        return "NumPy, SFC64" if self.streams == "numpy" else f"{self.name}, its own generator"

    @property
    def xp(self) -> Any:
        """The namespace of the library."""
        return _namespace(self.name)

    @property
    def number(self) -> Any:
        """The type of numbers, as the library has it."""
        return getattr(self.xp, self.dtype)

    @property
    def epsilon(self) -> float:
        """The distance from 1 to the next number."""
        return float(np.finfo(self.dtype).eps)

    def zeros(self, shape: Shape) -> Array:
        return self.xp.zeros(shape, dtype=self.number, **self._place())

    def arange(self, first: int, last: int) -> Array:
        """The whole numbers from first to last, as numbers of the backend's type."""
        return self.xp.arange(first, last + 1, dtype=self.number, **self._place())

    def moved(self, values: NDArray[Any]) -> Array:
        """An array of the host, on the device and of the backend's type."""
        return self.xp.asarray(values.astype(self.dtype, copy=False), **self._place())

    def host(self, values: Array) -> NDArray[np.float64]:
        """An array of the device, on the host, in double precision."""
        if self.name == "torch":
            values = values.detach().cpu()
        elif self.name == "cupy":
            values = self.xp.asnumpy(values)
        elif self.name == "array-api-strict":
            values = np.from_dlpack(values)
        return np.asarray(values, dtype=np.float64)

    def cast(self, values: Array) -> Array:
        """The values in the backend's type."""
        return self.xp.astype(values, self.number)

    def sum(self, values: Array, axis: int) -> Array:
        """The sum along an axis that stays, accumulated in double precision."""
        total = self.xp.sum(values, axis=axis, keepdims=True, dtype=self.xp.float64)
        return self.cast(total)

    def erf(self, values: Array) -> Array:
        """The error function, which the standard leaves out."""
        if self.name in ("torch", "cupy", "jax"):
            module = {"torch": "torch", "cupy": "cupyx.scipy.special", "jax": "jax.scipy.special"}
            return importlib.import_module(module[self.name]).erf(values)
        from scipy.special import erf

        return self.moved(erf(self.host(values)))

    def sampler(self, rng: Generator) -> "HostSampler | DeviceSampler":
        """What draws random numbers; its stream is fixed by that of `rng`."""
        return (HostSampler if self.streams == "numpy" else DeviceSampler)(self, rng)

    def _place(self) -> dict[str, Any]:
        """Where new arrays go, as the library is told so.

        CuPy puts arrays, generators and kernels on the current device of the thread: it is set.
        """
        if not self.device:
            return {}
        if self.name == "cupy":
            index = self.device.removeprefix("cuda").removeprefix(":") or "0"
            importlib.import_module("cupy").cuda.Device(int(index)).use()
            return {}
        if self.name == "jax":
            kind, _, index = self.device.partition(":")
            return {"device": importlib.import_module("jax").devices(kind)[int(index or 0)]}
        return {"device": self.device}


@dataclass(frozen=True)
class HostSampler:
    """Random numbers of NumPy, moved to the device."""

    backend: Backend
    rng: Generator

    def sample(self, law: Law, shape: tuple[int, ...]) -> Array:
        return self.backend.moved(np.asarray(law.sample(self.rng, shape)))


class DeviceSampler:
    """Random numbers of the library's own generator, seeded by a draw from NumPy's stream."""

    def __init__(self, backend: Backend, rng: Generator) -> None:
        self.backend = backend
        backend.zeros((1,))  # its device is then the one that generators are made on
        seed = int(rng.integers(1 << 62))
        if backend.name == "torch":
            self._library = importlib.import_module("torch")
            self._generator = self._library.Generator(backend.device or "cpu").manual_seed(seed)
        elif backend.name == "cupy":
            self._generator = importlib.import_module("cupy").random.default_rng(seed)
        else:
            self._library = importlib.import_module("jax")
            self._generator = self._library.random.key(seed)

    def sample(self, law: Law, shape: tuple[int, ...]) -> Array:
        """Draws of a law of the table. Raises ValueError for another one."""
        if isinstance(law, Normal):
            return self.backend.cast(self._draw("normal", shape))
        uniform = self._draw("uniform", shape)
        if isinstance(law, Uniform):
            return self.backend.cast((2 * uniform - 1) * 3**0.5)
        if not isinstance(law, Discrete):
            raise ValueError(f"{self.backend.name} cannot draw from the law {law.name!r}")
        values, below = 0 * uniform, 0.0
        for value, probability in law.atoms:  # exactly in multiples of 2^-53
            chosen = (uniform >= below) & (uniform < below + float(probability))
            values = self.backend.xp.where(chosen, 0 * uniform + float(value), values)
            below += float(probability)
        return self.backend.cast(values)

    def _draw(self, kind: str, shape: tuple[int, ...]) -> Array:
        """Standard normal numbers, or uniform ones in [0, 1), in double precision."""
        if self.backend.name == "torch":
            make = self._library.randn if kind == "normal" else self._library.rand
            device = self.backend.device or "cpu"
            return make(
                shape, generator=self._generator, dtype=self._library.float64, device=device
            )
        if self.backend.name == "cupy":
            if kind == "normal":
                return self._generator.standard_normal(shape)
            return self._generator.random(shape)
        self._generator, key = self._library.random.split(self._generator)
        return getattr(self._library.random, kind)(key, shape, dtype="float64")


@cache
def _namespace(name: str) -> Any:
    from array_api_compat import array_namespace

    try:
        if name == "jax":
            importlib.import_module("jax").config.update("jax_enable_x64", True)
        return array_namespace(importlib.import_module(MODULES[name]).zeros(1))
    except ImportError as error:
        raise ValueError(f"{name} is not installed: pip install {name}") from error
    except Exception as error:  # such as CuPy's, where there is no driver
        raise ValueError(f"{name} does not work here: {_told(error)}") from error


def _told(error: Exception) -> str:
    """What an error says, in one line."""
    return " ".join(str(error).split())[:200]
