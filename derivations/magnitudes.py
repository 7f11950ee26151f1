"""Laws of magnitude-preserving sums and concatenations, centred weights, gates and squashing."""

from sympy import Integer, Rational, Symbol, sqrt, tanh

from varlaw.derivations.branches import relu_branch
from varlaw.derivations.catalogue import law
from varlaw.derivations.gains import normal, v
from varlaw.symbolic.activations import sigmoid
from varlaw.symbolic.declarations import (
    dimensions,
    indices,
    positive,
    random_array,
    random_variable,
)
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import named
from varlaw.symbolic.terms import Expectation, Sum

d, m, n = dimensions("d m n")
i, j = indices("i j")
c, f, q, s, s2, t = positive("c f q s s2 t")
mu = Symbol("mu", real=True)
KEPT = "the second moment stays q"


@law(
    name="mp-sum",
    family="residual",
    title="A blend f a + t b of uncorrelated a and b keeps its size over sqrt(f^2 + t^2)",
    regime="exact, for a and b of one second moment; f = 1 - t in the source",
    sources=("karras2024",),
    usual=("b independent of a", "a: zero mean"),
    symbols=(
        "a, b: stream and branch, of second moment q; b has mean 0, as behind centred weights",
        "f, t: their weights",
        "c: the divisor",
    ),
    pitfalls=(
        (
            "weights 1 - t and t add up to 1, so that the blend keeps its size",
            "that holds for equal a and b; what is uncorrelated adds in squares",
            "0.58 of the second moment at t = 0.3, 1/2 at t = 1/2",
        ),
    ),
)
def mp_sum() -> Derivation:
    a = random_variable("a", second_moment=q)
    b = random_variable("b", mean=0, second_moment=q, uncorrelated_with=[a.array])
    return (
        derive(Expectation(((f * a + t * b) / c) ** 2))
        .by("expand linearity constants uncorrelated identical")
        .by("require", equals=q, because=KEPT)
        .by("solve", unknown=c)
    )


@law(
    name="mp-cat",
    family="residual",
    title="Concatenation at a chosen say: c = sqrt((m + n)/(f^2 + t^2)) keeps the second moment",
    regime="exact, for m and n channels of one second moment; f = 1 - t in the source",
    sources=("karras2024",),
    usual=("a: zero mean", "b: zero mean"),
    symbols=(
        "a: m channels, multiplied by c f/sqrt(m)",
        "b: n channels, multiplied by c t/sqrt(n)",
        "c: the factor of both",
        "n: the number of channels of b",
    ),
    note="The sums of squares of both parts stand in the ratio f^2 to t^2, whatever m and n.",
    pitfalls=(
        (
            "a concatenation needs no scaling, since each channel keeps its size",
            "it does, but the wider input has more say in the next layer, in proportion to its "
            "channels",
            "768 beside 256 channels: 3/4 of the next layer's second moment",
        ),
    ),
)
def mp_cat() -> Derivation:
    a, b = (random_array(name, second_moment=q, independent=False) for name in "ab")
    first = Sum((c * f / sqrt(m) * a[i]) ** 2, (i, 1, m))
    second = Sum((c * t / sqrt(n) * b[j]) ** 2, (j, 1, n))
    return (
        derive(Expectation(first + second))
        .by("linearity constants identical count")
        .by("require", equals=(m + n) * q, because="the mean over all channels stays q")
        .by("solve", unknown=c)
    )


@law(
    name="centred-weights",
    family="forward",
    title="Weights less their mean over the fan-in pass on (m - 1) s2 times the inputs' variance",
    regime="at initialisation, exactly at finite width; before the division by their std",
    sources=("qiao2019", "brock2021"),
    usual=("x: zero mean", "w: zero mean", "w: Gaussian"),
    symbols=(
        "x: the inputs, of mean mu and second moment q",
        "w: the weights, of any mean and of variance s2, and a their mean over the fan-in",
        "y: the output of a unit with the weights w_i - a",
    ),
    note="Scaled weight standardisation also divides by sqrt(m) and by the std that is left.",
    pitfalls=(
        (
            "weight standardisation keeps the second moment, as He's variance does",
            "its weights add up to 0, so that a common mean of the inputs goes: the variance of "
            "ReLU's outputs counts, not their second moment",
            "ReLU: the gain is sqrt(2/(1 - 1/pi)) = 1.7129, not sqrt(2) = 1.4142",
        ),
    ),
)
def centred_weights() -> Derivation:
    x = random_array("x", mean=mu, second_moment=q)
    w = random_array("w", variance=s2)
    a = named("a", Sum(w[j], (j, 1, m)) / m)
    y = named("y", Sum(x[i] * (w[i] - a), (i, 1, m)))
    return (
        derive(Expectation(y**2))
        .by("unfold unfold expand linearity constants independence coincidence independence")
        .by("identical count algebra")
        .by("algebra", form="factor")
    )


