"""Moment maps of blocks against the blocks run for real in NumPy.

Each estimate is within 6 standard errors of the claim, plus what is stated for the wide limit; with
a hundred replicates and more of skewed means that is a false alarm less often than 1e-6, and seeds
are fixed. The wrong neighbours are further off than that.
"""

import pytest

from varlaw.checks.blocks import measure
from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.state import BlockError

ERRORS = 6

EXACT = [  # at widths where the wide limit is far away
    "linear(6, 9, var=1/5, bias=1/3)",
    "linear(6, 9, var=1/4) >> relu >> linear(9, 5, var=1/3)",
    "linear(6, 9, var=1/4) >> leaky_relu(x, 1/5) >> dropout(1/4)",
    "residual(linear(6, 9, var=1/4) >> abs >> linear(9, 6, var=1/3), 3/4, 5/4)",
    "repeat(residual(linear(6, 6, var=1/9) >> relu >> linear(6, 6, var=1/6)), 3)",
    "parallel(linear(6, 5, var=1/4), linear(6, 9, var=1/4) >> relu >> linear(9, 5, var=1/3))",
]
WIDE = [  # block, relative error of order 1/width that is allowed for
    ("linear(64, 96, var=1/48) >> gelu >> linear(96, 48, var=1/64)", 0.05),
    ("layernorm >> linear(64, 64, var=1/32)", 0.05),
    ("repeat(postnorm(linear(64, 64, var=1/64) >> tanh >> linear(64, 64, var=1/64)), 2)", 0.1),
    ("glu(linear(64, 96, var=1/64) >> silu, linear(64, 96, var=1/64)) >> linear(96, 64, var=1/48)",
     0.05),
    ("residual(linear(64, 64, var=1/64) >> relu)", 0.05),
]  # fmt: skip


@pytest.mark.parametrize("law", ["normal", "uniform"])
@pytest.mark.parametrize("text", EXACT)
def test_exact_at_finite_width(text, law):
    block = read_block(text)
    for found in measure(block, start("3/2"), seed=1, law=law).values():
        assert found.replicates >= 1000
        assert abs(found.estimate - found.claimed) < ERRORS * found.error
        for wrong in (0.8, 1.25):
            assert abs(found.estimate - wrong * found.claimed) > ERRORS * found.error


@pytest.mark.parametrize(("text", "slack"), WIDE)
def test_wide_limit(text, slack):
    block = read_block(text)
    for found in measure(block, start(1), seed=2, most=500).values():
        bound = ERRORS * found.error + slack * found.claimed
        assert abs(found.estimate - found.claimed) < bound
        assert abs(found.estimate - 2 * found.claimed) > bound


def test_coupled_moments_in_depth():
    """Tokens' correlation and second moments through attention and an MLP in a stream."""
    head, mlp = "attention(64, 4, value=1/64, out=1/64)", "linear(64, 64, var=1/32) >> relu"
    out = "linear(64, 64, var=1/64)"
    block = read_block(f"repeat(prenorm({head}) >> prenorm({mlp} >> {out}), 3)")
    measured = measure(block, start(1, "1/10"), seed=5, most=500)
    assert set(measured) == {"forward", "product", "backward"}
    for found in measured.values():
        bound = ERRORS * found.error + 0.05 * found.claimed
        assert abs(found.estimate - found.claimed) < bound
        assert abs(found.estimate - 2 * found.claimed) > bound


def test_uniform_attention_averages():
    block = read_block("attention(8, 4, value=1/8, out=1/8)")
    measured = measure(block, start(1, "1/3"), seed=3, most=1500)
    assert set(measured) == {"forward", "product", "backward"}
    for found in measured.values():
        assert abs(found.estimate - found.claimed) < ERRORS * found.error


@pytest.mark.parametrize(("tokens", "rho"), [(64, "0"), (256, "0"), (64, "1/16")])
def test_softmax_attention_with_many_tokens(tokens, rho):
    """What it has beyond uniform attention, in both products, to a sixth of it at width 64."""
    text = f"attention(64, {tokens}, value=1/64, out=1/64, query=1/64, key=1/128)"
    measured = measure(read_block(text), start(1, rho), seed=4)
    uniform = read_block(text.replace("query=1/64", "query=0")).forward(start(1, rho))
    for name, plain in (("forward", uniform.second_moment), ("product", uniform.followed)):
        found = measured[name]
        bound = ERRORS * found.error + abs(found.claimed - float(plain)) / 6
        assert abs(found.estimate - found.claimed) < bound
    found = measured["forward"]
    assert abs(found.estimate - float(uniform.second_moment)) > ERRORS * found.error


@pytest.mark.parametrize(
    ("text", "slack"),
    [
        ("linear(64, 96, var=1/48) >> relu >> linear(96, 64, var=1/48)", 0.05),
        ("layernorm >> linear(64, 64, var=1/32) >> gelu", 0.05),
        ("repeat(linear(64, 64, var=1/32) >> relu, 3)", 0.08),
        ("prenorm(attention(64, 8, value=1/64, out=1/64) >> linear(64, 64, var=1/64))", 0.05),
        ("glu(linear(64, 96, var=1/64) >> relu, linear(64, 96, var=1/64)) >> dropout(1/5)", 0.05),
    ],
)
def test_products_of_two_inputs(text, slack):
    found = measure(read_block(text), start(1, "2/5"), seed=5, most=500)["product"]
    bound = ERRORS * found.error + slack * found.claimed
    assert abs(found.estimate - found.claimed) < bound
    assert abs(found.estimate - 1.5 * found.claimed) > bound


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("linear(m, 4, var=1/4)", "numbers for m"),
        ("relu", "how many features"),
        ("linear(9000, 9000, var=1, law=uniform)", "too large"),
    ],
)
def test_refused(text, message):
    with pytest.raises(BlockError, match=message):
        measure(read_block(text), start(1))
