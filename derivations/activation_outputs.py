"""Laws of what activations put out: how often, with which mean, and over many layers of GELU."""

from sympy import Integer, Integral, Symbol, erf, exp

from varlaw.derivations.catalogue import law
from varlaw.derivations.gains import normal, v
from varlaw.symbolic.activations import gelu, relu
from varlaw.symbolic.declarations import positive
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import Term
from varlaw.symbolic.terms import Expectation, Slope, Variance, indicator

c = positive("c")


@law(
    name="relu-half",
    family="activation",
    title="A ReLU unit is on with the chance 1/2",
    regime="pre-activations N(0, v); symmetry about 0 is what matters",
    sources=("he2015",),
    note="The source is background.",
    pitfalls=(
        (
            "half of the units are dead",
            "half of them are off for a given input; dead ones are off for all, as after a step "
            "that drives their biases down",
            "1/2 on at the start, at any variance of the weights",
        ),
        (
            "half of the units are on, so half of the second moment is left",
            "both follow from symmetry, neither from the other: see he",
            "for z = e - 1, e exponential, 1/e = 0.368 are on and 2/e = 0.736 of E[z^2] is left",
        ),
    ),
)
def relu_half() -> Derivation:
    return derive(Expectation(indicator(normal(v), ">"))).by("normal")


@law(
    name="relu-mean",
    family="activation",
    title="The mean of a ReLU output is sqrt(v/(2 pi))",
    regime="pre-activations N(0, v)",
    sources=("he2015",),
    note="The source is background. He's variance needs no mean of 0: see he.",
    pitfalls=(
        (
            "activations have mean 0 behind centred weights",
            "pre-activations do; what ReLU leaves of them is positive",
            "0.39894 at v = 1, 0.56419 at He's v = 2",
        ),
    ),
)
def relu_mean() -> Derivation:
    return derive(Expectation(relu(normal(v)))).by("parts stein")


@law(
    name="relu-variance",
    family="activation",
    title="The variance of a ReLU output is v (1/2 - 1/(2 pi)), 0.341 of its input's",
    regime="pre-activations N(0, v)",
    sources=("he2015",),
    note="The source is background. What the next layer sees is the second moment, v/2.",
    pitfalls=(
        (
            "He's factor 2 makes up for a variance that ReLU halves",
            "ReLU halves the second moment; it leaves 0.341 of the variance",
            "1/0.34085 = 2.934 in place of 2 would let the second moment grow by 1.467 a layer",
        ),
    ),
)
def relu_variance() -> Derivation:
    return derive(Variance(relu(normal(v)))).by("moments").by("parts stein normal")


@law(
    name="gelu-mean",
    family="activation",
    title="The mean of a GELU output is v/sqrt(2 pi (1 + v))",
    regime="pre-activations N(0, v)",
    sources=("hendrycks2016",),
    note="The source introduces the function.",
    pitfalls=(
        (
            "GELU's output has mean 0, since GELU is smooth at 0",
            "it is positive above 0 and hardly negative below",
            "0.28209 at v = 1, 0.7 of ReLU's 0.39894",
        ),
    ),
)
def gelu_mean() -> Derivation:
    return derive(Expectation(gelu(normal(v)))).by("parts stein complete-square")


def gelu_layers(steps: int) -> Derivation:
    """q_t of GELU layers with weights of variance 2/m, from q_0 = 1, after so many layers."""
    t = Symbol("t", integer=True, nonnegative=True)
    now, following = Term("q", t), Term("q", t + 1)
    return (
        derive(2 * Expectation(gelu(normal(v)) ** 2))
        .by("parts parity identical stein normal-pair complete-square stein complete-square")
        .by("algebra")
        .by("substitute", values={v: now}, because="in layer t, with v = q_t")
        .by("equal", to=following, because="weights of variance 2/m: the next variance is 2 E[f^2]")
        .by("march", previous=now, index=t, steps=steps, initial=Integer(1), places=16)
    )


@law(
    name="gelu-sqrt2-layer",
    family="activation",
    title="GELU at He's variance 2/m keeps 0.85 of unit pre-activations in one layer",
    regime="wide limit: pre-activations N(0, q_t), from q_0 = 1",
    sources=("hendrycks2016", "poole2016"),
    rests_on=("gelu-second-moment",),
    symbols=("q_t: the variance of the pre-activations after t layers",),
    note="The first source introduces the function.",
    pitfalls=(
        (
            "He's factor 2 serves GELU, which is nearly ReLU",
            "GELU leaves 0.42522 of unit pre-activations, not 1/2",
            "2 * 0.42522 = 0.85044",
        ),
    ),
)
def gelu_sqrt2_layer() -> Derivation:
    return gelu_layers(1)


@law(
    name="gelu-sqrt2-depth",
    family="activation",
    title="GELU at He's variance 2/m: after 32 layers 7.789e-9 of the second moment is left",
    regime="wide limit: pre-activations N(0, q_t), from q_0 = 1",
    sources=("hendrycks2016", "poole2016"),
    rests_on=("gelu-sqrt2-layer",),
    symbols=("q_t: the variance of the pre-activations after t layers",),
    note="The first source introduces the function. For small q GELU is z/2: each layer halves q.",
    pitfalls=(
        (
            "a layer that keeps 0.85 keeps 0.85^l after l layers",
            "the smaller q is, the less of it GELU keeps: GELU is not homogeneous",
            "0.0928 after 8 layers, not 0.274; 7.789e-9 after 32, not 0.0056",
        ),
    ),
)
def gelu_sqrt2_depth() -> Derivation:
    return gelu_layers(32)


@law(
    name="sigmoid-erf",
    family="activation",
    title="The error function nearest to a sigmoid on [-5, 5] is (1 + erf(x/2.40205))/2",
    regime="least squared error on [-5, 5], each x counting alike; exact",
    sources=("novak2020",),
    symbols=("c: the scale of the error function",),
    note="Its kernels are known in closed form, see nngp-erf; those of a sigmoid are not.",
    pitfalls=(
        (
            "2.4020563531719796 minimises the squared error on [-5, 5]",
            "it is where a numerical search stopped, 8.3e-6 too high",
            "the slope of the error vanishes at 2.40204807187",
        ),
        (
            "the slopes at 0 should agree: 4/sqrt(pi) = 2.2568",
            "that is the best scale near 0 only; a wider one is nearer on [-5, 5]",
            "c = 2.4020, between 2.2568 and the 2.5651 of equal variances",
        ),
    ),
)
def sigmoid_erf() -> Derivation:
    x = Symbol("x", real=True)
    error = (1 + erf(x / c)) / 2 - 1 / (1 + exp(-x))
    return (
        derive(Slope(Integral(error**2, (x, -5, 5)), c))
        .by("chain-rule")
        .by("require", equals=Integer(0), because="where the squared error is least")
        .by("root", unknown=c, near=(2, 3), places=12)
    )
