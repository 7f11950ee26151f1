"""Fans that the stored shape of the weights hides: convolutions, fused and split projections."""

from sympy import Expr, Integer, sqrt

from varlaw.derivations.catalogue import law
from varlaw.derivations.fans import xavier
from varlaw.derivations.forward import i, inputs, lecun, m, q, s2
from varlaw.symbolic.declarations import dimensions, indices, positive, random_array
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import Named, named
from varlaw.symbolic.terms import Expectation, Sum, Variance

n, c, k, h, d = dimensions("n c k h d")
C, G = positive("C G")
o, f, t = indices("o f t")
g, s, v = positive("g s v")

KEPT = "the second moment of the input is kept"
DIAGONAL = "collapse identical count"


def taps(strided: bool = False) -> tuple[Named, Expr]:
    """A position of a convolution, and its weights: the sum over the channels of a group and taps.

    `strided` gives the taps an indicator: 1 at those of the k taps that meet the position. Over
    positions drawn at random each tap does so once in s.
    """
    x = random_array("x", second_moment="q", independent=False)
    w = random_array("w", mean=0, second_moment="s2")
    term = x[f, t] * w[o, f, t]
    if strided:
        term *= random_array("u", second_moment=1 / s, independent=False)[t]
    return named("y", Sum(term, (f, 1, c), (t, 1, k)), o), w[o, f, t]


def kept(y: Expr, weight: Expr, because: str = KEPT) -> Derivation:
    """The variance of the weights at which E[y^2] = q."""
    return (
        derive(Expectation(y**2))
        .by("unfold expand linearity independence")
        .by("kronecker", array="w")
        .by(DIAGONAL)
        .by("require", equals=q, because=because)
        .by("solve", unknown=s2)
        .by("call", name=Variance(weight))
    )


@law(
    name="conv-fan-in",
    family="shapes",
    title="A convolution keeps the second moment at variance 1/(c k): channels times taps",
    regime="at initialisation, exactly at finite width, at positions whose taps are all inside",
    sources=("lecun1998", "he2015"),
    usual=("x: zero mean", "x: independent entries", "w: Gaussian"),
    pitfalls=(
        (
            "the fan-in of a convolution is its number of input channels",
            "every output sums over the taps of the kernel too, 9 for 3 x 3",
            "E[y^2] = 9 q at 1/c with a 3 x 3 kernel",
        ),
        (
            "zero padding changes nothing",
            "at the border fewer taps meet an input",
            "4/9 of the second moment in a corner, 3 x 3",
        ),
    ),
)
def conv_fan_in() -> Derivation:
    return kept(*taps())


@law(
    name="conv-grouped",
    family="shapes",
    title="A grouped convolution has the fan-in of one group: variance G/(C k)",
    regime="at initialisation, exactly at finite width; G divides C",
    sources=("krizhevsky2012",),
    rests_on=("conv-fan-in",),
    symbols=("C: the input channels of all groups", "G: the number of groups"),
    pitfalls=(
        (
            "the fan-in is the input channels times the taps",
            "an output sees the channels of its own group only: C/G of them",
            "output 1/192 in place of 1/3: 64 groups, 3 taps, U(-1/sqrt(C k), 1/sqrt(C k))",
        ),
    ),
)
def conv_grouped() -> Derivation:
    y, weight = taps()
    return kept(y, weight).by(
        "substitute", values={c: C / G}, because="each group has C/G of the input channels"
    )


@law(
    name="conv-depthwise",
    family="shapes",
    title="A depthwise convolution has the taps as fan-in: variance 1/k",
    regime="at initialisation, exactly at finite width",
    sources=("chollet2017",),
    usual=("x: zero mean", "x: independent entries", "w: Gaussian"),
    rests_on=("conv-fan-in",),
    symbols=("x: the inputs under the kernel, of one channel",),
    pitfalls=(
        (
            "He's normal law by fan-out takes n k, the output channels times the taps",
            "the fan-out too is that of one group: k here",
            "std 0.4714 and not 0.2357 for 4 channels, 3 x 3",
        ),
    ),
)
def conv_depthwise() -> Derivation:
    y, weight = taps()
    return kept(y, weight).by(
        "substitute", values={c: Integer(1)}, because="each group has one input channel"
    )


