"""Laws of parametrisations: the NTK form and its learning rates, gradients, sizes of an update."""

from sympy import Expr, Integer, sqrt

from varlaw.derivations.catalogue import law
from varlaw.derivations.optimiser import adam_first_step
from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.declarations import dimensions, indices, positive, random_array
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import Named, named
from varlaw.symbolic.terms import Expectation, Slope, Sum, indicator

m, n = dimensions("m n")
i, j = indices("i j")
ONE = Integer(1)
q, v, s2, eta, s = positive("q v s2 eta s")


def layer(name: str, weight: str, scale: Expr) -> tuple[Named, Entry]:
    """A linear layer without bias whose weights are multiplied by `scale`, and one weight."""
    x, w = random_array("x"), random_array(weight)
    return named(name, scale * Sum(x[i] * w[i, j], (i, 1, m)), j), w[i, j]


@law(
    name="ntk-forward",
    family="parametrisation",
    title="NTK parametrisation: weights of variance 1 behind a factor 1/sqrt(m)",
    regime="at initialisation, exactly at finite width",
    sources=("jacot2018",),
    usual=("x: zero mean", "x: independent entries", "w: Gaussian"),
    pitfalls=(
        (
            "the NTK parametrisation and the standard one are the same network",
            "the functions at initialisation are; for the same training the rates must differ",
            "SGD at eta is standard SGD at eta/m, Adam at eta is standard Adam at eta/sqrt(m)",
        ),
        (
            "equalised learning rates (scaling by He's constant at run time) change the rate alone",
            "they are this parametrisation with the gain sqrt(2): He's law at the start",
            "sqrt(2/m) times weights of variance 1: variance 2/m",
        ),
    ),
)
def ntk_forward() -> Derivation:
    x = random_array("x", second_moment=q, independent=False)
    w = random_array("w", mean=0, variance=1)
    y = named("y", Sum(x[i] * w[i, j], (i, 1, m)) / sqrt(m), j)
    return (
        derive(Expectation(y**2))
        .by("unfold expand linearity constants independence")
        .by("kronecker", array="w")
        .by("collapse identical count")
    )


@law(
    name="ntk-sgd-rate",
    family="parametrisation",
    title="SGD at rate eta in NTK parametrisation is SGD at eta/m in the standard one",
    regime="exact, at every step of training; per layer, with its own fan-in m",
    sources=("jacot2018",),
    symbols=(
        "y: the layer in NTK parametrisation, w its weights; their effect is w/sqrt(m)",
        "z: the same layer in standard parametrisation, u its weights",
        "s: the standard learning rate that moves the effective weights as far",
    ),
    note="The loss multiplies both slopes by one number, its gradient at the layer's output.",
)
def ntk_sgd_rate() -> Derivation:
    y, w = layer("y", "w", 1 / sqrt(m))
    z, u = layer("z", "u", ONE)
    return (
        derive(eta * Slope(y, w) / sqrt(m) / Slope(z, u))
        .by("chain-rule")
        .by("equal", to=s, because="the standard rate that makes the same step: s slope = step")
    )


@law(
    name="ntk-adam-rate",
    family="parametrisation",
    title="Adam at rate eta in NTK parametrisation is Adam at eta/sqrt(m) in the standard one",
    regime="exact: Adam does not see the scale of a gradient (the constant epsilon is left out)",
    sources=("yang2021",),
    symbols=(
        "y: the layer in NTK parametrisation, w its weights; their effect is w/sqrt(m)",
        "z: the same layer in standard parametrisation, u its weights",
        "s: the standard learning rate that moves the effective weights as far",
        "p: the gradient at the layer's output",
    ),
    note="Shown at the first step, eta times the sign of the gradient.",
)
def ntk_adam_rate() -> Derivation:
    p = positive("p")
    y, w = layer("y", "w", 1 / sqrt(m))
    z, u = layer("z", "u", ONE)
    ours, standard = p * Slope(y, w), p * Slope(z, u)
    return (
        derive(eta * (ours / sqrt(ours**2)) / sqrt(m) / (standard / sqrt(standard**2)))
        .by("chain-rule")
        .by("equal", to=s, because="the standard rate that makes the same step: s sign = step")
    )


@law(
    name="weight-gradient",
    family="parametrisation",
    title="The gradient of a weight has second moment E[g^2] E[x^2], whatever the width",
    regime="exact for a gradient at the output that is independent of the input; else a model",
    sources=("glorot2010",),
    usual=("x: zero mean", "g: zero mean", "w: Gaussian"),
    note="At a random minibatch of one example; the independence fails once x and g are trained.",
)
def weight_gradient() -> Derivation:
    x = random_array("x", second_moment=q, independent=False)
    g = random_array("g", second_moment=v, independent=False)
    w = random_array("w")
    y = named("y", Sum(x[i] * w[i, j], (i, 1, m)), j)
    return derive(Expectation((g[j] * Slope(y, w[i, j])) ** 2)).by(
        "independence chain-rule identical"
    )


