"""Depth laws of saturating activations: tanh's slow decay, what sigmoids leave of a gradient."""

from sympy import Integer, Rational, Symbol, tanh

from varlaw.derivations.catalogue import law
from varlaw.derivations.depth import Q, l, t
from varlaw.derivations.gains import derivative, normal
from varlaw.symbolic.activations import sigmoid
from varlaw.symbolic.declarations import positive, random_variable
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.terms import Expectation

v = positive("v")


@law(
    name="tanh-small",
    family="depth",
    title="A tanh layer at LeCun's variance maps a small q to q - 2 q^2 + O(q^3)",
    regime="pre-activations N(0, q), q to 0; exact for Gaussian weights given the input",
    sources=("poole2016",),
    symbols=("q: the second moment of the layer's input, and so of its pre-activations",),
    note="The source is background. The next term is 17 q^3/3.",
)
def tanh_small() -> Derivation:
    q = positive("q")
    z = random_variable("z", mean=0, variance=q, gaussian=True)
    return derive((Expectation(tanh(z) ** 2) - q) / q**2).by("small-variance", variance=q)


@law(
    name="tanh-decay",
    family="depth",
    title="tanh at LeCun's variance: the second moment decays as 1/(2 l), from any start",
    regime="wide limit first, then deep: 1 << l << n; the relative error is O(log(l)/l)",
    sources=("poole2016",),
    rests_on=("tanh-small",),
    symbols=(
        "q_t: the second moment of the outputs of layer t",
        "z: a pre-activation of the next layer, N(0, q_t) in the wide limit at variance 1/m",
    ),
    note="The source is background: gain 1 is its critical point for tanh, where decay is slow.",
    pitfalls=(
        (
            "LeCun's variance keeps the second moment of a tanh network",
            "tanh(z)^2 < z^2, so that it falls at every layer, as 1/(2 l) in the end",
            "1/62 after 32 layers from q_0 = 1, not 1",
        ),
        (
            "the signal in a tanh network vanishes exponentially",
            "at gain 1 it falls as a power of the depth, and exponentially only below gain 1",
            "1/(2 l)",
        ),
    ),
)
def tanh_decay() -> Derivation:
    z = random_variable("z", mean=0, second_moment=Q(t), gaussian=True)
    return (
        derive(Expectation(tanh(z) ** 2))
        .by("call", name=Q(t + 1))
        .by("slow-decay", previous=Q(t), index=t, steps=l)
    )


@law(
    name="sigmoid-backward-bound",
    family="depth",
    title="A sigmoid passes less than 1/16 of the gradient's second moment, whatever the variance",
    regime="pre-activations N(0, v), any v > 0, independent of the gradient at the output",
    sources=("glorot2010",),
    note="The slope is 1/4 at most, and that only at 0. The source is background.",
    pitfalls=(
        (
            "each sigmoid layer costs a factor 1/4",
            "1/4 is the bound on the gradient; on its second moment it is 1/16",
            "after 10 layers less than 16^-10 = 9.1e-13",
        ),
    ),
)
def sigmoid_backward_bound() -> Derivation:
    slope = derivative(sigmoid, normal(v))
    return derive(Expectation(slope**2)).by("below", bound=Rational(1, 16))


@law(
    name="sigmoid-backward",
    family="depth",
    title="A sigmoid passes 0.04484 of the gradient's second moment at pre-activations N(0, 1)",
    regime="pre-activations N(0, 1), independent of the gradient at the output",
    sources=("glorot2010",),
    rests_on=("sigmoid-backward-bound",),
    note="The source is background.",
)
def sigmoid_backward() -> Derivation:
    return derive(Expectation(derivative(sigmoid, normal()) ** 2)).by("digits", places=15)


@law(
    name="tanh-backward-bound",
    family="depth",
    title="tanh passes less than all of the gradient's second moment, whatever the variance",
    regime="pre-activations N(0, v), any v > 0, independent of the gradient at the output",
    sources=("glorot2010",),
    note="The source is background. The factor tends to 1 as v goes to 0.",
)
def tanh_backward_bound() -> Derivation:
    x = Symbol("x", real=True)
    slope = tanh(x).diff(x).xreplace({x: normal(v)})
    return derive(Expectation(slope**2)).by("below", bound=Integer(1))


@law(
    name="tanh-backward",
    family="depth",
    title="tanh passes 0.46440 of the gradient's second moment at pre-activations N(0, 1)",
    regime="pre-activations N(0, 1), independent of the gradient at the output",
    sources=("glorot2010",),
    rests_on=("tanh-backward-bound",),
    note="The source is background.",
    pitfalls=(
        (
            "tanh passes gradients unchanged, since its slope at 0 is 1",
            "at unit pre-activations its mean squared slope is less than half",
            "0.46440 per layer at N(0, 1); at LeCun's variance q falls and the factor tends to 1",
        ),
    ),
)
def tanh_backward() -> Derivation:
    x = Symbol("x", real=True)
    slope = tanh(x).diff(x).xreplace({x: normal()})
    return derive(Expectation(slope**2)).by("digits", places=15)
