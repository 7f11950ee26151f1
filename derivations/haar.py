"""Orthogonal matrices of Haar's law: the moments of their entries, and the signs of QR."""

from varlaw.derivations.catalogue import law
from varlaw.derivations.orthogonal import g, orthogonal_variance, p
from varlaw.symbolic.declarations import (
    dimensions,
    indices,
    positive,
    random_array,
    random_variable,
)
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import named
from varlaw.symbolic.terms import Expectation, Sum

n = dimensions("n")
i = indices("i")
f, R, s2 = positive("f R s2")


@law(
    name="gaussian-length-fourth",
    family="haar",
    title="The fourth moment of the length of n standard normal numbers is n (n + 2)",
    regime="exact",
    sources=("johnson1994",),
    symbols=("z: independent standard normal numbers", "n: how many they are"),
)
def gaussian_length_fourth() -> Derivation:
    z = random_array("z", mean=0, variance=1, gaussian=True)
    return (
        derive(Expectation(Sum(z[i] ** 2, (i, 1, n)) ** 2))
        .by("expand linearity coincidence independence identical count")
        .by("algebra", form="factor")
    )


@law(
    name="haar-fourth",
    family="haar",
    title="The fourth moment of an entry of a Haar orthogonal matrix is 3/(n (n + 2))",
    regime="exact; the Haar measure, under which a column points in a uniform direction",
    sources=("mezzadri2007",),
    rests_on=("gaussian-length-fourth",),
    symbols=(
        "u: a column of the matrix",
        "r: the length of n standard normal numbers, independent of their direction u",
        "R: its fourth moment E[r^4]",
        "f: the fourth moment E[u_i^4] of an entry",
    ),
    pitfalls=(
        (
            "an entry of variance 1/n is as good as normal",
            "its fourth moment is smaller, by n/(n + 2): entries are at most 1",
            "kurtosis 3 n/(n + 2): 2.4 at n = 8",
        ),
    ),
)
def haar_fourth() -> Derivation:
    r = random_variable("r", moments={4: R})
    u = random_array("u", moments={4: f}, independent=False)
    z = random_variable("z", mean=0, variance=1, gaussian=True)
    return (
        derive(Expectation(r**4 * u[i] ** 4))
        .by("independence identical")
        .by("require", equals=z.array.moment(4), because="the vector r u is standard normal")
        .by(
            "substitute",
            values={R: gaussian_length_fourth.derivation.end},
            because="the length of n standard normal numbers",
        )
        .by("solve", unknown=f)
    )


@law(
    name="haar-pair",
    family="haar",
    title="Entries of a Haar matrix are uncorrelated but not independent: E[u_1^2 u_2^2]",
    regime="exact; the Haar measure, two entries of one column",
    sources=("mezzadri2007",),
    rests_on=("gaussian-length-fourth", "haar-fourth"),
    symbols=(
        "c: the product of two entries u_1 u_2 of a column u of the matrix",
        "r: the length of n standard normal numbers, independent of their direction u",
        "R: its fourth moment E[r^4]",
        "f: the second moment E[u_1^2 u_2^2] of the product",
    ),
    pitfalls=(
        (
            "entries of variance 1/n may be treated as independent",
            "their squares are negatively correlated: where one is large the others are small",
            "1/(n (n + 2)) in place of 1/n^2: 0.8 of it at n = 8",
        ),
    ),
)
def haar_pair() -> Derivation:
    r, product = random_variable("r", moments={4: R}), random_array("c", second_moment=f)
    z = random_variable("z", mean=0, variance=1, gaussian=True)
    return (
        derive(Expectation(r**4 * product[i] ** 2))
        .by("independence identical")
        .by("require", equals=z.array.moment(2) ** 2, because="the vector r u is standard normal")
        .by(
            "substitute",
            values={R: gaussian_length_fourth.derivation.end},
            because="the length of n standard normal numbers",
        )
        .by("solve", unknown=f)
    )


@law(
    name="haar-trace",
    family="haar",
    title="Under the Haar measure E[(tr Q)^2] = 1: the signs of rows are free",
    regime="exact; any law of orthogonal matrices that changes of sign of rows leave alone",
    sources=("mezzadri2007",),
    rests_on=("orthogonal-variance",),
    usual=("u: independent entries", "u: zero mean"),
    symbols=(
        "Q: the matrix of the entries s_i u_(i j)",
        "s: independent signs of the rows",
        "u: the entries of an orthogonal matrix, for which all have one law",
    ),
    pitfalls=(
        (
            "the Q of a QR decomposition of normal numbers is Haar distributed",
            "the algorithm fixes the signs; only with those of R's diagonal multiplied in it is",
            "E[(tr Q)^2] = 3.09 raw, 1 with the signs, at n = 8",
        ),
    ),
)
def haar_trace() -> Derivation:
    sign = random_array("s", mean=0, second_moment=1)
    u = random_array("u", second_moment="s2", independent=False)
    trace = named("T", Sum(sign[i] * u[i, i], (i, 1, n)))
    return (
        derive(Expectation(trace**2))
        .by("unfold expand linearity independence")
        .by("kronecker", array="s")
        .by("collapse identical count")
        .by(
            "substitute",
            values={s2: orthogonal_variance.derivation.end.subs({p: n, g: 1})},
            because="rows of length 1",
        )
    )
