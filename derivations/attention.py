"""Laws of attention logits: moments of q.k, and what scales them."""

from sympy import Expr, Integer

from varlaw.derivations.catalogue import law
from varlaw.symbolic.declarations import dimensions, indices, positive, random_array
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import Named, named
from varlaw.symbolic.terms import Expectation, Sum, Variance

d, m = dimensions("d m")
i, j = indices("i j")
c, f, g, s2 = positive("c f g s2")

ONE = Integer(1)
MOMENT = "unfold expand linearity independence coincidence independence identical count"


def logit(gaussian: bool = False) -> Named:
    """q.k of two vectors with iid entries of mean 0 and variance 1."""
    q, k = (random_array(name, mean=0, variance=1, gaussian=gaussian) for name in "qk")
    return named("a", Sum(q[i] * k[i], (i, 1, d)))


@law(
    name="attention-qk",
    family="attention",
    title="The variance of q.k is d",
    regime="at initialisation, exactly at finite width",
    sources=("vaswani2017",),
    usual=("q: independent entries", "q: Gaussian", "k: Gaussian"),
)
def attention_qk() -> Derivation:
    q = random_array("q", mean=0, variance=1, independent=False)
    k = random_array("k", mean=0, variance=1)
    a = named("a", Sum(q[i] * k[i], (i, 1, d)))
    return (
        derive(Variance(a))
        .by("moments unfold expand linearity independence")
        .by("kronecker", array="k")
        .by("collapse identical count")
    )


@law(
    name="attention-qk-fourth",
    family="attention",
    title="The fourth moment of q.k is 3 d (d - 1) + d E[q^4] E[k^4]",
    regime="at initialisation, exactly at finite width",
    sources=("vaswani2017",),
    usual=("q: Gaussian", "k: Gaussian"),
    note="The source is background: it states the variance only.",
)
def attention_qk_fourth() -> Derivation:
    return derive(Expectation(logit() ** 4)).by(MOMENT)


@law(
    name="attention-qk-sixth",
    family="attention",
    title="The sixth moment of q.k, exact in d",
    regime="at initialisation, exactly at finite width",
    sources=("vaswani2017",),
    note="The source is background: it states the variance only.",
)
def attention_qk_sixth() -> Derivation:
    return derive(Expectation(logit() ** 6)).by(MOMENT)


@law(
    name="attention-qk-eighth",
    family="attention",
    title="The eighth moment of q.k, exact in d",
    regime="at initialisation, exactly at finite width",
    sources=("vaswani2017",),
    note="The source is background: it states the variance only.",
)
def attention_qk_eighth() -> Derivation:
    return derive(Expectation(logit() ** 8)).by(MOMENT)


@law(
    name="attention-qk-kurtosis",
    family="attention",
    title="Gaussian q and k: the kurtosis of q.k is 3 + 6/d",
    regime="at initialisation, exactly at finite width, Gaussian entries",
    sources=("vaswani2017",),
    rests_on=("attention-qk",),
    note="The source is background: it states the variance only.",
)
def attention_qk_kurtosis() -> Derivation:
    spread = named("v", attention_qk.derivation.end)
    a = logit(gaussian=True)
    return (
        derive(Expectation(a**4) / spread**2)
        .by("earlier", name="v")
        .by("unfold expand linearity independence coincidence independence identical count")
        .by("algebra", form="expand")
    )


@law(
    name="attention-scaled",
    family="attention",
    title="Logits times 1/sqrt(d) have variance 1",
    regime="at initialisation, exactly at finite width",
    sources=("vaswani2017",),
    rests_on=("attention-qk",),
    usual=("q: independent entries", "q: Gaussian", "k: Gaussian"),
    pitfalls=(
        (
            "logits lie between -3 sqrt(d) and 3 sqrt(d) before they are scaled",
            "that is three standard deviations of one logit, not of the largest of n keys",
            "with 512 keys the largest is 3.04 sqrt(d) on average (softmax-largest-512)",
        ),
        (
            "in any model the scaled logits have variance 1",
            "only if queries and keys have variance 1, which weights of 0.02 do not give",
            "BERT: Var q = Var k = 0.2377: the scaled logit has variance 0.0565 (attention-bert)",
        ),
    ),
)
def attention_scaled() -> Derivation:
    q = random_array("q", mean=0, variance=1, independent=False)
    k = random_array("k", mean=0, variance=1)
    return (
        derive(Variance(named("a", c * Sum(q[i] * k[i], (i, 1, d)))))
        .by("moments unfold expand linearity constants independence")
        .by("kronecker", array="k")
        .by("collapse identical count")
        .by("require", equals=ONE, because="the variance of the scaled logit is 1")
        .by("solve", unknown=c)
    )


def projection() -> Derivation:
    """The variance m s2 of one entry of a query or key, projected from m inputs."""
    x = random_array("x", second_moment=1, independent=False)
    w = random_array("w", mean=0, second_moment=s2)
    q = named("q", Sum(x[j] * w[j, i], (j, 1, m)), i)
    return (
        derive(Variance(q))
        .by("moments unfold expand linearity independence")
        .by("kronecker", array="w")
        .by("collapse identical count")
    )


