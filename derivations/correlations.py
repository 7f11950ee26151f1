"""Laws of what ReLU layers do to the angle between two inputs, and of edges of chaos."""

from sympy import Expr, Integer, Rational, sqrt, tanh

from varlaw.derivations.activation_outputs import relu_mean
from varlaw.derivations.catalogue import law
from varlaw.derivations.gains import normal, v
from varlaw.derivations.kernels import nngp_relu, q, rho
from varlaw.symbolic.declarations import positive
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import named
from varlaw.symbolic.terms import Expectation, indicator

c = positive("c")
OUT = tanh(sqrt(v) * normal())
SLOPES = Expectation((1 - OUT**2) ** 2)  # tanh' = 1 - tanh^2


def kernel(at: Expr = rho) -> Expr:
    """E[relu(z) relu(z_2)] at a correlation."""
    return named("K", nngp_relu.derivation.end.subs(rho, at), at)


@law(
    name="relu-cosine",
    family="kernels",
    title="The cosine between two inputs behind a ReLU layer, whatever the weights' variance",
    regime="wide limit: jointly normal pre-activations; exact for Gaussian weights given the input",
    sources=("cho2009", "poole2016"),
    rests_on=("nngp-relu",),
    symbols=("K_rho: E[ReLU(z) ReLU(z_2)] at correlation rho; K_1 is E[ReLU(z)^2]",),
    note="It exceeds rho below 1, so that any two inputs look alike in the end: 1 - rho falls only "
    "like 9 pi^2/(2 l^2).",
    pitfalls=(
        (
            "He's variance keeps what enters a deep ReLU network",
            "it keeps lengths; angles close from layer to layer",
            "orthogonal inputs have the cosine 1/pi = 0.31831 behind one layer",
        ),
    ),
)
def relu_cosine() -> Derivation:
    return derive(kernel() / kernel(Integer(1))).by("earlier")


@law(
    name="relu-covariance",
    family="kernels",
    title="The covariance of two ReLU outputs: the kernel less the squared mean q/(2 pi)",
    regime="wide limit: jointly normal pre-activations; exact for Gaussian weights given the input",
    sources=("cho2009",),
    rests_on=("nngp-relu", "relu-mean"),
    symbols=(
        "K_rho: E[ReLU(z) ReLU(z_2)] at correlation rho",
        "mu: E[ReLU(z)]",
    ),
    note="The source treats the kernel.",
    pitfalls=(
        (
            "the covariance of two ReLU outputs is rho times their variance",
            "that is a chord of the curve; it lies above it between 0 and 1",
            "0.14534 at rho = 1/2, q = 1, not 0.17042",
        ),
    ),
)
def relu_covariance() -> Derivation:
    mean = named("mu", relu_mean.derivation.end.subs(v, q))
    return derive(kernel() - mean**2).by("earlier").by("algebra", form="factor")


@law(
    name="edge-of-chaos-relu",
    family="kernels",
    title="ReLU's edge of chaos is He's variance: gradients are kept at 2 per fan-in",
    regime="wide limit, square layers: pre-activations N(0, v), independent of the gradient",
    sources=("poole2016", "he2015"),
    symbols=(
        "c: the variance of the weights times the fan-in, which is the fan-out as well",
        "z: a pre-activation",
    ),
    note="c E[ReLU'(z)^2] is what a layer does to the gradient's second moment; below 1 the "
    "network is ordered, above it chaotic.",
    pitfalls=(
        (
            "the edge of chaos depends on the variance of the pre-activations",
            "not for ReLU, whose slope is 1 with the chance 1/2 at any variance",
            "2 at every v; for tanh without biases it is 1, and there v tends to 0",
        ),
    ),
)
def edge_of_chaos_relu() -> Derivation:
    z = normal(v)
    return (
        derive(c * Expectation(indicator(z, ">") ** 2))
        .by("normal")
        .by("require", equals=Integer(1), because="the gradient's second moment is kept")
        .by("solve", unknown=c)
    )


@law(
    name="edge-of-chaos-tanh-point",
    family="kernels",
    title="With biases of variance 0.04 tanh's edge of chaos has pre-activations of variance 0.512",
    regime="wide limit, square layers; pre-activations independent of the gradient",
    sources=("schoenholz2017",),
    symbols=(
        "v: the variance of pre-activations at which layers map it to itself",
        "z: N(0, 1), so that sqrt(v) z is a pre-activation",
    ),
    note="Gradients are kept at weights of variance w/m with w E[tanh'^2] = 1; the variance that "
    "layers keep is then w E[tanh^2] + 1/25.",
)
def edge_of_chaos_tanh_point() -> Derivation:
    return (
        derive(Expectation(OUT**2) / SLOPES + Rational(1, 25))
        .by("require", equals=v, because="a fixed point of the layer map")
        .by("root", unknown=v, near=(Rational(1, 2), Rational(3, 5)), places=18)
    )


@law(
    name="edge-of-chaos-tanh",
    family="kernels",
    title="With biases of variance 0.04 tanh's edge of chaos is at weights of variance 1.7008/m",
    regime="wide limit, square layers; pre-activations independent of the gradient",
    sources=("schoenholz2017",),
    rests_on=("edge-of-chaos-tanh-point",),
    symbols=(
        "c: the variance of the weights times the fan-in, which is the fan-out as well",
        "v: the variance of pre-activations at which layers map it to itself",
        "z: N(0, 1), so that sqrt(v) z is a pre-activation",
    ),
    note="For other biases: varlaw kernel tanh --map --bias-variance.",
    pitfalls=(
        (
            "sigma_w^2 = 1.722 at sigma_b^2 = 0.04",
            "it is a reading, 1.2 % too high: there the network is chaotic",
            "1.7007963721 solves both conditions",
        ),
        (
            "tanh's edge of chaos is at weights of variance 1/m",
            "only without biases, where the variance of the pre-activations tends to 0",
            "1.7008/m with biases of variance 0.04, where it tends to 0.512",
        ),
    ),
)
def edge_of_chaos_tanh() -> Derivation:
    point = edge_of_chaos_tanh_point.derivation.end
    return (
        derive(c * SLOPES)
        .by("require", equals=Integer(1), because="the gradient's second moment is kept")
        .by("substitute", values={v: point}, because="at the point of edge-of-chaos-tanh-point")
        .by("root", unknown=c, near=(1, 2), places=13)
    )
