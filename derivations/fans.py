"""Laws that weigh fan-in against fan-out: Xavier and the means of the two fans."""

from sympy import Integer, Integral, Symbol

from varlaw.derivations.backward import backward, n, v
from varlaw.derivations.catalogue import law
from varlaw.derivations.forward import i, j, lecun, m, q, s2
from varlaw.symbolic.declarations import indices, positive, random_array
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.means import (
    arithmetic_mean,
    contraharmonic_mean,
    geometric_mean,
    harmonic_mean,
)
from varlaw.symbolic.sequences import IndexProduct, Term, named
from varlaw.symbolic.terms import Expectation, Sum, Variance

k = indices("k")
t = positive("t")


@law(
    name="xavier",
    family="fans",
    title="Xavier: one over the arithmetic mean of the fans, 2/(m + n)",
    regime="at initialisation; a compromise that keeps neither pass exactly unless m = n",
    sources=("glorot2010",),
    rests_on=("lecun", "backward"),
    symbols=(
        "t_in: the variance that keeps the forward pass",
        "t_out: that keeps the backward pass",
    ),
    pitfalls=(
        (
            "Xavier is the variance 1/m",
            "that is LeCun's; the two agree for square layers only",
            "2/(m + n), which is 1/m at m = n",
        ),
        (
            "averaging the two variances",
            "what is averaged is the fans: the variance is the harmonic mean of 1/m and 1/n",
            "harmonic mean of 1/m and 1/n = 2/(m + n)",
        ),
        (
            "weights have to serve both passes, so everybody averages the fans",
            "one fan serves as well: what the other pass picks up telescopes to the "
            "ratio of the end widths",
            "He et al. take 2/m alone; libraries call it fan_in",
        ),
    ),
)
def xavier() -> Derivation:
    forward, back = named("t_in", lecun.derivation.end), named("t_out", backward.derivation.end)
    w = random_array("w", mean=0, second_moment="t")
    return (
        derive(1 / arithmetic_mean(1 / forward, 1 / back))
        .by("definition")
        .by("earlier")
        .by("algebra", form="together")
        .by("equal", to=t, because="the variance is one over the arithmetic mean of the two fans")
        .by("call", name=Variance(w[i, j]))
    )


@law(
    name="xavier-harmonic",
    family="fans",
    title="Xavier is the harmonic mean of the forward variance 1/m and the backward variance 1/n",
    regime="an identity",
    sources=("glorot2010",),
    rests_on=("lecun", "backward", "xavier"),
    symbols=(
        "t_in: the variance that keeps the forward pass",
        "t_out: that keeps the backward pass",
    ),
)
def xavier_harmonic() -> Derivation:
    forward, back = named("t_in", lecun.derivation.end), named("t_out", backward.derivation.end)
    return derive(harmonic_mean(forward, back)).by("definition").by("earlier")


@law(
    name="xavier-uniform",
    family="fans",
    title="Xavier with a uniform law: bound sqrt(6/(m + n))",
    regime="at initialisation",
    sources=("glorot2010",),
    rests_on=("xavier",),
    symbols=(
        "w: a weight, uniform: w ~ U(-a, a)",
        "u: the value of w, of density 1/(2 a) on [-a, a]",
    ),
)
def xavier_uniform() -> Derivation:
    a, u = positive("a"), Symbol("u", real=True)
    return (
        derive(Integral(u**2 / (2 * a), (u, -a, a)))
        .by("integrate")
        .by("require", equals=xavier.derivation.end, because="the variance is Xavier's")
        .by("solve", unknown=a)
    )


@law(
    name="xavier-geometric",
    family="fans",
    title="One variance for y = x W1 W2: one over the geometric mean of the fans, 1/sqrt(m n)",
    regime="at initialisation, exactly at finite width",
    sources=("su2021",),
    usual=("x: zero mean", "x: independent entries", "w1: Gaussian", "w2: Gaussian"),
    symbols=(
        "m: the width of the input and of the output",
        "n: the width between the two layers",
        "w1: the weights of the first layer",
        "w2: the weights of the second layer",
    ),
)
def xavier_geometric() -> Derivation:
    x = random_array("x", second_moment="q", independent=False)
    w1, w2 = (random_array(name, mean=0, second_moment="t") for name in ("w1", "w2"))
    y = named("y", Sum(x[i] * w1[i, k] * w2[k, j], (i, 1, m), (k, 1, n)), j)
    return (
        derive(Expectation(y**2))
        .by("unfold expand linearity independence")
        .by("kronecker", array="w1")
        .by("collapse identical count")
        .by("require", equals=q, because="the second moment of the input is kept: E[y_j^2] = q")
        .by("solve", unknown=t)
        .by("call", name=Variance(w1[i, k]))
    )


