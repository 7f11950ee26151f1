"""Gains by activation: what keeps the second moment 1, and what gives the output variance 1."""

from sympy import Expr, Integer, tanh

from varlaw.derivations.catalogue import law
from varlaw.derivations.gains import KEPT, PIECES, a, found_alpha, g, normal, solved
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
from varlaw.symbolic.sequences import named
from varlaw.symbolic.terms import Expectation, Variance


def keeping(output: Expr) -> Derivation:
    """The gain that keeps the second moment of an activation's output at 1, in digits."""
    return solved(derive(g**2 * Expectation(output**2)), g, KEPT).by("digits", places=15)


def unit_variance(output: Expr) -> Derivation:
    """The gain that gives an activation's output variance 1, in digits."""
    chain = derive(g**2 * Variance(output)).by("moments")
    return solved(chain, g, "the variance of the output is 1").by("digits", places=15)


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
