"""Encoder and decoder: maps in symbols against those token by token, and T5 as published."""

import numpy as np
import pytest
from sympy import Symbol, simplify

from varlaw.checks.blocks.measuring import SOFTMAX
from varlaw.checks.blocks.measuring import weights_drawn as weights_of
from varlaw.symbolic.blocks.attention import Attention
from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.depth import depth
from varlaw.symbolic.blocks.layerwise import layers, tokens_of
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.state import ONE, BlockError, Gradient, State
from varlaw.symbolic.blocks.t5 import t5, t5v11
from varlaw.symbolic.blocks.token_cross import to_memory
from varlaw.symbolic.blocks.tokens import Tokens, alike, back, follow
from varlaw.symbolic.blocks.written import written

S, N = 10, 7
SMALL = "value=1/256, out=1/256, query=1/256, key=1/4096"


@pytest.mark.parametrize("extra", [SMALL, f"{SMALL}, qk_norm=1, scale=1/64, key_bias=1/2"])
def test_tokens_that_are_alike(extra):
    """The maps in symbols are for many tokens: within 3 % for gradients through ten."""
    block = read_block(f"crossattention(256, {S}, {extra}, heads=4, value_bias=1/8)")
    read, state = start(2, "1/4"), start(1, "1/3")
    claimed = block.forward(state.become(memory=read))
    tokens = Tokens(alike(state, N).products, np.zeros(N), alike(read, S))
    found = follow(block, tokens)
    assert found.second_moment == pytest.approx(float(claimed.second_moment), rel=3e-3)
    assert found.product == pytest.approx(float(claimed.followed), rel=3e-3)
    sent = np.full((N, N), 0.2) + 0.8 * np.eye(N)
    passed = block.backward(Gradient(second_moment=ONE, product=ONE / 5), state.become(memory=read))
    gradient = back(block, sent, tokens)
    assert np.diag(gradient).mean() == pytest.approx(float(passed.second_moment), rel=3e-2)
    assert gradient[0, 1] == pytest.approx(float(passed.product), rel=3e-2)


def test_uniform_weights():
    """Queries of 0: the average of all tokens, and its gradient spread evenly over them."""
    rng = np.random.default_rng(1)
    root = rng.standard_normal((S, S))
    read, weights = root @ root.T, np.full((N, S), 1 / S)
    block = read_block(f"crossattention(8, {S}, value=1/8, out=1/8)")
    tokens = Tokens(np.eye(N), np.zeros(N), Tokens(read, np.zeros(S)))
    assert np.allclose(follow(block, tokens).products, weights @ read @ weights.T)
    sent = np.diag(np.arange(1.0, N + 1))
    assert np.allclose(to_memory(block, sent, tokens), weights.T @ sent @ weights)
    assert np.allclose(back(block, sent, tokens), 0)


def test_layers_are_named_by_their_stream():
    text = (
        f"embedding(8, var=1) >> prenorm(linear(8, 8, var=1/8)) >> targets(8, {N}, var=2) >> "
        "repeat(prenorm(crossattention(8, 2, value=1/8, out=1/16)), 2)"
    )
    found = layers(read_block(text), start(1))
    assert [layer.name for layer in found] == [
        "encoder.embedding",
        "encoder.feed",
        "decoder.embedding",
        "decoder.1.cross",
        "decoder.2.cross",
    ]
    # what is read has the second moment 2, and is averaged over two tokens
    assert [layer.second_moment for layer in found[2:]] == pytest.approx([2, 2.5, 3])
    # each of N queries sends 1/2 * (1/2)^2 to both tokens, twice
    assert found[1].gradient == pytest.approx(2 * N / 8)


@pytest.mark.parametrize(
    ("model", "millions"),
    [  # as published; v1.1 has a head of its own
        (t5("small"), 60.5),
        (t5("base"), 222.9),
        (t5("large"), 737.7),
        (t5v11("small"), 77.0),
        (t5v11("base"), 247.6),
        (t5v11("xl"), 2849.8),
    ],
)
def test_parameters_are_as_many_as_published(model, millions):
    stacks = [model.parts[1], model.parts[4]]
    squares = sum(
        part.branch.parts[1].heads * part.branch.parts[1].tokens ** 2 * stack.depth
        for stack in stacks
        for part in stack.block.parts
        if isinstance(part.branch.parts[1], Attention)
    )
    tied = model.parts[-1].scale != 1
    rows = 0 if tied else 32128 * model.parts[0].width
    assert float(weights_of(model, None) - SOFTMAX * squares + rows) / 1e6 == pytest.approx(
        millions, rel=2e-3
    )


def test_heads_of_t5():
    sizes = {"tokens": 6, "depth": 1}
    assert layers(t5(**sizes), start(1))[-1].second_moment == pytest.approx(1)
    assert layers(t5v11(**sizes), start(1))[-1].second_moment == pytest.approx(512)
    mesh = t5v11(**sizes, head_std="512^(-1/2)")
    assert layers(mesh, start(1))[-1].second_moment == pytest.approx(1)


def test_notation_and_sizes():
    block = read_block("targets(8, 4, var=2) >> crossattention(8, 3, value=v, out=v, heads=2)")
    assert read_block(written(block)) == block
    assert tokens_of(t5(tokens=5, targets=7, depth=1)) == 5
    alone = read_block("t5(small, decoder=0, tokens=4, depth=1)")
    assert [layer.name for layer in layers(alone, start(1))][-1] == "rmsnorm"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("crossattention(8, 3, value=1, out=1)", "targets"),
        ("targets(4, 3, var=1) >> crossattention(4, 3, value=1, out=1)", "8 features"),
        ("t5(smal)", "did you mean 'small'"),
        ("crossattention(8, 3, value=1, out=1, causal=1)", "no 'causal'"),
    ],
)
def test_refused(text, message):
    state = State(second_moment=ONE, product=ONE / 2, width=ONE * 8)
    with pytest.raises(BlockError, match=message):
        read_block(text).forward(state)


@pytest.mark.parametrize(
    ("count", "message"), [(3, "reads 4 of them"), (4, "several numbers of tokens")]
)
def test_numbers_of_tokens_are_checked(count, message):
    own = "prenorm(attention(8, 5, value=1/8, out=1/8, causal=1)) >> " if count == 4 else ""
    text = (
        "embedding(8, var=1) >> prenorm(attention(8, 4, value=1/8, out=1/8)) >> "
        f"targets(8, 6, var=1) >> {own}prenorm(crossattention(8, {count}, value=1/8, out=1/8))"
    )
    with pytest.raises(BlockError, match=message):
        layers(read_block(text), start(1))


def test_a_decoder_of_cross_attention_alone_in_depth():
    """Each of l layers adds the mean of S unlike tokens, to all targets alike: c/q = l/(l + S)."""
    block = read_block(
        "targets(d, T, var=1) >> repeat(prenorm(crossattention(d, S, value=1/d, out=1/d)), L)"
    )
    entering = block.parts[0].forward(start(1, 0))
    out, found = block.forward(start(1, 0)), depth(block.parts[1], entering)
    layers_, tokens = (Symbol(name, positive=True) for name in "LS")
    assert simplify(out.correlation - layers_ / (layers_ + tokens)) == 0
    assert (found.correlation.kind, found.correlation.rate) == ("polynomial", -1)
