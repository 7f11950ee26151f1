"""Laws of model updates: what one step of SGD moves DeepNorm's encoder and Sub-LN's branches by."""

from sympy import Integer, Rational, log, sqrt

from varlaw.derivations.catalogue import law
from varlaw.derivations.first_step import parameters, sub_layer
from varlaw.derivations.scaling import t
from varlaw.derivations.streams import deepnorm_decoder
from varlaw.symbolic.declarations import dimensions, indices, positive, random_variable
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import Term, named
from varlaw.symbolic.terms import Expectation, Slope, Sum

L, M, N, m = dimensions("L M N m")
j, r = indices("j r")
START = Term("v", 0)
a, b, c, q, alpha, beta, gamma = positive("a b c q alpha beta gamma")


@law(
    name="deepnorm-memory",
    family="scaling",
    title="DeepNorm: M cross-attentions pass at most sqrt(M)/(12 sqrt(3)) of a squared update on",
    regime="first step of SGD, a bound: all M pass what the encoder changes by with one sign",
    sources=("wang2022",),
    rests_on=("deepnorm-decoder",),
    symbols=(
        "z: the output of a decoder's cross-attention behind its Norm",
        "h: what it reads, the output of the encoder",
        "u, o: its value and output weights, of std beta",
        "alpha: the factor of its residual connection",
        "c: the part of the square of a change of h that reaches the decoder's output",
        "M: the number of blocks of the decoder, each with one cross-attention",
    ),
    note="(s_1 + .. + s_M)^2 is at most M (s_1^2 + .. + s_M^2) (Cauchy-Schwarz).",
)
def deepnorm_memory() -> Derivation:
    x, h = (random_variable(name, second_moment=q) for name in "xh")
    u, o = (random_variable(name, mean=0, second_moment=beta**2) for name in "uo")
    z = named("z", (alpha * x + u * o * h) / alpha)
    return (
        derive(M * Sum(Expectation(Slope(z, h) ** 2), (j, 1, M)))
        .by("chain-rule constants independence identical count")
        .by("equal", to=c, because="the part c of the squared change")
        .by(
            "substitute",
            values={alpha: (3 * M) ** Rational(1, 4), beta: deepnorm_decoder.derivation.end},
            because="alpha and beta of a decoder of M blocks (deepnorm-decoder)",
        )
    )


def encoder() -> Derivation:
    """alpha and beta at which the encoder's update reaches the decoder's output at O(1)."""
    y, v, w = sub_layer()
    return (
        derive(c * Sum(parameters(y, v, w), (r, 1, m)) ** 2)
        .by("chain-rule constants independence identical count")
        .by(
            "substitute",
            values={m: 2 * N, c: deepnorm_memory.derivation.end},
            because="2 sub-layers in each of N blocks, c as found (deepnorm-memory)",
        )
        .by("require", equals=q**2, because="the update is as large as that of one layer y = v x")
    )


@law(
    name="deepnorm-encoder-beta",
    family="scaling",
    title="DeepNorm before a decoder: an encoder's beta is 0.87 (N^4 M)^(-1/16)",
    regime="first step of SGD, a bound: all M cross-attentions pass the update with one sign",
    sources=("wang2022",),
    rests_on=("deepnorm-memory",),
    symbols=(
        "y: the output of an encoder's sub-layer behind its Norm",
        "v, w: its value and output weights (or its two layers), of std beta",
        "alpha: the factor of its residual connection",
        "c: the part of the squared update that reaches the decoder's output",
        "m: the number of sub-layers of the encoder",
        "N: the number of blocks of the encoder, of two sub-layers each",
        "M: the number of blocks of the decoder, each with one cross-attention",
    ),
    note="The bound fixes the ratio of alpha and beta; alpha = 1/(sqrt(2) beta) is how the encoder "
    "alone and the decoder share it out: alpha beta = (2 N)^(1/4) (8 N)^(-1/4) = 1/sqrt(2).",
    pitfalls=(
        (
            "0.87 and 0.81 are fitted constants",
            "they are roots of 27: (27/256)^(1/16) and 27^(-1/16), rounded",
            "0.868851 and 0.813841",
        ),
        (
            "an encoder has beta = (8 N)^(-1/4), whatever follows",
            "that is the encoder alone; before a decoder its update passes M cross-attentions",
            "N = M = 6: beta 0.4963 before a decoder, 0.3799 alone",
        ),
    ),
)
def deepnorm_encoder_beta() -> Derivation:
    return (
        encoder()
        .by(
            "substitute",
            values={alpha: 1 / (sqrt(2) * beta)},
            because="alpha = 1/(sqrt(2) beta), as for the encoder alone (deepnorm)",
        )
        .by("solve", unknown=beta)
    )


