"""Gains of activations: what keeps a second moment, a variance, a gradient; and how stably."""

from sympy import Dummy, Expr, Integer, Rational, sqrt, tanh

from varlaw.derivations.catalogue import law
from varlaw.symbolic.activation import Activation
from varlaw.symbolic.activations import elu, gelu, leaky_relu, relu, sigmoid
from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.declarations import (
    dimensions,
    indices,
    positive,
    random_array,
    random_variable,
)
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import named
from varlaw.symbolic.terms import Expectation, Slope, Sum, Variance

m = dimensions("m")
i, j = indices("i j")
g, v, a = positive("g v a")
alpha, lamda, chi, c = positive("alpha lambda chi c")
ONE = Integer(1)
KEPT = "the second moment of the output is 1"
PIECES = "parts stein normal"  # of a function that is a polynomial on intervals


def normal(variance: Expr = ONE, name: str = "z") -> Entry:
    """A pre-activation, N(0, variance)."""
    return random_variable(name, mean=0, variance=variance, gaussian=True)


def solved(chain: Derivation, unknown: Expr, because: str, equals: Expr = ONE) -> Derivation:
    """What was found is required to be `equals`, and solved for the unknown."""
    return chain.by("require", equals=equals, because=because).by("solve", unknown=unknown)


@law(
    name="gain-second-moment",
    family="activation",
    title="The gain that keeps pre-activations at second moment 1 is 1/sqrt(E[f(z)^2])",
    regime="at initialisation, exactly at finite width",
    sources=("klambauer2017",),
    usual=("h: zero mean", "h: independent entries", "u: Gaussian"),
    symbols=(
        "h: the outputs f(z) of an activation, of second moment M = E[f(z)^2]",
        "u: the weights before they are scaled by g/sqrt(m)",
        "g: the gain",
        "y: the pre-activations of the next layer",
    ),
    note="The source is background: it solves the same equations for SELU.",
)
def gain_second_moment() -> Derivation:
    h = random_array("h", second_moment="M", independent=False)
    u = random_array("u", mean=0, variance=1)
    y = named("y", g / sqrt(m) * Sum(h[i] * u[i, j], (i, 1, m)), j)
    chain = (
        derive(Expectation(y**2))
        .by("unfold expand linearity constants independence")
        .by("kronecker", array="u")
        .by("collapse identical count")
    )
    return solved(chain, g, "the second moment of the next pre-activation is 1")


@law(
    name="gain-relu",
    family="activation",
    title="The second-moment gain of ReLU is sqrt(2)",
    regime="pre-activations N(0, 1); exact for Gaussian weights given the input",
    sources=("he2015",),
    rests_on=("gain-second-moment",),
)
def gain_relu() -> Derivation:
    return solved(derive(g**2 * Expectation(relu(normal()) ** 2)).by(PIECES), g, KEPT)


@law(
    name="gain-leaky-relu",
    family="activation",
    title="The second-moment gain of leaky ReLU of slope a is sqrt(2/(1 + a^2))",
    regime="pre-activations N(0, 1); exact for Gaussian weights given the input",
    sources=("he2015",),
    rests_on=("gain-second-moment",),
)
def gain_leaky_relu() -> Derivation:
    chain = derive(g**2 * Expectation(leaky_relu(normal(), a) ** 2)).by(PIECES)
    return solved(chain, g, KEPT)


@law(
    name="gain-relu-variance",
    family="activation",
    title="The gain that gives ReLU's output variance 1 is sqrt(2/(1 - 1/pi))",
    regime="pre-activations N(0, 1); the mean of the output is kept out of it",
    sources=("brock2021",),
    note="The constants of normaliser-free networks; their second moment is 1 + 1/(pi - 1).",
    pitfalls=(
        (
            "1.7139588 is the gain of a ReLU, to 16 digits",
            "the published literals of this kind are all high, by about 1/2048",
            "exact: 1.7128585504; three digits are right",
        ),
        (
            "the gain of ReLU is the gain of ReLU",
            "keeping the variance and keeping the second moment are different requests",
            "1.7129 against 1.4142",
        ),
    ),
)
def gain_relu_variance() -> Derivation:
    chain = derive(g**2 * Variance(relu(normal()))).by("moments").by(PIECES)
    return solved(chain, g, "the variance of the output is 1")


