"""Laws of the kernels of wide networks: one layer of the NNGP and of the NTK, for ReLU and erf.

A layer maps the covariance of its pre-activations at two inputs to E[f(z) f(z_2)], where z and z_2
are N(0, q) of correlation rho. They are written z_2 = (t z + u)/sqrt(1 + t^2) with an independent u
and t = rho/sqrt(1 - rho^2).
"""

from sympy import Expr, Symbol, erf, exp, pi, sqrt

from varlaw.derivations.catalogue import law
from varlaw.symbolic.activations import relu
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
from varlaw.symbolic.terms import Expectation, Slope, Sum, indicator

m, n = dimensions("m n")
i, j = indices("i j")
q, s, c = positive("q s c")
t, rho = (Symbol(name, real=True) for name in ("t", "rho"))
k, l = (Symbol(name, integer=True, nonnegative=True) for name in "kl")  # noqa: E741


def pair() -> tuple[Entry, Entry, Named]:
    """Pre-activations z and z_2 at two inputs, and the independent part u of the second."""
    z, u = (random_variable(name, mean=0, variance=q, gaussian=True) for name in "zu")
    return z, u, named("z_2", (t * z + u) / sqrt(1 + t**2))


@law(
    name="nngp-relu",
    family="kernels",
    title="ReLU's kernel: q (sqrt(1 - rho^2) + rho (pi/2 + arcsin(rho)))/(2 pi)",
    regime="wide limit: jointly normal pre-activations; exact for Gaussian weights given the input",
    sources=("cho2009", "lee2018"),
    note="pi/2 + arcsin(rho) = pi - arccos(rho): the arc-cosine kernel of order 1, halved.",
)
def nngp_relu() -> Derivation:
    z, u, other = pair()
    return (
        derive(Expectation(relu(z) * relu(other)))
        .by("unfold activation")
        .by("condition", over=u)
        .by("gaussian")
        .by("correlation", old=t, rho=rho)
    )


@law(
    name="nngp-relu-slope",
    family="kernels",
    title="The kernel of ReLU's slope: (pi/2 + arcsin(rho))/(2 pi), the chance that both are on",
    regime="wide limit: jointly normal pre-activations; exact for Gaussian weights given the input",
    sources=("cho2009", "jacot2018"),
)
def nngp_relu_slope() -> Derivation:
    z, u, other = pair()
    return (
        derive(Expectation(indicator(z, ">") * indicator(other.definition, ">")))
        .by("condition", over=u)
        .by("gaussian")
        .by("correlation", old=t, rho=rho)
    )


@law(
    name="nngp-erf",
    family="kernels",
    title="The kernel of erf: (2/pi) arcsin(2 q rho/(1 + 2 q))",
    regime="wide limit: jointly normal pre-activations; exact for Gaussian weights given the input",
    sources=("williams1996", "lee2018"),
)
def nngp_erf() -> Derivation:
    z, u, other = pair()
    return (
        derive(Expectation(erf(z) * erf(other)))
        .by("unfold")
        .by("condition", over=u)
        .by("radicals gaussian radicals")
        .by("correlation", old=t, rho=rho)
    )


@law(
    name="nngp-erf-slope",
    family="kernels",
    title="The kernel of erf's slope: (4/pi)/sqrt((1 + 2 q)^2 - 4 q^2 rho^2)",
    regime="wide limit: jointly normal pre-activations; exact for Gaussian weights given the input",
    sources=("williams1996", "jacot2018"),
    note="erf'(z) = 2 exp(-z^2)/sqrt(pi).",
    pitfalls=(
        (
            "the kernel of the slope is the derivative of the kernel by rho",
            "by the covariance q rho: the derivative by rho is q times as large",
            "q = 2, rho = 1/2: 0.2778 for the slope, 0.5557 for the derivative by rho",
        ),
    ),
)
def nngp_erf_slope() -> Derivation:
    z, u, other = pair()
    return (
        derive(Expectation(4 / pi * exp(-(z**2)) * exp(-(other**2))))
        .by("unfold")
        .by("condition", over=u)
        .by("radicals gaussian radicals")
        .by("correlation", old=t, rho=rho)
    )


@law(
    name="ntk-two-layer",
    family="parametrisation",
    title="The NTK of one hidden layer: the kernel of the features plus that of the slopes",
    regime="at initialisation, exact in expectation at any width; ReLU, hidden weights of any law",
    sources=("jacot2018",),
    usual=("a: Gaussian", "w: Gaussian", "w: zero mean"),
    symbols=(
        "f: the network at the input x, with the hidden units z before ReLU",
        "g: the network at the input y, with the hidden units k before ReLU",
        "x: an input",
        "y: another input",
        "a: the readout weights, behind the factor c, which is 1/sqrt(n)",
        "w: the hidden weights, behind the factor s, which is 1/sqrt(m)",
        "n: the number of hidden units",
    ),
    note="In a deeper network the kernel of the layers below stands for s^2 Sum_i x_i y_i: "
    "Theta_(l+1) = K_(l+1) + K'_(l+1) Theta_l.",
)
def ntk_two_layer() -> Derivation:
    a, w = random_array("a", mean=0, variance=1), random_array("w")
    weights: tuple[Expr, Expr] = a[j], w[i, j]
    f, g = (network(a, w, *names) for names in ("fxz", "gyk"))
    readout, hidden = (Slope(f, weight) * Slope(g, weight) for weight in weights)
    return derive(Expectation(Sum(readout, (j, 1, n)) + Sum(hidden, (i, 1, m), (j, 1, n)))).by(
        "chain-rule linearity constants independence identical"
    )


def network(a: RandomArray, w: RandomArray, name: str, inputs: str, hidden: str) -> Named:
    """A network with one hidden layer of ReLU units at one input."""
    x = random_array(inputs, independent=False)
    z = named(hidden, s * Sum(x[i] * w[i, j], (i, 1, m)), j)
    return named(name, c * Sum(a[j] * relu(z), (j, 1, n)))


@law(
    name="ntk-depth",
    family="parametrisation",
    title="The NTK of a deep ReLU network grows in proportion to the depth",
    regime="wide limit, one input, weights of variance 2/m (He)",
    sources=("jacot2018",),
    rests_on=("nngp-relu", "nngp-relu-slope", "ntk-two-layer"),
    symbols=(
        "z: a pre-activation, N(0, q); with He's variance all layers have the same q",
        "Theta: the kernel of a pre-activation with itself; Theta_0 is that of the first layer",
        "l: the number of layers above the first",
    ),
    note="Layer by layer 2 E[relu(z)^2] = q is added, and 2 E[relu'(z)^2] = 1 carried over.",
)
def ntk_depth() -> Derivation:
    z = random_variable("z", mean=0, variance=q, gaussian=True)
    layer = 2 * Expectation(relu(z) ** 2) + 2 * Expectation(indicator(z, ">")) * Term("Theta", k)
    return (
        derive(layer)
        .by("parts stein normal")
        .by("equal", to=Term("Theta", k + 1), because="the recursion: K + K' Theta")
        .by("iterate", previous=Term("Theta", k), index=k, steps=l, initial=Term("Theta", 0))
    )
