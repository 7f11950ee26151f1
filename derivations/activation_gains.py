"""Gains by activation: what keeps the second moment 1, and what gives the output variance 1."""

from sympy import Expr, Integer, Symbol, tanh

from varlaw.derivations.catalogue import law
from varlaw.derivations.gains import KEPT, PIECES, a, found_alpha, g, normal, solved, v
from varlaw.symbolic.activations import (
    elu,
    gelu,
    hardtanh,
    leaky_relu,
    relu,
    sigmoid,
    silu,
    softplus,
)
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import Term, named
from varlaw.symbolic.terms import Expectation, Variance, indicator


def keeping(output: Expr) -> Derivation:
    """The gain that keeps the second moment of an activation's output at 1, in digits."""
    return solved(derive(g**2 * Expectation(output**2)), g, KEPT).by("digits", places=15)


def unit_variance(output: Expr) -> Derivation:
    """The gain that gives an activation's output variance 1, in digits."""
    chain = derive(g**2 * Variance(output)).by("moments")
    return solved(chain, g, "the variance of the output is 1").by("digits", places=15)


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


@law(
    name="gain-leaky-relu-variance",
    family="activation",
    title="The gain that gives the output of leaky ReLU of slope a variance 1",
    regime="pre-activations N(0, 1); the mean of the output is kept out of it",
    sources=("brock2021",),
    pitfalls=(
        (
            "1.70590341 is the gain at slope 0.01",
            "it is a sampled value, high by 6.3e-4",
            "exact: 1.70483163",
        ),
        (
            "sqrt(2/(1 + a^2)) gives leaky ReLU variance 1",
            "that is for the second moment; the mean (1 - a)/sqrt(2 pi) is part of it",
            "a = 0.2: the variance is 0.80412 with that gain, the second moment is 1",
        ),
    ),
)
def gain_leaky_relu_variance() -> Derivation:
    chain = derive(g**2 * Variance(leaky_relu(normal(), a))).by("moments").by(PIECES)
    return solved(chain, g, "the variance of the output is 1")


@law(
    name="gain-tanh",
    family="activation",
    title="The second-moment gain of tanh is 1.5925, neither 1 nor 5/3",
    regime="pre-activations N(0, 1); exact for Gaussian weights given the input",
    sources=("glorot2010", "paszke2019"),
    rests_on=("gain-second-moment",),
    note="tanh is odd, so that the output's variance is its second moment: one gain for both.",
    pitfalls=(
        (
            "tanh is the identity near 0, so LeCun's gain 1 is right",
            "at unit pre-activations tanh leaves 0.39429 of the second moment",
            "1/sqrt(0.39429449) = 1.59253742",
        ),
        (
            "PyTorch's 5/3 keeps the second moment",
            "5/3 is a convention, 4.7 % above the gain that does",
            "the second moment is 1.0953 with 5/3",
        ),
    ),
)
def gain_tanh() -> Derivation:
    return keeping(tanh(normal()))


@law(
    name="gain-sigmoid",
    family="activation",
    title="The second-moment gain of a sigmoid is 1.8462, not 1",
    regime="pre-activations N(0, 1); exact for Gaussian weights given the input",
    sources=("su2021", "paszke2019"),
    rests_on=("gain-second-moment", "sigmoid-second-moment"),
    pitfalls=(
        (
            "the gain of a sigmoid is 1, as in PyTorch's table",
            "1 keeps nothing: a sigmoid leaves 0.29338 of unit pre-activations",
            "1.84622855 for the second moment, 4.80131337 for the variance",
        ),
    ),
)
def gain_sigmoid() -> Derivation:
    return keeping(sigmoid(normal()))


@law(
    name="gain-sigmoid-variance",
    family="activation",
    title="The gain that gives a sigmoid's output variance 1 is 4.8013",
    regime="pre-activations N(0, 1); the mean 1/2 of the output is kept out of it",
    sources=("brock2021",),
    pitfalls=(
        (
            "4.80383539 is the gain of a sigmoid",
            "it is a sampled value, high by 5.3e-4",
            "exact: 4.80131337",
        ),
    ),
)
def gain_sigmoid_variance() -> Derivation:
    return unit_variance(sigmoid(normal()))


@law(
    name="gain-silu",
    family="activation",
    title="The second-moment gain of SiLU (swish) is 1.6765",
    regime="pre-activations N(0, 1); exact for Gaussian weights given the input",
    sources=("hendrycks2016",),
    rests_on=("gain-second-moment",),
    note="The source names the function. The divisor 0.596 of magnitude-preserving SiLU is 1/g.",
    pitfalls=(
        (
            "SiLU is a smooth ReLU, so that sqrt(2) serves",
            "it leaves 0.35578 of the second moment, not 0.5",
            "the second moment falls to 0.71155 in the first layer with sqrt(2)",
        ),
    ),
)
def gain_silu() -> Derivation:
    return keeping(silu(normal()))


@law(
    name="gain-silu-variance",
    family="activation",
    title="The gain that gives SiLU's output variance 1 is 1.7872",
    regime="pre-activations N(0, 1); the mean of the output is kept out of it",
    sources=("brock2021",),
    pitfalls=(
        (
            "1.78812933 is the gain of SiLU",
            "it is a sampled value, high by 5.3e-4",
            "exact: 1.78718722",
        ),
    ),
)
def gain_silu_variance() -> Derivation:
    return unit_variance(silu(normal()))


