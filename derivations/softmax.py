"""Laws of attention weights: their spread, what they do to values, the gradient through them."""

from sympy import Expr, Integer, erf, exp, log, sqrt

from varlaw.derivations.catalogue import law
from varlaw.symbolic.arrays import RandomArray
from varlaw.symbolic.declarations import (
    dimensions,
    indices,
    positive,
    random_array,
    random_variable,
)
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import Named, named
from varlaw.symbolic.terms import Delta, Expectation, Sum

n, t = dimensions("n t")
i, j = indices("i j")
c, rho, s = positive("c rho s")


@law(
    name="attention-output",
    family="softmax",
    title="Uncorrelated values of variance 1: the output's variance is E[Sum p_i^2] = n E[p^2]",
    regime="at initialisation, exactly; values independent of the weights",
    sources=("vaswani2017",),
    usual=("p: independent entries", "v: Gaussian"),
    pitfalls=(
        (
            "attention passes on the variance of its values",
            "an average of uncorrelated values shrinks it by the sum of the squared weights",
            "uniform attention over 128 tokens keeps 1/128",
        ),
    ),
)
def attention_output() -> Derivation:
    p = random_array("p", independent=False)
    v = random_array("v", mean=0, variance=1)
    return (
        derive(Expectation(named("o", Sum(p[i] * v[i], (i, 1, n))) ** 2))
        .by("unfold expand linearity independence")
        .by("kronecker", array="v")
        .by("collapse identical count")
    )


@law(
    name="attention-output-correlated",
    family="softmax",
    title="Values of correlation rho: the output's variance is rho + (1 - rho) E[Sum p_i^2]",
    regime="at initialisation, exactly; values independent of the weights; 0 < rho < 1",
    sources=("noci2022",),
    symbols=(
        "p: the weights",
        "c: what all values have in common",
        "u: what each value has alone: v_i = sqrt(rho) c + sqrt(1 - rho) u_i",
    ),
    usual=("p: independent entries", "u: Gaussian", "c: Gaussian"),
    pitfalls=(
        (
            "averaging over n tokens divides the variance by n",
            "only the part in which tokens differ; what they share passes",
            "rho = 1/2, n = 128: 0.504, not 0.0078",
        ),
    ),
)
def attention_output_correlated() -> Derivation:
    p = random_array("p", independent=False)
    u = random_array("u", mean=0, variance=1)
    shared = random_variable("c", mean=0, variance=1)
    value = sqrt(rho) * shared + sqrt(1 - rho) * u[i]
    output = named("o", Sum(p[i] * value, (i, 1, n)))
    return (
        derive(Expectation(output**2))
        .by("unfold out-of-sums")
        .by("sums-to-one", of=Sum(p[i], (i, 1, n)))
        .by("expand linearity constants independence")
        .by("kronecker", array="u")
        .by("collapse identical count")
    )


@law(
    name="attention-causal",
    family="softmax",
    title="Uniform causal attention: position t keeps rho + (1 - rho)/t of the variance",
    regime="at initialisation in the limit of equal logits, exactly; 0 < rho < 1",
    sources=("noci2022",),
    symbols=(
        "t: the position; it attends to the t tokens up to itself",
        "c: what all values have in common",
        "u: what each value has alone: v_i = sqrt(rho) c + sqrt(1 - rho) u_i",
    ),
    usual=("u: Gaussian", "c: Gaussian"),
    pitfalls=(
        (
            "the attention branch has one variance",
            "under a causal mask it falls along the sequence; the first token keeps all of it",
            "uncorrelated values: 1 at t = 1, 1/512 at t = 512",
        ),
    ),
)
def attention_causal() -> Derivation:
    u = random_array("u", mean=0, variance=1)
    shared = random_variable("c", mean=0, variance=1)
    value = sqrt(rho) * shared + sqrt(1 - rho) * u[i]
    output = named("o", Sum(value / t, (i, 1, t)))
    return (
        derive(Expectation(output**2))
        .by("unfold expand linearity constants independence")
        .by("kronecker", array="u")
        .by("collapse identical count")
    )


@law(
    name="softmax-jacobian",
    family="softmax",
    title="The squared norm of softmax's Jacobian: E[Sum p^2 - 2 Sum p^3 + (Sum p^2)^2]",
    regime="exactly, at any weights",
    sources=("noci2022",),
    usual=("p: independent entries",),
    pitfalls=(
        (
            "without the scaling, softmax saturates and its gradient vanishes",
            "at d = 64 the unscaled Jacobian is the larger one: most rows have two or three"
            " competing keys; it vanishes only as d grows without bound",
            "n = 128: E|J|^2 is 0.077 unscaled, 0.0188 scaled, 0.0078 at equal logits",
        ),
    ),
)
def softmax_jacobian() -> Derivation:
    p = random_array("p", independent=False)
    entry = named("J", Delta(i, j) * p[i] - p[i] * p[j], i, j)
    return derive(Expectation(Sum(entry**2, (i, 1, n), (j, 1, n)))).by(
        "unfold expand linearity constants collapse identical count"
    )


@law(
    name="softmax-jacobian-uniform",
    family="softmax",
    title="At equal logits the squared norm of softmax's Jacobian is (n - 1)/n^2",
    regime="exactly, at equal logits",
    sources=("noci2022",),
    rests_on=("softmax-jacobian",),
)
def softmax_jacobian_uniform() -> Derivation:
    entry = named("J", Delta(i, j) / n - 1 / n**2, i, j)
    return (
        derive(Sum(entry**2, (i, 1, n), (j, 1, n)))
        .by("unfold algebra constants collapse count")
        .by("algebra", form="factor")
    )


