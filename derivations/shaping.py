"""Laws of shaped activations: Deep Kernel Shaping and Tailored Activation Transformations.

A layer with weights of variance 1 over the fan-in maps the correlation c of two inputs of second
moment q = 1 to C(c) = E[f(z) f(z_2)], z and z_2 standard normal of correlation c, if f keeps the
second moment. Layers compose, so that a deep network has the map C(C(...)).
"""

from sympy import Integer, Symbol, atanh, sqrt, tanh

from varlaw.derivations.catalogue import law
from varlaw.derivations.gains import a, g, normal, solved
from varlaw.derivations.kernels import pair, q, rho, t
from varlaw.symbolic.activations import leaky_relu, relu
from varlaw.symbolic.declarations import positive, random_variable
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import Term
from varlaw.symbolic.terms import Expectation, Variance, indicator

T, zeta, v = positive("T zeta v")
s = positive("t")  # tanh(b) of an input shift b
k = Symbol("k", integer=True, nonnegative=True)
L = Symbol("L", integer=True, positive=True)
KEEPING = 2 / (1 + a**2)  # the squared gain of leaky ReLU
mu = Symbol("mu", real=True)


@law(
    name="tat-correlation",
    family="shaping",
    title="Leaky ReLU adds (1 - a)^2/(1 + a^2) times what ReLU adds to a correlation",
    regime="wide limit: jointly normal pre-activations; exact for Gaussian weights given the input",
    sources=("zhang2022", "cho2009"),
    note="What is found is C(rho) - rho, with pi/2 - arcsin(rho) = arccos(rho): it falls as a "
    "grows, and C rises with rho, so that one a gives a deep network the C_f(0) that is wanted.",
    pitfalls=(
        (
            "a leaky ReLU of slope 0.01 keeps inputs apart, as its negative side is kept",
            "it adds 0.98 of what ReLU adds; a slope has to come near 1 with the depth",
            "C_f(0) = 0.9 behind 50 layers needs a = 0.43052; with 0.01 it is 0.98741",
        ),
        (
            "TAT sets the curvature C''(1) of every activation",
            "that of leaky ReLU is infinite, since its slope jumps: near 1 it adds to rho = 1 - e "
            "a multiple of e^(3/2), 2 sqrt(2)/(3 pi) e^(3/2) for ReLU",
            "a = 0, e = 0.01: 3.0e-4; a curvature of 0.3 would add 1.5e-5",
        ),
    ),
)
def tat_correlation() -> Derivation:
    z, u, other = pair()
    kernel = Expectation(leaky_relu(z, a) * leaky_relu(other, a))
    return (
        derive(KEEPING * kernel / q - t / sqrt(1 + t**2))
        .by("unfold activation")
        .by("condition", over=u)
        .by("gaussian")
        .by("correlation", old=t, rho=rho)
        .by("algebra", form="factor")
    )


@law(
    name="tat-orthogonal",
    family="shaping",
    title="Orthogonal inputs leave a leaky ReLU with the cosine (1 - a)^2/(pi (1 + a^2))",
    regime="wide limit: jointly normal pre-activations; exact for Gaussian weights given the input",
    sources=("zhang2022",),
    symbols=("u: the pre-activation at an input orthogonal to that of z",),
    note="C(0) of one layer, the squared mean of the output; 1/pi for ReLU.",
    pitfalls=(
        (
            "C_f(0) of L layers is L times that of one",
            "C is convex with C(1) = 1: each layer adds less than the one before",
            "a = 1/2, 10 layers: 0.43225, not 0.63662",
        ),
    ),
)
def tat_orthogonal() -> Derivation:
    z, u = normal(q), normal(q, "u")
    kernel = Expectation(leaky_relu(z, a) * leaky_relu(u, a))
    chain = derive(KEEPING * kernel / q).by("independence parts stein")
    return chain.by("algebra", form="factor")


@law(
    name="tat-slope",
    family="shaping",
    title="Leaky ReLU at the gain sqrt(2/(1 + a^2)) has C'(1) = 1 for every slope a",
    regime="wide limit: pre-activations N(0, v) of any variance",
    sources=("zhang2022", "he2015"),
    symbols=("z: the pre-activation, N(0, v)",),
    note="The gain of the forward pass is that of the backward pass.",
    pitfalls=(
        (
            "leaky ReLU can be shaped as DKS asks, with its slope alone",
            "C'(1) = 1 and C(0) > 0 whatever the slope: DKS wants C(0) = 0 and C'(1) > 1",
            "a = 1/2: C'(1) = 1, C(0) = 0.06366",
        ),
    ),
)
def tat_slope() -> Derivation:
    z = normal(v)
    slope = indicator(z, ">") + a * indicator(z, "<")
    chain = derive(KEEPING * Expectation(slope**2)).by("parts normal")
    return chain.by("algebra", form="cancel")


