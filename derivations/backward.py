"""Backward laws: second moments of Jacobian-vector products with an independent probe.

The probe g stands for the gradient at the layer's output. It is independent of the weights, which
a loss gradient is only in the wide limit and with an independent zero-mean readout.
"""

from varlaw.derivations.catalogue import law
from varlaw.derivations.forward import i, inputs, pre_activation, s2
from varlaw.symbolic.declarations import dimensions, indices, positive, random_array
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import named
from varlaw.symbolic.terms import Expectation, Sum, Variance, indicator

n = dimensions("n")
j, k = indices("j k")
v = positive("v")


@law(
    name="backward",
    family="backward",
    title="The backward pass of a linear layer keeps the second moment at variance 1/fan-out",
    regime="at initialisation, exactly at finite width, for a probe independent of the weights",
    sources=("glorot2010",),
    usual=("g: zero mean", "g: independent entries", "w: Gaussian"),
)
def backward() -> Derivation:
    g = random_array("g", second_moment="v", independent=False)
    w = random_array("w", mean=0, second_moment="s2")
    b = named("b", Sum(g[j] * w[i, j], (j, 1, n)), i)
    return (
        derive(Expectation(b**2))
        .by("unfold expand linearity independence")
        .by("kronecker", array="w")
        .by("collapse identical count")
        .by("require", equals=v, because="the second moment of the probe is kept: E[b_i^2] = v")
        .by("solve", unknown=s2)
        .by("call", name=Variance(w[i, j]))
    )


@law(
    name="he-backward",
    family="backward",
    title="The backward pass through ReLU keeps the second moment at variance 2/fan-out",
    regime="at initialisation, exactly at finite width; the probe is centred and independent",
    sources=("he2015",),
    usual=("x: zero mean", "w: independent entries", "w: Gaussian"),
    symbols=("b: the gradient at the input of the layer z_j, which ReLU follows",),
    pitfalls=(
        (
            "fan-in and fan-out factors cancel, so He by fan-in serves an MLP block",
            "a block Linear, ReLU, Linear has no ReLU behind its second layer",
            "second moment times 2 forward and 2 backward at width 4d",
        ),
        (
            "one of the two passes may be off by a constant per layer, which is harmless",
            "a constant would compound; what is off is a ratio of widths, and ratios telescope",
            "the product over layers is n_L/n_0",
        ),
    ),
)
def he_backward() -> Derivation:
    x, g = inputs(), random_array("g", mean=0, second_moment="v")
    w = random_array("w", second_moment="s2", symmetric=True, independent=False)
    z = pre_activation(x, w).xreplace({i: k})
    b = named("b", Sum(g[j] * w[i, j] * indicator(z, ">"), (j, 1, n)), i)
    return (
        derive(Expectation(b**2))
        .by("unfold expand linearity independence")
        .by("kronecker", array="g")
        .by("collapse identical symmetry indicators no-atom identical count")
        .by("require", equals=v, because="the second moment of the probe is kept: E[b_i^2] = v")
        .by("solve", unknown=s2)
        .by("call", name=Variance(w[i, j]))
    )
