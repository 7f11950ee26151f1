"""Each recipe is drawn with NumPy as its source says, and has the variance that is stated."""

from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator
from sympy import Integer, Max, Rational

from varlaw.derivations.catalogue import entries
from varlaw.derivations.recipes import (
    SHAPE,
    Constant,
    Distribution,
    Normal,
    Orthogonal,
    Recipe,
    Standardised,
    Truncated,
    Uniform,
    UnknownRecipe,
    at,
    chosen,
    recipes,
)
from varlaw.symbolic.language import read

SIZES = {"m": 60, "n": 24, "c": 6, "k": 9, "s": 4, "h": 8, "d": 16, "L": 12}
SIZE = {name: Integer(value) for name, value in SIZES.items()}
COUNT = 200_000


def numbers(distribution: Distribution) -> dict[str, float]:
    return {name: float(at(value, SIZE)) for name, value in distribution.parameters.items()}


@singledispatch
def drawn(distribution: Distribution, rng: Generator) -> Any:
    """Many weights as the distribution says."""
    raise NotImplementedError


@drawn.register
def _(distribution: Normal, rng: Generator) -> Any:
    return rng.normal(0, numbers(distribution)["std"], COUNT)


@drawn.register
def _(distribution: Uniform, rng: Generator) -> Any:
    bound = numbers(distribution)["bound"]
    return rng.uniform(-bound, bound, COUNT)


@drawn.register
def _(distribution: Truncated, rng: Generator) -> Any:
    given = numbers(distribution)
    values = rng.normal(0, given["std"], 2 * COUNT)
    return values[abs(values) < given["bound"]][:COUNT]


