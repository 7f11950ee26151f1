"""Laws of attention logits: moments of q.k."""

from varlaw.derivations.catalogue import law
from varlaw.symbolic.declarations import dimensions, indices, random_array
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import Named, named
from varlaw.symbolic.terms import Expectation, Sum, Variance

d = dimensions("d")
i = indices("i")

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