@law(
    name="dks-output",
    family="shaping",
    title="DKS scales the centred output by 1/sqrt(Var f): then Q(1) = 1 and C(0) = 0",
    regime="at initialisation, exactly",
    sources=("martens2021",),
    symbols=(
        "h: the output f(alpha z + b) before it is shifted and scaled",
        "mu: the mean of h, which the output shift takes off",
        "g: the output scale",
    ),
    note="C(0) is the squared mean of the output, so that the shift is -mu.",
)
def dks_output() -> Derivation:
    h = random_variable("h", mean=mu, variance=v)
    chain = derive(Expectation((g * (h - mu)) ** 2)).by("expand linearity constants identical")
    chain = chain.by("algebra", form="factor")
    return solved(chain, g, "Q(1) = 1: the output has second moment 1")


@law(
    name="dks-depth",
    family="shaping",
    title="L layers have the slope C_f'(1) = zeta^L, so that DKS gives each the slope T^(1/L)",
    regime="a chain of L layers, each with C(1) = 1",
    sources=("martens2021",),
    symbols=(
        "chi_l: the slope at 1 of the map of l layers",
        "zeta: the slope C'(1) of each layer",
        "T: the slope wanted of the network, 3/2 in the source",
    ),
    note="Where branches join, the source takes the largest slope over the sub-networks instead.",
    pitfalls=(
        (
            "each layer may have a slope of 3/2",
            "slopes multiply: the network then has (3/2)^L",
            "50 layers: 6.4e8 for 1.5 each; 1.0081423 each for 1.5 in all",
        ),
    ),
)
def dks_depth() -> Derivation:
    slope = Term("chi", k)
    chain = derive(zeta * slope).by("equal", to=Term("chi", k + 1), because="the chain rule at 1")
    return (
        chain.by("iterate", previous=slope, index=k, steps=L, initial=Term("chi", 0))
        .by("substitute", values={Term("chi", 0): Integer(1)}, because="no layer: C(c) = c")
        .by("require", equals=T, because="the slope wanted of the network")
        .by("solve", unknown=zeta)
    )


@law(
    name="dks-relu-limit",
    family="shaping",
    title="ReLU centred and scaled, but not shifted, has C'(1) = pi/(pi - 1)",
    regime="wide limit: pre-activations N(0, v) of any variance",
    sources=("martens2021",),
    rests_on=("relu-half", "relu-variance"),
    symbols=("z: the pre-activation, N(0, v)",),
    note="Shifted by b > 0 its slope lies between 1 and this, by b < 0 above it.",
    pitfalls=(
        (
            "1.466942206924260361, as in the reference implementation",
            "it is pi/(pi - 1), of which 15 of the 19 digits are right",
            "1.466942206924259860",
        ),
    ),
)
def dks_relu_limit() -> Derivation:
    z = normal(v)
    chain = derive(v * Expectation(indicator(z, ">")) / Variance(relu(z))).by("moments")
    return chain.by("parts stein normal").by("algebra", form="cancel")


@law(
    name="dks-shift-limit",
    family="shaping",
    title="DKS shifts tanh by artanh(1/2) = 0.5493 in the limit of depth",
    regime="C'(1) = T^(1/L) tends to 1 with the depth L, and the input scale a to 0",
    sources=("martens2021",),
    symbols=(
        "z: what the input scale makes of a pre-activation, N(0, v), v = a^2 at Q(1)",
        "t: tanh(b) of the input shift b",
        "V: the variance of tanh(z + b) in units of its slope's square",
    ),
    note="Q(1) = Q'(1) = 1 ask for v dV/dv = V, so that V has no term in v^2 where v is small. For "
    "any f without kinks that is f'(b) f'''(b) + f''(b)^2/2 = 0.",
    pitfalls=(
        (
            "where a network is deep, its activation has to be nearly linear: b = 0",
            "at b = 0 the curvature f''' of tanh alone makes Q'(1) < 1; the shift makes f''^2 "
            "balance it, at any depth",
            "b = 0.5708 at 50 layers, 0.5504 at 1000, 0.5493 in the limit",
        ),
        (
            "TAT has the same limit",
            "it asks for C'(1) = 1 and not for C(0) = 0: sqrt(2) f' f''' is -f''^2 or f''^2",
            "tanh: b = 0.51775 or 1.08245, for tanh(b)^2 = 1/(3 + sqrt(2)) or 1/(3 - sqrt(2))",
        ),
    ),
)
def dks_shift_limit() -> Derivation:
    output = tanh(normal(v) + atanh(s))
    variance = Expectation(output**2) - Expectation(output) ** 2
    chain = derive((variance / (1 - s**2) ** 2 - v) / v**2).by("small-variance", variance=v)
    return solved(chain, s, "V = v to second order", Integer(0))
