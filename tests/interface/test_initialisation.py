"""The code that `varlaw explore --emit` writes, run: shapes, variances, scales; and its names.

Variances are within 6 standard errors of those asked for, sqrt(2/n) of n normal entries.
"""

import importlib.util
import runpy
import subprocess
import sys
from math import sqrt

import numpy as np
import pytest
from sympy import Symbol

import varlaw as vl
from varlaw.initialisation import initialisation
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.state import BlockError

STACK = (
    "linear(m, d, var=1/m) >> repeat(residual(layernorm >> linear(d, 4*d, var=v, bias=1/9) >> relu"
    " >> linear(4*d, d, var=lambda/(4*d)), 1, 1/sqrt(L)), L) >> linear(d, d/2, var=1/16)"
)
SIZES = {"m": 90, "d": 60, "L": 3, "v": 0.5, "lambda_": 2.0}
EXPECTED = {  # shape as (fan_in, fan_out), and variance
    "0.weight": ((90, 60), 1 / 90),
    "1.0.branch.1.weight": ((60, 240), 0.5),
    "1.2.branch.1.bias": ((240,), 1 / 9),
    "1.2.branch.3.weight": ((240, 60), 2 / 240),
    "2.weight": ((60, 30), 1 / 16),
}


def made(code, folder, **sizes):
    (folder / "made.py").write_text(code, encoding="utf-8")
    return runpy.run_path(str(folder / "made.py"))["initialise"](**sizes)


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_weights(library, tmp_path):
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    code = vl.explore(STACK).initialisation(library)
    weights, scales = made(code, tmp_path, **SIZES, seed=1)
    assert len(weights) == 1 + 3 * 3 + 1
    for name, (shape, variance) in EXPECTED.items():
        array = np.asarray(weights[name], dtype=float)
        assert (array.shape[::-1] if library == "torch" else array.shape) == shape
        assert abs((array**2).mean() / variance - 1) < 6 * sqrt(2 / array.size)
        assert abs((array**2).mean() / (3 * variance) - 1) > 6 * sqrt(2 / array.size)
    assert scales == {f"1.{layer}.b": pytest.approx(1 / sqrt(3)) for layer in range(3)}


def test_the_solution_is_put_in(varlaw):
    code = varlaw("explore", "linear(m, n, var=v) >> relu", "--solve", "v", "--emit", "torch").out
    assert "# std sqrt(2/m)" in code
    assert "math.sqrt(2 / m), n, m)" in code
    both = ["--solve", "v", "--emit", "numpy", "--keep", "arithmetic"]
    assert "sqrt(4/(m + n))" in varlaw("explore", "linear(m, n, var=v) >> relu", *both).out


def test_multipliers_and_windows(tmp_path):
    """A layer's scale is not in its weights."""
    text = "linear(m, n, var=1, scale=1/sqrt(m)) >> relu"
    weights, scales = made(vl.explore(text).initialisation(), tmp_path, m=100, n=100)
    assert scales == {"0.scale": pytest.approx(0.1)}
    assert abs((weights["0.weight"] ** 2).mean() - 1) < 6 * sqrt(2 / 10_000)
    conv = "conv(c, 2*c, 3, var=2/(9*c), padding=1, groups=2, size=8) >> relu"
    weights, _ = made(vl.explore(conv).initialisation(), tmp_path, c=16)
    assert weights["0.weight"].shape == (32, 8, 3, 3)
    assert abs((weights["0.weight"] ** 2).mean() * 72 - 1) < 6 * sqrt(2 / 2304)


def test_heads_and_positions(tmp_path):
    """Matrices of attention have the shapes of its heads, and positions the width of the stream."""
    text = (
        "embedding(d, var=1/50^2) >> places(1/100^2) >> prenorm(attention(d, T, heads=6,"
        " kv_heads=2, head_width=8, value=1/d, out=1/48, query=1/d, key=1/d, out_bias=1/9))"
    )
    code = vl.explore(text, correlation="1/2").initialisation()
    weights, _ = made(code, tmp_path, d=40, positions=16, vocabulary=100)
    shapes = {name.removeprefix("2.branch.1."): array.shape for name, array in weights.items()}
    assert shapes == {
        "0.weight": (100, 40),
        "1.weight": (16, 40),
        "query": (40, 48),
        "key": (40, 16),
        "value": (40, 16),
        "out": (48, 40),
        "out_bias": (40,),
    }
    with pytest.raises(BlockError, match="width"):
        vl.explore("shift(1) >> linear(m, n, var=1)").initialisation()


def test_what_layers_share_and_tokens_of_their_own(tmp_path):
    """Biases by distance once for all layers; a vector for each position, one for all of them."""
    text = "embedding(8, var=1) >> repeat(prenorm(attention(8, T, value=1, out=1, {})), 3)"
    code = vl.explore(text.format("heads=2, relative=1/4, buckets=6"), values={"T": 4})
    weights, _ = made(code.initialisation(), tmp_path, vocabulary=5)
    shared = {name: array.shape for name, array in weights.items() if "distance" in name}
    assert shared == {"1.branch.1.distance_bias": (6, 2)}
    vision = "patches(3, 8, 2, 6, var=1/12) >> classtoken(9, var=1/4) >> places(1/9) >> shift(1)"
    weights, _ = made(vl.explore(vision).initialisation(), tmp_path, positions=10)
    assert [array.shape for array in weights.values()] == [(12, 8), (1, 8), (10, 8), (1, 8)]


