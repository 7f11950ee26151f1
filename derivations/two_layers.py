"""Laws of layers in a row: what variances made for one layer do to two of them, and to many."""

from sympy import Integer, Symbol, log

from varlaw.derivations.backward import he_backward, n, v
from varlaw.derivations.catalogue import law
from varlaw.derivations.fans import t, xavier
from varlaw.derivations.forward import he, i, inputs, j, m, s2
from varlaw.symbolic.declarations import dimensions, indices, positive, random_array
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import IndexProduct, Term, named
from varlaw.symbolic.terms import Expectation, Sum, indicator

d = dimensions("d")
k, r = indices("k r")
s, u = positive("s u")


@law(
    name="xavier-two-layers",
    family="fans",
    title="Xavier in both layers of y = x W1 W2 keeps only 4 m n/(m + n)^2 of the second moment",
    regime="at initialisation, exactly at finite width; forward and backward alike",
    sources=("su2021", "glorot2010"),
    rests_on=("xavier", "xavier-geometric"),
    usual=("x: zero mean", "x: independent entries", "w1: Gaussian", "w2: Gaussian"),
    symbols=(
        "m: the width of the input and of the output",
        "n: the width between the two layers",
        "w1: the weights of the first layer",
        "w2: the weights of the second layer",
    ),
    note="1 - 4 m n/(m + n)^2 = (m - n)^2/(m + n)^2: it shrinks whichever width is the larger one, "
    "and is kept only at m = n.",
    pitfalls=(
        (
            "Xavier's average keeps the signal through a block that widens and narrows again",
            "the two errors do not cancel: the arithmetic mean exceeds the geometric one",
            "0.64 at n = 4 m",
        ),
        (
            "it shrinks if m < n",
            "it shrinks for m > n just as much",
            "0.64 at m = 4 n as well",
        ),
    ),
)
def xavier_two_layers() -> Derivation:
    x = inputs()
    w1, w2 = (random_array(name, mean=0, second_moment="t") for name in ("w1", "w2"))
    y = named("y", Sum(x[i] * w1[i, k] * w2[k, j], (i, 1, m), (k, 1, n)), j)
    return (
        derive(Expectation(y**2))
        .by("unfold expand linearity independence")
        .by("kronecker", array="w1")
        .by("collapse identical count")
        .by("substitute", values={t: xavier.derivation.end}, because="at Xavier's variance")
    )


@law(
    name="xavier-log-error",
    family="fans",
    title="The least squared error of both logarithms: one over the geometric mean of the fans",
    regime="at initialisation; a compromise that keeps neither pass exactly unless m = n",
    sources=("su2021",),
    rests_on=("lecun", "backward"),
    symbols=(
        "t: the common variance of the weights",
        "u: its logarithm, so that log(m t) and log(n t) are the errors of the two passes",
    ),
    note="The source is background: it minimises the error itself, which gives another mean.",
    pitfalls=(
        (
            "minimising the error of both passes gives (m + n)/(m^2 + n^2)",
            "that is for errors m t - 1 and n t - 1; of logarithms the geometric mean comes out",
            "768 and 3072: variance 1/1536 instead of 1/2611.2",
        ),
    ),
)
def xavier_log_error() -> Derivation:
    u = Symbol("u", real=True)
    return (
        derive((log(m) + u) ** 2 + (log(n) + u) ** 2)
        .by("minimise", over=u)
        .by("substitute", values={u: log(t)}, because="u is the logarithm of the variance")
    )


@law(
    name="he-backward-chain",
    family="backward",
    title="He by fan-in: over k layers the gradient's second moment changes by d_k/d_0 alone",
    regime="at initialisation, exactly at finite width; a ReLU behind every layer",
    sources=("he2015",),
    rests_on=("he", "he-backward"),
    symbols=(
        "k: the number of layers",
        "d_i: the widths: layer i leads from width d_(i-1) to width d_i",
    ),
    pitfalls=(
        (
            "a factor per layer that is not compounded over both passes is harmless",
            "the factors d_i/d_(i-1) compound to a ratio of the end widths, which is harmless",
            "256 - 1024 - 256: 4 times 1/4",
        ),
    ),
)
def he_backward_chain() -> Derivation:
    gain = he_backward.derivation.after("count") / v
    layer = gain.subs(s2, he.derivation.end).subs({m: Term("d", i - 1), n: Term("d", i)})
    return derive(IndexProduct(layer, i, Integer(1), k)).by("telescope")


@law(
    name="he-branch-backward",
    family="backward",
    title="With He's variance in both layers a block Linear-ReLU-Linear doubles gradients",
    regime="at initialisation, exactly at finite width; d to n to d, for an independent probe",
    sources=("he2015",),
    rests_on=("he",),
    usual=("x: zero mean", "g: zero mean", "w: Gaussian"),
    symbols=(
        "z_j: the pre-activations of the n hidden units",
        "u: the weights of the first layer, of second moment s",
        "w: the weights of the second layer, of second moment t",
        "g: the probe, of second moment v",
        "b: the gradient at the block's input",
        "n: the number of hidden units",
    ),
    note="The forward pass doubles as well: see residual-he-branch.",
    pitfalls=(
        (
            "He by fan-in multiplies by 4 on the way d to 4 d and by 1/4 on the way back",
            "no ReLU follows the second layer, so that its factor is 1/2",
            "4 times 1/2 = 2, not 1",
        ),
    ),
)
def he_branch_backward() -> Derivation:
    x, g = inputs(), random_array("g", second_moment="v", independent=False)
    first = random_array("u", second_moment=s, symmetric=True)
    last = random_array("w", mean=0, second_moment=t)
    z = named("z", Sum(x[r] * first[r, j], (r, 1, d)), j)
    b = named(
        "b",
        Sum(g[k] * last[j, k] * indicator(z, ">") * first[i, j], (j, 1, n), (k, 1, d)),
        i,
    )
    return (
        derive(Expectation(b**2))
        .by("unfold expand linearity independence")
        .by("kronecker", array="w")
        .by("collapse identical symmetry indicators no-atom identical count")
        .by("substitute", values={s: 2 / d, t: 2 / n}, because="with 2/fan-in in both layers")
    )
