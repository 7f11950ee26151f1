"""Truncated normal laws: what is left of the variance when values out of bounds are redrawn."""

from sympy import Expr, Integer, Rational

from varlaw.derivations.catalogue import law
from varlaw.symbolic.declarations import positive, random_variable
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import named
from varlaw.symbolic.terms import Expectation, indicator

a, c, s, left, right = positive("a c s l r")
ONE = Integer(1)


def kept(upper: Expr, lower: Expr | None = None, variance: Expr = ONE) -> tuple[Expr, Expr]:
    """z ~ N(0, variance), and the event that -lower < z < upper (by default -upper < z < upper)."""
    z = random_variable("z", mean=0, variance=variance, gaussian=True)
    return z, indicator(z - upper, "<") * indicator(z + (lower or upper), ">")


@law(
    name="truncated-normal",
    family="truncation",
    title="The variance of a standard normal variable that is redrawn until it lies within +-c",
    regime="exact",
    sources=("johnson1994",),
    symbols=("c: the bound, in standard deviations before truncation",),
)
def truncated_normal() -> Derivation:
    z, inside = kept(c)
    return derive(Expectation(z**2 * inside) / Expectation(inside)).by("stein normal").by("algebra")


@law(
    name="truncated-normal-mean",
    family="truncation",
    title="A standard normal variable truncated to -l < z < r has a mean where l and r differ",
    regime="exact",
    sources=("johnson1994",),
    symbols=("l: how far the values reach to the left", "r: how far they reach to the right"),
    pitfalls=(
        (
            "truncation leaves the mean alone",
            "only bounds at equal distances do",
            "0.2296 between -1 and 2",
        ),
    ),
)
def truncated_normal_mean() -> Derivation:
    z, inside = kept(right, left)
    return (
        derive(Expectation(z * inside) / Expectation(inside))
        .by("stein normal")
        .by("algebra", form="common")
    )


@law(
    name="truncated-normal-bounds",
    family="truncation",
    title="The variance of a standard normal variable truncated to -l < z < r",
    regime="exact",
    sources=("johnson1994",),
    rests_on=("truncated-normal-mean",),
    symbols=(
        "l: how far the values reach to the left",
        "r: how far they reach to the right",
        "b: the mean after truncation",
    ),
)
def truncated_normal_bounds() -> Derivation:
    z, inside = kept(right, left)
    mean = named("b", truncated_normal_mean.derivation.end)
    return (
        derive(Expectation(z**2 * inside) / Expectation(inside) - mean**2)
        .by("stein normal earlier")
        .by("algebra", form="common")
    )


@law(
    name="truncated-normal-absolute",
    family="truncation",
    title="A normal variable of std s truncated at absolute bounds +-a: what counts is a/s",
    regime="exact",
    sources=("johnson1994",),
    symbols=("s: the standard deviation before truncation", "a: the bound, in absolute units"),
    pitfalls=(
        (
            "truncated normal initialisers cut at two standard deviations",
            "TensorFlow and Flax do; the bounds of PyTorch's trunc_normal_ are absolute numbers",
            "cut at 100 standard deviations for std 0.02 and bounds +-2",
        ),
    ),
)
def truncated_normal_absolute() -> Derivation:
    z, inside = kept(a, variance=s**2)
    return derive(Expectation(z**2 * inside) / Expectation(inside)).by("stein normal").by("algebra")


@law(
    name="truncated-normal-pytorch",
    family="truncation",
    title="The share of variance that truncation loses: none at the bounds +-2 of trunc_normal_",
    regime="exact; PyTorch's default bounds are absolute: c = 2/0.02 = 100 for std 0.02",
    sources=("paszke2019",),
    rests_on=("truncated-normal",),
    symbols=("z: the weight in units of its std", "c: the bound over the std"),
    pitfalls=(
        (
            "trunc_normal_(std=0.02) gives 0.01759, as in BERT",
            "its bounds -2 and 2 are not multiples of the std: nothing is cut, and 0.02 stays 0.02",
            "a share of 2.7e-2170 is lost at c = 100",
        ),
        (
            "trunc_normal_ keeps its std",
            "it does where the bounds are far away; at std 1 they lie at two standard deviations",
            "0.87963 at std 1",
        ),
    ),
)
def truncated_normal_pytorch() -> Derivation:
    z, inside = kept(c)
    lost = Expectation((1 - z**2) * inside) / Expectation(inside)
    return derive(lost).by("parts stein normal")


@law(
    name="truncated-normal-factor",
    family="truncation",
    title="Truncation at two standard deviations leaves 0.77374 of the variance",
    regime="exact",
    sources=("johnson1994",),
    rests_on=("truncated-normal",),
    pitfalls=(
        (
            "0.87962566103423978 is the variance that is left",
            "that number of the libraries is the standard deviation; the variance is its square",
            "0.77374",
        ),
    ),
)
def truncated_normal_factor() -> Derivation:
    z, inside = kept(Integer(2))
    chain = derive(Expectation(z**2 * inside) / Expectation(inside)).by("stein normal")
    return chain.by("digits", places=30)


@law(
    name="truncated-normal-correction",
    family="truncation",
    title="To have standard deviation s after truncation at two, sample with 1.13685 s",
    regime="exact",
    sources=("johnson1994",),
    rests_on=("truncated-normal-factor",),
    symbols=("s: the standard deviation to sample with, for a standard deviation of 1 after",),
    pitfalls=(
        (
            "multiplying the variance by 1.3 undoes the truncation",
            "1.3 is right to two digits only",
            "the variance becomes 1.00586; the factor is 1.29242",
        ),
    ),
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
    family="truncation",
    title="A standard deviation of 0.02 truncated at two of them is really 0.01759",
    regime="exact; bounds relative to the standard deviation, not absolute ones",
    sources=("devlin2019",),
    rests_on=("truncated-normal-factor",),
    pitfalls=(
        (
            "BERT draws its weights from N(0, 0.02^2)",
            "the original is truncated at two standard deviations; PyTorch ports are not",
            "std 0.0175925, 12 % less; variance 23 % less",
        ),
        (
            "BERT's std is half of Xavier's",
            "for its square matrices; beside Xavier's for 768 x 3072 it is three quarters",
            "0.4875 of 1/sqrt(768) = 0.03608; 0.7709 of sqrt(2/3840) = 0.02282",
        ),
    ),
)
def truncated_normal_bert() -> Derivation:
    factor = named("gamma", truncated_normal.derivation.end.subs(c, 2))
    return derive(Rational(1, 50) * factor ** Rational(1, 2)).by("digits", places=15)
