"""Laws of attention logits where queries and keys correlate, as training makes them do."""

from sympy import Expr, Integer, sqrt

from varlaw.derivations.catalogue import law
from varlaw.symbolic.declarations import dimensions, indices, positive, random_array
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import Named, named
from varlaw.symbolic.terms import Expectation, Sum, Variance

b, d = dimensions("b d")
i = indices("i")
c, rho = positive("c rho")
ONE = Integer(1)
PAIRS = (
    "unfold unfold expand linearity constants independence coincidence independence identical count"
)


def correlated(scale: Expr = ONE, gaussian: bool = True) -> Named:
    """q.k for entries of correlation rho: k = rho q + u."""
    q = random_array("q", mean=0, variance=1, gaussian=gaussian)
    u = random_array("u", mean=0, variance=1 - rho**2, gaussian=gaussian)
    k = named("k", rho * q[i] + u[i], i)
    return named("a", Sum(q[i] * k, (i, 1, d)) / scale)


@law(
    name="attention-correlated-mean",
    family="attention",
    title="Queries and keys of correlation rho: the mean of q.k is rho d",
    regime="exactly at finite width; 0 < rho <= 1",
    sources=("yang2022",),
    usual=("q: Gaussian", "u: Gaussian"),
)
def attention_correlated_mean() -> Derivation:
    return derive(Expectation(correlated(gaussian=False))).by(
        "unfold unfold expand linearity constants independence identical count"
    )


@law(
    name="attention-correlated-second",
    family="attention",
    title="Queries and keys of correlation rho: E[(q.k)^2] = d (1 + rho^2) + rho^2 d^2",
    regime="jointly Gaussian entries, exactly at finite width; 0 < rho <= 1",
    sources=("yang2022",),
)
def attention_correlated_second() -> Derivation:
    return derive(Expectation(correlated() ** 2)).by(PAIRS).by("algebra", form="factor")


@law(
    name="attention-correlated",
    family="attention",
    title="Queries and keys of correlation rho: the variance of q.k is d (1 + rho^2)",
    regime="jointly Gaussian entries, exactly at finite width; 0 < rho <= 1",
    sources=("yang2022",),
)
def attention_correlated() -> Derivation:
    chain = derive(Variance(correlated())).by("moments").by(PAIRS)
    return chain.by("algebra", form="factor")


@law(
    name="attention-mup",
    family="attention",
    title="Scaled by 1/d, logits of correlated q and k keep the size rho^2 at any width",
    regime="jointly Gaussian entries, exactly at finite width; 0 < rho <= 1",
    sources=("yang2022",),
    rests_on=("attention-correlated-second",),
    pitfalls=(
        (
            "1/sqrt(d) is the right scale at any time",
            "it is for independent q and k; once training correlates them, 1/d is",
            "rho = 1/2, d = 64: E[a^2] = 17.25 with 1/sqrt(d), 0.2695 with 1/d",
        ),
    ),
)
def attention_mup() -> Derivation:
    return derive(Expectation(correlated(d) ** 2)).by(PAIRS).by("algebra")


@law(
    name="attention-mup-scale",
    family="attention",
    title="muP's attention scale is sqrt(b)/d: 8/d if heads of width b = 64 are to start as usual",
    regime="at initialisation, exactly at finite width; q and k uncorrelated and of variance 1",
    sources=("yang2022",),
    rests_on=("attention-mup",),
    usual=("q: independent entries", "q: Gaussian", "k: Gaussian"),
    symbols=("b: the width of a head of the base model", "c: the factor of q.k/d"),
    note="At the width b it is 1/sqrt(d) exactly; at another width the variance is b/d.",
    pitfalls=(
        (
            "muP scales logits by 1/d",
            "by a constant over d: with 1/d alone a small model would start with logits near 0",
            "d = 64: 8/64 = 1/sqrt(64) = 0.125; with 1/64 the variance is 1/64",
        ),
        (
            "8 is a tuned constant",
            "it is the root of the base model's head width",
            "sqrt(64) = 8; with heads of 128 it is 11.31",
        ),
    ),
)
def attention_mup_scale() -> Derivation:
    q = random_array("q", mean=0, variance=1, independent=False)
    k = random_array("k", mean=0, variance=1)
    return (
        derive(Variance(named("a", c * Sum(q[i] * k[i], (i, 1, b)) / b)))
        .by("moments unfold expand linearity constants independence")
        .by("kronecker", array="k")
        .by("collapse identical count")
        .by("require", equals=ONE, because="heads of the base width b start with variance 1")
        .by("solve", unknown=c)
    )


@law(
    name="attention-correlated-growth",
    family="attention",
    title="Scaled by 1/sqrt(d), logits of correlated q and k grow like rho sqrt(d)",
    regime="jointly Gaussian entries, asymptotic in the width d; 0 < rho <= 1",
    sources=("yang2022",),
    rests_on=("attention-correlated-second",),
)
def attention_correlated_growth() -> Derivation:
    second = named("v", attention_correlated_second.derivation.end)
    return derive(sqrt(second / d)).by("earlier").by("asymptotic", to=rho * sqrt(d), variable=d)
