"""Whole models: parameters counted as published, initial second moments, and overrides."""

import pytest
from sympy import Rational, Symbol, erf, exp, pi, sqrt

from varlaw.checks.blocks.measuring import SOFTMAX
from varlaw.checks.blocks.measuring import weights_drawn as weights_of
from varlaw.symbolic.blocks.attention import Attention
from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.layerwise import layers, units
from varlaw.symbolic.blocks.models import TRUNCATED, bert, gpt2, llama, mlp
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.residual import Residual
from varlaw.symbolic.blocks.sizes import GPT2
from varlaw.symbolic.blocks.state import BlockError
from varlaw.symbolic.blocks.t5 import t5


@pytest.mark.parametrize(
    ("model", "millions"),
    [  # matrices but for positions and segments; the head of GPT-2 is its embedding
        (gpt2("small"), 124.4 - 0.8),
        (gpt2("medium"), 354.8 - 1.0),
        (gpt2("xl"), 1557.6 - 1.6),
        (llama("7b"), 6738 - 131),
        (llama("70b"), 68977 - 262),
        (llama("8b"), 8030 - 525),
    ],
)
def test_parameters_are_as_many_as_published(model, millions):
    count = weights_of(model, None)
    count -= sum(SOFTMAX * a.heads * a.tokens**2 * depth for a, depth in attentions(model))
    assert float(count) / 1e6 == pytest.approx(millions, rel=2e-3)


def attentions(model):
    repeated = model.parts[1]
    return [(repeated.block.parts[0].branch.parts[1], repeated.depth)]


def test_variances_of_gpt2():
    layer = [unit for place, unit in units(gpt2()) if place == "7."]
    attention, feed = (unit.branch.parts[1] for unit in layer)
    assert [float(v) for v in (attention.query, attention.out)] == [0.0004, 0.0004 / 24]
    assert [float(feed.parts[n].var) for n in (0, 2)] == [0.0004, 0.0004 / 24]
    released = gpt2(residual_scale=1, position_std="1/100")
    assert released.parts[0].forward(start()).second_moment == Rational(5, 10000)
    assert float(released.parts[1].block.parts[1].branch.parts[1].parts[2].var) == 0.0004


def test_bert_is_cut_and_of_one_segment():
    exact = 1 - 4 * exp(-2) / (sqrt(2 * pi) * erf(sqrt(2)))
    assert abs((exact - TRUNCATED).evalf(30)) < 1e-21
    found = layers(bert(depth=1, tokens=3), start(1))
    # 0.02^2 times the variance of a normal variable cut at two deviations, ledgered elsewhere
    cut = 0.0004 * 0.773741303549923247179913673677
    assert found[1].second_moment == pytest.approx(3 * cut)
    assert found[2].product == pytest.approx(1 / 3)
    assert found[3].logits == pytest.approx(0.0564981183899)
    assert found[5].branch == pytest.approx(0.0748222790513, rel=1e-5)
    plain = layers(bert(depth=1, tokens=3, truncated=0), start(1))
    assert plain[1].second_moment == pytest.approx(0.0012)


def test_t5_has_logits_of_variance_one():
    found = layers(t5(tokens=4, depth=2), start(1))
    assert found[0].second_moment == 1
    assert found[1].logits == pytest.approx(1 + 1 / 512)  # with the biases by distance
    assert found[2].branch == pytest.approx(1 / 2, rel=1e-3)


def test_llama_turns_queries_and_keys():
    bases = [attentions(llama(size))[0][0].rotary for size in ("7b", "70b", "8b")]
    assert bases == [10000, 10000, 500000]
    small = {"width": 64, "heads": 4, "tokens": 16, "depth": 2, "std": "1/8"}
    turned, plain = (layers(llama(**small, rotary=r), start(1)) for r in (None, 0))
    assert turned[1].logits == plain[1].logits  # norms are kept
    assert turned[1].second_moment == pytest.approx(plain[1].second_moment, rel=0.05)
    assert turned[3].branch != pytest.approx(plain[3].branch, rel=1e-3)
    with pytest.raises(BlockError, match="rotary=0"):
        llama(tokens="T", depth=2).forward(start(1))
    assert llama(tokens="T", depth=2, rotary=0).forward(start(1)).second_moment.free_symbols


def test_mlp():
    block = mlp("d", "L", fan_in="m", fan_out=10)
    state = block.forward(start())
    assert state.width == 10
    assert mlp("d", 5).forward(start()).second_moment == start().second_moment
    assert read_block("mlp(d, 5, function=tanh, var=1/d)") == mlp(
        "d", 5, function="tanh", var="1/d"
    )


def test_sizes_can_be_given():
    small = read_block("gpt2(small, width=96, tokens=8, std=s)")
    attention = small.parts[1].block.parts[0].branch.parts[1]
    assert isinstance(attention, Attention)
    assert (attention.head_width, attention.kv_heads, attention.tokens) == (8, 12, 8)
    assert attention.query == Symbol("s", positive=True) ** 2
    feed = small.parts[1].block.parts[1]
    assert isinstance(feed, Residual)
    assert feed.branch.parts[1].parts[0].fan_out == 4 * 96
    assert all(gpt2(size) for size in GPT2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gpt2(smal)", "no size 'smal'; did you mean 'small'"),
        ("bert(base, heads=7)", "width of a head"),
        ("llama(7b, std=-1)", "from 0 on"),
    ],
)
def test_refused(text, message):
    with pytest.raises(BlockError, match=message):
        read_block(text)