@law(
    name="softmax-gradient",
    family="softmax",
    title="Gradients of variance 1 at the weights have the squared norm E|J|^2 at the logits",
    regime="at initialisation, exactly; gradients at the weights independent of them",
    sources=("noci2022",),
    rests_on=("softmax-jacobian",),
    usual=("p: independent entries", "g: Gaussian"),
    pitfalls=(
        (
            "without the factor 1/sqrt(d) the gradient at the queries vanishes",
            "at usual widths it is far larger, about d E|J|^2 per query; it vanishes only as "
            "d grows without bound",
            "d = 64, n = 128: 4.83 unscaled, 0.0187 scaled",
        ),
    ),
)
def softmax_gradient() -> Derivation:
    p = random_array("p", independent=False)
    g = random_array("g", mean=0, variance=1)
    pulled = named("b", p[i] * g[i] - p[i] * Sum(p[j] * g[j], (j, 1, n)), i)
    return (
        derive(Expectation(Sum(pulled**2, (i, 1, n))))
        .by("unfold expand linearity independence")
        .by("kronecker", array="g")
        .by("collapse identical count")
    )


# Gaussian logits: n keys, standard deviation s


def logits() -> tuple[RandomArray, Named]:
    """iid logits a ~ N(0, s^2), and the weights that softmax makes of them."""
    a = random_array("a", mean=0, variance=s**2, gaussian=True)
    partition = named("Z", Sum(exp(a[j]), (j, 1, n)))
    return a, named("p", exp(a[i]) / partition, i)


@law(
    name="softmax-participation",
    family="softmax",
    title="n Sum p_i^2 tends to e^(s^2) for logits N(0, s^2)",
    regime="in probability as n grows at fixed s, to O(1/sqrt(n)), its mean to O(1/n); useful for "
    "s^2 << (log n)/2",
    sources=("noci2022",),
    symbols=("Z: the sum of the exponentials", "A, B: their means", "s: the std of the logits"),
    pitfalls=(
        (
            "the sum of squares is e^(s^2)/n",
            "only while that is far below 1: the heavy tail of e^(2 a) is not sampled by n keys",
            "s = 8, n = 128: e^64/128 is 5e25, the true value is below 1",
        ),
    ),
)
def softmax_participation() -> Derivation:
    _, p = logits()
    return (
        derive(n * Sum(p**2, (i, 1, n)))
        .by("earlier", name="p")
        .by("out-of-sums")
        .by("averages", over=n, names="B A")
        .by("large-numbers", over=n)
        .by("complete-square")
    )


@law(
    name="softmax-entropy",
    family="softmax",
    title="The entropy of softmax of logits N(0, s^2) falls short of log n by s^2/2",
    regime="in probability as n grows at fixed s, to O(1/sqrt(n)), its mean to O(1/n); useful for "
    "s^2 well below log n",
    sources=("zhai2023",),
    symbols=("Z: the sum of the exponentials", "A, B: means over the keys"),
    pitfalls=(
        (
            "log n - s^2/2 is the entropy at any scale of the logits",
            "it turns negative at s^2 = 2 log n; the entropy does not",
            "s = 8, n = 128: -27.1 by the formula",
        ),
    ),
)
def softmax_entropy() -> Derivation:
    _, p = logits()
    return (
        derive(log(n) + Sum(p * log(p), (i, 1, n)))
        .by("earlier", name="p")
        .by("logarithms out-of-sums")
        .by("averages", over=n, names="A B")
        .by("logarithms")
        .by("large-numbers", over=n)
        .by("complete-square parity")
    )


def largest(count: Expr, std: Expr) -> tuple[Expr, Expr, Expr]:
    """z ~ N(0, std^2), its distribution function, and the weight that makes z the largest."""
    z = random_variable("z", mean=0, variance=std**2, gaussian=True)
    below = (1 + erf(z / (sqrt(2) * std))) / 2
    return z, below, count * below ** (count - 1)


@law(
    name="softmax-largest",
    family="softmax",
    title="The largest of n logits N(0, s^2) is at most s sqrt(2 log n) on average",
    regime="exact for n independent logits, any n",
    sources=("boucheron2013",),
    symbols=(
        "M: the expected largest of n logits: one of them, n times, if the others lie below it",
        "c: any positive number",
        "z: a logit",
    ),
)
def softmax_largest() -> Derivation:
    z, below, weight = largest(n, s)
    return (
        derive(named("M", Expectation(weight * z)))
        .by("earlier")
        .by("jensen-weighted", rate=c, weight=weight, primitive=below**n)
        .by("at-most-one", of=below ** (n - 1))
        .by("constants complete-square logarithms")
        .by("best-rate", rate=c)
    )


@law(
    name="softmax-largest-512",
    family="softmax",
    title="The largest of 512 standard normal logits is 3.04 on average",
    regime="exact for independent logits",
    sources=("boucheron2013",),
    rests_on=("softmax-largest",),
    symbols=("M: the expected largest of 512 logits", "z: a logit"),
    pitfalls=(
        (
            "logits lie within three standard deviations",
            "one of them does in 99.7 % of all cases; some of 512 independent ones lies outside in "
            "75 % (logits-outside)",
            "3.04 on average at n = 512",
        ),
    ),
)
def softmax_largest_512() -> Derivation:
    z, _, weight = largest(Integer(512), Integer(1))
    return derive(named("M", Expectation(weight * z))).by("earlier").by("digits", places=10)