@law(
    name="small-init",
    family="residual",
    title="SmallInit: at weights of variance 2/(5 d) a ReLU feed-forward branch adds 8/25",
    regime="at initialisation, exactly at finite width; 4 d hidden units, inputs of second moment "
    "1, as after Norm",
    sources=("nguyen2019",),
    rests_on=("relu-branch",),
    symbols=("F: the output of the branch", "d: the width"),
    note="2/(d + 4 d): Xavier's variance of the feed-forward layers, used for all matrices.",
    pitfalls=(
        (
            "SmallInit is Xavier",
            "for the feed-forward layers it is; the square matrices of attention get 2/5 of "
            "Xavier's 1/d",
            "d = 512: std 0.02795, where Xavier has 0.04419 for queries, keys, values and outputs",
        ),
    ),
)
def small_init() -> Derivation:
    spread = 2 / (5 * d)
    return relu_branch.derivation.by(
        "substitute",
        values={n: 4 * d, s: spread, v: d * spread},
        because="4 d units and variance 2/(5 d) in both layers",
    )


@law(
    name="glu-init",
    family="activation",
    title="GLU behind weights of variance 4/m turns second moment 1 into 1.3943, not 1",
    regime="value and gate N(0, 4), independent; exact for Gaussian weights given the input",
    sources=("gehring2017",),
    rests_on=("gated-unit",),
    symbols=("z: the gate's pre-activation", "b: the value, of second moment 4"),
    pitfalls=(
        (
            "a gate is 1/2, so that variance 4/m keeps the second moment",
            "its mean is 1/2; its second moment is 1/4 plus its variance, which is small for "
            "small pre-activations only",
            "E[sigmoid(z)^2] = 0.2934 at z ~ N(0, 1), 0.3486 at N(0, 4)",
        ),
    ),
)
def glu_init() -> Derivation:
    z = random_variable("z", mean=0, variance=4, gaussian=True)
    b = random_variable("b", mean=0, second_moment=4)
    return (
        derive(Expectation((sigmoid(z) * b) ** 2))
        .by("independence identical")
        .by("digits", places=15)
    )


@law(
    name="dyt-start",
    family="normalisation",
    title="DyT at alpha = 1/2 leaves second moment 0.17352 of unit inputs, where a Norm leaves 1",
    regime="inputs N(0, 1), at the start: alpha = 1/2, gains 1",
    sources=("zhu2025",),
    symbols=("z: an input of DyT, tanh(z/2)",),
    pitfalls=(
        (
            "DyT replaces the Norm, so that branches see unit inputs",
            "what it gives grows with the stream, from alpha^2 v for small v to 1 for large ones",
            "0.1735 at v = 1, 0.6353 at v = 16",
        ),
    ),
)
def dyt_start() -> Derivation:
    return derive(Expectation(tanh(normal() / 2) ** 2)).by("digits", places=15)


@law(
    name="lecun-tanh",
    family="activation",
    title="1.7159 tanh(2 z/3) at variance 1/m: pre-activations settle at variance 0.382, not 1",
    regime="wide limit, deep: v is reached as the depth grows",
    sources=("lecun1998",),
    symbols=("v: the variance of the pre-activations at which layers map it to itself",),
    note="The constants make f(1) = 1 and f(-1) = -1.",
    pitfalls=(
        (
            "f(1) = 1, so that unit variance stays with inputs and outputs alike",
            "f shrinks what lies beyond 1 by more than it stretches the rest",
            "E[f(z)^2] = 0.7504 at z ~ N(0, 1)",
        ),
    ),
)
def lecun_tanh() -> Derivation:
    f = Rational(17159, 10000) * tanh(Rational(2, 3) * sqrt(v) * normal())
    return (
        derive(Expectation(f**2))
        .by("require", equals=v, because="a fixed point of the layer map")
        .by("root", unknown=v, near=(Rational(1, 4), Integer(1)), places=15)
    )
