"""Laws of what keeps deep stacks near the identity: Admin, LayerScale, stochastic depth."""

from sympy import Symbol, sqrt

from varlaw.derivations.catalogue import law
from varlaw.derivations.residual import l, pre_norm_growth, s2, stream, t
from varlaw.derivations.scaling import NOW, grown
from varlaw.derivations.zero_init import THROUGH, pulled_back
from varlaw.symbolic.declarations import (
    dimensions,
    indices,
    positive,
    random_array,
    random_variable,
)
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import Term, named
from varlaw.symbolic.terms import Expectation, Sum, Variance

n, L = dimensions("n L")
i, j, k = indices("i j k")
OMEGA = Term("omega", t)
c, p, q = positive("c p q")
keep = Symbol("p", real=True)
AMID = named("a", 1 / sqrt(1 + s2))  # what Norm in the middle of a block leaves of its input


@law(
    name="admin-recursion",
    family="residual",
    title="Post-Norm of omega_t x + F: x_0 keeps Prod omega_t/sqrt(omega_t^2 + s2)",
    regime="exact recursion: Norm divides by the population root second moment",
    sources=("liu2020",),
    usual=("F independent of x", "x: zero mean"),
    symbols=("omega_t: the factor of the residual connection",),
    note="At omega_t = 1 it is post-norm-decay, at a constant omega_t deepnorm-identity-path.",
)
def admin_recursion() -> Derivation:
    x, f = stream()
    total = OMEGA * x[t] + f[t]
    return (
        derive(named("x", total / sqrt(Expectation(total**2)), t + 1))
        .by("unfold expand linearity constants uncorrelated identical")
        .by("iterate", previous=x[t], index=t, steps=l, initial=x[0])
    )


@law(
    name="admin-identity-path",
    family="residual",
    title="Admin: Post-Norm with omega_t^2 = 1 + t s2 keeps (1 + l s2)^(-1/2) of x_0, not less",
    regime="exact recursion: Norm divides by the population root second moment",
    sources=("liu2020",),
    rests_on=("admin-recursion", "pre-norm-growth"),
    symbols=(
        "c: the weight of x_0 behind l sub-layers",
        "omega_t: the factor of the residual connection; its square is the variance that x_0 and "
        "the branches before t add up to",
    ),
    note="omega is read off a pass through the network before training starts.",
    pitfalls=(
        (
            "Post-Norm forgets x_0 exponentially, whatever one does",
            "with Admin's omega it forgets as slowly as Pre-Norm: the factors telescope",
            "24 unit branches: 25^(-1/2) = 0.2, not 2^(-12) = 0.00024",
        ),
    ),
)
def admin_identity_path() -> Derivation:
    start = stream()[0][0]
    return (
        derive(admin_recursion.derivation.end.coeff(start))
        .by("equal", to=c, because="the weight c of x_0 behind l sub-layers")
        .by(
            "substitute",
            values={OMEGA: sqrt(pre_norm_growth.derivation.end.subs(l, t))},
            because="omega_t^2 = 1 + t s2, the variance of the sum so far (pre-norm-growth)",
        )
        .by("telescope")
    )


@law(
    name="b2t-identity-path",
    family="residual",
    title="B2T: Post-Norm blocks that add their input again keep far more of x_0",
    regime="exact recursion: Norm divides by the population root second moment",
    sources=("takase2023",),
    rests_on=("post-norm-decay",),
    usual=("A independent of x", "F independent of x", "x: zero mean"),
    symbols=(
        "x_t: the stream before block t",
        "A: the attention branch, F: the feed-forward branch, both of variance s2",
        "a: (1 + s2)^(-1/2), what Norm between them divides by; there the stream is a (x + A)",
        "l: the number of blocks",
    ),
    note="The second Norm sees x + a (x + A) + F: the input of the block, the stream, the branch.",
    pitfalls=(
        (
            "one more skip around a block of two cannot undo the decay of Post-Norm",
            "it turns the weight of a block's input from a^2 to (1 + a)/sqrt(1 + 2 a + 1/a^2)",
            "unit branches: 0.8125 a block instead of 1/2, 0.288 after six instead of 0.0156",
        ),
        (
            "with B2T the identity path no longer decays, as in Pre-Norm",
            "it decays more slowly, but exponentially",
            "unit branches: 0.083 after twelve blocks, 25^(-1/2) = 0.2 in Pre-Norm",
        ),
    ),
)
def b2t_identity_path() -> Derivation:
    x = random_array("x", second_moment=1, independent=False)
    a = random_array("A", mean=0, variance=s2, independent=False, uncorrelated_with=[x])
    f = random_array("F", mean=0, variance=s2, independent=False, uncorrelated_with=[x, a])
    total = x[t] + AMID * (x[t] + a[t]) + f[t]
    return (
        derive(named("x", total / sqrt(Expectation(total**2)), t + 1))
        .by("unfold expand linearity constants uncorrelated identical")
        .by("iterate", previous=x[t], index=t, steps=l, initial=x[0])
    )


