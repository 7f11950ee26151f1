"""Laws of depth: what becomes of the second moment after many layers, on average and typically.

q_t is the mean of the squared outputs of layer t over its units.
"""

from sympy import Expr, Integer, Rational, Symbol, log, sqrt

from varlaw.derivations.catalogue import law
from varlaw.derivations.forward import j, m, pre_activation
from varlaw.symbolic.activations import relu
from varlaw.symbolic.declarations import dimensions, positive, random_array, random_variable
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import Term, named
from varlaw.symbolic.terms import Expectation, Sum, Variance, indicator

n = dimensions("n")
a, b, c, v = positive("a b c v")
l, t = (Symbol(name, integer=True, nonnegative=True) for name in "lt")  # noqa: E741  (the layer)
L = Symbol("L", integer=True, positive=True)
Q, R = (lambda at: Term("q", at)), (lambda at: Term("r", at))


def relu_layer(variance: Term) -> Derivation:
    """E[h_j^2] behind a ReLU layer whose input has the second moment q_t, as the next q."""
    x = random_array("x", second_moment=Q(t), independent=False)
    w = random_array("w", second_moment=variance, symmetric=True)
    return (
        derive(Expectation(relu(pre_activation(x, w)) ** 2))
        .by("activation symmetry indicators unfold expand linearity independence")
        .by("kronecker", array="w")
        .by("collapse identical count")
        .by("call", name=Q(t + 1))
    )


@law(
    name="depth-product",
    family="depth",
    title="ReLU layers of fan-in n_t and variance s_t: q_l is q_0 times the product of n_t s_t/2",
    regime="at initialisation, exactly at finite width, in expectation over the weights",
    sources=("he2015",),
    usual=("x: zero mean", "x: independent entries", "w: Gaussian"),
    symbols=(
        "q_t: the second moment of the input of layer t, E[x_i^2]",
        "n_t: its fan-in",
        "s_t: the variance of its weights",
    ),
)
def depth_product() -> Derivation:
    return (
        relu_layer(Term("s", t))
        .by("substitute", values={m: Term("n", t)}, because="layer t has the fan-in n_t")
        .by("iterate", previous=Q(t), index=t, steps=l, initial=Q(0))
    )


@law(
    name="depth-power",
    family="depth",
    title="ReLU layers with weights of variance c/m: the second moment goes as (c/2)^l",
    regime="at initialisation, exactly at finite width, in expectation over the weights",
    sources=("he2015",),
    usual=("x: zero mean", "x: independent entries", "w: Gaussian"),
    symbols=("q_t: the second moment of the input of layer t", "c: the variance times the fan-in"),
    pitfalls=(
        (
            "a constant factor per layer is harmless",
            "it compounds; only factors that telescope, such as ratios of widths, are harmless",
            "1.1^50 = 117.39 and 0.9^50 = 0.00515",
        ),
        (
            "a factor of 0.005 is lost in float32's rounding",
            "floating point is relative: digits go only below the smallest normal number",
            "2^-126 = 1.18e-38, far below 0.005",
        ),
    ),
)
def depth_power() -> Derivation:
    return relu_layer(c / m).by("iterate", previous=Q(t), index=t, steps=l, initial=Q(0))


@law(
    name="depth-lecun-relu",
    family="depth",
    title="LeCun with ReLU halves the second moment per layer: q_l = 2^(-l) q_0",
    regime="at initialisation, exactly at finite width, in expectation over the weights",
    sources=("he2015",),
    rests_on=("depth-power",),
    symbols=("q_t: the second moment of the input of layer t", "c: the variance times the fan-in"),
    pitfalls=(
        (
            "after 40 layers the signal is 10^-12",
            "that is its second moment; its size is the root",
            "2^-20 = 9.54e-7",
        ),
    ),
)
def depth_lecun_relu() -> Derivation:
    return depth_power.derivation.by(
        "substitute", values={c: Integer(1)}, because="at LeCun's variance 1/m"
    )


