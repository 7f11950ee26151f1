"""Laws of streams: linear branches, He's variance scaled, DeepNorm's identity path, T-Fixup."""

from sympy import Integer, Rational, sqrt

from varlaw.derivations.branches import residual_he_branch
from varlaw.derivations.catalogue import law
from varlaw.derivations.first_step import deepnorm, parameters, sub_layers
from varlaw.derivations.forward import lecun, m, q
from varlaw.derivations.residual import l, pre_norm_growth, s2, stream, t
from varlaw.derivations.scaling import residual_scaling, scaled_stream
from varlaw.symbolic.declarations import dimensions, indices, positive, random_variable
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import IndexProduct, named
from varlaw.symbolic.terms import Expectation, Sum

d, L, M, N = dimensions("d L M N")
r = indices("r")
count = dimensions("l")
alpha, beta, c, k, mu, s = positive("alpha beta c k mu s")


@law(
    name="pre-norm-linear",
    family="residual",
    title="Pre-Norm with one linear layer per branch: the stream is 1 + l d s^2",
    regime="exact, for branches uncorrelated with the stream",
    sources=("xiong2020",),
    rests_on=("pre-norm-growth", "lecun"),
    symbols=(
        "v_t: the variance of the stream after t layers",
        "d: the width",
        "s: the std of a weight",
    ),
    pitfalls=(
        (
            "a stack x + W Norm(x) shows how BERT behaves",
            "BERT normalises behind the sum, where the stream keeps variance 1",
            "std 1.49292 after 12 layers of width 256 and std 0.02 in Pre-Norm, 1 in Post-Norm",
        ),
        (
            "dividing the weights by sqrt(12) keeps the stream at 1",
            "the 12 branches still add what one unscaled branch adds",
            "std 1.04995 = sqrt(1 + 256 * 0.0004)",
        ),
    ),
)
def pre_norm_linear() -> Derivation:
    linear = lecun.derivation.after("count")
    (variance,) = (symbol for symbol in linear.free_symbols if symbol.name == "s2")
    return pre_norm_growth.derivation.by(
        "substitute",
        values={s2: linear.subs({m: d, q: 1, variance: s**2})},
        because="with linear branches of width d, at inputs of second moment 1 (lecun)",
    )


@law(
    name="pre-norm-he-scaled",
    family="scaling",
    title="He's variance scaled by 1/sqrt(2 L): the stream is v_0 + l/L after l of L branches",
    regime="exact, for Pre-Norm branches Linear-ReLU-Linear uncorrelated with the stream",
    sources=("radford2019", "he2015"),
    rests_on=("scaled-stream", "residual-he-branch", "residual-scaling"),
    symbols=(
        "v_t: the variance of the stream after t branches",
        "L: the number of blocks; here each has one branch",
    ),
    pitfalls=(
        (
            "1/sqrt(2 L) belongs to blocks of two branches, so one branch a block adds 1/2",
            "a branch with He's variance adds 2, not 1, which makes up for it",
            "1 + 48/48 = 2, a norm of 1.4142, after 48 blocks",
        ),
    ),
)
def pre_norm_he_scaled() -> Derivation:
    factor = residual_scaling.derivation.end.subs(N, 2 * L)
    return scaled_stream.derivation.by(
        "substitute",
        values={s2: residual_he_branch.derivation.end, c: factor, N: count},
        because="branches of second moment 2 (residual-he-branch), c = 1/sqrt(2 L), l of them",
    )


@law(
    name="deepnorm-identity-path",
    family="residual",
    title="DeepNorm's identity path: x_0 keeps (1 + s2/alpha^2)^(-l/2) behind l sub-layers",
    regime="exact recursion: Norm divides by the population root second moment",
    sources=("wang2022",),
    usual=("F independent of x", "x: zero mean"),
    symbols=(
        "alpha: the factor of the residual connection",
        "F_k: the outputs of the branches, of variance s2",
    ),
    note="At alpha = 1 it is post-norm-decay.",
    pitfalls=(
        (
            "DeepNorm is Post-Norm, whose identity path fades like 2^(-l/2)",
            "alpha makes the branch small beside the stream",
            "unit branches, N = 100, l = 200: 1.1e-3 with alpha = (2 N)^(1/4), not 2^-100",
        ),
    ),
)
def deepnorm_identity_path() -> Derivation:
    x, f = stream()
    total = alpha * x[t] + f[t]
    following = named("x", total / sqrt(Expectation(total**2)), t + 1)
    return (
        derive(following)
        .by("unfold expand linearity constants uncorrelated identical")
        .by("iterate", previous=x[t], index=t, steps=l, initial=x[0])
    )


