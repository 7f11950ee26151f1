"""Laws of residual branches at real initialisations: what one adds, and what BERT's do."""

from sympy import Expr, Integer, Rational, sqrt

from varlaw.derivations.catalogue import law
from varlaw.derivations.forward import lecun
from varlaw.derivations.residual import pre_norm_growth, stream
from varlaw.derivations.truncation import truncated_normal
from varlaw.symbolic.activations import gelu, relu
from varlaw.symbolic.declarations import dimensions, indices, positive, random_array
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import IndexProduct, Named, Term, named
from varlaw.symbolic.terms import Expectation, Sum, Variance

c, d, l, n = dimensions("c d l n")  # noqa: E741  (the number of layers or blocks)
i, j, k, t = indices("i j k t")
s, s2, v, r = positive("s s2 v r")
BERT = {n: Integer(3072), d: Integer(768)}
FACTOR = named("gamma", truncated_normal.derivation.end.subs(positive("c"), 2))
DRAWN = Rational(1, 50) ** 2 * FACTOR  # the variance of a weight of BERT
SIZES = "at BERT's sizes, with weights of std 0.02 before truncation at two"


@law(
    name="relu-branch",
    family="residual",
    title="The second moment of a branch Linear-ReLU-Linear is n s v/2",
    regime="at initialisation, exactly at finite width; pre-activations of second moment v",
    sources=("he2015",),
    usual=("z: independent entries", "w: Gaussian"),
    symbols=(
        "z: the pre-activations of the hidden units; symmetric if the first layer's weights are",
        "v: their second moment",
        "w: the weights of the last layer",
        "s: their second moment",
        "n: the number of hidden units",
    ),
)
def relu_branch() -> Derivation:
    z = random_array("z", second_moment=v, symmetric=True, independent=False)
    w = random_array("w", mean=0, second_moment=s)
    f = named("F", Sum(relu(z[j]) * w[j, i], (j, 1, n)), i)
    return (
        derive(Expectation(f**2))
        .by("unfold expand linearity independence")
        .by("kronecker", array="w")
        .by("collapse activation symmetry indicators identical count")
    )


@law(
    name="residual-he-branch",
    family="residual",
    title="With He's variance in both layers, a branch Linear-ReLU-Linear has second moment 2",
    regime="at initialisation, exactly at finite width; inputs of second moment 1, as after Norm",
    sources=("he2015", "xiong2020"),
    rests_on=("relu-branch", "lecun"),
    symbols=("F: the output of the branch",),
    pitfalls=(
        (
            "He's variance keeps the signal, so that a branch with it has unit output",
            "the factor 2 makes up for a ReLU behind the layer; the last layer has none",
            "E[F^2] = 2 E[x^2]; it is 1 with 1/n in the last layer",
        ),
    ),
)
def residual_he_branch() -> Derivation:
    linear = lecun.derivation.after("count")  # m q s2, the second moment of a linear layer
    fan_in, q, variance = sorted(linear.free_symbols, key=str)
    return relu_branch.derivation.by(
        "substitute",
        values={s: 2 / n, v: linear.subs({q: 1, variance: 2 / fan_in})},
        because="with 2/fan-in in both layers, at inputs of second moment 1",
    )


@law(
    name="pre-norm-he",
    family="residual",
    title="Pre-Norm with He's variance in both layers of each branch: the stream is 1 + 2 l",
    regime="exact, for branches uncorrelated with the stream",
    sources=("he2015", "xiong2020"),
    rests_on=("pre-norm-growth", "residual-he-branch"),
    symbols=("v_t: the variance of the stream after t layers",),
    pitfalls=(
        (
            "with He's variance the stream grows like 1 + l",
            "each branch adds 2, since its last layer feeds no ReLU",
            "1 + 2 l: 97 after 48 branches, not 49",
        ),
    ),
)
def pre_norm_he() -> Derivation:
    return pre_norm_growth.derivation.by(
        "substitute",
        values={s2: residual_he_branch.derivation.end},
        because="with branches of second moment 2 (residual-he-branch)",
    )


