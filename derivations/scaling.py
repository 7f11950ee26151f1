"""Laws of scaled residual branches: how much of the stream they make, with and without Norm."""

from sympy import Symbol, sqrt

from varlaw.derivations.catalogue import law
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

d, n, L, N = dimensions("d n L N")
i, j = indices("i j")
a, b, c, r, s, s2, v = positive("a b c r s s2 v")
t = Symbol("t", integer=True, nonnegative=True)
START, NOW, NEXT = Term("v", 0), Term("v", t), Term("v", t + 1)
MOMENTS = "moments expand linearity constants uncorrelated identical"


def grown(chain: Derivation, steps: Symbol) -> Derivation:
    """The recurrence v_(t+1) = .. v_t .. that a chain has found, solved for v after `steps`."""
    return chain.by("call", name=NEXT).by(
        "iterate", previous=NOW, index=t, steps=steps, initial=START
    )


@law(
    name="scaled-stream",
    family="scaling",
    title="Branches scaled by c add c^2 s2 each: the stream reaches v_0 + N c^2 s2",
    regime="exact, for Pre-Norm branches uncorrelated with the stream",
    sources=("radford2019",),
    usual=("F independent of x", "x: zero mean", "F: zero mean"),
    pitfalls=(
        (
            "with scaled branches the total variance stays constant at s2",
            "it grows from v_0 to v_0 + N c^2 s2, and every branch adds its part",
            "GPT-2 small: from 0.0008 to 0.1134 over 24 branches, 142 times as much",
        ),
    ),
)
def scaled_stream() -> Derivation:
    x = random_variable("x", variance=NOW)
    f = random_variable("F", variance=s2, uncorrelated_with=[x.array])
    return grown(derive(Variance(x + c * f)).by(MOMENTS).by("algebra"), N)


@law(
    name="residual-scaling",
    family="scaling",
    title="N residual branches add as much as one does, if each is scaled by 1/sqrt(N)",
    regime="exact, for Pre-Norm branches uncorrelated with the stream",
    sources=("radford2019",),
    rests_on=("scaled-stream",),
    pitfalls=(
        (
            "GPT-2 scales by one over the root of the number of layers, 12 in the small model",
            "N counts residual branches, of which each block has two: N = 24",
            "std 0.02/sqrt(24) = 0.00408, not 0.02/sqrt(12) = 0.00577",
        ),
    ),
)
def residual_scaling() -> Derivation:
    return scaled_stream.derivation.by(
        "require", equals=START + s2, because="N branches shall add what one unscaled branch adds"
    ).by("solve", unknown=c)


@law(
    name="stream-without-depth",
    family="scaling",
    title="With 2 L branches scaled by 1/sqrt(2 L) the stream ends at v_0 + s2, whatever the depth",
    regime="exact, for Pre-Norm branches uncorrelated with the stream",
    sources=("radford2019",),
    rests_on=("scaled-stream",),
    symbols=(
        "v_0: the variance of the stream at its start",
        "s2: the variance of a branch before it is scaled, s2/(2 L) after it",
        "L: the number of blocks, of two branches each",
    ),
    note="Nothing of L is left.",
    pitfalls=(
        (
            "a stream that does not depend on the depth shows that 1/sqrt(2 L) is in place",
            "scaled by 1/sqrt(L) it does not depend on the depth either; the size tells them apart",
            "v_0 + s2 with 1/sqrt(2 L), v_0 + 2 s2 with 1/sqrt(L), at any L",
        ),
        (
            "since the end does not depend on the depth, no layer changes the variance",
            "each branch adds s2/(2 L); only their sum is the same at any depth",
            "v_0 + l s2/(2 L) after l branches",
        ),
    ),
)
def stream_without_depth() -> Derivation:
    return scaled_stream.derivation.by(
        "substitute",
        values={c: 1 / sqrt(2 * L), N: 2 * L},
        because="2 L branches, each scaled by 1/sqrt(2 L)",
    )


@law(
    name="block-stream",
    family="scaling",
    title="L blocks of two branches of variances a and b: the stream reaches v_0 + L c^2 (a + b)",
    regime="exact, for Pre-Norm branches uncorrelated with the stream and with one another",
    sources=("radford2019",),
    usual=("F independent of x", "G independent of x", "x: zero mean"),
    symbols=(
        "F: the attention branch of a block, of variance a",
        "G: its feed-forward branch, of variance b",
        "c: the factor of the weights that write to the stream",
    ),
    pitfalls=(
        (
            "L blocks add L times what one branch adds",
            "each has two branches, and they differ: their variances add up",
            "GPT-2 small, unscaled: 0.0944 + 0.1308 = 0.2252 a block, 2.7034 with 0.0008 in 12",
        ),
    ),
)
def block_stream() -> Derivation:
    x = random_variable("x", variance=NOW)
    f = random_variable("F", variance=a, uncorrelated_with=[x.array])
    g = random_variable("G", variance=b, uncorrelated_with=[x.array, f.array])
    return grown(derive(Variance(x + c * f + c * g)).by(MOMENTS).by("algebra"), L)


