"""Laws of other sums: graphs, recurrences, generated and complex weights, maxout."""

from sympy import Rational, Symbol, erf, sqrt

from varlaw.derivations.catalogue import law
from varlaw.derivations.gains import normal, solved
from varlaw.symbolic.declarations import (
    dimensions,
    indices,
    positive,
    random_array,
    random_variable,
)
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import named
from varlaw.symbolic.terms import Expectation, Sum, Variance

m, d = dimensions("m d")
i, j, t = indices("i j t")
q, r, s, v, c, a, p, o = positive("q r s v c a p o")
k = Symbol("k", real=True)


@law(
    name="gcn-aggregation",
    family="forward",
    title="A graph convolution keeps E[1/d] of its features' second moment, d a neighbour's degree",
    regime="exact, for features that are independent from node to node",
    sources=("kipf2017",),
    usual=("x: Gaussian",),
    symbols=(
        "x: the features of the neighbours, of second moment q",
        "m: the degree of the node, with the loop to itself",
        "a: the weights 1/sqrt(m d_j), d_j the degree of neighbour j, with the loop to itself",
        "r: E[1/d_j], over the neighbours of a node",
        "y: the node's feature after the sum",
    ),
    pitfalls=(
        (
            "the symmetric normalisation keeps the size of features",
            "its largest eigenvalue is 1, which keeps what is smooth over the graph; independent "
            "features are averaged out",
            "1/5 of the second moment at four neighbours and a loop; after two layers on a tree "
            "0.0848, more than 1/25, since neighbours then share inputs",
        ),
        (
            "sums over neighbours are on the scale of means",
            "a sum over m nodes multiplies the second moment by m, a mean divides it by m",
            "degrees from 1 to 100: variances from q to 100 q by sums, from q to q/100 by means",
        ),
    ),
)
def gcn_aggregation() -> Derivation:
    x = random_array("x", mean=0, second_moment=q)
    a = random_array("a", second_moment=r / m, independent=False)
    y = named("y", Sum(a[j] * x[j], (j, 1, m)))
    chain = derive(Expectation(y**2)).by("unfold expand linearity independence")
    return chain.by("kronecker", array="x").by("collapse identical count")


@law(
    name="lru-gain",
    family="forward",
    title="A linear recurrence a h + c u keeps c^2/(1 - a^2) of its inputs' second moment",
    regime="stationary; inputs of mean 0, independent from step to step",
    sources=("orvieto2023",),
    note="c = sqrt(1 - a^2) keeps it all: the source's normalisation gamma.",
    usual=("u: symmetric", "u: Gaussian"),
    symbols=(
        "h: the state, of second moment s",
        "u: the input, of second moment v",
        "a: the eigenvalue, between 0 and 1; its modulus where it is complex",
        "o: a/(1 - a)",
        "c: the factor gamma of the input",
    ),
    pitfalls=(
        (
            "a moving average a h + (1 - a) u keeps the size of its inputs",
            "it keeps their mean; what is independent from step to step shrinks",
            "at a = 0.99 the second moment is 0.0050 of the inputs'; sqrt(1 - a^2) is 0.141",
        ),
        (
            "inputs need no factor where |a| < 1, since the recurrence is stable",
            "stable means that it settles, at 1/(1 - a^2) of the inputs' second moment",
            "50.25 times at a = 0.99, 500.25 times at 0.999",
        ),
    ),
)
def lru_gain() -> Derivation:
    h = random_variable("h", second_moment=s)
    u = random_variable("u", mean=0, second_moment=v)
    return (
        derive(Expectation((a * h + c * u) ** 2))
        .by("expand linearity constants independence identical")
        .by("require", equals=s, because="the state is stationary")
        .by("substitute", values={a: o / (1 + o)}, because="0 < a < 1: a = o/(1 + o), o > 0")
        .by("solve", unknown=s)
        .by("variable", old=o, value=a / (1 - a), new=a, inverse=o / (1 + o))
    )