@law(
    name="gelu-second-moment",
    family="activation",
    title="The second moment of GELU's output in closed form, at any variance of its input",
    regime="pre-activations N(0, v)",
    sources=("hendrycks2016",),
    note="The source introduces the function.",
)
def gelu_second_moment() -> Derivation:
    return (
        derive(Expectation(gelu(normal(v)) ** 2))
        .by("parts parity identical stein normal-pair complete-square stein complete-square")
        .by("algebra")
    )


@law(
    name="gain-gelu",
    family="activation",
    title="The second-moment gain of GELU is (1/3 + 1/(2 sqrt(3) pi))^(-1/2)",
    regime="pre-activations N(0, 1); exact for Gaussian weights given the input",
    sources=("hendrycks2016",),
    rests_on=("gain-second-moment", "gelu-second-moment"),
)
def gain_gelu() -> Derivation:
    chain = derive(g**2 * Expectation(gelu(normal()) ** 2)).by(
        "parts parity identical stein normal-pair complete-square stein complete-square"
    )
    return solved(chain, g, KEPT).by("digits", places=15)


def derivative(f: type[Activation], z: Entry) -> Expr:
    """f'(z) for an activation without kinks."""
    x = Dummy("x", real=True)
    ((_, whole),) = f(x).written_out
    return whole.diff(x).xreplace({x: z})


@law(
    name="gain-gelu-backward",
    family="activation",
    title="The gain that keeps the gradient's second moment through GELU",
    regime="pre-activations N(0, 1), independent of the gradient at the output",
    sources=("hendrycks2016",),
    note="The source introduces the function. SymPy 1.14 integrates it to a wrong value.",
)
def gain_gelu_backward() -> Derivation:
    slope = derivative(gelu, normal())
    chain = derive(g**2 * Expectation(slope**2)).by(
        "parts parity complete-square identical stein normal-pair complete-square"
    )
    return solved(chain, g, "the second moment of the gradient is kept").by("digits", places=15)


@law(
    name="gelu-instability",
    family="activation",
    title="At GELU's own gain the fixed point 1 of the layer map is unstable: slope 1.144",
    regime="wide limit: pre-activations N(0, v), the variance of the next layer g^2 E[gelu(z)^2]",
    sources=("poole2016", "hendrycks2016"),
    rests_on=("gain-gelu",),
    symbols=("chi: the slope of the layer map at its fixed point v = 1",),
    pitfalls=(
        (
            "a gain that keeps one layer keeps all layers",
            "GELU is not homogeneous: the fixed point repels",
            "from variance 0.99 it falls to 0.4157 in 32 layers, from 1.01 it rises to 1.876",
        ),
        (
            "ReLU's gain sqrt(2) serves GELU as well",
            "the second moment then collapses faster than any constant factor says",
            "7.8e-9 after 32 layers, not 0.85044^32 = 0.0056",
        ),
    ),
)
def gelu_instability() -> Derivation:
    square = named("M", Expectation(gelu(normal(name="u")) ** 2))
    chain = derive(Slope(Expectation(gelu(normal(v)) ** 2), v) / square)
    return (
        chain.by("slope")
        .by("equal", to=chi, because="the slope of the layer map with g^2 = 1/M")
        .by("substitute", values={v: ONE}, because="at the fixed point v = 1")
        .by("earlier", name="M")
        .by("gaussian")
        .by("digits", places=15)
    )


@law(
    name="tanh-fixed-point",
    family="activation",
    title="At gain 5/3 the pre-activations of a tanh network settle at variance 1.178, not 1",
    regime="wide limit, deep: v is reached as the depth grows",
    sources=("poole2016",),
    symbols=("v: the variance of the pre-activations at which layers map it to itself",),
    note="The fixed point is the only positive one: E[tanh(sqrt(v) z)^2]/v falls as v grows.",
    pitfalls=(
        (
            "5/3 is the gain that keeps the variance through tanh",
            "it is no moment gain and no derivative gain; the variance settles elsewhere",
            "1/sqrt(E[tanh(z)^2]) = 1.5925; at 5/3 the variance settles at 1.1785",
        ),
    ),
)
def tanh_fixed_point() -> Derivation:
    chain = derive(Rational(25, 9) * Expectation(tanh(sqrt(v) * normal()) ** 2))
    return chain.by("require", equals=v, because="a fixed point of the layer map").by(
        "root", unknown=v, near=(1, 2), places=15
    )


