"""Laws of weights whose scale does not matter, as under any normalisation."""

from sympy import Expr, Integer, sqrt

from varlaw.derivations.catalogue import law
from varlaw.symbolic.declarations import dimensions, indices, positive, random_array
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import Named, named
from varlaw.symbolic.terms import Slope, Sum

n = dimensions("n")
i = indices("i")
eta, k, p, c, S, G, lamda = positive("eta k p c S G lambda")
ONE = Integer(1)
SHRUNK = eta * lamda  # what one step of decay takes off


def neuron(name: str = "y", scale: Expr = ONE) -> tuple[Named, Expr]:
    """A neuron with normalised weights, x.w/|w| at scale*w; and |w|^2."""
    x, w = (random_array(name, independent=False, identical=False) for name in "xw")
    square = Sum((scale * w[i]) ** 2, (i, 1, n))
    return named(name, Sum(scale * x[i] * w[i], (i, 1, n)) / sqrt(square)), w[i]


@law(
    name="scale-invariant-gradient",
    family="optimiser",
    title="The gradient of weights whose scale does not matter is orthogonal to them",
    regime="exact, at any weights; a neuron x.w/|w| stands for every normalised layer",
    sources=("salimans2016", "vanlaarhoven2017"),
    symbols=(
        "y: the output of a neuron that divides by the length of its weights",
        "x: its inputs",
        "w: its weights",
    ),
    note="In general L(c w) = L(w) differentiated by c at c = 1 (Euler): so under Batch or Layer "
    "Normalisation, where eps is 0. A loss multiplies all slopes by one number.",
)
def scale_invariant_gradient() -> Derivation:
    y, weight = neuron()
    return derive(Sum(weight * Slope(y, weight), (i, 1, n))).by("chain-rule sums")


@law(
    name="scale-invariant-norm",
    family="optimiser",
    title="A step on weights whose scale does not matter lengthens them by the gradient's square",
    regime="exact, one step without weight decay; a neuron x.w/|w|, loss slope p at its output",
    sources=("vanlaarhoven2017",),
    symbols=(
        "y: the output of a neuron that divides by the length of its weights",
        "x: its inputs",
        "w: its weights",
        "p: the gradient at the output of the neuron",
    ),
    note="|w'|^2 = |w|^2 + eta^2 |dL/dw|^2: the squared length of the gradient is what is added.",
    pitfalls=(
        (
            "without weight decay the weights under a normalisation stay where they are in length",
            "every step is orthogonal to the weights, so the length can only grow",
            "|w'|^2 - |w|^2 = eta^2 |g|^2, whatever the direction of the gradient",
        ),
    ),
)
def scale_invariant_norm() -> Derivation:
    y, weight = neuron()
    moved = weight - eta * p * Slope(y, weight)
    return derive(Sum(moved**2, (i, 1, n))).by("chain-rule sums")


@law(
    name="scale-invariant-rate",
    family="optimiser",
    title="Weights whose scale does not matter: c times longer weights have a gradient 1/c as long",
    regime="exact, at any weights; a neuron x.w/|w| stands for every normalised layer",
    sources=("vanlaarhoven2017",),
    rests_on=("scale-invariant-gradient",),
    symbols=(
        "y: the output of a neuron that divides by the length of its weights, here c w",
        "x: its inputs",
        "w: weights of which c w are in use",
    ),
    note="The direction u = w/|w| then moves by eta |g(u)|/|w|^2: the effective rate is eta/|w|^2.",
    pitfalls=(
        (
            "the learning rate means the same all through training",
            "under a normalisation the direction of the weights sees eta/|w|^2",
            "weights twice as long learn a quarter as fast",
        ),
    ),
)
def scale_invariant_rate() -> Derivation:
    y, weight = neuron()
    longer, _ = neuron("z", c)
    return derive(Slope(longer, weight) / c / Slope(y, weight)).by("chain-rule sums")


@law(
    name="scale-invariant-decay",
    family="optimiser",
    title="With weight decay, weights whose scale does not matter settle at a length of their own",
    regime="exact equilibrium of SGD steps with 0 < eta lambda < 1, a gradient of constant length "
    "sqrt(G) at unit weights, orthogonal to the weights",
    sources=("vanlaarhoven2017",),
    rests_on=("scale-invariant-norm", "scale-invariant-rate"),
    symbols=(
        "S: the fourth power of the length of the weights",
        "G: the squared length of the gradient at weights of length 1; at the weights, G/sqrt(S)",
        "k: eta lambda/(1 - eta lambda)",
        "lambda: the weight decay",
    ),
    note="One step multiplies the squared length by the expression that the chain starts from.",
)
def scale_invariant_decay() -> Derivation:
    return (
        derive((1 - SHRUNK) ** 2 + eta**2 * G / S)
        .by("require", equals=ONE, because="equilibrium: one more step leaves the length alone")
        .by("substitute", values={lamda: k / (1 + k) / eta}, because="0 < eta lambda < 1")
        .by("solve", unknown=S)
        .by("variable", old=k, value=SHRUNK / (1 - SHRUNK), new=lamda, inverse=k / (1 + k) / eta)
    )


@law(
    name="scale-invariant-equilibrium",
    family="optimiser",
    title="Weights whose scale does not matter settle where |w|^4 = eta G/(2 lambda)",
    regime="first order in eta lambda: the quotient of the two sides tends to 1 as lambda -> 0",
    sources=("vanlaarhoven2017",),
    rests_on=("scale-invariant-decay",),
    symbols=(
        "S: the fourth power of the length of the weights",
        "G: the squared length of the gradient at weights of length 1",
        "lambda: the weight decay",
    ),
    pitfalls=(
        (
            "weight decay regularises a normalised layer by keeping its weights small",
            "the function does not see their length; decay and rate together set the effective "
            "rate, eta/|w|^2 = sqrt(2 eta lambda/G)",
            "|w|^4 = eta G/(2 lambda)",
        ),
    ),
)
def scale_invariant_equilibrium() -> Derivation:
    settled = named("S", scale_invariant_decay.derivation.end)
    return (
        derive(settled)
        .by("earlier", name="S")
        .by("small", to=eta * G / (2 * lamda), variable=lamda)
    )
