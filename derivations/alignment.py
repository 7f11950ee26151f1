"""Laws of attention logits where queries and keys correlate, as training makes them do."""

from sympy import Expr, Integer, sqrt

from varlaw.derivations.catalogue import law
from varlaw.symbolic.declarations import dimensions, indices, positive, random_array
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import Named, named
from varlaw.symbolic.terms import Expectation, Sum, Variance

d = dimensions("d")
i = indices("i")
rho = positive("rho")
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
