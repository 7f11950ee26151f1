"""Whole models at their real sizes and initialisation, as blocks.

A size's name stands for widths, heads and depth; each can be given instead, and `tokens` is the
length of the sequence, the longest one unless given. All biases start at 0, and all norms as plain
normalisation. Dropout is left out.
"""

from sympy import Expr, Rational

from varlaw.symbolic.blocks.activation import Activation
from varlaw.symbolic.blocks.attention import Attention
from varlaw.symbolic.blocks.block import Block, Sequential, quantity, size
from varlaw.symbolic.blocks.linear import Embedding, Linear, unembedding
from varlaw.symbolic.blocks.norm import LayerNorm, RMSNorm
from varlaw.symbolic.blocks.options import sizes_of
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.residual import Gate, post_norm, pre_norm
from varlaw.symbolic.blocks.shift import Shift
from varlaw.symbolic.blocks.sizes import BERT, GPT2, LLAMA, Sizes
from varlaw.symbolic.language import Text, read

TRUNCATED = Rational("0.773741303549923247180")  # variance of N(0, 1) cut at 2, to 21 digits


def mlp(
    width: Text,
    depth: Text,
    *,
    function: str = "relu",
    var: Text | None = None,
    bias: Text = 0,
    fan_in: Text | None = None,
    fan_out: Text | None = None,
) -> Block:
    """`depth` hidden layers of one width, and a linear layer to `fan_out`, if there is one.

    Weights have the variance `var`, 2/fan-in unless given (He et al. 2015, section 2.2).
    """
    d, many = size(width, "width"), size(depth, "depth")
    first = d if fan_in is None else size(fan_in, "fan-in")

    def layer(inward: Expr, outward: Text) -> Linear:
        return Linear(inward, outward, var=2 / inward if var is None else var, bias=bias)

    hidden = layer(d, d) >> Activation(function)
    whole: Block = Repeat(hidden, many)
    if first != d:
        whole = layer(first, d) >> Activation(function) >> Repeat(hidden, many - 1)
    return whole if fan_out is None else whole >> layer(d, fan_out)


@sizes_of(GPT2, "GPT-2", "small", "tokens", "words")
def gpt2(
    s: Sizes,
    *,
    std: Text = "1/50",
    position_std: Text = "1/50",
    residual_scale: Text | None = None,
    eps: Text = "1/100000",
) -> Block:
    """GPT-2 (Radford et al. 2019, sections 2.2 and 2.3): Pre-Norm, causal, tied head.

    All weights are normal of deviation 0.02, those that write to the residual stream are divided
    by sqrt(2 depth), as in Hugging Face's modeling_gpt2.py and in nanoGPT. The released code
    (openai/gpt-2, src/model.py) does not divide (`residual_scale=1`) and has positions of deviation
    0.01 (`position_std=1/100`). GELU is the exact one; the tanh form of the code differs by less
    than 1e-3. The head is the embedding: logits are those of words that did not come in.
    """
    v = _square(std, "deviation of the weights")
    d, n, L = (read(value) for value in (s.width, s.inner, s.depth))
    written = v * (1 / (2 * L) if residual_scale is None else read(residual_scale) ** 2)
    attention = _attention(s, query=v, key=v, value=v, out=written, causal=1)
    feed = Linear(d, n, var=v) >> Activation("gelu") >> Linear(n, d, var=written)
    norm = LayerNorm(eps)
    layer = pre_norm(attention, norm) >> pre_norm(feed, norm)
    rows = Embedding(d, var=v, positions=_square(position_std, "deviation of the positions"))
    head = unembedding(d, s.words, var=v, tied=1)
    return rows >> Repeat(layer, L) >> norm >> head


@sizes_of(BERT, "BERT", "base", "tokens", "words")
def bert(
    s: Sizes,
    *,
    std: Text = "1/50",
    truncated: Text = 1,
    eps: Text = 0,
) -> Block:
    """BERT (Devlin et al. 2019, section 3) with its masked-word head: Post-Norm, all tokens seen.

    Weights are normal of deviation 0.02 and cut at two of it (google-research/bert, modeling.py,
    create_initializer), which leaves 0.774 of the variance; `truncated=0` for Hugging Face's, which
    are not cut. Words, positions and segments are added; all tokens are of one segment, and so
    correlate by 1/3. The 1e-12 of the norms is left out.
    """
    v = _square(std, "deviation of the weights")
    if quantity(truncated, "truncated") != 0:
        v = v * TRUNCATED
    d, n = read(s.width), read(s.inner)
    attention = _attention(s, query=v, key=v, value=v, out=v)
    feed = Linear(d, n, var=v) >> Activation("gelu") >> Linear(n, d, var=v)
    norm = LayerNorm(eps)
    layer = post_norm(attention, norm) >> post_norm(feed, norm)
    rows = Embedding(d, var=v, positions=v) >> Shift(v) >> norm
    head = Linear(d, d, var=v) >> Activation("gelu") >> norm
    words = unembedding(d, s.words, var=v, tied=1)
    return rows >> Repeat(layer, s.depth) >> head >> words


@sizes_of(LLAMA, "LLaMA", "7b", "tokens", "kv_heads", "words")
def llama(
    s: Sizes,
    *,
    std: Text = "1/50",
    rotary: Text | None = None,
    eps: Text = "1/1000000",
) -> Block:
    """LLaMA (Touvron et al. 2023, section 2.2; 70b of LLaMA 2, 8b of LLaMA 3): Pre-Norm, SwiGLU.

    All weights are normal of deviation 0.02 (Hugging Face's LlamaConfig, `initializer_range`; the
    authors published no initialisation). Rotary positions have the base 10000, 8b 500000; they
    need numbers, and `rotary=0` leaves them out.
    """
    v = _square(std, "deviation of the weights")
    d, n = read(s.width), read(s.inner)
    base = s.base if rotary is None else rotary
    attention = _attention(s, query=v, key=v, value=v, out=v, causal=1, rotary=base)
    unit = Gate(Linear(d, n, var=v) >> Activation("silu"), Linear(d, n, var=v))
    norm = RMSNorm(eps)
    layer = pre_norm(attention, norm) >> pre_norm(Sequential((unit, Linear(n, d, var=v))), norm)
    return Embedding(d, var=v) >> Repeat(layer, s.depth) >> norm >> Linear(d, s.words, var=v)


def _square(std: Text, what: str) -> Expr:
    return quantity(std, what) ** 2


def _attention(s: Sizes, **given: Text) -> Attention:
    return Attention(
        s.width,
        s.tokens,
        heads=s.heads,
        kv_heads=s.kv_heads,
        head_width=s.head_width,
        **given,
    )
