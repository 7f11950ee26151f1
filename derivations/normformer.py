"""Laws of NormFormer: extra Norms in a Pre-Norm block, and the gradients they are to even out."""

from sympy import Integer, Symbol, sqrt

from varlaw.derivations.catalogue import law
from varlaw.derivations.residual import backward_stream, l, t
from varlaw.derivations.scaling import NOW, grown
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

b, n, H, L = dimensions("b n H L")
i, j, head = indices("i j h")
kappa, q, r, s, s2 = positive("kappa q r s s2")
layer = Symbol("k", integer=True, nonnegative=True)


@law(
    name="normformer-stream",
    family="scaling",
    title="NormFormer: attention adds 1 to the stream, the feed-forward branch n s, at any inputs",
    regime="exact recursion: Norms divide by the population root second moment; gains 1",
    sources=("shleifer2021",),
    rests_on=("peri-norm",),
    usual=("h: zero mean", "h: independent entries", "w: Gaussian", "F independent of x"),
    symbols=(
        "F: the output of attention, of variance s2 before its Norm",
        "h: the outputs of the n hidden units, of second moment q before their Norm",
        "w: the weights of the last layer, of variance s",
        "s: the variance of the last layer's weights",
        "s2: the variance of attention's output before its Norm",
        "q: the second moment of the hidden units before their Norm",
        "y: the output of the feed-forward branch",
        "v_t: the variance of the stream after t blocks",
    ),
    note="Neither the weights of attention nor those of the first layer count.",
    pitfalls=(
        (
            "extra Norms keep the stream small",
            "they take the small weights' effect away: each block adds 1 + n s",
            "width 768, std 0.02: 2.2288 a block, where GPT-2's unscaled branches add 0.2252",
        ),
    ),
)
def normformer_stream() -> Derivation:
    x = random_variable("x", variance=NOW)
    f = random_variable("F", mean=0, variance=s2, uncorrelated_with=[x.array])
    h = random_array("h", second_moment=q, independent=False, depends_on=[x.array, f.array])
    w = random_array("w", mean=0, variance=s)
    y = named("y", Sum(h[j] / sqrt(q) * w[j, i], (j, 1, n)), i)
    chain = derive(Variance(x + f / sqrt(s2) + y)).by("moments unfold expand linearity constants")
    chain = chain.by("independence uncorrelated").by("kronecker", array="w")
    return grown(chain.by("collapse identical count"), L)


@law(
    name="normformer-heads",
    family="attention",
    title="Head gains of mean square kappa make attention's output kappa H b r s2",
    regime="at initialisation, exactly at finite width",
    sources=("shleifer2021",),
    usual=("a: zero mean", "a: independent entries", "c: independent entries", "w: Gaussian"),
    symbols=(
        "a: the outputs of H heads of width b, of second moment r",
        "c: the gains of the heads, of mean square kappa; all 1 at first",
        "w: the weights of the output projection, of variance s2",
    ),
    note="A Norm behind it divides by the root: only the ratios of the gains are left.",
    pitfalls=(
        (
            "with a Norm behind attention, doubling all head gains doubles the branch",
            "the Norm takes a common factor out, forward; only ratios of gains do anything",
            "one gain of 2 among 12: the other heads' shares fall by 1/sqrt(1.25) = 0.894",
        ),
    ),
)
def normformer_heads() -> Derivation:
    a = random_array("a", second_moment=r, independent=False)
    w = random_array("w", mean=0, variance=s2)
    c = random_array("c", second_moment=kappa, independent=False)
    y = named("y", Sum(c[head] * a[head, i] * w[head, i, j], (head, 1, H), (i, 1, b)), j)
    return (
        derive(Expectation(y**2))
        .by("unfold expand linearity independence")
        .by("kronecker", array="w")
        .by("collapse identical count")
    )


@law(
    name="pre-norm-mismatch",
    family="residual",
    title="Pre-Norm, unit branches: after k of L branches the squared gradient is (L + 1)/(k + 1)",
    regime="exact recursion, for a probe independent of the branch Jacobians; 0 <= k <= L",
    sources=("shleifer2021", "xiong2020"),
    rests_on=("pre-norm-growth",),
    symbols=(
        "v_t: E of the squared gradient at the stream after k branches where t more follow, v_0 at "
        "the output; each of them multiplies it by a factor of its own, in whatever order",
        "s: the variance of the stream where a branch leaves it, k + t + 1 for the last of t + 1",
    ),
    note="The weights of the branch met next have gradients in the same proportion.",
    pitfalls=(
        (
            "Pre-Norm gives all layers gradients of one size",
            "those of early layers are larger: the stream is small where they branch off",
            "24 branches: the first has 12.5 times the squared gradient of the last",
        ),
        (
            "a Norm behind each branch evens the gradients out at initialisation",
            "it makes branches unit ones, which is what this law is about; small branches differ "
            "less, and it is the trained gains that even them out",
            "24 branches of variance and gain 0.1: 3.4/1.1 = 3.09 times, not 12.5",
        ),
    ),
)
def pre_norm_mismatch() -> Derivation:
    back = backward_stream(Integer(1), gain=1 / s)
    return (
        derive(Expectation(back**2))
        .by("unfold expand linearity independence kronecker collapse identical count")
        .by("call", name=Term("v", t + 1))
        .by("substitute", values={s: layer + t + 1}, because="the stream of unit branches")
        .by("algebra", form="factor")
        .by("iterate", previous=Term("v", t), index=t, steps=l, initial=Term("v", 0))
        .by("telescope")
        .by("substitute", values={l: L - layer}, because="L branches in all")
    )