@law(
    name="deepnorm-encoder-alpha",
    family="scaling",
    title="DeepNorm before a decoder: an encoder's alpha is 0.81 (N^4 M)^(1/16)",
    regime="first step of SGD, a bound: all M cross-attentions pass the update with one sign",
    sources=("wang2022",),
    rests_on=("deepnorm-encoder-beta",),
    pitfalls=(
        (
            "alpha and beta of encoder and decoder scale with the depth by one rule",
            "the decoder's depend on M alone, the encoder's on N and, weakly, on M",
            "N = M = 18: alpha 2.0083 in the encoder, 2.7108 in the decoder",
        ),
    ),
)
def deepnorm_encoder_alpha() -> Derivation:
    return (
        encoder()
        .by(
            "substitute",
            values={beta: 1 / (sqrt(2) * alpha)},
            because="beta = 1/(sqrt(2) alpha), as for the encoder alone (deepnorm)",
        )
        .by("solve", unknown=alpha)
    )


@law(
    name="sub-ln-kernel",
    family="scaling",
    title="Sub-LN: in a step of SGD L branches move the output by 2/2 + .. + 2/(L + 1)",
    regime="first step of SGD; scalar branches; Norms divide by population root second moments",
    sources=("wang2022magneto",),
    symbols=(
        "z: the stream before branch t over a, so that its second moment is gamma^2",
        "y: the stream behind it over b; the branch is o (u z) with a Norm before each weight",
        "a, b: the roots of t + 1 and t + 2, as x_0 and each branch add gamma^2 to the stream",
        "u, o: the two weights of a branch, of std gamma",
        "r, s: changes of the two weights, independent of one another and of variance 1",
        "p: what the changes of all weights before make of z",
        "w: what the changes of all weights so far make of y",
        "v_t: the sum of squared derivatives of z by all weights before branch t; v_0 is that by "
        "the embeddings",
        "L: the number of branches",
    ),
    note="Behind the last Norm, which divides by gamma, it is v_L/gamma^2; the part along the "
    "stream, which a Norm of real vectors takes off, is left in.",
    pitfalls=(
        (
            "in Pre-Norm the update of the model grows like the number of branches",
            "a branch at depth t meets a stream t times as large: the shares make a logarithm",
            "24 branches: 2.816 times 2/gamma^2, not 24 times",
        ),
    ),
)
def sub_ln_kernel() -> Derivation:
    z = random_variable("z", second_moment=gamma**2)
    o, u = (random_variable(name, mean=0, second_moment=gamma**2) for name in "ou")
    r, s = (random_variable(name, mean=0, second_moment=1) for name in "rs")
    p = random_variable("p", second_moment=Term("v", t), depends_on=[z.array])
    y = named("y", (a * z + o * (u * (z / gamma) / gamma)) / b)
    changed = named("w", Slope(y, z) * p + Slope(y, o) * r + Slope(y, u) * s)
    return (
        derive(Expectation(changed**2))
        .by("unfold", name="w")
        .by("chain-rule expand linearity constants independence identical")
        .by("call", name=Term("v", t + 1))
        .by(
            "substitute",
            values={a: sqrt(t + 1), b: sqrt(t + 2)},
            because="the stream grows by gamma^2 a branch",
        )
        .by("algebra", form="terms")
        .by("iterate", previous=Term("v", t), index=t, steps=L, initial=START)
    )


@law(
    name="sub-ln",
    family="scaling",
    title="Sub-LN: gamma = sqrt(log(2 N)) keeps the update of 2 N branches at O(1)",
    regime="first step of SGD; leading order in the depth, gamma^2 - log(2 N) stays bounded",
    sources=("wang2022magneto",),
    rests_on=("sub-ln-kernel",),
    symbols=(
        "c: gamma^2 times the sum of squared derivatives of the output by the weights of branches",
        "gamma: the std of the weights that make values, outputs and feed-forward layers",
        "N: the number of blocks of an encoder or of a decoder alone, of two branches each",
    ),
    note="A single branch y = v u x of unit weights has the squared derivatives 1 + 1 = 2.",
    pitfalls=(
        (
            "deeper networks need smaller weights",
            "here larger ones: behind a Norm the step relative to a weight falls like 1/gamma^2",
            "N = 12: sqrt(log 24) = 1.783; N = 24: 1.968",
        ),
        (
            "sqrt(log(2 N)) keeps the update the same at every depth",
            "to leading order: exactly it is sqrt(1/2 + 1/3 + .. + 1/(2 N + 1))",
            "N = 12: 1.678, not 1.783",
        ),
    ),
)
def sub_ln() -> Derivation:
    branches = named("c", sub_ln_kernel.derivation.end.subs(L, 2 * N) - START)
    return (
        derive(branches / gamma**2)
        .by("earlier")
        .by("require", equals=Integer(2), because="2 N branches move as far as one unit branch")
        .by("solve", unknown=gamma)
        .by("integral-test", to=sqrt(log(2 * N)), variable=N)
    )
