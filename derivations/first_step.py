"""Laws of first steps: branches scaled so that one step of SGD moves the model by O(1)."""

from sympy import Add, Expr, Integer, Rational

from varlaw.derivations.catalogue import law
from varlaw.derivations.zero_init import THROUGH, pulled_back
from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.declarations import (
    dimensions,
    indices,
    positive,
    random_array,
    random_variable,
)
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import named
from varlaw.symbolic.terms import Expectation, Slope, Sum

d, n, l, m, N = dimensions("d n l m N")  # noqa: E741
i, j, k, r = indices("i j k r")
q, g, a, b, alpha, beta, mu = positive("q g a b alpha beta mu")


@law(
    name="fixup-features",
    family="scaling",
    title="Branches with a zero last layer move the output together: features scale by 1/sqrt(N)",
    regime="first step of SGD, to leading order in the learning rate; blocks are the identity",
    sources=("zhang2019",),
    rests_on=("zero-last-layer",),
    symbols=(
        "h: the features before the last layer of a branch, without their scale b",
        "w: the weights of the last layer, all 0",
        "p: the derivative of the loss by the output, the same for all branches",
        "N: the number of residual branches, which see one input",
    ),
    note="A step -eta dl/dw of every last layer changes the loss by eta times the sum of squared "
    "gradients; unlike the branches at random weights, N such changes add with one sign.",
    pitfalls=(
        (
            "with zero last layers the number of branches does not matter",
            "not to the first forward pass; the first step of all of them together moves the loss "
            "N times as much as that of one",
            "N = 50: 50 times as much, or as much at the scale 1/sqrt(50) = 0.1414",
        ),
    ),
)
def fixup_features() -> Derivation:
    x, h_ = random_array("x"), random_array("h", second_moment=q, independent=False)
    w = random_array("w", mean=0, second_moment=0)
    y = named("y", x[i] + Sum(b * h_[j] * w[j, i], (j, 1, n)), i)
    square = Expectation(pulled_back(y, w[j, k]) ** 2)
    whole = Sum(square, (r, 1, N), (j, 1, n), (k, 1, d))
    single = n * d * g * q
    return (
        derive(whole)
        .by(THROUGH)
        .by("constants collapse identical count")
        .by("require", equals=single, because="N branches move the loss as one unscaled one does")
        .by("solve", unknown=b)
    )


@law(
    name="fixup",
    family="scaling",
    title="Fixup: layers before the zero one scale by N^(-1/(2 m - 2)), m layers in each branch",
    regime="first step of SGD, to leading order in the learning rate; positively homogeneous f",
    sources=("zhang2019",),
    rests_on=("fixup-features",),
    symbols=(
        "a: the factor of each layer of a branch but the last, which is 0",
        "l: the number of these layers, m - 1",
        "N: the number of residual branches",
    ),
    pitfalls=(
        (
            "L in Fixup's exponent counts layers",
            "it counts residual branches; m counts the layers inside one",
            "m = 2 and N = 24: 24^(-1/2) = 0.204",
        ),
    ),
)
def fixup() -> Derivation:
    return fixup_features.derivation.by(
        "substitute", values={b: a**l}, because="l layers scaled by a scale the features by a^l"
    ).by("solve", unknown=a)


def parameters(y: Expr, *factors: Entry) -> Expr:
    """The sum of squared derivatives by scalar parameters, in expectation."""
    return Add(*(Expectation(Slope(y, by) ** 2) for by in factors))


@law(
    name="deepnorm-ratio",
    family="scaling",
    title="DeepNorm: 2 N sub-layers change by O(1) in a step at beta = alpha/(2 sqrt(N))",
    regime="first step of SGD; scalar sub-layers alpha x + v w x, divided by alpha in Norm",
    sources=("wang2022",),
    symbols=(
        "v, w: the value and output weights (or the two layers) of a sub-layer, of std beta",
        "y: the output of a sub-layer behind its Norm",
        "alpha: the factor of the residual connection",
        "N: the number of blocks, of two sub-layers each",
    ),
    note="It bounds the change of the model in one step of SGD, by the sum of squared derivatives "
    "of all sub-layers, and no variance of the forward pass.",
    pitfalls=(
        (
            "DeepNorm is derived from the variance of the forward pass",
            "it bounds the update of the model; alpha and beta enter by their ratio alone",
            "beta^2/alpha^2 = 1/(4 N)",
        ),
    ),
)
def deepnorm_ratio() -> Derivation:
    return sub_layers().by(
        "substitute", values={m: 2 * N}, because="2 sub-layers in each of N blocks"
    )


def sub_layer() -> tuple[Expr, Entry, Entry]:
    """The output (alpha x + v w x)/alpha of a sub-layer with its two weights, of std beta."""
    x = random_variable("x", second_moment=q)
    v, w = (random_variable(name, mean=0, second_moment=beta**2) for name in "vw")
    return named("y", (alpha * x + v * w * x) / alpha), v, w


def sub_layers() -> Derivation:
    """beta for m sub-layers (alpha x + v w x)/alpha that together move as one layer does."""
    y, v, w = sub_layer()
    return (
        derive(Sum(parameters(y, v, w), (r, 1, m)))
        .by("chain-rule constants independence identical count")
        .by("require", equals=q, because="the update is as large as that of one layer y = v x")
        .by("solve", unknown=beta)
    )


@law(
    name="deepnorm",
    family="scaling",
    title="DeepNorm: alpha = (2 N)^(1/4) goes with beta = (8 N)^(-1/4)",
    regime="first step of SGD; the choice of alpha shares the ratio out evenly",
    sources=("wang2022",),
    rests_on=("deepnorm-ratio",),
    symbols=("N: the number of blocks of an encoder or of a decoder alone",),
)
def deepnorm() -> Derivation:
    return deepnorm_ratio.derivation.by(
        "substitute",
        values={alpha: (2 * N) ** Rational(1, 4)},
        because="with alpha = (2 N)^(1/4)",
    )


@law(
    name="t-fixup",
    family="scaling",
    title="T-Fixup: a decoder's embeddings, values and outputs scale by (9 N)^(-1/4)",
    regime="first step of SGD; scalar branches v w u, three in each of N decoder blocks",
    sources=("huang2020",),
    symbols=(
        "u: an entry of the embeddings, a parameter as well",
        "v, w: the value and output weights (or the two layers) of a branch",
        "mu: the std that all three have",
        "N: the number of decoder blocks",
    ),
    note="An encoder with embeddings of the same scale has 0.67 N^(-1/4): t-fixup-encoder.",
)
def t_fixup() -> Derivation:
    v, w, u = (random_variable(name, mean=0, second_moment=mu**2) for name in "vwu")
    y = named("y", v * w * u)
    return (
        derive(Sum(parameters(y, v, w, u), (r, 1, m)))
        .by("chain-rule independence identical count")
        .by("require", equals=Integer(1), because="the update of the whole decoder is O(1)")
        .by("solve", unknown=mu)
        .by("substitute", values={m: 3 * N}, because="3 branches in each of N blocks")
    )
