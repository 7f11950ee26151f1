"""Array code of expressions against plain loops, and one library against the others."""

import importlib.util
import math
import sys
from collections.abc import Callable, Iterator
from itertools import product
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sympy import Expr, Integer, Rational, Tuple, erf, exp, log, sqrt, tanh

from varlaw.checks.compiled.backends import Backend, DeviceSampler, _namespace
from varlaw.checks.compiled.evaluation import Evaluation
from varlaw.checks.compiled.models import Affine, model_of
from varlaw.checks.compiled.program import Program
from varlaw.checks.compiled.trials import compiled, measure_claim
from varlaw.checks.statistics.sampling import LAWS, stream
from varlaw.checks.statistics.verdicts import Verdict
from varlaw.symbolic.activations import ACTIVATIONS
from varlaw.symbolic.declarations import dimensions, indices, random_array, random_variable
from varlaw.symbolic.ranges import Range
from varlaw.symbolic.sequences import IndexProduct
from varlaw.symbolic.terms import Delta, IndexSum, Sum, indicator

R = 3  # replicates
m, n = dimensions("m n")
i, j, k = indices("i j k")
SIZES = {"m": Integer(3), "n": Integer(2)}
ZERO, ONE = Integer(0), Integer(1)
x, w = random_array("x"), random_array("w")

INSTALLED = [
    name
    for name in ("array-api-strict", "torch", "jax", "cupy")
    if importlib.util.find_spec(name.replace("-", "_"))
]


def value_of(statistic: Expr, backend: Backend | None = None, **arrays: Any) -> Any:
    """The value for given draws, with the replicates on the last axis."""
    backend = backend or Backend()
    laws = {name: Affine(LAWS["normal"], ZERO, ONE) for name in arrays}
    program = Program(statistic, laws, SIZES, backend)
    drawn = {name: backend.moved(needed(program, name, v)) for name, v in arrays.items()}
    found = Evaluation(program, drawn, R).value(program.statistic, {})
    return np.broadcast_to(backend.host(found).reshape(-1), (R,))


def needed(program: Program, name: str, values: Any) -> Any:
    """What a program draws of an array: from its least to its greatest indices."""
    return values[tuple(slice(low - 1, high) for low, high in program.extents.get(name, []))]


def draws(*shape: int) -> Any:
    return np.random.default_rng(5).standard_normal((*shape, R))


V, W = draws(3), draws(3, 2)
M, N = range(3), range(2)


def loop(function: Callable[..., Any], *ranges: Any) -> Any:
    return sum((function(*at) for at in product(*ranges)), np.zeros(R))


def distinct(names: tuple[Any, ...], excluded: tuple[Any, ...] = ()) -> Range:
    """Indices from 1 to m that avoid one another, and those excluded."""
    return Range(Tuple(*names), ONE, m, Tuple(*excluded))


EXPRESSIONS: dict[str, tuple[Expr, Any]] = {
    "a sum over two indices": (
        Sum(x[i] * w[i, j], (i, 1, m), (j, 1, n)),
        loop(lambda a, b: V[a] * W[a, b], M, N),
    ),
    "a power of a sum": (
        Sum(x[i] * w[i, 2], (i, 1, m)) ** 3,
        loop(lambda a: V[a] * W[a, 1], M) ** 3,
    ),
    "a square within a sum": (
        Sum(Sum(x[i] * w[i, j], (i, 1, m)) ** 2, (j, 1, n)),
        loop(lambda b: loop(lambda a: V[a] * W[a, b], M) ** 2, N),
    ),
    "one index with two meanings": (
        Sum(x[i] * Sum(w[i, j], (j, 1, n)) * Sum(x[i], (i, 1, m)), (i, 1, m)),
        loop(lambda a: V[a] * W[a].sum(axis=0) * V.sum(axis=0), M),
    ),
    "a sum that ends earlier": (Sum(x[i], (i, 2, m)) * x[1], V[0] * (V[1] + V[2])),
    "an index that the summand does not have": (
        Sum(x[1] * w[i, 1], (i, 1, m), (j, 1, n)),
        2 * V[0] * W[:, 0].sum(axis=0),
    ),
    "an index as a number": (
        Sum(i**2 * x[i] / (i + m), (i, 1, m)),
        loop(lambda a: (a + 1) ** 2 * V[a] / (a + 4), M),
    ),
    "a Kronecker delta": (
        Sum(Delta(i, j) * x[i] * w[j, 1] + Delta(i, Integer(2)) * x[j], (i, 1, m), (j, 1, m)),
        loop(lambda a: V[a] * W[a, 0], M) + V.sum(axis=0),
    ),
    "indices that are distinct": (
        IndexSum(x[i] * x[j] ** 2, distinct((i, j))),
        loop(lambda a, b: V[a] * V[b] ** 2 * (a != b), M, M),
    ),
    "an index that is left out": (
        IndexSum(x[i] ** 2, distinct((i,), (Integer(2),))),
        V[0] ** 2 + V[2] ** 2,
    ),
    "a product over an index": (
        IndexProduct(x[i] + i, i, ONE, m),
        np.prod([V[a] + a + 1 for a in M], axis=0),
    ),
    "indicators": (
        Sum(indicator(x[i] - 1, "<") * indicator(w[i, 1], ">") * x[i], (i, 1, m)),
        loop(lambda a: V[a] * (V[a] < 1) * (W[a, 0] > 0), M),
    ),
    "functions": (
        exp(-(x[1] ** 2)) + erf(x[2]) + tanh(x[3]) + log(2 + x[1] ** 2) + sqrt(x[2] ** 2),
        np.exp(-(V[0] ** 2))
        + [math.erf(v) for v in V[1]]
        + np.tanh(V[2])
        + np.log(2 + V[0] ** 2)
        + abs(V[1]),
    ),
    "a quotient, and numbers": (
        (2 * x[1] - Rational(1, 3)) / Sum(w[i, j] ** 2, (i, 1, m), (j, 1, n)),
        (2 * V[0] - 1 / 3) / (W**2).sum(axis=(0, 1)),
    ),
}