@law(
    name="conv-fan-out",
    family="shapes",
    title="Backwards a convolution of stride 1 sums over n k: variance 1/(n k)",
    regime="at initialisation, for a probe independent of the weights; stride 1, inner positions",
    sources=("he2015",),
    usual=("g: zero mean", "g: independent entries", "w: Gaussian"),
    symbols=(
        "g: the probe at the outputs that an input reaches",
        "n: the output channels of a group",
    ),
    pitfalls=(
        (
            "the fan-out is read off the stored shape",
            "the shape (n, c/G, ...) gives n times the taps; the fan-out of a group is n/G of it",
            "36 in place of 9 for 4 groups of one channel, 3 x 3",
        ),
    ),
)
def conv_fan_out() -> Derivation:
    probe = random_array("g", second_moment="q", independent=False)
    w = random_array("w", mean=0, second_moment="s2")
    b = named("b", Sum(probe[o, t] * w[o, f, t], (o, 1, n), (t, 1, k)), f)
    return kept(b, w[o, f, t], because="the second moment of the probe is kept")


@law(
    name="conv-strided-backward",
    family="shapes",
    title="Backwards a convolution of stride s has on average the fan-out n k/s",
    regime="at initialisation, on average over positions; exact where every tap can meet",
    sources=("he2015",),
    usual=("g: zero mean", "g: independent entries", "w: Gaussian"),
    rests_on=("conv-fan-out",),
    symbols=(
        "g: the probe at the outputs that an input reaches",
        "n: the output channels of a group",
        "u_t: 1 if tap t meets the position, drawn at random: one in s; else 0",
        "s: the product of the strides",
    ),
    pitfalls=(
        (
            "the fan-out is n k at any stride",
            "only one tap in s meets a given input: gradients are s times smaller in second moment",
            "1/4 at stride 2 in both directions",
        ),
        (
            "every input receives the same",
            "unless s divides the kernel, inputs meet different numbers of taps",
            "1, 2, 2 and 4 taps for 3 x 3 at stride 2",
        ),
    ),
)
def conv_strided_backward() -> Derivation:
    probe = random_array("g", second_moment="q", independent=False)
    met = random_array("u", second_moment=1 / s, independent=False)
    w = random_array("w", mean=0, second_moment="s2")
    b = named("b", Sum(probe[o, t] * met[t] * w[o, f, t], (o, 1, n), (t, 1, k)), f)
    return kept(b, w[o, f, t], because="the second moment of the probe is kept")


@law(
    name="conv-transposed",
    family="shapes",
    title="A transposed convolution of stride s has on average the fan-in c k/s",
    regime="at initialisation, on average over positions; exact where every tap can meet",
    sources=("dumoulin2016",),
    usual=("x: zero mean", "x: independent entries", "w: Gaussian"),
    symbols=(
        "u_t: 1 if tap t meets the position, drawn at random: one in s; else 0",
        "s: the product of the strides",
    ),
    pitfalls=(
        (
            "its fan-in is that of a convolution, c k",
            "an output of stride s meets one tap in s: the output is s times smaller",
            "E[y^2] = q/4 at 1/(c k), stride 2 in both directions",
        ),
        (
            "the second axis of the stored shape holds the input channels",
            "transposed kernels are stored the other way round: what libraries call fan-in is n k",
            "for 64 -> 32 channels a factor 2",
        ),
    ),
)
def conv_transposed() -> Derivation:
    return kept(*taps(strided=True))


@law(
    name="fused-qkv-variance",
    family="shapes",
    title="Xavier on the fused (3 m, m) matrix of queries, keys and values: 1/(2 m), not 1/m",
    regime="an identity",
    sources=("glorot2010", "vaswani2017"),
    rests_on=("xavier",),
    symbols=("m: the width of the model", "t: Xavier's variance at fan-out 3 m"),
    pitfalls=(
        (
            "fusing three matrices into one changes nothing",
            "the fan-out that Xavier reads is three times as large",
            "bound 0.054127 in place of 0.076547 at width 512",
        ),
    ),
)
def fused_qkv_variance() -> Derivation:
    fused = named("t", xavier.derivation.end.subs(n, 3 * m))
    return derive(fused).by("earlier")