@law(
    name="depth-collapse",
    family="depth",
    title="LeCun with ReLU falls below the smallest normal float32, 2^(-126), at layer 253",
    regime="at initialisation, for the root of the expected second moment from q_0 = 1",
    sources=("he2015", "ieee754"),
    rests_on=("depth-lecun-relu",),
    symbols=("q_L: the second moment after L layers",),
    note="Exactly 2^(-126) is reached at layer 252. Subnormal numbers go on, with fewer digits.",
    pitfalls=(
        (
            "the collapse comes within tens of layers",
            "the root of the second moment loses one bit in two layers",
            "L = 253 for float32; at L = 40 it is 9.54e-7, with all its digits",
        ),
    ),
)
def depth_collapse() -> Derivation:
    square = named("q", depth_lecun_relu.derivation.end.subs({Q(0): 1, l: L}), L)
    return (
        derive(sqrt(square))
        .by("earlier")
        .by("first-below", unknown=L, threshold=Rational(1, 2**126))
    )


@law(
    name="relu-std",
    family="depth",
    title="The std of a ReLU output is sqrt(1 - 1/pi) = 0.826 of its root second moment",
    regime="pre-activations N(0, v)",
    sources=("he2015",),
    note="The source is background. The next layer keeps the second moment, not the variance.",
    pitfalls=(
        (
            "the std of the activations stays at 1 under He's variance",
            "the second moment stays at 1; the std is smaller, since the mean is not 0",
            "sqrt(1 - 1/pi) = 0.82565",
        ),
    ),
)
def relu_std() -> Derivation:
    z = random_variable("z", mean=0, variance=v, gaussian=True)
    return (
        derive(sqrt(Variance(relu(z)) / Expectation(relu(z) ** 2)))
        .by("moments")
        .by("parts stein normal")
        .by("algebra", form="factor")
    )


@law(
    name="relu-square",
    family="depth",
    title="E[ReLU(g)^2] = 1/2 at g ~ N(0, 1)",
    regime="pre-activations N(0, 1)",
    sources=("he2015",),
)
def relu_square() -> Derivation:
    g = random_variable("g", mean=0, variance=1, gaussian=True)
    return derive(Expectation(relu(g) ** 2)).by("parts stein normal")


@law(
    name="relu-fourth",
    family="depth",
    title="E[ReLU(g)^4] = 3/2 at g ~ N(0, 1)",
    regime="pre-activations N(0, 1)",
    sources=("hanin2018",),
)
def relu_fourth() -> Derivation:
    g = random_variable("g", mean=0, variance=1, gaussian=True)
    return derive(Expectation(relu(g) ** 4)).by("parts stein stein normal")


@law(
    name="depth-he-fourth",
    family="depth",
    title="He's variance with Gaussian weights: E[q_l^2] grows by 1 + 5/n per layer",
    regime="at initialisation, exactly at width n throughout; Gaussian weights of variance 2/n",
    sources=("hanin2018",),
    rests_on=("relu-square", "relu-fourth"),
    symbols=(
        "q: the mean of the n squared inputs of layer t, q_t",
        "u_j: ReLU(g_j)^2, where sqrt(2 q) g_j are the pre-activations: given the input, they are "
        "independent and N(0, 2 q), as sums of Gaussian weights",
        "a, b: E[u_j] and E[u_j^2]",
        "p: that of its outputs, q_(t+1)",
        "r_t: E[q_t^2]",
        "n: the width",
    ),
    note="Other weights change 5/n by O(1/n^2) and by how the input is spread over its entries.",
)
def depth_he_fourth() -> Derivation:
    moments = {a: relu_square.derivation.end, b: relu_fourth.derivation.end}
    return mean_squares(2, moments, "a = E[ReLU(g)^2] and b = E[ReLU(g)^4]")


def mean_squares(scale: int, moments: dict[Expr, Expr], because: str) -> Derivation:
    """E[q_l^2] at one width, from layer to layer as in `next_square`."""
    return next_square(scale, moments, because).by(
        "iterate", previous=R(t), index=t, steps=l, initial=R(0)
    )


def next_square(scale: int, moments: dict[Expr, Expr], because: str) -> Derivation:
    """E[q_(t+1)^2] for `scale` q_t times the mean of n units u_j of moments a and b."""
    q, u = random_variable("q", second_moment=R(t)), random_array("u", mean=a, second_moment=b)
    following = named("p", scale * q * Sum(u[j], (j, 1, n)) / n)
    chain = derive(Expectation(following**2)).by("unfold expand linearity constants independence")
    return (
        chain.by("coincidence independence identical count")
        .by("call", name=R(t + 1))
        .by("substitute", values=moments, because=because)
        .by("algebra")
    )


