"""Forward laws: the second moment of a layer's output."""

from sympy import Expr

from varlaw.derivations.catalogue import law
from varlaw.symbolic.activations import leaky_relu, relu
from varlaw.symbolic.arrays import RandomArray
from varlaw.symbolic.declarations import dimensions, indices, positive, random_array
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import Named, named
from varlaw.symbolic.terms import Expectation, Sum, Variance

m = dimensions("m")
i, j = indices("i j")
s2, q = positive("s2 q")


def inputs() -> RandomArray:
    """Inputs of a layer: any mean and any dependence, one second moment q."""
    return random_array("x", second_moment="q", independent=False)


def pre_activation(x: RandomArray, w: RandomArray, column: Expr = j) -> Named:
    """z[j] = Sum_i x[i] w[i, j]."""
    return named("z", Sum(x[i] * w[i, column], (i, 1, m)), column)


@law(
    name="lecun",
    family="forward",
    title="LeCun: a linear layer keeps the second moment at variance 1/fan-in",
    regime="at initialisation, exactly at finite width",
    sources=("lecun1998",),
    usual=("x: zero mean", "x: independent entries", "w: Gaussian"),
    pitfalls=(
        (
            "the inputs have zero mean",
            "only their second moment matters; ReLU features of mean 0.4 are kept as well",
            "E[y^2] = E[x^2] at any mean",
        ),
    ),
)
def lecun() -> Derivation:
    x, w = inputs(), random_array("w", mean=0, second_moment="s2")
    y = named("y", Sum(x[i] * w[i, j], (i, 1, m)), j)
    return (
        derive(Expectation(y**2))
        .by("unfold expand linearity independence")
        .by("kronecker", array="w")
        .by("collapse identical count")
        .by("require", equals=q, because="the second moment of the input is kept: E[y_j^2] = q")
        .by("solve", unknown=s2)
        .by("call", name=Variance(w[i, j]))
    )


@law(
    name="linear-fourth",
    family="forward",
    title="Fourth moment of a linear layer's output, exact at finite width",
    regime="at initialisation, exactly at finite width",
    sources=("hanin2018",),
    usual=("x: zero mean", "w: Gaussian"),
    pitfalls=(
        (
            "the second moment is kept, so a layer keeps the length of each signal",
            "on average; with normal weights the ratio |y|^2/|x|^2 of a draw has the "
            "relative std sqrt(2/n)",
            "0.088 at n = 256 units",
        ),
    ),
)
def linear_fourth() -> Derivation:
    x, w = random_array("x", second_moment="q"), random_array("w", mean=0, second_moment="s2")
    y = named("y", Sum(x[i] * w[i, j], (i, 1, m)), j)
    return derive(Expectation(y**4)).by(
        "unfold expand linearity independence coincidence independence identical count"
    )


@law(
    name="he",
    family="forward",
    title="He: a ReLU layer keeps the second moment at variance 2/fan-in",
    regime="at initialisation, exactly at finite width",
    sources=("he2015",),
    usual=("x: zero mean", "x: independent entries", "w: Gaussian"),
    symbols=("h_j: the output of the layer, behind its ReLU",),
    pitfalls=(
        (
            "a pre-activation of mean 0 is halved by ReLU",
            "its law has to be symmetric; for z = e - 1, e exponential, ReLU keeps more",
            "E[relu(z)^2]/E[z^2] = 2/e = 0.7358, not 0.5",
        ),
        (
            "the standard deviation of the activations stays 1",
            "the second moment does; ReLU outputs have a mean",
            "std/rms = sqrt(1 - 1/pi) = 0.8256",
        ),
    ),
)
def he() -> Derivation:
    x, w = inputs(), random_array("w", second_moment="s2", symmetric=True)
    h = relu(pre_activation(x, w))
    return (
        derive(Expectation(h**2))
        .by("activation symmetry indicators unfold expand linearity independence")
        .by("kronecker", array="w")
        .by("collapse identical count")
        .by("require", equals=q, because="the second moment of the input is kept: E[h_j^2] = q")
        .by("solve", unknown=s2)
        .by("call", name=Variance(w[i, j]))
    )


@law(
    name="he-leaky",
    family="forward",
    title="He for leaky ReLU of slope a: variance 2/((1 + a^2) fan-in)",
    regime="at initialisation, exactly at finite width",
    sources=("he2015",),
    usual=("x: zero mean", "x: independent entries", "w: Gaussian"),
    symbols=("h_j: the output of the layer: z_j above 0, a z_j below", "a: the slope below 0"),
)
def he_leaky() -> Derivation:
    a = positive("a")
    x, w = inputs(), random_array("w", second_moment="s2", symmetric=True)
    h = leaky_relu(pre_activation(x, w), a)
    return (
        derive(Expectation(h**2))
        .by("activation linearity constants symmetry indicators")
        .by("algebra", form="factor")
        .by("unfold expand linearity independence")
        .by("kronecker", array="w")
        .by("collapse identical count")
        .by("require", equals=q, because="the second moment of the input is kept: E[h_j^2] = q")
        .by("solve", unknown=s2)
        .by("call", name=Variance(w[i, j]))
    )