@law(
    name="ntk-weight-gradient",
    family="parametrisation",
    title="In NTK parametrisation the gradient of a weight has second moment E[g^2] E[x^2]/m",
    regime="exact for a gradient at the output that is independent of the input; else a model",
    sources=("jacot2018",),
    rests_on=("weight-gradient",),
    symbols=(
        "D: the second moment of the gradient of a standard weight",
        "y: the layer in NTK parametrisation, w its weights; their effect is w/sqrt(m)",
        "z: the same layer in standard parametrisation, u its weights",
    ),
)
def ntk_weight_gradient() -> Derivation:
    y, w = layer("y", "w", 1 / sqrt(m))
    z, u = layer("z", "u", ONE)
    standard = named("D", weight_gradient.derivation.end)
    return (
        derive(standard * (Slope(y, w) / Slope(z, u)) ** 2).by("chain-rule").by("earlier", name="D")
    )


@law(
    name="relative-update-sgd",
    family="parametrisation",
    title="SGD: an update relative to a weight of variance s2 is eta sqrt(E[g^2] E[x^2]/s2)",
    regime="first step, root mean square; a gradient independent of the input",
    sources=("yang2021",),
    rests_on=("weight-gradient",),
    symbols=("D: the second moment of the gradient of a weight",),
    note="With s2 = 1/m this is eta sqrt(m E[g^2] E[x^2]): it grows with the width.",
)
def relative_update_sgd() -> Derivation:
    w = random_array("w", mean=0, variance=s2)
    gradient = named("D", weight_gradient.derivation.end)
    return (
        derive(eta * sqrt(gradient) / sqrt(Expectation(w[i, j] ** 2)))
        .by("identical")
        .by("earlier", name="D")
    )


@law(
    name="relative-update-adam",
    family="parametrisation",
    title="Adam: the squared first update relative to a weight of variance s2 is eta^2/s2",
    regime="first step, root mean square",
    sources=("kingma2015",),
    rests_on=("adam-first-step",),
    symbols=("u: the first step", "g: the gradients of the weights"),
    pitfalls=(
        (
            "a step of 5 % of each small initial weight is the pathology that muP cures",
            "what muP scales is the sum of n aligned steps, eta n; a small weight is no trouble",
            "5 % at eta = 0.001 and weights of std 0.02, at any width",
        ),
    ),
)
def relative_update_adam() -> Derivation:
    w = random_array("w", mean=0, variance=s2)
    step = named("u", adam_first_step.derivation.end)
    return derive(step**2 / Expectation(w[i, j] ** 2)).by("unfold identical")


def aligned() -> Expr:
    """h_i sign(h_i): what a unit gains from a step of size 1 along the sign of its gradient."""
    h = random_array("h", mean=0, variance=q, gaussian=True)
    return h[i] * (indicator(h[i], ">") - indicator(h[i], "<"))


@law(
    name="adam-coherent",
    family="parametrisation",
    title="One step of Adam moves a pre-activation by eta n E|h|: n aligned steps add up",
    regime="first step, same sample; exact in expectation for Gaussian h",
    sources=("yang2022",),
    rests_on=("adam-first-step",),
    symbols=(
        "h: the inputs of the layer, N(0, q)",
        "n: their number; the step of weight i is eta sign(h_i), up to the sign of the gradient",
    ),
    note="Hence the learning rate of a hidden layer falls like 1/n in muP under Adam.",
    pitfalls=(
        (
            "an update of eta per weight changes a pre-activation by eta sqrt(n)",
            "the steps carry the signs of the inputs that they meet: the sum is coherent",
            "eta n sqrt(2/pi) for inputs N(0, 1), 817 eta at n = 1024, not 32 eta",
        ),
    ),
)
def adam_coherent() -> Derivation:
    return derive(Expectation(eta * Sum(aligned(), (i, 1, n)))).by(
        "expand linearity constants stein count"
    )


@law(
    name="adam-incoherent",
    family="parametrisation",
    title="On a sample of its own a step of Adam adds up like sqrt(n) only",
    regime="first step, exact; a sample independent of the one that gave the step",
    sources=("yang2022",),
    rests_on=("adam-coherent",),
    usual=("x: Gaussian", "x: independent entries"),
    symbols=(
        "x: the inputs of another sample, of second moment q",
        "u: the signs of the steps, of mean 0 and second moment 1",
        "n: the number of inputs",
    ),
)
def adam_incoherent() -> Derivation:
    x = random_array("x", second_moment=q, independent=False)
    u = random_array("u", mean=0, variance=1)
    return derive(Expectation((eta * Sum(x[i] * u[i], (i, 1, n))) ** 2)).by(
        "expand linearity constants independence kronecker collapse identical count"
    )