@pytest.mark.parametrize("backend", ["numpy", *INSTALLED])
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_array_code_against_loops(name: str, backend: str) -> None:
    expression, expected = EXPRESSIONS[name]
    found = value_of(expression, Backend(backend), x=V, w=W)
    assert found == pytest.approx(expected, rel=1e-12)
    if backend == "numpy":
        assert found != pytest.approx(expected * 1.001, rel=1e-12)
        coarse = value_of(expression, Backend(dtype="float32"), x=V, w=W)
        assert coarse == pytest.approx(expected, rel=2e-5, abs=2e-6)


def test_an_index_that_occurs_twice() -> None:
    square = draws(3, 3)
    found = value_of(Sum(w[i, i] * x[i], (i, 1, m)), x=V, w=square)
    assert found == pytest.approx(loop(lambda a: square[a, a] * V[a], M))


def test_activations_against_those_of_torch() -> None:
    torch = pytest.importorskip("torch")
    z = random_variable("z")
    points = np.array([-4.1, -1.3, 2.6])
    compared = 0
    for name, row in ACTIVATIONS.items():
        found = value_of(row(z), z=points)
        other = getattr(torch.nn, row.known.get("torch", ""), None)
        if other is None:
            continue
        keywords = {"Threshold": {"threshold": 1, "value": 0}}.get(other.__name__, {})
        there = other(**keywords).to(torch.float64)(torch.from_numpy(points)).detach().numpy()
        assert found == pytest.approx(there, rel=1e-12, abs=1e-15), name
        compared += 1
    assert compared >= 15


def test_a_comparison_does_not_hide_nan() -> None:
    z = random_variable("z")
    points = np.array([math.nan, -1.0, math.inf])
    for expression in (ACTIVATIONS["relu"](z), indicator(z, ">"), ACTIVATIONS["hardtanh"](z)):
        found = value_of(expression, z=points)
        assert math.isnan(found[0]) and not np.isnan(found[1:]).any()


# Backends


@pytest.mark.parametrize("name", INSTALLED)
@pytest.mark.parametrize("law", ["he", "linear-fourth", "gelu-second-moment", "residual-branch"])
def test_backends_draw_the_same_numbers(name: str, law: str) -> None:
    here = compiled(law).draw(stream(1), 50)
    for dtype, precision in (("float64", 1e-10), ("float32", 1e-4)):
        there = compiled(law, backend=Backend(name, dtype=dtype)).draw(stream(1), 50)
        assert there.dtype == np.float64
        assert there == pytest.approx(here, rel=precision, abs=precision)


SORTS = {  # one law of each sort of expression, and its laws of the weights
    "he": "uniform",  # activation of a sum
    "linear-fourth": "leaning",  # high moment
    "gelu-second-moment": "normal",  # erf
    "truncated-normal-factor": "normal",  # quotient
    "rms-norm-backward": "uniform",  # gradients
    "softmax-jacobian": "uniform",  # Kronecker deltas
    "loss-one-nat": "normal",  # logarithm
    "tanh-fixed-point": "normal",  # root
    "attention-qk": "leaning",  # products of two arrays
}


