"""Laws of normalisation: LayerNorm, BatchNorm, InstanceNorm and RMSNorm as maps of moments.

A norm takes its statistics over a population: LayerNorm and RMSNorm over the units of one sample,
BatchNorm over the batch (and the positions) of one channel, InstanceNorm over the positions of one
channel of one sample. With x a member drawn at random, mean and biased variance of the population
are those of x, and one law serves all four.
"""

from sympy import Symbol, sqrt

from varlaw.derivations.catalogue import law
from varlaw.symbolic.arrays import RandomArray
from varlaw.symbolic.declarations import (
    dimensions,
    indices,
    positive,
    random_array,
    random_variable,
)
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import Named, named
from varlaw.symbolic.terms import Expectation, Sum

d = dimensions("d")
i, j, k = indices("i j k")
epsilon, gamma, v, q, r, s2 = positive("epsilon gamma v q r s2")
beta, mu, rho = (Symbol(name, real=True) for name in ("beta", "mu", "rho"))
DIVISOR = "with what the norm divides by, r"
CORRELATION = "rho is the correlation of F and x"


@law(
    name="norm-moment",
    family="normalisation",
    title="LayerNorm, BatchNorm, InstanceNorm: the output has gamma^2 v/(v + epsilon) + beta^2",
    regime="exact, over the population of which mu and v are the mean and the biased variance",
    sources=("ba2016", "ioffe2015", "ulyanov2016"),
    usual=("x: Gaussian",),
    symbols=(
        "x: a member of the population, drawn at random",
        "mu, v: the mean and the biased variance of the population",
        "epsilon: the constant beside the variance, inside the root",
        "r: what the norm divides by",
        "gamma, beta: the scale and the shift",
        "y: the output",
    ),
    pitfalls=(
        (
            "the output of LayerNorm has variance 1",
            "it is v/(v + epsilon): small inputs stay small",
            "std 0.30151 for a std of 0.001 at epsilon = 1e-5; 0.99381 for a variance of 0.0008",
        ),
        (
            "with gamma = 1 and beta = 0 a norm starts as the identity",
            "only its affine part does; the norm still centres and divides",
            "y = x only where mu = 0 and v + epsilon = 1",
        ),
    ),
)
def norm_moment() -> Derivation:
    x = random_variable("x", mean=mu, variance=v)
    y = named("y", gamma * (x - mu) / r + beta)
    chain = derive(Expectation(y**2)).by("unfold expand linearity constants identical algebra")
    return chain.by("substitute", values={r: sqrt(v + epsilon)}, because=DIVISOR)


@law(
    name="rms-norm-moment",
    family="normalisation",
    title="RMSNorm: the output has second moment gamma^2 q/(q + epsilon), whatever the mean",
    regime="exact, over the units of one sample, of which q is the mean square",
    sources=("zhang2019rms",),
    usual=("x: zero mean", "x: Gaussian"),
    symbols=(
        "x: a unit of the sample, drawn at random",
        "q: the mean square of the units",
        "epsilon: the constant beside it, inside the root",
        "r: what the norm divides by",
        "gamma: the scale",
        "y: the output",
    ),
    pitfalls=(
        (
            "RMSNorm divides by the standard deviation",
            "by the root mean square; after ReLU the two differ",
            "the std is 0.82565 of the root mean square after ReLU",
        ),
        (
            "RMSNorm is L2 normalisation",
            "it is sqrt(d) times as large: x sqrt(d)/|x| without epsilon",
            "length sqrt(768) = 27.7 at d = 768, not 1",
        ),
    ),
)
def rms_norm_moment() -> Derivation:
    x = random_variable("x", second_moment=q)
    y = named("y", gamma * x / r)
    chain = derive(Expectation(y**2)).by("unfold constants identical")
    return chain.by("substitute", values={r: sqrt(q + epsilon)}, because=DIVISOR)


@law(
    name="norm-epsilon-outside",
    family="normalisation",
    title="Epsilon outside of the root: the output has variance v/(sqrt(v) + epsilon)^2",
    regime="exact, over the population of which mu and v are the mean and the biased variance",
    sources=("ba2016",),
    usual=("x: Gaussian",),
    symbols=(
        "x: a member of the population, drawn at random",
        "mu, v: the mean and the biased variance of the population",
        "epsilon: the constant beside the std, outside of the root",
        "r: what the norm divides by",
        "y: the output",
    ),
    note="The source is background.",
    pitfalls=(
        (
            "inside or outside of the root, epsilon is a detail",
            "inside it competes with the variance, outside with the std",
            "at a std of 0.001: 0.30151 with 1e-5 inside, 0.99900 with 1e-6 outside",
        ),
    ),
)
def norm_epsilon_outside() -> Derivation:
    x = random_variable("x", mean=mu, variance=v)
    y = named("y", (x - mu) / r)
    chain = derive(Expectation(y**2)).by("unfold expand linearity constants identical algebra")
    return chain.by("substitute", values={r: sqrt(v) + epsilon}, because=DIVISOR)


@law(
    name="norm-centring",
    family="normalisation",
    title="Centring takes the squared mean away: the second moment becomes the variance",
    regime="exact",
    sources=("ba2016",),
    usual=("x: Gaussian",),
    symbols=("x: an input of mean mu and second moment q", "mu: its mean", "q: E[x^2]"),
    note="The source is background.",
    pitfalls=(
        (
            "centring is harmless, since activations have mean 0 anyway",
            "behind ReLU the mean carries 1/pi of the second moment",
            "1 - 1/pi = 0.68169 of it is left",
        ),
    ),
)
def norm_centring() -> Derivation:
    x = random_variable("x", mean=mu, second_moment=q)
    return derive(Expectation((x - mu) ** 2)).by("expand linearity constants identical")


