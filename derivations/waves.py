"""Laws of sines and exponentials: sine units, and kernels of random features."""

from sympy import Integer, Rational, cos, exp, sin

from varlaw.derivations.catalogue import law
from varlaw.derivations.gains import normal, v
from varlaw.derivations.kernels import pair, rho, t
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.terms import Expectation


@law(
    name="sine-second-moment",
    family="activation",
    title="A sine of pre-activations N(0, v) has second moment (1 - e^(-2 v))/2",
    regime="pre-activations N(0, v)",
    sources=("sitzmann2020",),
    pitfalls=(
        (
            "sine units have second moment 1/2, whatever comes in",
            "that is the limit of large v, and exact for pre-activations uniform over whole "
            "half periods; unit ones leave less",
            "0.4323 at v = 1; 1/2 within 1.1e-9 from v = 10 on, as behind omega_0 = 30",
        ),
    ),
)
def sine_second_moment() -> Derivation:
    return derive(Expectation(sin(normal(v)) ** 2)).by("gaussian")


@law(
    name="siren-fixed-point",
    family="activation",
    title="SIREN's pre-activations settle at variance 0.797, not 1",
    regime="wide limit, deep: weights U(-sqrt(6/n), sqrt(6/n)), omega_0 taken out again",
    sources=("sitzmann2020",),
    rests_on=("sine-second-moment",),
    symbols=("v: the variance of the pre-activations at which layers map it to itself",),
    note="Weights of variance 2/n give n (2/n) E[sin(z)^2]; the map's slope there is 2 (1 - v) = "
    "0.406, so that it is reached within a few layers.",
    pitfalls=(
        (
            "SIREN's pre-activations are N(0, 1) in every layer",
            "they would be if sines had second moment 1/2, as those of the first layer have; the "
            "sine of N(0, 1) has 0.4323",
            "1, 0.8647, 0.8226, ... on the way to 0.7968",
        ),
    ),
)
def siren_fixed_point() -> Derivation:
    return (
        derive(2 * Expectation(sin(normal(v)) ** 2))
        .by("gaussian")
        .by("require", equals=v, because="a fixed point of the layer map")
        .by("root", unknown=v, near=(Rational(1, 2), Integer(1)), places=15)
    )


@law(
    name="random-fourier-features",
    family="kernels",
    title="Random Fourier features have the kernel exp(-q (1 - rho)), Gaussian in the distance",
    regime="exact for Gaussian frequencies: cosines and sines of w.x for w ~ N(0, 1/s^2)",
    sources=("rahimi2007", "tancik2020"),
    symbols=(
        "z, z_2: w.x and w.x_2; q is |x|^2/s^2, so that q (1 - rho) is |x - x_2|^2/(2 s^2) for "
        "inputs of one length",
    ),
    note="One feature is a pair, a cosine and a sine; the mean over pairs is 1 at rho = 1.",
)
def random_fourier_features() -> Derivation:
    z, u, other = pair()
    return (
        derive(Expectation(cos(z) * cos(other) + sin(z) * sin(other)))
        .by("unfold")
        .by("condition", over=u)
        .by("gaussian radicals")
        .by("correlation", old=t, rho=rho)
        .by("radicals")
    )


@law(
    name="positive-features",
    family="softmax",
    title="A positive random feature of Performer has the relative variance e^|q + k|^2 - 1",
    regime="exact for Gaussian projections w; the mean over m independent ones has 1/m of it",
    sources=("choromanski2021",),
    symbols=(
        "z: w.q + w.k for a projection w ~ N(0, 1), with q and k divided by d^(1/4)",
        "v: |q + k|^2, its variance",
        "e^(z - v/2): e^(w.q - |q|^2/2) e^(w.k - |k|^2/2), over the kernel e^(q.k)",
    ),
    note="The mean is 1: the features' product estimates the kernel e^(q.k) without bias.",
    pitfalls=(
        (
            "positive features approximate softmax attention with some d log d of them",
            "that holds for queries and keys of bounded length; unit entries in d dimensions, "
            "divided by d^(1/4), have |q + k|^2 = 2 sqrt(d) on average",
            "d = 64: |q + k|^2 = 16, and 8.9 million features for a relative error of 1",
        ),
        (
            "positive features vary less than the cosines and sines of Fourier features",
            "for keys opposite to the query, where the kernel is small: the variance vanishes at "
            "q = -k; for like ones it is larger",
            "0 at q = -k, e^(4 |q|^2) - 1 at q = k, where Fourier features are exact",
        ),
    ),
)
def positive_features() -> Derivation:
    return derive(Expectation((exp(normal(v) - v / 2) - 1) ** 2)).by("gaussian")