@pytest.mark.parametrize("name", INSTALLED)
@pytest.mark.parametrize("law", SORTS)
def test_verdicts_are_the_same_on_all_backends(name: str, law: str) -> None:
    """The slow suite does so for every law of the catalogue."""
    for dtype in ("float64", "float32"):
        backend = Backend(name, dtype=dtype)
        quick: Any = {"weights": SORTS[law], "backend": backend, "tolerance": 0.05}
        found = measure_claim(law, **quick)
        assert found.verdict is Verdict.VERIFIED
        assert (found.backend, found.streams) == (f"{name}, {dtype}", "NumPy, SFC64")
        wrong = measure_claim(law, claimed=f"{1.15 * found.claimed:.9f}", **quick)
        assert wrong.verdict is Verdict.REFUTED


@pytest.mark.parametrize("name", [n for n in INSTALLED if n != "array-api-strict"])
def test_a_generator_of_the_library_itself(name: str) -> None:
    backend = Backend(name, streams="own")
    found = measure_claim("linear-fourth", weights="skewed", backend=backend, tolerance=0.2)
    assert found.verdict is Verdict.VERIFIED
    assert found.streams == f"{name}, its own generator"
    trial = compiled("he", backend=backend)
    one, same, other = (trial.draw(stream(seed), 20) for seed in (1, 1, 2))
    assert (one == same).all() and (one != other).any()
    for law in LAWS.values():
        sampler = backend.sampler(stream(3))
        assert isinstance(sampler, DeviceSampler)
        values = backend.host(sampler.sample(law, (20_000,)))
        for order in range(1, 5):
            spread = math.sqrt(float(law.moment(2 * order) - law.moment(order) ** 2) / values.size)
            error = abs((values**order).mean() - float(law.moment(order)))
            assert error <= 5 * spread + 1e-12, (law.name, order)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "nunpy"}, r"unknown backend 'nunpy'; did you mean 'numpy'\?"),
        ({"dtype": "int8"}, "unknown type of numbers 'int8'"),
        ({"streams": "other"}, "unknown source of random numbers 'other'"),
        ({"streams": "own"}, "numpy has no random numbers of its own"),
        ({"device": "cuda:7"}, "numpy has no device 'cuda:7'"),
    ],
)
def test_backends_that_do_not_exist(options: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Backend(**options)


@pytest.mark.parametrize("name", ["torch", "jax", "cupy"])
def test_a_library_that_is_not_installed(name: str) -> None:
    if name in INSTALLED:
        with pytest.raises(ValueError, match=f"{name} has no device 'nowhere'"):
            Backend(name, device="nowhere")
    else:
        with pytest.raises(ValueError, match=f"{name} is not installed: pip install"):
            Backend(name)


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A stand-in on NumPy, with two devices; `used` are those made current."""
    library: Any = ModuleType("cupy")
    library.zeros, library.used = np.zeros, []

    class Device:
        def __init__(self, index: int) -> None:
            self.index = index

        def use(self) -> None:
            if self.index > 1:
                raise RuntimeError("cudaErrorInvalidDevice:\ninvalid device ordinal")
            library.used.append(self.index)

    library.cuda = SimpleNamespace(Device=Device)
    monkeypatch.setitem(sys.modules, "cupy", library)
    _namespace.cache_clear()
    yield library
    _namespace.cache_clear()


@pytest.mark.parametrize(("device", "index"), [("cuda", 0), ("cuda:1", 1), ("1", 1)])
def test_the_device_of_cupy_is_made_the_current_one(cupy: Any, device: str, index: int) -> None:
    Backend("cupy", device=device).moved(np.ones(3))
    assert set(cupy.used) == {index}


def test_a_device_or_a_driver_that_is_not_there(cupy: Any) -> None:
    with pytest.raises(ValueError, match="cupy has no device 'cuda:2': cudaErrorInvalid"):
        Backend("cupy", device="cuda:2")

    def zeros(count: int) -> Any:
        raise RuntimeError("cudaErrorInsufficientDriver")

    cupy.zeros = zeros
    _namespace.cache_clear()
    with pytest.raises(ValueError, match=r"^cupy does not work here: cudaErrorInsufficientDriver$"):
        Backend("cupy")


def test_the_strict_namespace_has_no_half_precision() -> None:
    with pytest.raises(ValueError, match="array-api-strict has no float16"):
        Backend("array-api-strict", dtype="float16")


def test_a_model_is_what_is_drawn() -> None:
    """Draws of all arrays have the moments that the model says."""
    y = random_array("y", mean=2, variance="3/4")
    model = model_of(y[1], lambda e: e, LAWS["skewed"])
    program = Program(model.put_in(y[1]), model.drawn, {}, Backend())
    values = program.draw(stream(1), 40_000)
    for order in range(1, 4):
        moment, square = (float(model.marginals["y"].moment(k)) for k in (order, 2 * order))
        assert (values**order).mean() == pytest.approx(
            moment, abs=5 * math.sqrt((square - moment**2) / values.size)
        )
