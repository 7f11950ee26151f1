"""Attention's maps: heads, masks, scales and biases, against sums written out and limits."""

import pytest
from sympy import Rational, Symbol, exp, harmonic, simplify

from varlaw.symbolic.blocks.attention import Attention
from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.state import ONE, BlockError, Gradient

d, T, t, h = (Symbol(name, positive=True) for name in "dTth")
c = Symbol("c", positive=True)
SOFT = {"query": 1 / d, "key": 1 / d}


def layer(**given):
    return Attention(d, T, value=1 / d, out=1 / d, **given)


def test_the_number_of_heads_does_not_matter():
    one = layer(**SOFT).forward(start(1, "c"))
    for heads in ({"heads": 8}, {"heads": 8, "kv_heads": 2}, {"heads": "h"}):
        assert layer(**SOFT, **heads).forward(start(1, "c")) == one
    assert one.followed != one.second_moment


def test_unit_logits_by_scale_by_query_or_by_norm():
    """1/sqrt(d_k), as T5 a query variance of 1/(d d_k) without scale, QK-norm: variance 1 each."""
    for block in (
        layer(**SOFT, heads=h),
        layer(query=1 / (d * (d / h)), key=1 / d, heads=h, scale=1),
        layer(query=7 / d, key=3 / d, heads=h, qk_norm=1),
    ):
        assert block.logits(start(1, 0)).variance == 1
    assert layer(**SOFT, heads=h, scale=h / d).logits(start(1, 0)).variance == h / d  # muP's 1/d_k


def test_a_key_bias_does_not_change_anything_without_norm():
    plain, biased = (layer(**SOFT, key_bias=b).forward(start(1, "c")) for b in (0, 5))
    assert plain == biased
    assert layer(**SOFT, qk_norm=1, key_bias=5).forward(start(1, "c")) != plain


@pytest.mark.parametrize("rho", [0, Rational(1, 3), ONE])
def test_causal_means_over_positions(rho):
    """Of uniform weights, position by position: c + (1 - c)/max(s, t)."""
    n = 7
    out = Attention(d, n, value=1 / d, out=1 / d, causal=1).forward(start(1, rho))
    squares = [rho + (1 - rho) / Rational(s) for s in range(1, n + 1)]
    pairs = [rho + (1 - rho) / Rational(s) for s in range(1, n + 1) for _ in range(1, s)]
    assert out.second_moment == sum(squares) / n
    assert out.followed == sum(pairs) / len(pairs)
    for place, square in enumerate(squares, 1):
        at = Attention(d, n, value=1 / d, out=1 / d, causal=1, position=place)
        assert at.forward(start(1, rho)).second_moment == square


def test_causal_softmax_sums():
    n, v = 9, ONE / 4
    block = Attention(d, n, value=1 / d, out=1 / d, query=1 / d, key=v / d, causal=1)
    wide = block.forward(start(1, 0)).second_moment - v / d
    summed = sum(exp(v) / (place - 1 + exp(v)) for place in range(1, n + 1)) / n
    assert abs((wide - summed).evalf()) < 1e-12
    back = block.backward(Gradient(second_moment=ONE), start(1, 0)).second_moment
    both = [exp(v) / (place - 1 + exp(v)) for place in range(1, n + 1)]
    noise = sum(w - w**2 for w in both) / n
    rest = sum((1 - w) ** 2 for w in both) / n
    expected = summed + v * noise + v * (rest / d + noise)
    assert abs((back - expected).subs(d, 11).evalf()) < 1e-12


def test_of_one_token_the_softmax_is_one():
    out = Attention(d, 1, value=1 / d, out=1 / d, **SOFT).forward(start(1, 0))
    assert out.second_moment == 1 + 1 / d  # up to the wide limit
    back = Attention(d, 1, value=1 / d, out=1 / d, **SOFT).backward(
        Gradient(second_moment=ONE), start(1, 0)
    )
    assert back.second_moment == 1


@pytest.mark.parametrize("causal", [0, 1])
def test_small_logits_are_uniform_weights(causal):
    given = {"value": ONE / 5, "out": ONE / 5, "causal": causal}
    uniform = Attention(5, 12, **given)
    soft = Attention(5, 12, **given, query=ONE / 5, key=Rational(1, 10**12))
    state, sent = start(1, "1/3"), Gradient(second_moment=ONE, product=ONE / 4)
    for one, two in (
        (uniform.forward(state), soft.forward(state)),
        (uniform.backward(sent, state), soft.backward(sent, state)),
    ):
        for name in ("second_moment", "product"):
            assert abs((getattr(one, name) - getattr(two, name)).evalf()) < 1e-9


def test_uniform_backward_shares_gradients():
    back = layer().backward(Gradient(second_moment=ONE, product=c), start(1, "c"))
    assert simplify(back.second_moment - (c + (1 - c) / T)) == 0
    assert simplify(back.product - back.second_moment) == 0
    causal = layer(causal=1).backward(Gradient(second_moment=ONE), start(1, "c"))
    assert simplify(causal.second_moment - harmonic(T) / T) == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("attention(10, 4, value=1, out=1, heads=3)", "width of a head"),
        ("attention(12, 4, value=1, out=1, heads=4, kv_heads=3)", "no multiple"),
        ("attention(12, 4, value=1, out=1, position=2)", "leave out position"),
        ("attention(12, 4, value=1, out=1, causal=2)", "causal is 0 or 1"),
        ("attention(12, 4, value=1, out=1, qk_norm=1)", "which are 0"),
    ],
)
def test_refused(text, message):
    with pytest.raises(BlockError, match=message):
        read_block(text)