@law(
    name="xavier-geometric-backward",
    family="fans",
    title="The backward pass of y = x W1 W2 asks for the same variance 1/sqrt(m n)",
    regime="at initialisation, exactly at finite width, for a probe independent of the weights",
    sources=("su2021",),
    usual=("g: zero mean", "g: independent entries"),
    symbols=(
        "m: the width of the input and of the output",
        "n: the width between the two layers",
        "w1: the weights of the first layer",
        "w2: the weights of the second layer",
    ),
)
def xavier_geometric_backward() -> Derivation:
    g = random_array("g", second_moment="v", independent=False)
    w1, w2 = (random_array(name, mean=0, second_moment="t") for name in ("w1", "w2"))
    b = named("b", Sum(g[j] * w2[k, j] * w1[i, k], (j, 1, m), (k, 1, n)), i)
    return (
        derive(Expectation(b**2))
        .by("unfold expand linearity independence")
        .by("kronecker", array="w2")
        .by("collapse identical count")
        .by("require", equals=v, because="the second moment of the probe is kept: E[b_i^2] = v")
        .by("solve", unknown=t)
        .by("call", name=Variance(w1[i, k]))
    )


@law(
    name="geometric-chain",
    family="fans",
    title="k layers at geometric-mean variance have the forward gain sqrt(d_0/d_k)",
    regime="at initialisation, exactly at finite width",
    sources=("su2021",),
    rests_on=("lecun", "xavier-geometric"),
    symbols=(
        "k: the number of layers",
        "d_i: the widths of the chain: layer i leads from width d_(i-1) to width d_i",
    ),
    note="The gain of the second moment; backwards it is sqrt(d_k/d_0).",
    pitfalls=(
        (
            "with geometric means every chain of layers keeps its signal",
            "a layer does not, nor a chain whose ends differ in width: what is between cancels",
            "784 inputs to 10 outputs: 8.85 times the second moment forward, 0.113 backward",
        ),
    ),
)
def geometric_chain() -> Derivation:
    wide = {m: Term("d", i - 1), n: Term("d", i)}
    gain = lecun.derivation.after("count") / q
    layer = gain.subs(s2, xavier_geometric.derivation.end).subs(wide)
    return derive(IndexProduct(layer, i, Integer(1), k)).by("telescope")


@law(
    name="xavier-quadratic",
    family="fans",
    title="The least squared error of both passes: one over the contraharmonic mean of the fans",
    regime="at initialisation; a compromise that keeps neither pass exactly unless m = n",
    sources=("su2021",),
    rests_on=("lecun", "backward"),
    note="Often called the quadratic mean, which is a misnomer: it is the contraharmonic mean.",
    symbols=(
        "t: the common variance of the weights",
        "f: the forward gain E[y_j^2]/q",
        "b: the backward gain E[b_i^2]/v",
    ),
    pitfalls=(
        (
            "(m^2 + n^2)/(m + n) is the quadratic mean of the fans",
            "it is the contraharmonic mean, which is larger",
            "2611.2 against sqrt((m^2 + n^2)/2) = 2239.1 at 768 and 3072",
        ),
    ),
)
def xavier_quadratic() -> Derivation:
    forward = named("f", (lecun.derivation.after("count") / q).subs(s2, t))
    back = named("b", (backward.derivation.after("count") / v).subs(s2, t))
    w = random_array("w", mean=0, second_moment="t")
    return (
        derive((forward - 1) ** 2 + (back - 1) ** 2)
        .by("earlier")
        .by("minimise", over=t)
        .by("call", name=Variance(w[i, j]))
    )


@law(
    name="means-inequality",
    family="fans",
    title="Contraharmonic >= arithmetic >= geometric mean of the fans, equal only at m = n",
    regime="an inequality between positive numbers",
    sources=("su2021",),
)
def means_inequality() -> Derivation:
    return (
        derive(contraharmonic_mean(m, n))
        .by("definition")
        .by("bound", by=arithmetic_mean(m, n).definition)
        .by("bound", by=geometric_mean(m, n).definition)
    )
