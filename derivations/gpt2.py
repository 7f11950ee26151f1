"""GPT-2 small at initialisation: what its embeddings and branches write, and where they lead."""

from sympy import Integer, Rational

from varlaw.derivations.branches import BERT, attention_branch, gelu_branch
from varlaw.derivations.catalogue import law
from varlaw.derivations.scaling import (
    START,
    block_scaling,
    block_scaling_by_blocks,
    block_stream,
)
from varlaw.symbolic.declarations import dimensions, indices, positive, random_array
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.terms import Variance

d, L = dimensions("d L")
i = indices("i")
a, b, c, r, s, v = positive("a b c r s v")
GPT2 = Rational(1, 50) ** 2  # the variance of a weight
EMBEDDED = 2 * GPT2  # of a token's and a position's embedding together, both of std 0.02


@law(
    name="gpt2-embeddings",
    family="scaling",
    title="GPT-2's stream starts at 0.0005: token embeddings of std 0.02, positions of std 0.01",
    regime="at initialisation, exactly; as in the released code",
    sources=("radford2019",),
    usual=("u: Gaussian", "p: Gaussian"),
    symbols=("u: an entry of a token's embedding", "p: an entry of a position's embedding"),
    note="Where positions have std 0.02 as well, as in later code, it starts at 0.0008.",
)
def gpt2_embeddings() -> Derivation:
    u = random_array("u", mean=0, variance=Rational(2, 100) ** 2, independent=False)
    p = random_array("p", mean=0, variance=Rational(1, 100) ** 2, independent=False)
    return derive(Variance(u[i] + p[i])).by("moments expand linearity independence identical")


@law(
    name="gpt2-attention",
    family="scaling",
    title="GPT-2's attention branch writes 0.0944 to the stream of the first token, unscaled",
    regime="at initialisation, exactly; the first token attends to itself alone",
    sources=("radford2019",),
    rests_on=("attention-branch",),
)
def gpt2_attention() -> Derivation:
    return attention_branch.derivation.by(
        "substitute",
        values={r: Integer(1), s: GPT2, d: Integer(768)},
        because="at width 768, with weights of std 0.02",
    )


@law(
    name="gpt2-feed-forward",
    family="scaling",
    title="GPT-2's feed-forward branch writes 0.1308 to the stream, unscaled",
    regime="at initialisation; exact for Gaussian weights given the normalised input",
    sources=("radford2019", "hendrycks2016"),
    rests_on=("gelu-branch",),
    pitfalls=(
        (
            "weights that read the stream may have any scale, since a LayerNorm precedes them",
            "their scale does not compound over the depth, but it sets the branch's variance",
            "0.1308 with std 0.02 in the first layer, 0.6603 with 0.04",
        ),
    ),
)
def gpt2_feed_forward() -> Derivation:
    return gelu_branch.derivation.by(
        "substitute",
        values={**BERT, s: GPT2, v: 768 * GPT2},
        because="at width 768 and 3072 hidden units, with weights of std 0.02",
    ).by("digits", places=13)


def gpt2(chain: Derivation) -> Derivation:
    """The stream of GPT-2 small after its 12 blocks, by a law for any a and b, in closed form."""
    values = {
        START: EMBEDDED,
        a: gpt2_attention.derivation.end,
        b: gpt2_feed_forward.derivation.after("substitute"),
        L: Integer(12),
    }
    return chain.by(
        "substitute",
        values=values,
        because="12 blocks of gpt2-attention and gpt2-feed-forward, both embeddings of std 0.02",
    )


@law(
    name="gpt2-stream",
    family="scaling",
    title="GPT-2 small, scaled by 1/sqrt(24): the stream of the first token reaches 0.1134",
    regime="at initialisation; exact for Gaussian weights",
    sources=("radford2019",),
    rests_on=("block-scaling", "gpt2-attention", "gpt2-feed-forward"),
    note="Later tokens average values over positions, which makes their attention branch smaller. "
    "With positions of std 0.01 (gpt2-embeddings) the stream is 0.0003 less.",
    pitfalls=(
        (
            "with the scaling the variance of the stream stays constant over the depth",
            "what all branches add stays the same at any depth; along the way the "
            "stream still grows",
            "from 0.0008 to 0.1134, 142 times as much",
        ),
    ),
)
def gpt2_stream() -> Derivation:
    return gpt2(block_scaling.derivation).by("digits", places=13)


@law(
    name="gpt2-stream-by-blocks",
    family="scaling",
    title="GPT-2 small, scaled by 1/sqrt(12) by mistake: the stream reaches 0.2260",
    regime="at initialisation; exact for Gaussian weights, for the first token",
    sources=("radford2019",),
    rests_on=("block-scaling-by-blocks", "gpt2-attention", "gpt2-feed-forward"),
)
def gpt2_stream_by_blocks() -> Derivation:
    return gpt2(block_scaling_by_blocks.derivation).by("digits", places=13)


@law(
    name="gpt2-stream-unscaled",
    family="scaling",
    title="GPT-2 small without the scaling: the stream reaches 2.7034",
    regime="at initialisation; exact for Gaussian weights, for the first token",
    sources=("radford2019",),
    rests_on=("block-stream", "gpt2-attention", "gpt2-feed-forward"),
    pitfalls=(
        (
            "a norm that grows like sqrt(l) tells that the scaling is missing",
            "with the scaling it grows like sqrt(l) as well; the size at the end tells",
            "0.1134 with it, 2.7034 without",
        ),
    ),
)
def gpt2_stream_unscaled() -> Derivation:
    unscaled = block_stream.derivation.by(
        "substitute", values={c: Integer(1)}, because="without a factor, c = 1"
    )
    return gpt2(unscaled).by("digits", places=13)