@law(
    name="fused-qkv-gain",
    family="shapes",
    title="Gain sqrt(2) makes up for the fused shape",
    regime="exact",
    sources=("glorot2010", "vaswani2017"),
    rests_on=("fused-qkv-variance", "lecun"),
    symbols=(
        "g: the gain",
        "m: the width of the model",
        "t: Xavier's variance at the fused shape",
        "b: Xavier's variance of one square matrix",
    ),
)
def fused_qkv_gain() -> Derivation:
    fused = named("t", fused_qkv_variance.derivation.end)
    return (
        derive(g**2 * fused)
        .by("earlier")
        .by("require", equals=xavier.derivation.end.subs(n, m), because="as for a square matrix")
        .by("solve", unknown=g)
    )


@law(
    name="fused-qkv-logits",
    family="shapes",
    title="With the fused shape the scaled logits have variance 1/4 rather than 1",
    regime="at initialisation, exactly at finite width; inputs of second moment 1",
    sources=("glorot2010", "vaswani2017"),
    usual=("x: zero mean", "x: independent entries", "K: independent entries"),
    rests_on=("fused-qkv-variance", "lecun"),
    symbols=(
        "a: the logit of a query and the key of another token, over sqrt(d)",
        "K: the key, of second moment v",
        "d: the width of a head",
        "x: the input of the query",
    ),
    pitfalls=(
        (
            "the fused shape costs a factor 2",
            "logits are products of two projections: 4 in variance; the values lose 2",
            "std of the logits 0.5 in place of 1",
        ),
    ),
)
def fused_qkv_logits() -> Derivation:
    x = random_array("x", second_moment=1, independent=False)
    key = random_array("K", second_moment="v", independent=False)
    w = random_array("w", mean=0, second_moment="s2")
    a = named("a", Sum(x[f] * w[f, i] * key[i], (i, 1, d), (f, 1, m)) / sqrt(d))
    fused = fused_qkv_variance.derivation.end
    keys = lecun.derivation.after("count").subs({q: 1, s2: fused})
    return (
        derive(Expectation(a**2))
        .by("unfold expand linearity constants independence")
        .by("kronecker", array="w")
        .by(DIAGONAL)
        .by("substitute", values={s2: fused, v: keys}, because="queries and keys of fused weights")
    )


@law(
    name="einsum-kernel",
    family="shapes",
    title="A kernel stored as (m, h, d) has the fan-in m, whatever the shape suggests",
    regime="at initialisation, exactly at finite width",
    sources=("vaswani2017",),
    usual=("x: zero mean", "x: independent entries", "w: Gaussian"),
    rests_on=("lecun",),
    symbols=("h: the number of heads", "d: the width of a head", "y: an entry of a head"),
    pitfalls=(
        (
            "the last two axes are fan-in and fan-out, the others a kernel's taps",
            "an einsum says itself over which axes it sums: here over the first one alone",
            "fan-in m h in place of m: 1/8 of the second moment for 8 heads",
        ),
    ),
)
def einsum_kernel() -> Derivation:
    w = random_array("w", mean=0, second_moment="s2")
    y = named("y", Sum(inputs()[i] * w[i, o, t], (i, 1, m)), o, t)
    return kept(y, w[i, o, t])


@law(
    name="einsum-kernel-xavier",
    family="shapes",
    title="Xavier read off the shape (m, h, d) gives E[y^2] = 2 q/(h + d) for queries",
    regime="at initialisation, exactly at finite width",
    sources=("glorot2010", "vaswani2017"),
    rests_on=("einsum-kernel", "xavier"),
    symbols=(
        "h: the number of heads",
        "d: the width of a head",
        "y: an entry of a head",
    ),
    note="So it is in Keras, whose Xavier takes the last two axes times all others as the fans.",
    pitfalls=(
        (
            "glorot_uniform gives queries and keys the second moment of the input",
            "with the shape (m, h, d) it takes the fans m h and m d",
            "1/36 for 8 heads of 64; logits 1/1296",
        ),
    ),
)
def einsum_kernel_xavier() -> Derivation:
    w = random_array("w", mean=0, second_moment="s2")
    y = named("y", Sum(inputs()[i] * w[i, o, t], (i, 1, m)), o, t)
    misread = xavier.derivation.end.subs({m: m * h, n: m * d}, simultaneous=True)
    return (
        derive(Expectation(y**2))
        .by("unfold expand linearity independence")
        .by("kronecker", array="w")
        .by(DIAGONAL)
        .by("substitute", values={s2: misread}, because="Xavier at the fans m h and m d")
        .by("algebra", form="cancel")
    )