@law(
    name="deepnorm-identity-weight",
    family="residual",
    title="DeepNorm of N blocks: x_0 keeps (1 + (8 N)^(-1) (2 N)^(-1/2))^(-N), nearly all of it",
    regime="exact recursion, at initialisation; branches of variance beta^4, as two scaled layers",
    sources=("wang2022",),
    rests_on=("deepnorm-identity-path", "deepnorm"),
    symbols=(
        "c: the weight of x_0 behind l sub-layers",
        "alpha: the factor of the residual connection",
        "s2: the variance of a branch: of two layers of gain beta, beta^4",
        "k: s2/alpha^2",
    ),
    pitfalls=(
        (
            "a Post-Norm network of 1000 layers has no identity path left",
            "DeepNorm's alpha and beta keep it, at initialisation",
            "N = 500, 1000 sub-layers: 0.9961",
        ),
    ),
)
def deepnorm_identity_weight() -> Derivation:
    total = deepnorm_identity_path.derivation.end
    start = stream()[0][0]
    kept = total.coeff(start).subs(l, 1)
    return (
        derive(IndexProduct(kept, t, Integer(0), l - 1))
        .by("constant-product")
        .by("equal", to=c, because="the weight c of x_0 behind l sub-layers")
        .by(
            "substitute",
            values={s2: k * alpha**2, l: 2 * N},
            because="2 N sub-layers; k is a branch's share, s2/alpha^2",
        )
        .by("radicals")
        .by(
            "substitute",
            values={k: deepnorm.derivation.end**4 / sqrt(2 * N)},
            because="s2 = beta^4 = 1/(8 N) and alpha = (2 N)^(1/4) (deepnorm)",
        )
    )


@law(
    name="deepnorm-decoder",
    family="scaling",
    title="DeepNorm behind an encoder: a decoder's alpha = (3 M)^(1/4), beta = (12 M)^(-1/4)",
    regime="first step of SGD; the choice of alpha shares the ratio out evenly",
    sources=("wang2022",),
    rests_on=("deepnorm-ratio",),
    symbols=(
        "alpha: the factor of the residual connection",
        "beta: the factor of the weights",
        "M: the number of decoder blocks, of three sub-layers each",
        "m: the number of sub-layers",
    ),
    pitfalls=(
        (
            "alpha = (2 N)^(1/4) holds for any stack of N blocks",
            "a decoder block with cross-attention has three sub-layers",
            "M = 6: alpha 2.0598, 1/beta 2.9130",
        ),
        (
            "0.87 and 1/1.15 are two different constants for the encoder",
            "one is the other rounded",
            "1/1.15 = 0.86957, 0.05 % below 0.87",
        ),
    ),
)
def deepnorm_decoder() -> Derivation:
    return sub_layers().by(
        "substitute",
        values={m: 3 * M, alpha: (3 * M) ** Rational(1, 4)},
        because="3 sub-layers in each of M blocks, with alpha = (3 M)^(1/4)",
    )


@law(
    name="t-fixup-encoder",
    family="scaling",
    title="T-Fixup: an encoder's values and outputs scale by 0.67 N^(-1/4)",
    regime="first step of SGD; scalar branches v w u, two in each of N encoder blocks",
    sources=("huang2020",),
    rests_on=("t-fixup",),
    symbols=(
        "u: an entry of the embeddings, scaled by (9 N)^(-1/4) as in the decoder",
        "v, w: the value and output weights (or the two layers) of a branch",
        "mu: the std that the embeddings have",
        "beta: the std that both weights have",
        "c: beta N^(1/4)",
        "N: the number of blocks of the encoder, and of the decoder",
    ),
    pitfalls=(
        (
            "0.67 is a fitted constant",
            "the embeddings' scale is fixed by the decoder; the rest follows",
            "0.66963 = sqrt((sqrt(22) - 2)/6)",
        ),
    ),
)
def t_fixup_encoder() -> Derivation:
    v, w = (random_variable(name, mean=0, second_moment=beta**2) for name in "vw")
    u = random_variable("u", mean=0, second_moment=mu**2)
    y = named("y", v * w * u)
    return (
        derive(Sum(parameters(y, v, w, u), (r, 1, m)))
        .by("chain-rule independence identical count")
        .by(
            "substitute",
            values={m: 2 * N, mu: (9 * N) ** Rational(-1, 4), beta: c / N ** Rational(1, 4)},
            because="2 branches in each of N blocks, mu = (9 N)^(-1/4) (t-fixup)",
        )
        .by("require", equals=Integer(1), because="the update of the whole encoder is O(1)")
        .by("root", unknown=c, near=(0, 1), places=15)
        .by("substitute", values={c: beta * N ** Rational(1, 4)}, because="beta = c N^(-1/4)")
        .by("solve", unknown=beta)
    )
