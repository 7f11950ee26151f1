"""Laws of branches that start at zero: which gradients they have, and how they leave zero."""

from sympy import Add, Expr, Integer, Rational, Symbol, tanh

from varlaw.derivations.catalogue import law
from varlaw.symbolic.activations import gelu, relu
from varlaw.symbolic.arrays import Entry, RandomArray
from varlaw.symbolic.declarations import (
    dimensions,
    indices,
    positive,
    random_array,
    random_variable,
)
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.gradients import Gradient
from varlaw.symbolic.sequences import Named, Term, named
from varlaw.symbolic.terms import Expectation, Sum

d, n, l, m, N = dimensions("d n l m N")  # noqa: E741
i, j, k, r = indices("i j k r")
q, g, s, a, b, alpha, beta, mu = positive("q g s a b alpha beta mu")
THROUGH = "chain-rule expand linearity independence"


def block(activation: type, first: Expr, last: Expr) -> tuple[Named, RandomArray, RandomArray]:
    """y = x + f(x u) w, with weights of the second moments given; 0 makes them zero."""
    x = random_array("x", second_moment=q, independent=False)
    u = random_array("u", second_moment=first, symmetric=True)
    w = random_array("w", mean=0, second_moment=last)
    z = named("z", Sum(x[r] * u[r, j], (r, 1, d)), j)
    return named("y", x[i] + Sum(activation(z) * w[j, i], (j, 1, n)), i), u, w


def pulled_back(y: Expr, by: Entry) -> Expr:
    """The derivative of the loss by a weight, from that by y: the chain rule."""
    p = random_array("p", second_moment=g, independent=False)
    return Sum(p[i] * Gradient(y, by), (i, 1, d))


@law(
    name="zero-last-layer",
    family="scaling",
    title="A ReLU branch whose last layer is 0 trains: that layer's gradient is not 0",
    regime="at initialisation, exactly at finite width; the block is the identity",
    sources=("zhang2019",),
    usual=("x: zero mean",),
    note="The layers before it have no gradient yet, and get one from the second step on.",
    pitfalls=(
        (
            "weights that start at 0 cannot train",
            "those behind the randomness can; those before it cannot, with ReLU",
            "E of the squared gradient: d g q s/2 for the last layer, 0 for the first",
        ),
    ),
)
def zero_last_layer() -> Derivation:
    y, _, w = block(relu, s, Integer(0))
    return (
        derive(Expectation(pulled_back(y, w[j, k]) ** 2))
        .by(THROUGH)
        .by(
            "collapse identical activation symmetry indicators unfold expand linearity independence"
        )
        .by("kronecker", array="u")
        .by("collapse identical count")
    )


@law(
    name="zero-last-layer-before",
    family="scaling",
    title="While the last layer of a branch is 0, the layers before it have no gradient",
    regime="at initialisation, exactly at finite width",
    sources=("zhang2019",),
)
def zero_last_layer_before() -> Derivation:
    y, u, _ = block(relu, s, Integer(0))
    return derive(Expectation(pulled_back(y, u[k, j]) ** 2)).by("chain-rule vanish")


@law(
    name="zero-first-layer-relu",
    family="scaling",
    title="A ReLU branch whose first layer is 0 is stuck: neither layer has a gradient",
    regime="at initialisation, exactly; the derivative of ReLU at 0 is 0, as in libraries",
    sources=("zhang2019",),
    note="The source is background: it starts the last layer at 0.",
)
def zero_first_layer_relu() -> Derivation:
    y, u, w = block(relu, Integer(0), s)
    both = (pulled_back(y, by) for by in (u[k, j], w[j, k]))
    first, last = (Expectation(each**2) for each in both)
    return derive(first + last).by("chain-rule vanish")


@law(
    name="zero-first-layer-gelu",
    family="scaling",
    title="A GELU branch whose first layer is 0 trains: the slope of GELU at 0 is 1/2",
    regime="at initialisation, exactly at finite width",
    sources=("hendrycks2016",),
    note="The source introduces the function. The last layer has no gradient yet.",
    pitfalls=(
        (
            "never start the first layer of a branch at 0",
            "that holds for ReLU; any activation with f'(0) != 0 trains",
            "E of the squared gradient: d g q s f'(0)^2, where f'(0) = 1/2 for GELU, 1 for tanh",
        ),
    ),
)
def zero_first_layer_gelu() -> Derivation:
    return first_layer_at_zero(gelu)


@law(
    name="zero-first-layer-tanh",
    family="scaling",
    title="A tanh branch whose first layer is 0 trains: the slope of tanh at 0 is 1",
    regime="at initialisation, exactly at finite width",
    sources=("glorot2010",),
    note="The source is background: it treats networks of tanh.",
)
def zero_first_layer_tanh() -> Derivation:
    return first_layer_at_zero(tanh)


