"""Convolutions, pooling, norms over samples, gated units, experts and weights run for real.

As in `test_block_simulation`: within 6 standard errors, plus what is stated for the wide limit, and
wrong neighbours further off than that; seeds are fixed.
"""

import pytest

from varlaw.checks.blocks import measure, measure_weights, measuring
from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.state import ONE, BlockError, Gradient

ERRORS = 6
EXACT = [  # block, correlation of two inputs or positions
    ("linear(6, 9, var=1/5, bias=1/3, scale=3/2, law=truncated)", "1/3"),
    ("embedding(6, var=1/5, scale=3)", None),
    ("conv(3, 4, 3, var=1/9, bias=1/5, size=5)", "1/4"),
    ("conv(4, 6, 3, var=1/9, stride=2, padding=1, groups=2, size=6)", None),
    ("conv(3, 4, 5, var=1/9, padding=2, size=6, dims=1) >> relu", None),
    ("convtransposed(3, 4, 4, var=1/9, stride=2, padding=1, size=3)", None),
    ("convtransposed(3, 4, 3, var=1/9, stride=2, size=3, law=uniform)", None),
    ("conv(3, 4, 3, var=1/9, size=6) >> averagepool(2)", "1/3"),
    ("conv(3, 4, 2, var=1/9, size=5) >> averagepool(3, 1, size=4)", "1/3"),
    ("conv(3, 4, 3, var=1/9, size=6) >> globalaveragepool(16)", "1/3"),
    ("linear(8, 12, var=1/8) >> batchnorm(6) >> linear(12, 5, var=1/12)", "1/3"),
    ("conv(6, 4, 1, var=1/8, size=3) >> instancenorm(9)", "0"),
    ("moe(linear(8, 12, var=1/8) >> relu >> linear(12, 8, var=1/6), 4, 1, router=1/8)", None),
    ("moe(linear(8, 12, var=1/8) >> relu >> linear(12, 8, var=1/6), 4, 2)", None),
    ("moe(linear(8, 12, var=1/8) >> abs >> linear(12, 8, var=1/6), 2, 2)", None),
    ("rezero(linear(8, 12, var=1/8) >> relu >> linear(12, 8, var=1/6), 1/2)", None),
    ("fixup(linear(8, 12, var=1/8) >> relu >> linear(12, 8, var=1/6), 4, 1)", None),
]
WIDE = [  # block, correlation, relative error that is allowed for
    ("conv(48, 24, 3, var=1/432, size=6) >> maxpool(2)", "1/3", 0.05),
    ("conv(48, 24, 2, var=1/192, size=8) >> maxpool(3, 2, size=7)", "0", 0.05),
    ("conv(48, 24, 3, var=1/432, size=6) >> maxpool(2, function=relu)", "0", 0.05),
    ("conv(8, 96, 1, var=1/8, size=2) >> groupnorm(2)", None, 0.1),
    ("deepnorm(linear(48, 64, var=1/48) >> gelu >> linear(64, 48, var=1/64), 6)", None, 0.1),
    ("swiglu(64, 96, var=1/64, out=1/96)", None, 0.08),
    ("sigmoidglu(64, 96, var=1/64, out=1/96)", None, 0.08),
    ("bilinear(64, 96, var=1/64)", None, 0.08),
    ("linear(64, 400, var=1/128) >> softmax(400)", "1/4", 0.08),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    monkeypatch.setattr(measuring, "WORK", 2e7)


@pytest.mark.parametrize(("text", "rho"), EXACT)
def test_exact_at_finite_width(text, rho):
    found = measure(read_block(text), start("3/2", rho), seed=1, most=500)
    if "instancenorm" in text:
        del found["product"]  # two positions of one image, where the simulation has two images
    assert found
    for one in found.values():
        bound = ERRORS * one.error + 1e-6
        assert abs(one.estimate - one.claimed) < bound
        assert abs(one.estimate - 2 * one.claimed) > bound or one.claimed == 0


@pytest.mark.parametrize(("text", "rho", "slack"), WIDE)
def test_wide_limit(text, rho, slack):
    for one in measure(read_block(text), start(1, rho), seed=2, most=500).values():
        bound = ERRORS * one.error + slack * abs(one.claimed)
        assert abs(one.estimate - one.claimed) < bound
        assert abs(one.estimate - 2 * one.claimed) > bound


@pytest.mark.parametrize(
    ("text", "rho", "shared", "tokens", "slack"),
    [
        ("linear(6, 9, var=1/5, scale=3/2)", "1/3", ONE / 4, 3, 0),
        ("embedding(8, var=1/2, scale=2) >> linear(8, 6, var=1/8)", None, 0, 3, 0),
        ("linear(24, 36, var=1/12) >> relu >> linear(36, 20, var=1/18)", None, 0, 2, 0.05),
        ("prenorm(linear(48, 64, var=1/48) >> gelu >> linear(64, 48, var=1/64)) >> layernorm", None,
         0, 1, 0.1),
        ("repeat(residual(linear(32, 32, var=1/32) >> relu >> linear(32, 32, var=1/9), 1, 1/2), 2)",
         None, 0, 1, 0.05),
        ("swiglu(48, 64, var=1/48)", None, 0, 1, 0.1),
        ("conv(3, 4, 3, var=1/9, stride=2, padding=1, size=6)", None, 0, 2, 0),
        ("conv(3, 4, 3, var=1/9, size=5)", "1/3", ONE / 4, 1, 0),
        ("convtransposed(3, 4, 4, var=1/9, stride=2, padding=1, size=3)", None, 0, 1, 0),
        ("attention(24, 6, value=1/24, out=1/24, query=0, key=1/24, value_bias=1/2)", "1/2",
         ONE / 3, 6, 0.05),
        ("attention(48, 12, value=1/48, out=1/48, query=1/96, key=1/96, heads=4, kv_heads=2)",
         "1/4", 0, 12, 0.08),
        ("attention(48, 12, value=1/48, out=1/48, query=1/96, key=1/96, query_bias=1/4, causal=1)",
         "1/4", ONE / 4, 12, 0.08),
    ],
)  # fmt: skip
def test_gradients_of_weights(text, rho, shared, tokens, slack):
    gradient = Gradient(second_moment=ONE, product=ONE * shared)
    found = measure_weights(
        read_block(text), start("3/2", rho), gradient, tokens, replicates=150, seed=3
    )
    assert found
    for one in found.values():
        bound = ERRORS * one.error + slack * one.claimed + 1e-6
        assert abs(one.estimate - one.claimed) < bound
        assert abs(one.estimate - 3 * one.claimed) > bound or one.claimed == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("conv(3, 4, 3, var=1)", "size of the input"),
        ("linear(4, 4, var=1) >> batchnorm", "number of samples"),
        ("conv(3, 4, 1, var=1, size=2) >> batchnorm(6)", "6 samples of images with 4"),
        ("conv(3, 4, 1, var=1, size=2) >> globalaveragepool(5)", "4 positions"),
    ],
)
def test_refused(text, message):
    with pytest.raises(BlockError, match=message):
        measure(read_block(text), start(1, "0"))


def test_weights_that_are_not_covered():
    experts = read_block("moe(linear(8, 8, var=1/8), 4)")
    with pytest.raises(BlockError, match="not covered"):
        measure_weights(experts, start(1), Gradient(second_moment=ONE), 4, replicates=2)