@law(
    name="hypernetwork",
    family="fans",
    title="A hypernetwork's last layer needs the variance 1/(m d r): both fan-ins count",
    regime="at initialisation, exactly at finite width; the weights it makes have variance 1/m",
    sources=("chang2020",),
    usual=("x: zero mean", "z: zero mean", "h: Gaussian"),
    symbols=(
        "h: the weights of the hypernetwork's last layer, of second moment s",
        "z: its features, of second moment r, d of them",
        "x: the input of the layer that is made, m of them",
        "y: the output of that layer",
    ),
    pitfalls=(
        (
            "a hypernetwork is initialised as any network: 1/d for its last layer",
            "then the weights it makes have variance r instead of 1/m",
            "the output is m times too large in second moment: 512 times at m = 512 and r = 1",
        ),
    ),
)
def hypernetwork() -> Derivation:
    x = random_array("x", second_moment=q, independent=False)
    z = random_array("z", second_moment=r, independent=False)
    h = random_array("h", mean=0, second_moment=s)
    y = named("y", Sum(x[i] * h[i, j, t] * z[t], (i, 1, m), (t, 1, d)), j)
    chain = (
        derive(Expectation(y**2))
        .by("unfold expand linearity independence")
        .by("kronecker", array="h")
        .by("collapse identical count")
    )
    chain = solved(chain, s, "the second moment of the input is kept", q)
    return chain.by("call", name=Variance(h[i, j, t]))


@law(
    name="complex-weights",
    family="fans",
    title="Complex weights: real and imaginary part have half of the variance each, 1/(2 m)",
    regime="at initialisation, exactly at finite width; a linear layer",
    sources=("trabelsi2018",),
    usual=("u: zero mean", "v: zero mean", "a: Gaussian", "b: Gaussian"),
    symbols=(
        "a, b: real and imaginary part of the weights, of second moment s",
        "u, v: real and imaginary part of the inputs, of second moment q",
    ),
    note="The modulus of normal weights is Rayleigh of scale sqrt(s): 1/sqrt(m) with ReLU of both "
    "parts, 1/sqrt(m + n) as Xavier.",
    pitfalls=(
        (
            "each part of complex weights has the variance of real ones",
            "both parts of the input meet both parts of the weights: four products",
            "variance 1/m in each part doubles the second moment in every layer",
        ),
    ),
)
def complex_weights() -> Derivation:
    u, w = (random_array(name, second_moment=q, independent=False) for name in ("u", "v"))
    re, im = (random_array(name, mean=0, second_moment=s) for name in "ab")
    real = named("x", Sum(re[i] * u[i] - im[i] * w[i], (i, 1, m)))
    imaginary = named("y", Sum(re[i] * w[i] + im[i] * u[i], (i, 1, m)))
    chain = (
        derive(Expectation(real**2 + imaginary**2))
        .by("unfold expand linearity independence")
        .by("kronecker", array="a")
        .by("kronecker", array="b")
        .by("collapse identical count")
    )
    return solved(chain, s, "the second moment of the modulus is kept", 2 * q)


@law(
    name="alpha-dropout",
    family="sampling",
    title="Alpha dropout at keep rate p leaves the variance p + k^2 p (1 - p)",
    regime="exact, for inputs of mean 0 and variance 1; the mask is independent of them",
    sources=("klambauer2017",),
    usual=("x: Gaussian",),
    symbols=(
        "x: the inputs",
        "b: the mask, 1 with probability p, else 0",
        "k: what dropped inputs are set to, -lambda alpha = -1.7581, the limit of SELU",
    ),
    note="The factor is g = (p + k^2 p (1 - p))^(-1/2), the shift -g k (1 - p).",
    pitfalls=(
        (
            "dropped inputs are set to 0, as in dropout",
            "SELU's least value is used, and factor and shift keep mean 0 and variance 1",
            "at p = 0.9: g = 0.92128 and the shift 0.16197; dropout's 1/p gives variance 1.111",
        ),
    ),
)
def alpha_dropout() -> Derivation:
    x = random_variable("x", mean=0, variance=1)
    b = random_variable("b", mean=p, variance=p * (1 - p))
    chain = derive(Variance(x * b + k * (1 - b))).by("moments")
    chain = chain.by("expand linearity constants independence identical")
    return chain.by("algebra")


@law(
    name="maxout",
    family="activation",
    title="Maxout of three units needs the variance 0.78391 over the fan-in, of two 1",
    regime="pre-activations N(0, 1), independent; exact for Gaussian weights given the input",
    sources=("tseran2023",),
    symbols=(
        "z: a pre-activation; of three it is the largest with the chance Phi(z)^2",
        "c: the variance of the weights times the fan-in",
    ),
    note="c = 2 pi/(2 pi + sqrt(3)).",
    pitfalls=(
        (
            "maxout is a kind of ReLU and takes He's variance 2/m",
            "ReLU drops half of its inputs, maxout keeps the larger ones",
            "2 pieces: 1/m; 3: 0.78391/m; 4: 0.64461/m; 5: 0.55555/m",
        ),
    ),
)
def maxout() -> Derivation:
    z = normal()
    below = Rational(1, 2) + erf(z / sqrt(2)) / 2
    chain = derive(c * Expectation(3 * z**2 * below**2)).by("gaussian")
    return solved(chain, c, "the second moment of the output is 1").by("digits", places=15)