@law(
    name="block-scaling",
    family="scaling",
    title="Scaled by 1/sqrt(2 L), L blocks of two branches add (a + b)/2, whatever the depth",
    regime="exact, for Pre-Norm branches uncorrelated with the stream and with one another",
    sources=("radford2019",),
    rests_on=("block-stream", "residual-scaling"),
    pitfalls=(
        (
            "GPT-2 scales by 1/sqrt(N) with N its number of layers",
            "N counts residual branches, two in each block",
            "0.02/sqrt(24) = 0.0040825 for 12 blocks, not 0.02/sqrt(12) = 0.0057735",
        ),
    ),
)
def block_scaling() -> Derivation:
    return block_stream.derivation.by(
        "substitute",
        values={c: residual_scaling.derivation.end.subs(N, 2 * L)},
        because="c = 1/sqrt(N) (residual-scaling), for N = 2 L branches",
    )


@law(
    name="block-scaling-by-blocks",
    family="scaling",
    title="Scaled by 1/sqrt(L), with L the number of blocks, they add twice as much: a + b",
    regime="exact, for Pre-Norm branches uncorrelated with the stream and with one another",
    sources=("radford2019",),
    rests_on=("block-stream",),
    note="It does not depend on the depth either, so that a test of the depth does not find it.",
    pitfalls=(
        (
            "1/sqrt(n_layer) is GPT-2's factor",
            "it leaves twice the branches' variance, since a block has two of them",
            "GPT-2 small: 0.2260 instead of 0.1134",
        ),
    ),
)
def block_scaling_by_blocks() -> Derivation:
    return block_stream.derivation.by(
        "substitute", values={c: 1 / sqrt(L)}, because="with c = 1/sqrt(L)"
    )


@law(
    name="unnormalised-residual",
    family="scaling",
    title="Without Norm each branch multiplies: the stream grows like (1 + s2)^l",
    regime="at initialisation, exactly at finite width; linear branches of gain s2",
    sources=("hanin2018",),
    usual=("x: zero mean", "x: independent entries", "w: Gaussian"),
    symbols=(
        "v_t: the second moment of the stream after t layers",
        "w: the weights of a branch",
        "s2: its gain, E[F^2] = s2 E[x^2]",
    ),
    note="At s2 = 1 it doubles in every layer.",
)
def unnormalised_residual() -> Derivation:
    x = random_array("x", second_moment=NOW, independent=False)
    w = random_array("w", mean=0, variance=s2 / d)
    y = named("y", x[i] + Sum(x[j] * w[j, i], (j, 1, d)), i)
    chain = (
        derive(Expectation(y**2))
        .by("unfold expand linearity independence kronecker collapse identical count")
        .by("algebra", form="factor")
    )
    return grown(chain, L)


@law(
    name="unnormalised-scaled",
    family="scaling",
    title="Without Norm, L branches scaled by 1/sqrt(L) multiply by e^s2 in the limit of depth",
    regime="limit of many layers, error O(1/L); exactly (1 + s2/L)^L at any depth",
    sources=("hayou2021",),
    rests_on=("unnormalised-residual",),
    symbols=(
        "v_L: the second moment of the stream after L layers",
        "s2: the gain of a branch before it is scaled by 1/sqrt(L)",
    ),
    pitfalls=(
        (
            "scaled by 1/sqrt(L), the branches add s2 in all",
            "so they do behind a Norm; without one they compound",
            "e = 2.718 at s2 = 1, not 2",
        ),
    ),
)
def unnormalised_scaled() -> Derivation:
    return unnormalised_residual.derivation.by(
        "substitute", values={s2: s2 / L}, because="with branches scaled by 1/sqrt(L)"
    ).by("compound", variable=L)


@law(
    name="depth-scaled-norm",
    family="scaling",
    title="Norm outputs scaled by 1/sqrt(t) in layer t: the stream grows like a harmonic number",
    regime="exact, for branches that are homogeneous and uncorrelated with the stream",
    sources=("sun2025",),
    usual=("F independent of x", "x: zero mean", "F: zero mean"),
    symbols=(
        "F: the output of the branch at an input that is normalised but not scaled",
        "t: the layer, counted from 0",
    ),
    note="After 32 layers of unit branches the variance is 5.06, where Pre-Norm has 33.",
)
def depth_scaled_norm() -> Derivation:
    x = random_variable("x", variance=NOW)
    f = random_variable("F", variance=s2, uncorrelated_with=[x.array])
    chain = derive(Variance(x + f / sqrt(t + 1))).by(MOMENTS).by("algebra")
    return grown(chain, L)


@law(
    name="peri-norm",
    family="scaling",
    title="A Norm behind each branch as well: the stream grows by 1 a branch at any weights",
    regime="exact recursion: the second Norm divides by the population root second moment",
    sources=("kim2025", "ding2021"),
    usual=("F independent of x", "x: zero mean"),
    symbols=("s2: the variance of the branch before its Norm, which divides by its root",),
    note="Peri-LN and Sandwich-LN; gains of the second Norm other than 1 scale the branch.",
    pitfalls=(
        (
            "small weights keep the stream small",
            "not here: the second Norm brings every branch to variance 1",
            "1 + L at any variance of the weights",
        ),
    ),
)
def peri_norm() -> Derivation:
    x = random_variable("x", variance=NOW)
    f = random_variable("F", mean=0, variance=s2, uncorrelated_with=[x.array])
    return grown(derive(Variance(x + f / sqrt(s2))).by(MOMENTS), L)
