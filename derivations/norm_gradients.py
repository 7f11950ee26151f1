"""Laws of gradients through norms: what a norm does to the scale of the weights before it.

The loss is linear in the outputs, with a probe p for its gradient there.
"""

from collections.abc import Callable

from sympy import Expr, Integer, Symbol, sqrt

from varlaw.derivations.catalogue import law
from varlaw.derivations.gains import normal
from varlaw.symbolic.activations import relu
from varlaw.symbolic.arrays import RandomArray
from varlaw.symbolic.declarations import dimensions, indices, positive, random_array
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import Named, Term, named
from varlaw.symbolic.terms import Expectation, Slope, Sum, Variance, indicator

d, m = dimensions("d m")
j, k = indices("j k")
c, r, v = positive("c r v")
weight = positive("s")  # the variance of the weights before BatchNorm
s = Symbol("s", real=True)
ORIGIN = "at s = 0"


def entries(name: str) -> RandomArray:
    """A vector of which nothing is assumed."""
    return random_array(name, independent=False, identical=False)


def root_mean_square(f: Callable[[Symbol], Expr]) -> Expr:
    """What RMSNorm divides the vector f by."""
    return sqrt(Sum(f(k) ** 2, (k, 1, d)) / d)


def loss(f: Callable[[Symbol], Expr]) -> Named:
    """The probe times RMSNorm of the vector f."""
    p = entries("p")
    return named("L", Sum(p[k] * f(k), (k, 1, d)) / root_mean_square(f))


@law(
    name="norm-scale-invariance",
    family="normalisation",
    title="RMSNorm forgets the scale of its input: Norm(c z) = Norm(z) for c > 0",
    regime="exact without epsilon; LayerNorm likewise, since centring is linear",
    sources=("ba2016", "zhang2019rms"),
    symbols=("z: the pre-activations of a layer", "c: the scale of its weights"),
    pitfalls=(
        (
            "normalisation corrects the scale by itself, so that the initialisation hardly matters",
            "it takes off the scale of what it normalises; branches beside the stream, the weight "
            "of the identity path, gradients and the first loss keep that of the weights",
            "BERT: x_0 keeps 0.466 to 0.649 with std 0.01759, 2^-12 with branches of variance 1",
        ),
    ),
)
def norm_scale_invariance() -> Derivation:
    z = entries("z")
    return derive(c * z[j] / root_mean_square(lambda k: c * z[k])).by("scale-out")


@law(
    name="norm-radial-gradient",
    family="normalisation",
    title="Weights before a norm have a gradient orthogonal to them: no slope along their scale",
    regime="exact without epsilon, for any probe, and so for the gradient of any loss",
    sources=("ba2016", "vanlaarhoven2017"),
    rests_on=("norm-scale-invariance",),
    symbols=(
        "L: the loss, linear in the outputs of the norm",
        "p: the gradient of the loss at the outputs",
        "z: the pre-activations; the weights times c make them c z",
    ),
    note="Euler's theorem for a function that is homogeneous of degree 0.",
)
def norm_radial_gradient() -> Derivation:
    z = entries("z")
    return derive(Slope(loss(lambda k: c * z[k]), c)).by("chain-rule scale-out")


@law(
    name="norm-weight-gradient",
    family="normalisation",
    title="Weights c times as large before a norm have a gradient 1/c times as large",
    regime="exact without epsilon, for any probe; c > 0",
    sources=("ba2016", "vanlaarhoven2017"),
    symbols=(
        "L: the loss, linear in the outputs of the norm",
        "p: the gradient of the loss at the outputs",
        "z: the pre-activations W x; the weights c W + s V make them c z + s y",
        "y: V x, for the direction V in which the weights are moved",
        "D_s: the slope of the loss in the direction V; D_0 is that of the weights c W",
    ),
    pitfalls=(
        (
            "behind a norm the scale of the weights does not matter",
            "forward it does not; the gradient of the weights falls as 1/c, and a step relative "
            "to them as 1/c^2",
            "weights 10 times as large: a gradient 10 times as small, a relative step 100 times",
        ),
    ),
)
def norm_weight_gradient() -> Derivation:
    z, y = entries("z"), entries("y")
    return (
        derive(Slope(loss(lambda k: c * z[k] + s * y[k]), s))
        .by("chain-rule")
        .by("equal", to=Term("D", s), because="the slope in the direction V, as D_s")
        .by("substitute", values={s: Integer(0)}, because=ORIGIN)
        .by("scale-out")
        .by("algebra", form="factor")
    )