@drawn.register
def _(distribution: Orthogonal, rng: Generator) -> Any:
    given = {name: int(value) for name, value in numbers(distribution).items()}
    long, short = sorted((given["rows"], given["columns"]), reverse=True)
    q, r = np.linalg.qr(rng.standard_normal((COUNT // (long * short) + 1, long, short)))
    return (given["gain"] * q * np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None]).ravel()


@drawn.register
def _(distribution: Standardised, rng: Generator) -> Any:
    w = rng.standard_normal((COUNT // 50, 50))
    w = (w - w.mean(axis=1, keepdims=True)) / w.std(axis=1, keepdims=True)
    return (numbers(distribution)["std"] * w).ravel()


@drawn.register
def _(distribution: Constant, rng: Generator) -> Any:
    return np.full(COUNT, numbers(distribution)["value"])


def far_off(recipe: Recipe) -> float:
    """How many standard errors the mean square of the draws is away from the variance."""
    stated = float(at(recipe.variance, SIZE))
    squares = drawn(recipe.distribution, np.random.default_rng(7)) ** 2
    if stated == 0:
        return float(squares.max())
    error = np.sqrt(3 * stated**2 / squares.size)  # no weight here has a kurtosis above 4
    return float(abs(squares.mean() - stated) / error)


def named(recipe: Recipe) -> str:
    return f"{recipe.name} {recipe.parameter}"


@pytest.mark.parametrize("recipe", recipes(), ids=named)
def test_the_draws_have_the_variance(recipe: Recipe) -> None:
    assert far_off(recipe) < 4


@pytest.mark.parametrize("recipe", [r for r in recipes() if r.variance != 0], ids=named)
def test_another_parameter_has_another_variance(recipe: Recipe) -> None:
    """The twin of the test before: weights that are scaled by 1.05 fail it."""
    first, *others = recipe.distribution.parameters
    scaled = {
        name: f"21/20*({getattr(recipe.distribution, name)})"
        for name in (first, *(o for o in others if o == "bound"))
    }
    wrong = replace(recipe.distribution, **scaled)
    stated, other = (float(at(d.variance, SIZE)) for d in (recipe.distribution, wrong))
    assert other == pytest.approx(1.1025 * stated)
    squares = drawn(recipe.distribution, np.random.default_rng(7)) ** 2
    assert abs(squares.mean() - other) > 4 * np.sqrt(3 * stated**2 / squares.size)


@pytest.mark.parametrize("recipe", recipes(), ids=named)
def test_what_a_recipe_refers_to_is_there(recipe: Recipe) -> None:
    assert set(recipe.laws) <= set(entries())
    assert recipe.names <= set(SHAPE)
    assert recipe.source.startswith("https://")
    assert recipe.variance.is_nonnegative or float(at(recipe.variance, SIZE)) > 0


def test_names_are_unique() -> None:
    keys = [(r.name, r.parameter) for r in recipes()]
    assert len(set(keys)) == len(keys)


def test_the_libraries_of_the_table() -> None:
    libraries = {r.name.partition("-")[0] for r in recipes()}
    wanted = "pytorch keras flax tensorflow bert gpt2 t5 nfnet nanogpt fixup mup"
    assert libraries >= set(wanted.split())


m, n, h, d, L = (read(name) for name in ("m", "n", "h", "d", "L"))

# Worked out by hand from the sources, or published.
BY_HAND = {
    ("pytorch-linear", "weight"): 1 / (3 * m),
    ("pytorch-attention", "in_proj_weight"): 1 / (2 * m),
    ("pytorch-lstm", "weight_hh"): 1 / (3 * h),
    ("pytorch-embedding", "weight"): Integer(1),
    ("pytorch-orthogonal_", "weight"): 1 / Max(m, n),
    ("keras-dense", "kernel"): 2 / (m + n),
    ("keras-attention", "query kernel"): 2 / (m * (h + d)),
    ("keras-embedding", "embeddings"): Rational(1, 1200),
    ("nanogpt", "c_proj"): Rational(4, 10000) / (2 * L),
    ("t5", "q"): 1 / (m * d),
    ("mup", "output"): 1 / m**2,
}


@pytest.mark.parametrize("key", BY_HAND, ids=" ".join)
def test_variances_by_hand(key: tuple[str, str]) -> None:
    (recipe,) = (r for r in recipes() if (r.name, r.parameter) == key)
    assert (recipe.variance - BY_HAND[key]).simplify() == 0


@pytest.mark.parametrize(
    ("key", "std"),
    [
        (("bert", "weights"), 0.0175925132206),
        (("pytorch-trunc_normal_", "std 0.02"), 0.02),
        (("pytorch-trunc_normal_", "std 1"), 0.879625661034),
        (("tensorflow-truncated_normal", "stddev 1"), 0.879625661034),
        (("flax-dense", "kernel"), 60**-0.5),
        (("keras-he_normal", "kernel"), 30**-0.5),
    ],
)
def test_standard_deviations_of_truncated_laws(key: tuple[str, str], std: float) -> None:
    (recipe,) = (r for r in recipes() if (r.name, r.parameter) == key)
    assert float(at(recipe.variance, SIZE)) ** 0.5 == pytest.approx(std, rel=1e-11)


def test_truncated_weights_keep_a_multiple_of_the_fan() -> None:
    (bert,) = (recipe for recipe in recipes() if recipe.name == "bert")
    assert bert.forward is not None
    assert float(at(bert.forward, SIZE)) == pytest.approx(60 * 0.01759251322068**2)
    assert len(str(bert.forward).split("m")) == 2


def test_recipes_of_a_library_and_by_name() -> None:
    assert {r.name for r in chosen("t5")} == {"t5"}
    assert len(chosen("pytorch")) > len(chosen("pytorch-linear")) == 2
    with pytest.raises(UnknownRecipe, match="did you mean 'flax-dense'"):
        chosen("flax-dens")


def attention(nn: Any) -> Any:
    return nn.MultiheadAttention(60, 4)


TORCH_LAYERS = {
    ("pytorch-linear", "weight"): lambda nn: nn.Linear(60, 24).weight,
    ("pytorch-linear", "bias"): lambda nn: nn.Linear(60, 24).bias,
    ("pytorch-conv", "weight"): lambda nn: nn.Conv2d(12, 24, 3, groups=2).weight,
    ("pytorch-conv-transposed", "weight"): lambda nn: nn.ConvTranspose2d(6, 24, 3, 2).weight,
    ("pytorch-embedding", "weight"): lambda nn: nn.Embedding(50, 16).weight,
    ("pytorch-attention", "in_proj_weight"): lambda nn: attention(nn).in_proj_weight,
    ("pytorch-attention", "out_proj.weight"): lambda nn: attention(nn).out_proj.weight,
    ("pytorch-lstm", "weight_ih"): lambda nn: nn.LSTM(60, 8).weight_ih_l0,
    ("pytorch-lstm", "weight_hh"): lambda nn: nn.LSTM(60, 8).weight_hh_l0,
    ("pytorch-gru", "weights"): lambda nn: nn.GRU(60, 8).weight_hh_l0,
    ("pytorch-bilinear", "weight"): lambda nn: nn.Bilinear(60, 16, 4).weight,
    ("pytorch-orthogonal_", "weight"): lambda nn: nn.init.orthogonal_(nn.Linear(60, 24).weight),
}


@pytest.mark.parametrize("key", TORCH_LAYERS, ids=" ".join)
def test_against_pytorch_itself(key: tuple[str, str]) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    (recipe,) = (r for r in recipes() if (r.name, r.parameter) == key)
    draws = [TORCH_LAYERS[key](torch.nn).detach().numpy().ravel() for _ in range(200)]
    squares = np.concatenate(draws) ** 2
    stated = float(at(recipe.variance, SIZE))
    assert abs(squares.mean() - stated) < 5 * np.sqrt(3 * stated**2 / squares.size)