@law(
    name="pre-norm-share",
    family="residual",
    title="Pre-Norm with unit branches: branch t has the share 1/(t + 1) of the stream it joins",
    regime="exact recursion: Norm divides by the population root second moment",
    sources=("xiong2020",),
    rests_on=("pre-norm-growth",),
    symbols=("v_t: the variance of the stream x_t before branch t",),
    pitfalls=(
        (
            "in Pre-Norm every branch has equal weight",
            "the coefficients are equal; the stream that they meet is not",
            "branch 24 moves its stream 25 times less in variance than branch 0 does",
        ),
    ),
)
def pre_norm_share() -> Derivation:
    _, f = stream()
    grown = pre_norm_growth.derivation.end
    (depth,) = grown.free_symbols - {s2}
    spread = named("v", grown.subs(depth, t), t)
    return (
        derive(Variance(f[t]) / spread)
        .by("moments identical")
        .by("earlier", name="v")
        .by("equal", to=Term("r", t), because="the share r_t of branch t")
        .by("substitute", values={s2: Integer(1)}, because="at unit branches s2 = 1")
    )


@law(
    name="post-norm-identity-path",
    family="residual",
    title="Post-Norm with branches of any variances: x_0 keeps Prod (1 + E[F_t^2])^(-1/2)",
    regime="exact recursion: Norm divides by the population root second moment",
    sources=("xiong2020", "vaswani2017"),
    usual=("F independent of x", "x: zero mean"),
    note="With E[F_t^2] = s2 throughout it is post-norm-decay.",
    pitfalls=(
        (
            "each Post-Norm layer halves the variance of what came before",
            "it divides it by 1 + E[F_t^2], and that is what initialisation makes it",
            "BERT: by at most 1.057 behind attention, by 1.075 behind a feed-forward branch",
        ),
    ),
)
def post_norm_identity_path() -> Derivation:
    x = random_array("x", second_moment=1, independent=False)
    f = random_array("F", mean=0, independent=False, identical=False, uncorrelated_with=[x])
    total = x[t] + f[t]
    following = named("x", total / sqrt(Expectation(total**2)), t + 1)
    return (
        derive(following)
        .by("unfold expand linearity uncorrelated identical")
        .by("iterate", previous=x[t], index=t, steps=l, initial=x[0])
    )


@law(
    name="gelu-branch",
    family="residual",
    title="The second moment of a branch Linear-GELU-Linear, at pre-activations of variance v",
    regime="pre-activations N(0, v): exact for Gaussian weights given a normalised input",
    sources=("hendrycks2016",),
    rests_on=("gelu-second-moment",),
    usual=("z: independent entries", "w: Gaussian"),
    symbols=(
        "z: the pre-activations of the hidden units",
        "v: their variance, the width times that of a weight at inputs of second moment 1",
        "w: the weights of the last layer",
        "s: their second moment",
        "n: the number of hidden units",
    ),
    note="The source introduces the function.",
)
def gelu_branch() -> Derivation:
    z = random_array("z", mean=0, variance=v, gaussian=True, independent=False)
    w = random_array("w", mean=0, second_moment=s)
    f = named("F", Sum(gelu(z[j]) * w[j, i], (j, 1, n)), i)
    return (
        derive(Expectation(f**2))
        .by("unfold expand linearity independence")
        .by("kronecker", array="w")
        .by("collapse identical")
        .by("parts parity stein normal-pair complete-square stein complete-square count")
        .by("algebra", form="expand")
    )


@law(
    name="attention-branch",
    family="residual",
    title="The second moment of an attention branch is d^2 s^2 r: two layers on the mean of values",
    regime="at initialisation, exactly at finite width; attention weights of any kind",
    sources=("vaswani2017",),
    usual=("a: zero mean", "a: independent entries"),
    symbols=(
        "a: the mean of the normalised tokens under the attention weights",
        "r: its second moment: 1 for equal tokens, 1/T for T independent ones attended alike",
        "u: the weights that make the values",
        "w: the weights of the output",
        "s: the second moment of a weight",
        "d: the width of the stream",
    ),
    note="The order of the two linear maps and the mean over tokens does not matter.",
)
def attention_branch() -> Derivation:
    a = random_array("a", second_moment=r, independent=False)
    u, w = (random_array(name, mean=0, second_moment=s) for name in "uw")
    f = named("F", Sum(a[k] * u[k, j] * w[j, i], (k, 1, d), (j, 1, d)), i)
    return (
        derive(Expectation(f**2))
        .by("unfold expand linearity independence")
        .by("kronecker", array="w")
        .by("kronecker", array="u")
        .by("collapse identical count")
    )