@law(
    name="gain-gelu-variance",
    family="activation",
    title="The gain that gives GELU's output variance 1 is 1.7009",
    regime="pre-activations N(0, 1); the mean of the output is kept out of it; exact GELU",
    sources=("brock2021", "hendrycks2016"),
    rests_on=("gelu-second-moment",),
    note="The tanh approximation of GELU has 1.700917, 6e-6 less.",
    pitfalls=(
        (
            "1.70150435 is the gain of GELU",
            "it is a sampled value, high by 3.4e-4",
            "exact: 1.70092624",
        ),
    ),
)
def gain_gelu_variance() -> Derivation:
    return unit_variance(gelu(normal()))


@law(
    name="gain-elu",
    family="activation",
    title="The second-moment gain of ELU is 1.2452",
    regime="pre-activations N(0, 1); exact for Gaussian weights given the input; alpha = 1",
    sources=("klambauer2017",),
    rests_on=("gain-second-moment",),
    note="The source is background: it scales ELU.",
    pitfalls=(
        (
            "ELU is a ReLU with a tail, so that sqrt(2) serves",
            "its negative part adds 0.145 to ReLU's 1/2",
            "the second moment grows to 1.290 in the first layer with sqrt(2)",
        ),
    ),
)
def gain_elu() -> Derivation:
    return keeping(elu(normal(), Integer(1)))


@law(
    name="gain-elu-variance",
    family="activation",
    title="The gain that gives ELU's output variance 1 is 1.2708",
    regime="pre-activations N(0, 1); the mean of the output is kept out of it; alpha = 1",
    sources=("brock2021",),
    pitfalls=(
        (
            "1.27160048 is the gain of ELU, 1.27092683 that of CELU at alpha = 1",
            "the two are one function: literals that differ are sampled",
            "exact for both: 1.27084342",
        ),
    ),
)
def gain_elu_variance() -> Derivation:
    return unit_variance(elu(normal(), Integer(1)))


@law(
    name="gain-softplus-variance",
    family="activation",
    title="The gain that gives softplus's output variance 1 is 1.9191",
    regime="pre-activations N(0, 1); the mean of the output is kept out of it",
    sources=("brock2021",),
    pitfalls=(
        (
            "1.92033231 is the gain of softplus, 1.91934848 that of the logarithm of a sigmoid",
            "log sigmoid(z) = -softplus(-z): one variance, by symmetry",
            "exact for both: 1.91912598",
        ),
    ),
)
def gain_softplus_variance() -> Derivation:
    return unit_variance(softplus(normal()))


@law(
    name="gain-selu",
    family="activation",
    title="The second-moment gain of SELU is 1, since its two constants are made so",
    regime="pre-activations N(0, 1); exact for Gaussian weights given the input",
    sources=("klambauer2017", "paszke2019"),
    rests_on=("selu-alpha", "selu-lambda"),
    symbols=("g: the gain", "s: lambda^2 as selu-lambda finds it", "alpha: as in selu-alpha"),
    pitfalls=(
        (
            "SELU's gain is 3/4, as in PyTorch's table",
            "that is a value from training runs; it ends the self-normalisation",
            "the second moment falls to 0.5625 in the first layer",
        ),
    ),
)
def gain_selu() -> Derivation:
    square = Expectation(elu(normal(), found_alpha()) ** 2)
    chain = derive(g**2 * named("s", 1 / square) * square).by("earlier", name="s")
    return solved(chain, g, KEPT)


@law(
    name="gain-hardtanh",
    family="activation",
    title="Clipping N(0, 1) to [-1, 1] leaves second moment 0.516: gain 1.392",
    regime="pre-activations N(0, 1); exact for Gaussian weights given the input",
    sources=("glorot2010",),
    rests_on=("gain-second-moment",),
    note="The source is background: it treats saturation. E[f^2] = 1 - sqrt(2/(pi e)).",
    pitfalls=(
        (
            "what is clipped is lost: E[z^2; |z| < 1] = 0.1987",
            "what is clipped stays, at +-1, with the chance 0.3173",
            "0.19875 + 0.31731 = 0.51606",
        ),
        (
            "the gain of the forward pass serves the backward pass",
            "gradients pass where |z| < 1, with the chance 0.68269",
            "gain 1.39204 forward, 1.21029 backward",
        ),
    ),
)
def gain_hardtanh() -> Derivation:
    return keeping(hardtanh(normal()))


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
    name="relu-squared",
    family="activation",
    title="The second-moment gain of squared ReLU is sqrt(2/3)",
    regime="pre-activations N(0, 1); exact for Gaussian weights given the input",
    sources=("hanin2018",),
    rests_on=("gain-second-moment", "relu-fourth"),
    note="The source is background. The layer map is quadratic in the variance: its fixed point "
    "1 has the slope 2 and repels.",
    pitfalls=(
        (
            "He's sqrt(2) serves any ReLU-like activation",
            "ReLU(z)^2 has second moment 3/2, and is not homogeneous of degree 1",
            "gain 0.81650; with sqrt(2) the variance triples in the first layer",
        ),
    ),
)
def relu_squared() -> Derivation:
    chain = derive(g**2 * Expectation(relu(normal()) ** 4)).by("parts stein stein normal")
    return solved(chain, g, KEPT)