def first_layer_at_zero(activation: type) -> Derivation:
    y, u, _ = block(activation, Integer(0), s)
    return (
        derive(Expectation(pulled_back(y, u[k, j]) ** 2))
        .by("chain-rule vanish expand linearity independence")
        .by("kronecker", array="w")
        .by("collapse identical count")
    )


@law(
    name="zero-gamma",
    family="scaling",
    title="A gain gamma = 0 of a branch's last Norm has the gradient of the stream",
    regime="at initialisation, exactly; the block is the identity",
    sources=("goyal2017",),
    symbols=(
        "gamma: the gains of the last Norm of the branch, all 0",
        "h: its normalised input, of second moment 1",
        "p: the derivative of the loss by the output y, independent of h, of second moment g",
    ),
)
def zero_gamma() -> Derivation:
    x, h_ = random_array("x"), random_array("h", second_moment=1, independent=False)
    gamma = random_array("gamma", mean=0, second_moment=0)
    y = named("y", x[i] + gamma[i] * h_[i], i)
    return derive(Expectation(pulled_back(y, gamma[k]) ** 2)).by(THROUGH).by("collapse identical")


@law(
    name="zero-gamma-before",
    family="scaling",
    title="While gamma is 0, the weights before that Norm have no gradient",
    regime="at initialisation, exactly; shown for a linear layer under a Norm of fixed divisor",
    sources=("goyal2017",),
    symbols=(
        "gamma: the gains of the last Norm of the branch, all 0",
        "h: the hidden units of the branch",
        "w: the weights of its last layer",
        "p: the derivative of the loss by the output y",
    ),
)
def zero_gamma_before() -> Derivation:
    x, h_ = random_array("x"), random_array("h", independent=False)
    w = random_array("w", mean=0, second_moment=s)
    gamma = random_array("gamma", mean=0, second_moment=0)
    y = named("y", x[i] + gamma[i] * Sum(h_[j] * w[j, i], (j, 1, n)), i)
    return derive(Expectation(pulled_back(y, w[j, k]) ** 2)).by("chain-rule vanish")


@law(
    name="rezero",
    family="scaling",
    title="A scalar alpha = 0 before a branch (ReZero, SkipInit) has the gradient p.F",
    regime="at initialisation, exactly; the block is the identity",
    sources=("bachlechner2021", "de2020"),
    usual=("h: zero mean", "p: zero mean"),
    symbols=(
        "alpha: the factor of the branch, 0 at the start",
        "h: the hidden units of the branch, of second moment q",
        "w: the weights of its last layer, of second moment s",
        "p: the derivative of the loss by the output y, of second moment g",
        "n: the number of hidden units",
    ),
    note="The branch's own weights have no gradient yet: theirs has the factor alpha.",
)
def rezero() -> Derivation:
    x, h_ = random_array("x"), random_array("h", second_moment=q, independent=False)
    w = random_array("w", mean=0, second_moment=s)
    factor = random_variable("alpha", mean=0, second_moment=0)
    y = named("y", x[i] + factor * Sum(h_[j] * w[j, i], (j, 1, n)), i)
    return (
        derive(Expectation(pulled_back(y, factor) ** 2))
        .by(THROUGH)
        .by("kronecker", array="w")
        .by("collapse identical count")
    )


@law(
    name="rezero-ramp",
    family="scaling",
    title="From alpha = 0 SGD moves alpha along a line: alpha_t = -t eta p.F",
    regime="first steps, to leading order in the learning rate: p.F stays what it was",
    sources=("bachlechner2021", "de2020"),
    rests_on=("rezero",),
    symbols=("c: the step eta p.F of alpha", "l: the number of steps"),
    note="The branch's weights move by eta alpha_t each step, and so like t^2 eta^2.",
)
def rezero_ramp() -> Derivation:
    step, t = Symbol("c", real=True), Symbol("t", integer=True, nonnegative=True)
    following = named("alpha", Term("alpha", t) - step, t + 1)
    return (
        derive(following)
        .by("earlier")
        .by("iterate", previous=Term("alpha", t), index=t, steps=l, initial=Term("alpha", 0))
    )


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
    return Add(*(Expectation(Gradient(y, by) ** 2) for by in factors))


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
    x = random_variable("x", second_moment=q)
    v, w = (random_variable(name, mean=0, second_moment=beta**2) for name in "vw")
    y = named("y", (alpha * x + v * w * x) / alpha)
    return (
        derive(Sum(parameters(y, v, w), (r, 1, m)))
        .by("chain-rule constants independence identical count")
        .by("require", equals=q, because="the update is as large as that of one layer y = v x")
        .by("solve", unknown=beta)
        .by("substitute", values={m: 2 * N}, because="2 sub-layers in each of N blocks")
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
    note="Published factors for encoders, 0.67 N^(-1/4), are near (5 N)^(-1/4).",
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