def with_weights(query: Expr, key: Expr, scale: Expr = ONE) -> Derivation:
    """The variance of `scale` q.k between two tokens, at the variances of the weights."""
    variances = (
        named(f"v_{n}", projection().end.subs(s2, s))
        for n, s in zip("qk", (query, key), strict=True)
    )
    v, u = variances
    q = random_array("q", mean=0, variance=v, independent=False)
    k = random_array("k", mean=0, variance=u)
    return (
        derive(Variance(named("a", scale * Sum(q[i] * k[i], (i, 1, d)))))
        .by("moments unfold expand linearity")
        .by_if("constants")
        .by("independence")
        .by("kronecker", array="k")
        .by("collapse identical count")
        .by("earlier")
    )


@law(
    name="attention-projection",
    family="attention",
    title="Inputs of second moment 1 give queries and keys the variance m s2",
    regime="at initialisation, exactly at finite width",
    sources=("vaswani2017",),
    usual=("x: zero mean", "x: independent entries", "w: Gaussian"),
)
def attention_projection() -> Derivation:
    return projection()


@law(
    name="attention-both-scaled",
    family="attention",
    title="Both projections' variances divided by sqrt(d) do what 1/sqrt(d) does",
    regime="at initialisation, exactly at finite width; training differs",
    sources=("vaswani2017", "su2021"),
    rests_on=("attention-projection",),
    pitfalls=(
        (
            "divide the initialisation of both projections by sqrt(d)",
            "their variances, not their standard deviations",
            "standard deviations divided by sqrt(d) leave the variance 1/d",
        ),
    ),
)
def attention_both_scaled() -> Derivation:
    chain = with_weights(1 / (m * f), 1 / (m * f))
    because = "the variance of the logit is 1 at weights of variance 1/(m f)"
    return chain.by("require", equals=ONE, because=because).by("solve", unknown=f)


@law(
    name="attention-t5",
    family="attention",
    title="T5: the query's variance divided by d, the key's untouched: logits of variance 1",
    regime="at initialisation, exactly at finite width; training differs",
    sources=("raffel2020",),
    rests_on=("attention-projection",),
    pitfalls=(
        (
            "T5 divides the variances of both projections by sqrt(d)",
            "it divides the query's by d and leaves the key's alone; the logits' variance is 1 too",
            "std (512 * 64)^(-1/2) and 512^(-1/2): variance 1",
        ),
        (
            "scaling the logits by 1/sqrt(d) on top does no harm",
            "it scales twice",
            "variance 1/64, standard deviation 0.125 at d = 64",
        ),
        (
            "T5's initialisation is equivalent to scaled attention",
            "only at initialisation: the query's weights learn at another relative rate",
            "E[a^2] = 1 for both at step 0",
        ),
    ),
)
def attention_t5() -> Derivation:
    return with_weights(1 / (m * d), 1 / m)


@law(
    name="attention-fused-xavier",
    family="attention",
    title="Xavier on the fused (3m, m) projection quarters the variance of scaled logits",
    regime="at initialisation, exactly at finite width",
    sources=("glorot2010", "vaswani2017"),
    rests_on=("attention-projection",),
    pitfalls=(
        (
            "fusing the three projections into one matrix changes their variance by a factor 2",
            "the weights by 2, and the values; the logits, made of two of them, by 4",
            "m = 512: bounds 0.05413 and 0.07655, logit variances 1/4 and 1",
        ),
    ),
)
def attention_fused_xavier() -> Derivation:
    fused = 2 / (m + 3 * m)
    scale = attention_scaled.derivation.end
    return with_weights(fused, fused, c).by(
        "substitute", values={c: scale}, because="with c as in attention-scaled"
    )


@law(
    name="attention-qk-norm",
    family="attention",
    title="QK-norm: unit vectors times a gain g give logits of second moment g^2/d",
    regime="at initialisation, exactly at finite width; |logit| <= g always (Cauchy-Schwarz)",
    sources=("henry2020",),
    symbols=(
        "t: the signs of the query's entries",
        "r: the sizes of the entries of the normalised query, of mean square 1/d",
        "k: the normalised key, of mean square 1/d",
        "g: the gain",
    ),
    usual=("k: zero mean", "r: independent entries"),
    note="A unit vector whose law no change of the signs of its entries alters.",
    pitfalls=(
        (
            "with normalised queries and keys the logits start with variance 1",
            "g^2/d: behind a LayerNorm and over sqrt(d), g is sqrt(d) and it is 1; the source's "
            "g = log_2(L^2 - L) for L tokens is larger, unit vectors without a gain far smaller",
            "d = 64: 1 at g = 8, 5.06 at g = 18.0 for L = 512, 1/64 at g = 1",
        ),
    ),
)
def attention_qk_norm() -> Derivation:
    t = random_array("t", mean=0, second_moment=1)
    r, k = (random_array(name, second_moment=1 / d, independent=False) for name in "rk")
    return (
        derive(Expectation(named("a", g * Sum(t[i] * r[i] * k[i], (i, 1, d))) ** 2))
        .by("unfold expand linearity constants independence")
        .by("kronecker", array="t")
        .by("collapse identical count")
    )