def sample() -> tuple[RandomArray, Named]:
    """Independent units x_i of variance v, and their mean a."""
    x = random_array("x", variance="v")
    return x, named("a", Sum(x[i], (i, 1, d)) / d)


@law(
    name="norm-biased-variance",
    family="normalisation",
    title="The variance over d independent units, divided by d, is (d - 1)/d v on average",
    regime="exact, for d independent units of one law",
    sources=("ba2016",),
    usual=("x: zero mean", "x: Gaussian"),
    symbols=("a: the mean of the units", "v: the variance of one unit", "d: their number"),
    note="The source is background. LayerNorm divides by this variance, without the correction.",
)
def norm_biased_variance() -> Derivation:
    x, mean = sample()
    return (
        derive(Expectation(Sum(x[i] ** 2, (i, 1, d)) / d - mean**2))
        .by("unfold expand linearity constants coincidence independence identical count algebra")
        .by("algebra", form="factor")
    )


@law(
    name="norm-unbiased-divisor",
    family="normalisation",
    title="Divided by the std with d - 1, the outputs have mean square exactly (d - 1)/d",
    regime="exact, for any input whose units are not all equal; no epsilon",
    sources=("ba2016",),
    symbols=(
        "x: the units of one sample",
        "a: their mean",
        "b: the variance with the divisor d - 1",
        "y: the outputs",
    ),
    note="The source is background: it divides by d, which gives exactly 1.",
    pitfalls=(
        (
            "a standard deviation is a standard deviation",
            "libraries differ: numpy and LayerNorm divide by d, torch.std by d - 1",
            "3/4 at d = 4: [1, 0, 0, 0] becomes [1.5, -0.5, -0.5, -0.5], not [1.732, ...]",
        ),
    ),
)
def norm_unbiased_divisor() -> Derivation:
    x = random_array("x", independent=False, identical=False)
    mean = named("a", Sum(x[k], (k, 1, d)) / d)
    spread = named("b", Sum((x[k] - mean) ** 2, (k, 1, d)) / (d - 1))
    y = named("y", (x[k] - mean) / sqrt(spread), k)
    return (
        derive(Sum(y**2, (k, 1, d)) / d)
        .by("earlier", name="y")
        .by("earlier", name="b")
        .by("scale-out")
    )


@law(
    name="norm-covariance",
    family="normalisation",
    title="Centring d independent units leaves two of them with the covariance -v/d",
    regime="exact, for d >= 2 independent units of one law, before the division",
    sources=("ba2016",),
    usual=("x: zero mean", "x: Gaussian"),
    symbols=("a: the mean of the units", "v: the variance of one unit", "d: their number"),
    note="The source is background. A centred unit has mean 0, whatever the mean of the units.",
)
def norm_covariance() -> Derivation:
    x, mean = sample()
    return (
        derive(Expectation((x[1] - mean) * (x[2] - mean)))
        .by("unfold expand linearity constants independence coincidence independence")
        .by("identical count algebra")
    )


@law(
    name="norm-correlation",
    family="normalisation",
    title="Centring d independent units leaves two of them with the correlation -1/(d - 1)",
    regime="exact, for d >= 2 independent units of one law; LayerNorm's division keeps it",
    sources=("ba2016",),
    rests_on=("norm-covariance", "norm-biased-variance"),
    symbols=("c: the covariance of two centred units", "s: the variance of one of them"),
    note="The source is background.",
    pitfalls=(
        (
            "the outputs of LayerNorm are independent",
            "they add up to 0, so that two of them are correlated",
            "-1/(d - 1): -0.0013 at d = 768, -1/3 at d = 4",
        ),
    ),
)
def norm_correlation() -> Derivation:
    both = named("c", norm_covariance.derivation.end)
    alone = named("s", norm_biased_variance.derivation.end)
    return derive(both / alone).by("earlier")


@law(
    name="post-norm-divisor",
    family="normalisation",
    title="Post-Norm divides x + F by sqrt(1 + s2 + 2 rho s) for a branch F of std s",
    regime="exact, for x of mean 0 and variance 1 and F of mean 0 and variance s2 = s^2",
    sources=("xiong2020",),
    usual=("F independent of x",),
    symbols=(
        "F: the output of the branch",
        "rho: its correlation with x",
        "r: what Post-Norm divides by",
    ),
    note="The source is background. At initialisation rho = 0 where the last layer is linear.",
    pitfalls=(
        (
            "Post-Norm halves the energy of the stream at every layer",
            "it divides by sqrt(1 + s2 + 2 rho s), which is sqrt(2) only for a branch of "
            "variance 1 and correlation 0",
            "1.005 to 1.046 at BERT's initialisation, where s2 is 0.02 to 0.08, not 1.414",
        ),
    ),
)
def post_norm_divisor() -> Derivation:
    x = random_variable("x", mean=0, variance=1)
    f = random_variable("F", mean=0, variance="s2", depends_on=[x.array])
    return (
        derive(sqrt(Expectation((x + f) ** 2)))
        .by("expand linearity identical")
        .by("equal", to=r, because="what the norm divides by, as r")
        .by("substitute", values={Expectation(f * x): rho * sqrt(s2)}, because=CORRELATION)
    )