@law(
    name="bert-feed-forward",
    family="residual",
    title="BERT's feed-forward branch adds 0.0748, not 1, to a stream of variance 1",
    regime="at initialisation; wide enough for Gaussian pre-activations",
    sources=("devlin2019", "hendrycks2016"),
    rests_on=("gelu-branch", "truncated-normal"),
    symbols=(
        "gamma: what truncation at two standard deviations leaves of the variance",
        "F: the output of the branch",
        "z: its pre-activations, of variance 768 times that of a weight",
        "w: the weights of its last layer",
        "n: the number of hidden units",
    ),
    pitfalls=(
        (
            "at initialisation x and F(x) have equal variance",
            "weights of std 0.01759 make F small: the divisor of Norm is near 1",
            "sqrt(1.0748) = 1.0367, not sqrt(2)",
        ),
        (
            "N(0, 0.02) is a normal law of variance 0.02",
            "0.02 is the standard deviation; as a variance it would be 50 times too large",
            "std 0.1414 instead of 0.02",
        ),
    ),
)
def bert_feed_forward() -> Derivation:
    return gelu_branch.derivation.by(
        "substitute",
        values={**BERT, s: DRAWN, v: 768 * DRAWN},
        because=SIZES,
    ).by("digits", places=13)


@law(
    name="bert-attention",
    family="residual",
    title="BERT's attention branch adds at most 0.0565 to a stream of variance 1",
    regime="at initialisation, exactly; the bound is met by one token or by equal tokens",
    sources=("devlin2019",),
    rests_on=("attention-branch", "truncated-normal"),
    symbols=(
        "gamma: what truncation at two standard deviations leaves of the variance",
        "F: the output of the branch, where the attended tokens are equal",
    ),
    note="Tokens that differ are averaged by attention, which makes the branch smaller still.",
)
def bert_attention() -> Derivation:
    return attention_branch.derivation.by(
        "substitute", values={r: Integer(1), s: DRAWN, d: Integer(768)}, because=SIZES
    ).by("digits", places=13)


@law(
    name="bert-identity-path-least",
    family="residual",
    title="BERT's identity path keeps at least 0.466 of x_0 over its 24 sub-layers",
    regime="at initialisation; exact recursion, with attention on equal tokens throughout",
    sources=("devlin2019", "xiong2020"),
    rests_on=("post-norm-identity-path", "bert-attention", "bert-feed-forward"),
    symbols=(
        "gamma: what truncation at two standard deviations leaves of the variance",
        "a: the second moment of an attention branch",
        "f: the second moment of a feed-forward branch",
        "l: the number of blocks, of two sub-layers each",
    ),
    note="A whole BERT lies between this and bert-identity-path-most: near 0.55 where one of 128 "
    "tokens of one segment was drawn.",
    pitfalls=(
        (
            "over 24 sub-layers the identity path of BERT fades to 2^-12",
            "that takes branches as large as the stream; real ones are a 13th of it or less",
            "0.466 to 0.649, not 0.000244",
        ),
    ),
)
def bert_identity_path_least() -> Derivation:
    a = named("a", bert_attention.derivation.after("substitute"))
    return identity_path((1 + a) * (1 + feed_forward())).by("digits", places=13)


@law(
    name="bert-identity-path-most",
    family="residual",
    title="BERT's identity path keeps at most 0.649 of x_0 over its 24 sub-layers",
    regime="at initialisation; exact recursion, with attention that averages to nothing",
    sources=("devlin2019", "xiong2020"),
    rests_on=("post-norm-identity-path", "bert-feed-forward"),
    symbols=(
        "gamma: what truncation at two standard deviations leaves of the variance",
        "f: the second moment of a feed-forward branch",
        "l: the number of blocks, each with one feed-forward branch",
    ),
    pitfalls=(
        (
            "BERT-large's 48 sub-layers leave 2^-24 of x_0, at the rounding of float32",
            "that again takes unit branches; at width 1024 the real ones are 0.100 and 0.140",
            "0.066 to 0.207 of x_0 is left, not 6e-8",
        ),
    ),
)
def bert_identity_path_most() -> Derivation:
    return identity_path(1 + feed_forward()).by("digits", places=13)


def feed_forward() -> Named:
    """The second moment of BERT's feed-forward branch."""
    return named("f", bert_feed_forward.derivation.after("substitute"))


def identity_path(divisor: Expr) -> Derivation:
    """What is left of x_0 after 12 blocks, each dividing by the root of `divisor`."""
    return (
        derive(IndexProduct(1 / sqrt(divisor), t, Integer(0), l - 1))
        .by("constant-product")
        .by("equal", to=Term("c", l), because="the weight c_l of x_0 after l blocks")
        .by("substitute", values={l: Integer(12)}, because="BERT's base size has 12 blocks")
    )