@law(
    name="depth-linear-fourth",
    family="depth",
    title="A product of l Gaussian matrices of variance 1/n: E[q_l^2] grows by 1 + 2/n per layer",
    regime="at initialisation, exactly at width n throughout; linear layers, Gaussian weights",
    sources=("hanin2018", "saxe2014"),
    symbols=(
        "q: the mean of the n squared inputs of layer t, q_t",
        "u_j: g_j^2, where sqrt(q) g_j are the outputs: given the input, they are independent and "
        "N(0, q), as sums of Gaussian weights",
        "a, b: E[u_j] and E[u_j^2]",
        "p: that of its outputs, q_(t+1)",
        "r_t: E[q_t^2]",
        "n: the width",
    ),
    note="E[q_l] is kept, so that r_l is what the spread of the singular values of the product "
    "makes of it; orthogonal matrices keep q_l in every draw.",
    pitfalls=(
        (
            "Gaussian and orthogonal matrices of one variance keep a linear signal alike",
            "on average; the product of Gaussian ones spreads more and more",
            "relative variance (1 + 2/n)^l - 1: 3.7 at n = 64 and l = 50, 0 for orthogonal ones",
        ),
    ),
)
def depth_linear_fourth() -> Derivation:
    g = random_variable("g", mean=0, variance=1, gaussian=True)
    moments = {a: g.array.moment(2), b: g.array.moment(4)}
    return mean_squares(1, moments, "a = E[g^2] = 1 and b = E[g^4] = 3, of a standard normal g")


@law(
    name="depth-he-spread",
    family="depth",
    title="He's variance keeps E[q_l] while E[q_l^2]/E[q_l]^2 grows as (1 + 5/n)^l",
    regime="at initialisation, exactly at width n throughout; Gaussian weights, a fixed input",
    sources=("hanin2018",),
    rests_on=("depth-power", "depth-he-fourth"),
    symbols=(
        "q_l: E of the mean of the n squared outputs of layer l",
        "r_l: E of its square",
        "n: the width",
    ),
    pitfalls=(
        (
            "He's variance keeps the signal's size at every depth",
            "it keeps the mean over draws; the mean is carried by ever rarer draws, and the median "
            "decays",
            "at n = 64 and l = 100 the relative variance is 1.08^100 - 1 = 1791",
        ),
        (
            "after 20 layers of width 256 the std is in [0.3, 1.5], whatever the seed",
            "log q of one input scatters by about sqrt(5 l/n) between seeds, and a batch shares "
            "most of it: some seeds in a thousand leave the band, so that a test fixes its seed",
            "relative variance (1 + 5/256)^20 - 1 = 0.472, std of log q 0.625",
        ),
    ),
)
def depth_he_spread() -> Derivation:
    mean = named("q", depth_power.derivation.end.subs(c, 2), l)
    square = named("r", depth_he_fourth.derivation.end, l)
    return (
        derive(square / mean**2)
        .by("earlier")
        .by("equal", to=Term("k", l), because="the ratio k_l of E[q_l^2] to E[q_l]^2")
        .by("substitute", values={R(0): Q(0) ** 2}, because="for a fixed input E[q_0^2] = q_0^2")
    )


@law(
    name="depth-he-drift",
    family="depth",
    title="He's variance: log q drifts by -5/(2 n) per layer, so that the typical value decays",
    regime="Gaussian weights of variance 2/n, width n to infinity at fixed depth; the error of the "
    "limit is O(1/n). With probability 2^(-n) per layer all outputs are 0: left out",
    sources=("hanin2018",),
    rests_on=("relu-square", "relu-fourth"),
    symbols=(
        "g_j: the n pre-activations over their std sqrt(2 q_t): given the input they are "
        "independent and N(0, 1), as sums of Gaussian weights",
        "S: the factor q_(t+1)/q_t of one layer",
        "n: the width",
    ),
    pitfalls=(
        (
            "E[q] is kept, so a typical network keeps its signal",
            "log q drifts down by about 5/(2 n) per layer, though E[q] stays",
            "-0.0098 per layer at n = 256: q falls by e about every 102 layers",
        ),
    ),
)
def depth_he_drift() -> Derivation:
    g = random_array("g", mean=0, variance=1, gaussian=True)
    factor = named("S", 2 * Sum(relu(g[j]) ** 2, (j, 1, n)) / n)
    return derive(n * Expectation(log(factor) * indicator(factor, ">"))).by(
        "log-of-mean", mean=factor, width=n
    )
