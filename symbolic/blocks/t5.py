"""T5, an encoder and a decoder that reads it, at its real sizes and initialisation.

Deviations are `factor` times 1 of the words, 1/sqrt(d d_k) of the queries, 1/sqrt(d) of keys,
values, the first layer of an MLP and biases by distance, 1/sqrt(heads d_k) of W_O and 1/sqrt(inner)
of the second layer (Hugging Face's modeling_t5.py, `_init_weights`, after mesh_tensorflow's
transformer_layers.py), so that logits have variance 1 without a scale. Biases by distance are in
self-attention, of 32 buckets up to 128 tokens, and layers share them. The 1e-6 of the norms is left
out unless given.
"""

from sympy import Expr, sqrt

from varlaw.symbolic.blocks.activation import Activation
from varlaw.symbolic.blocks.attention import Attention
from varlaw.symbolic.blocks.block import Block, Sequential, quantity
from varlaw.symbolic.blocks.cross import CrossAttention, Targets
from varlaw.symbolic.blocks.linear import Embedding, Linear, unembedding
from varlaw.symbolic.blocks.norm import RMSNorm
from varlaw.symbolic.blocks.options import sizes_of
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.residual import Gate, pre_norm
from varlaw.symbolic.blocks.sizes import T5, T5V11, Sizes
from varlaw.symbolic.language import Text, read

BUCKETS, FURTHEST = 32, 128


@sizes_of(T5, "T5", "small", "head_width", "tokens", "words")
def t5(
    s: Sizes,
    *,
    targets: Text | None = None,
    factor: Text = 1,
    decoder: Text = 1,
    eps: Text = 0,
) -> Block:
    """T5 (Raffel et al. 2020, section 2.1): Pre-Norm with RMSNorm, ReLU, a tied head.

    The head is the embedding times 1/sqrt(d). `targets` is the number of tokens of the decoder,
    that of the encoder unless given; `decoder=0` leaves the encoder alone.
    """
    d, n, f = read(s.width), read(s.inner), _square(factor)
    feed = Linear(d, n, var=f / d) >> Activation("relu") >> Linear(n, d, var=f / n)
    head = unembedding(d, s.words, var=f, scale=1 / sqrt(d), tied=1)
    return _whole(s, feed, head, targets, f, decoder, eps)


@sizes_of(T5V11, "T5 1.1", "small", "head_width", "tokens", "words")
def t5v11(
    s: Sizes,
    *,
    targets: Text | None = None,
    factor: Text = 1,
    head_std: Text = 1,
    decoder: Text = 1,
    eps: Text = 0,
) -> Block:
    """T5 version 1.1: a GELU-gated MLP (Shazeer 2020, section 2), a head of its own.

    The head's deviation is `factor` times `head_std`, 1 as in Hugging Face's code, which gives
    logits of variance d; mesh_tensorflow has `head_std=d^(-1/2)`. Sizes are those of
    google-research/text-to-text-transfer-transformer, released_checkpoints.md.
    """
    d, n, f = read(s.width), read(s.inner), _square(factor)
    unit = Gate(Linear(d, n, var=f / d) >> Activation("gelu"), Linear(d, n, var=f / d))
    feed = Sequential((unit, Linear(n, d, var=f / n)))
    head = unembedding(d, s.words, var=f * _square(head_std))
    return _whole(s, feed, head, targets, f, decoder, eps)


def _whole(
    s: Sizes,
    feed: Block,
    head: Block,
    targets: Text | None,
    factor: Expr,
    decoder: Text,
    eps: Text,
) -> Block:
    d, norm = read(s.width), RMSNorm(eps)
    told = s.tokens if targets is None else targets
    layer = pre_norm(_attention(s, s.tokens, factor), norm) >> pre_norm(feed, norm)
    encoder = Embedding(d, var=factor) >> Repeat(layer, s.depth) >> norm
    if quantity(decoder, "decoder") == 0:
        return encoder
    inner = (
        pre_norm(_attention(s, told, factor, causal=1), norm)
        >> pre_norm(_cross(s, factor), norm)
        >> pre_norm(feed, norm)
    )
    rows = Targets(d, told, var=factor, tied=1)
    return encoder >> rows >> Repeat(inner, s.depth) >> norm >> head


def _attention(s: Sizes, tokens: Text, factor: Expr, causal: Text = 0) -> Attention:
    return Attention(
        s.width,
        tokens,
        heads=s.heads,
        head_width=s.head_width,
        scale=1,
        causal=causal,
        relative=factor / read(s.width),
        buckets=BUCKETS,
        furthest=FURTHEST,
        **_variances(s, factor),
    )


def _cross(s: Sizes, factor: Expr) -> CrossAttention:
    return CrossAttention(
        s.width,
        s.tokens,
        heads=s.heads,
        head_width=s.head_width,
        scale=1,
        **_variances(s, factor),
    )


def _variances(s: Sizes, factor: Expr) -> dict[str, Expr]:
    d, h, own = (read(value) for value in (s.width, s.heads, s.head_width))
    return {
        "query": factor / (d * own),
        "key": factor / d,
        "value": factor / d,
        "out": factor / (h * own),
    }


def _square(factor: Text) -> Expr:
    return quantity(factor, "factor of the deviations") ** 2
