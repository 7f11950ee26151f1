"""How weights are sampled: what truncation does to a normal law."""

from sympy import Expr, Integer, Rational

from varlaw.derivations.catalogue import law
from varlaw.symbolic.declarations import positive, random_variable
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import named
from varlaw.symbolic.terms import Expectation, indicator

c, s = positive("c s")


def kept(bound: Expr) -> tuple[Expr, Expr]:
    """z, standard normal, and the event that it lies within the bound."""
    z = random_variable("z", mean=0, variance=1, gaussian=True)
    return z, indicator(z - bound, "<") * indicator(z + bound, ">")


@law(
    name="truncated-normal",
    family="sampling",
    title="The variance of a standard normal variable that is redrawn until it lies within +-c",
    regime="exact",
    sources=("johnson1994",),
    symbols=("c: the bound, in standard deviations before truncation",),
)
def truncated_normal() -> Derivation:
    z, inside = kept(c)
    return derive(Expectation(z**2 * inside) / Expectation(inside)).by("stein normal")


@law(
    name="truncated-normal-factor",
    family="sampling",
    title="Truncation at two standard deviations leaves 0.77374 of the variance",
    regime="exact",
    sources=("johnson1994",),
    rests_on=("truncated-normal",),
)
def truncated_normal_factor() -> Derivation:
    z, inside = kept(Integer(2))
    chain = derive(Expectation(z**2 * inside) / Expectation(inside)).by("stein normal")
    return chain.by("digits", places=30)


@law(
    name="truncated-normal-correction",
    family="sampling",
    title="To have standard deviation s after truncation at two, sample with 1.13685 s",
    regime="exact",
    sources=("johnson1994",),
    rests_on=("truncated-normal-factor",),
    symbols=("s: the standard deviation to sample with, for a standard deviation of 1 after",),
)
def truncated_normal_correction() -> Derivation:
    factor = named("gamma", truncated_normal.derivation.end.subs(c, 2))
    return (
        derive(s**2 * factor)
        .by("require", equals=Integer(1), because="the variance after truncation is 1")
        .by("solve", unknown=s)
        .by("digits", places=30)
    )


@law(
    name="truncated-normal-bert",
    family="sampling",
    title="A standard deviation of 0.02 truncated at two of them is really 0.01759",
    regime="exact; bounds relative to the standard deviation, not absolute ones",
    sources=("devlin2019",),
    rests_on=("truncated-normal-factor",),
)
def truncated_normal_bert() -> Derivation:
    factor = named("gamma", truncated_normal.derivation.end.subs(c, 2))
    return derive(Rational(1, 50) * factor ** Rational(1, 2)).by("digits", places=15)