@law(
    name="layer-scale-gradient",
    family="scaling",
    title="LayerScale: behind a factor c a branch's weights have c^2 of the squared gradient",
    regime="at initialisation, exactly at finite width",
    sources=("touvron2021",),
    usual=("h: zero mean", "p: zero mean"),
    symbols=(
        "c: the start of the factors that scale the channels of a branch, such as 1e-5",
        "h: the hidden units of the branch, of second moment q",
        "w: the weights of its last layer",
        "p: the derivative of the loss by the output y, of second moment g",
    ),
    note="The factors themselves have the gradient of zero-gamma. Adam divides the c out again.",
    pitfalls=(
        (
            "LayerScale at 1e-5 is the same as a branch that starts at 0",
            "nearly for the output, but every weight has a gradient from the first step on",
            "c = 1e-5: a gradient 1e-5 times as large, not 0",
        ),
        (
            "LayerScale at 1e-5 makes the branch learn 1e-5 times as fast",
            "under SGD; Adam's steps do not depend on the size of gradients",
            "Adam's first step is eta at c = 1e-5 as at c = 1",
        ),
    ),
)
def layer_scale_gradient() -> Derivation:
    x, h_ = random_array("x"), random_array("h", second_moment=q, independent=False)
    w = random_array("w", mean=0)
    y = named("y", x[i] + c * Sum(h_[j] * w[j, i], (j, 1, n)), i)
    return (
        derive(Expectation(pulled_back(y, w[j, k]) ** 2))
        .by(THROUGH)
        .by("constants collapse identical")
    )


@law(
    name="drop-path-stream",
    family="residual",
    title="Stochastic depth at keep rate p, scaled by 1/p: the stream is v_0 + L s2/p in training",
    regime="exact, for Pre-Norm branches uncorrelated with the stream; without dropping p = 1",
    sources=("huang2016",),
    rests_on=("residual-drop-path",),
    usual=("F independent of x", "x: zero mean"),
    symbols=(
        "b: the drop: 1/p with probability p, else 0",
        "p: the keep rate",
        "v_t: the variance of the stream after t layers",
    ),
    pitfalls=(
        (
            "scaled by 1/p, stochastic depth leaves the statistics of the stream alone",
            "it leaves the mean alone; each branch's variance is 1/p times as large in training",
            "p = 1/2, 24 unit branches: 49 in training, 25 in use",
        ),
    ),
)
def drop_path_stream() -> Derivation:
    x = random_variable("x", variance=NOW)
    f = random_variable("F", mean=0, variance=s2, uncorrelated_with=[x.array])
    b = random_variable("b", mean=1, second_moment=1 / p)
    chain = derive(Variance(x + b * f)).by(
        "moments expand linearity independence uncorrelated identical"
    )
    return grown(chain, L)


@law(
    name="stochastic-depth",
    family="residual",
    title="Stochastic depth with keep rates 1 - k/(2 L) trains (3 L - 1)/4 layers at a time",
    regime="exact, on average over the layers dropped; k = 1, ..., L",
    sources=("huang2016",),
    usual=("D independent of b",),
    symbols=(
        "D: the number of layers that are kept among the first t, c_t on average",
        "c_0: the layers before them that are always kept, 0 if none is counted",
        "b: 1 if layer t + 1 is kept, else 0",
        "p: its keep rate",
    ),
    note="Layers dropped independently spread by (L + 1)(4 L - 1)/(24 L) about it.",
    pitfalls=(
        (
            "keep rates down to 1/2 drop half of the layers",
            "half of the last one only: a quarter of all, as the rates fall linearly from 1",
            "L = 54: 40.25 layers on average, not 27",
        ),
        (
            "the expected depth is 3 L/4",
            "the rates begin at 1 - 1/(2 L), not at 1: a quarter of a layer less",
            "L = 4: 2.75, not 3",
        ),
    ),
)
def stochastic_depth() -> Derivation:
    depth = random_variable("D", mean=Term("c", t))
    b = random_variable("b", mean=keep, depends_on=[depth.array])
    rate = 1 - (t + 1) / (2 * L)
    return (
        derive(Expectation(depth + b))
        .by("linearity identical")
        .by("equal", to=Term("c", t + 1), because="the layers kept among the first t + 1")
        .by("substitute", values={keep: rate}, because="the keep rate of layer t + 1")
        .by("iterate", previous=Term("c", t), index=t, steps=l, initial=Term("c", 0))
        .by("substitute", values={l: L}, because="behind all layers")
        .by("power-sum")
    )