@law(
    name="norm-input-gradient",
    family="normalisation",
    title="Weights c times as large before a norm leave the gradient at the layer's input alone",
    regime="exact for RMSNorm without epsilon (LayerNorm: z and y centred), any probe; c > 0",
    sources=("ba2016",),
    symbols=(
        "L: the loss, linear in the outputs of the norm",
        "p: the gradient of the loss at the outputs",
        "z: W x; with the weights c W the input x + s e makes it c z + s c y",
        "y: W e, for the direction e in which the input is moved",
        "D_s: the slope of the loss in the direction e; D_0 is that at x",
        "c: what the weights are multiplied with; it is not in D_0",
    ),
    pitfalls=(
        (
            "gradients 1/c as large at the weights are passed on 1/c as large",
            "the weights W^T that carry them back are c times as large, which makes up for it",
            "c = 10: a tenth of the gradient at the weights, all of it at the input",
        ),
    ),
)
def norm_input_gradient() -> Derivation:
    z, y = entries("z"), entries("y")
    return (
        derive(Slope(loss(lambda k: c * z[k] + s * c * y[k]), s))
        .by("chain-rule")
        .by("equal", to=Term("D", s), because="the slope in the direction e, as D_s")
        .by("substitute", values={s: Integer(0)}, because=ORIGIN)
        .by("scale-out")
        .by("algebra", form="factor")
    )


@law(
    name="rms-norm-backward",
    family="normalisation",
    title="RMSNorm passes (d - 1)/d of a random gradient's second moment, over its mean square",
    regime="exact without epsilon, for a centred probe independent of the input",
    sources=("zhang2019rms",),
    rests_on=("norm-weight-gradient",),
    usual=("p: Gaussian", "u: zero mean", "u: independent entries"),
    symbols=(
        "p: the gradient at the outputs, of variance v",
        "u: the outputs, of mean square 1",
        "r: the root mean square of the input",
        "b: the mean square of the gradient at the input: p less its part along u, over r",
    ),
    note="The source is background.",
)
def rms_norm_backward() -> Derivation:
    u, p = (
        random_array("u", second_moment=1, independent=False),
        random_array("p", mean=0, variance=v),
    )
    along = Sum(p[j] * u[j], (j, 1, d)) ** 2 / d
    b = named("b", (Sum(p[j] ** 2, (j, 1, d)) - along) / (d * r**2))
    return (
        derive(Expectation(b))
        .by("unfold expand linearity constants independence kronecker collapse identical count")
        .by("algebra", form="factor")
    )


@law(
    name="layer-norm-backward",
    family="normalisation",
    title="LayerNorm passes (d - 2)/d of a random gradient's second moment, over its variance",
    regime="exact without epsilon, for a centred probe independent of the input; d >= 2",
    sources=("ba2016",),
    rests_on=("rms-norm-backward",),
    usual=("p: Gaussian", "u: independent entries"),
    symbols=(
        "p: the gradient at the outputs, of variance v",
        "u: the outputs, of mean 0 and mean square 1 over the units",
        "r: the std of the input over the units",
        "b: the mean square of the gradient at the input: p less its parts along u and along the "
        "vector of ones, which are orthogonal, over r",
    ),
    note="The source is background.",
)
def layer_norm_backward() -> Derivation:
    u, p = (
        random_array("u", second_moment=1, independent=False),
        random_array("p", mean=0, variance=v),
    )
    along = (Sum(p[j] * u[j], (j, 1, d)) ** 2 + Sum(p[j], (j, 1, d)) ** 2) / d
    b = named("b", (Sum(p[j] ** 2, (j, 1, d)) - along) / (d * r**2))
    return (
        derive(Expectation(b))
        .by("unfold expand linearity constants independence kronecker collapse identical count")
        .by("algebra", form="factor")
    )


@law(
    name="batch-norm-relu-gradient",
    family="normalisation",
    title="BatchNorm before ReLU multiplies gradients by pi/(pi - 1) = 1.467 in every layer",
    regime="square layers, wide, large batches of inputs that are not alike; no skip connections",
    sources=("yang2019",),
    rests_on=("relu-half", "relu-variance"),
    symbols=(
        "z: the normalised pre-activation of the layer before, N(0, 1) over the batch",
        "s: the variance of the weights",
        "m: the width",
        "V: the variance of a unit over the batch, which BatchNorm divides by",
    ),
    note="The weights' variance cancels, since BatchNorm divides by it forward and backward.",
    pitfalls=(
        (
            "BatchNorm keeps gradients from exploding",
            "it takes the mean off ReLU's outputs, whose variance is less than the second moment "
            "that He's variance keeps; whatever the weights' variance the gradient grows",
            "1.467 a layer in second moment: 2.1e8 over 50 layers; forward it stays at 1",
        ),
        (
            "a smaller gain of the weights, or gamma, cures it",
            "BatchNorm forgets the weights' scale; shortcuts, small batches' noise or a more "
            "linear activation change the factor",
            "1 for a linear network in the same limit",
        ),
    ),
)
def batch_norm_relu_gradient() -> Derivation:
    z = normal()
    spread = named("V", m * weight * Variance(relu(z)))
    chain = derive(m * weight * Expectation(indicator(z, ">")) / spread).by("earlier", name="V")
    return chain.by("moments").by("parts stein normal").by("algebra", form="cancel")
