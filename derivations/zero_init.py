"""Laws of branches that start at zero: which gradients they have, and how they leave zero."""

from sympy import Expr, Integer, Symbol, tanh

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
from varlaw.symbolic.sequences import Named, Term, named
from varlaw.symbolic.terms import Expectation, Slope, Sum

d, n, l = dimensions("d n l")  # noqa: E741
i, j, k, r = indices("i j k r")
q, g, s = positive("q g s")
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
    return Sum(p[i] * Slope(y, by), (i, 1, d))


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
    return first_layer_at_zero(gelu).by("collapse identical count")


@law(
    name="zero-first-layer-tanh",
    family="scaling",
    title="A tanh branch whose first layer is 0 trains: the slope of tanh at 0 is 1",
    regime="at initialisation, exactly at finite width",
    sources=("glorot2010",),
    note="The source is background: it treats networks of tanh.",
)
def zero_first_layer_tanh() -> Derivation:
    return first_layer_at_zero(tanh).by("collapse identical count")


def first_layer_at_zero(activation: type) -> Derivation:
    """E of the squared gradient of a first layer at 0, the zero-mean last layer's sums apart."""
    y, u, _ = block(activation, Integer(0), s)
    return (
        derive(Expectation(pulled_back(y, u[k, j]) ** 2))
        .by("chain-rule vanish expand linearity independence")
        .by("kronecker", array="w")
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