@pytest.mark.parametrize(("library", "router"), [("numpy", (8, 3)), ("torch", (3, 8))])
def test_experts(library, router, tmp_path):
    """Each expert has weights of its own, and each layer its router."""
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    text = "repeat(prenorm(moe(linear(d, d, var=expert), 3, 2, router=1/d)), 2)"
    code = vl.explore(text, values={"d": 8}).initialisation(library)
    weights, _ = made(code, tmp_path, expert_=1 / 8)
    assert len(weights) == 2 * (1 + 3)
    assert len({float(array.sum()) for array in weights.values()}) == len(weights)
    assert weights["1.branch.1.router"].shape == router
    assert weights["0.branch.1.expert2.weight"].shape == (8, 8)


def test_a_mean_without_a_closed_form_is_a_number(tmp_path):
    """1/E[tanh(z)^2], by Gauss-Hermite quadrature."""
    z, w = np.polynomial.hermite_e.hermegauss(80)
    second_moment = (w * np.tanh(z) ** 2).sum() / w.sum()
    text = "linear(d, d, var=1/d) >> tanh >> linear(d, d, var=v/d)"
    found = vl.explore(text, values={"d": 100}, second_moment=1, solve="v")
    weights, _ = made(found.initialisation(), tmp_path)
    assert abs((weights["2.weight"] ** 2).mean() * 100 * second_moment - 1) < 6 * sqrt(2e-4)


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_formatted(library, tmp_path):
    ruff = importlib.util.find_spec("ruff")
    if ruff is None:
        pytest.skip("ruff is not installed")
    file = tmp_path / "made.py"
    file.write_text(vl.explore(STACK).initialisation(library), encoding="utf-8")
    for command in (["format", "--check"], ["check", "--select", "E,F,I,UP"]):
        run = [sys.executable, "-m", "ruff", *command, "--isolated", str(file)]
        found = subprocess.run(run, capture_output=True, text=True, check=False)
        assert found.returncode == 0, found.stdout


@pytest.mark.parametrize(
    "name", ["x\nimport os", "__import__('os')", "a b", "a'", "1a", "x.y", "é"]
)
def test_no_name_gets_into_the_code_unlooked_at(name):
    block = vl.blocks.linear(4, 4, var=Symbol(name, positive=True))
    with pytest.raises(BlockError, match="not a name for code"):
        vl.explore(block).initialisation()


@pytest.mark.parametrize("name", ["lambda", "math", "np", "seed", "weights", "print", "layer"])
def test_names_that_mean_something_are_changed(name, tmp_path):
    block = vl.blocks.repeat(vl.blocks.linear(50, 50, var=Symbol(name, positive=True)), 2)
    weights, _ = made(vl.explore(block).initialisation(), tmp_path, **{f"{name}_": 4.0})
    assert abs((weights["1.weight"] ** 2).mean() / 4 - 1) < 6 * sqrt(2 / 2500)


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ("relu", "no weights"),
        ("linear(4, 4, var=E[tanh(x)^2 | x ~ N(0, v)])", "give its names values"),
        ("moe(conv(4, 4, 3, var=1), 2, router=1)", "code for a router"),
    ],
)
def test_refused(varlaw, blocks, message):
    assert message in varlaw("explore", blocks, "--emit", "numpy").refused()


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_what_is_tied_is_one_array(library, tmp_path):
    """The heads of GPT-2 and BERT, the decoder's rows and the head of T5; not LLaMA's head."""
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    small = "width=24, depth=2, heads=2, tokens=8, words=500"
    narrow = f"{small}, inner=48, head_width=12"
    tied = {
        f"gpt2(small, {small})": ["3.weight"],
        f"bert(base, {small})": ["7.weight"],
        f"t5(small, {narrow})": ["3.weight", "6.weight"],
        f"t5v11(small, {narrow})": ["3.weight"],
        f"llama(7b, {small}, kv_heads=2, inner=48, rotary=0)": [],
    }
    for text, names in tied.items():
        code = initialisation(read_block(text), library)
        asked = {"vocabulary": 500, "positions": 8}
        sizes = {name: size for name, size in asked.items() if f"{name}: int" in code}
        weights, _ = made(code, tmp_path, **sizes)
        arrays = {name: np.asarray(array) for name, array in weights.items()}
        rows = arrays["0.weight"]
        assert rows.shape == (500, 24)
        same = [
            name
            for name, array in arrays.items()
            if any(np.array_equal(rows, turned) for turned in (array, array.T))
        ]
        assert same == ["0.weight", *names]
        heads = [one for one in arrays.values() if sorted(one.shape) == [24, 500]]
        assert heads[-1].shape == ((500, 24) if library == "torch" else (24, 500))


def test_a_tie_needs_an_embedding_of_its_size():
    rows = "embedding(8, var=1)"
    for text in (f"{rows} >> unembedding(8, 9, var=2, tied=1)", "linear(8, 9, var=1, tied=1)"):
        with pytest.raises(BlockError, match="tied layer needs"):
            vl.explore(text).initialisation()