@law(
    name="tanh-no-variance",
    family="activation",
    title="No variance of the weights gives tanh's output second moment 1",
    regime="pre-activations N(0, v), any v",
    sources=("glorot2010",),
    note="The source is background: it observes the saturation. The supremum 1 is not attained.",
)
def tanh_no_variance() -> Derivation:
    return derive(Expectation(tanh(normal(v)) ** 2)).by("below", bound=Integer(1))


@law(
    name="sigmoid-no-variance",
    family="activation",
    title="No variance of the weights gives a sigmoid's output more than second moment 1/2",
    regime="pre-activations N(0, v), any v; symmetry about 0 is what matters",
    sources=("glorot2010",),
    note="The source is background: it observes the saturation.",
)
def sigmoid_no_variance() -> Derivation:
    z = normal(v)
    return derive(Expectation(sigmoid(z) ** 2)).by("below", bound=sigmoid(z)).by("parity")


@law(
    name="sigmoid-second-moment",
    family="activation",
    title="A sigmoid's output has second moment 0.29338 at pre-activations N(0, 1)",
    regime="pre-activations N(0, 1)",
    sources=("su2021",),
    note="No closed form is known; sigmoid(z) = (1 + tanh(z/2))/2 gives 1/4 + E[tanh(z/2)^2]/4.",
)
def sigmoid_second_moment() -> Derivation:
    return derive(Expectation(sigmoid(normal()) ** 2)).by("digits", places=30)


@law(
    name="sigmoid-tweak",
    family="activation",
    title="sigmoid(z)/0.54165 has second moment 1 at pre-activations N(0, 1)",
    regime="pre-activations N(0, 1)",
    sources=("su2021",),
    rests_on=("sigmoid-second-moment",),
    symbols=("c: the divisor of the activation",),
    note="Taking the mean 1/2 off as well would need another divisor, 0.20828.",
    pitfalls=(
        (
            "divide by 0.5417, then subtract the mean",
            "after centring another divisor is needed",
            "0.2083, the root of 0.29338 - 1/4",
        ),
    ),
)
def sigmoid_tweak() -> Derivation:
    square = named("M", Expectation(sigmoid(normal()) ** 2))
    chain = derive(square / c**2)
    return solved(chain, c, "the tweaked activation has second moment 1").by("digits", places=15)


@law(
    name="selu-alpha",
    family="activation",
    title="SELU's alpha: the mean of its output vanishes",
    regime="pre-activations N(0, 1)",
    sources=("klambauer2017",),
    symbols=("alpha: minus the limit of the output for large negative z",),
)
def selu_alpha() -> Derivation:
    chain = derive(Expectation(elu(normal(), alpha))).by("parts complete-square stein normal")
    return solved(chain, alpha, "the mean of the output is 0", Integer(0))


def found_alpha() -> Expr:
    """SELU's alpha by its name."""
    return named("alpha", selu_alpha.derivation.end)


@law(
    name="selu-lambda",
    family="activation",
    title="SELU's lambda: the second moment of its output is 1",
    regime="pre-activations N(0, 1)",
    sources=("klambauer2017",),
    rests_on=("selu-alpha",),
    symbols=("lambda: the slope of SELU for positive z", "alpha: as in selu-alpha"),
)
def selu_lambda() -> Derivation:
    chain = derive(lamda**2 * Expectation(elu(normal(), found_alpha()) ** 2))
    chain = chain.by("parts complete-square stein normal")
    return solved(chain, lamda, KEPT).by("digits", places=15)


@law(
    name="selu-stability",
    family="activation",
    title="SELU's fixed point attracts: deviations of the variance shrink by 0.7826 per layer",
    regime="wide limit: pre-activations N(0, v), weights of variance 1/m",
    sources=("klambauer2017",),
    rests_on=("selu-alpha", "selu-lambda"),
    symbols=(
        "chi: the slope of the variance map at its fixed point v = 1",
        "alpha: as in selu-alpha",
    ),
    pitfalls=(
        (
            "SELU is no more than a good initialisation",
            "its fixed point attracts, which ReLU with He does not offer",
            "slope 0.7826 against exactly 1",
        ),
    ),
)
def selu_stability() -> Derivation:
    f, one = (elu(z, found_alpha()) ** 2 for z in (normal(v), normal(name="u")))
    scale = named("M", Expectation(one))
    return (
        derive(Slope(Expectation(f), v) / scale)
        .by("slope")
        .by("equal", to=chi, because="the slope of the variance map with lambda^2 = 1/M")
        .by("substitute", values={v: ONE}, because="at the fixed point v = 1")
        .by("digits", places=15)
    )
