"""Orthogonal initialisation: what it keeps, on which side, and how it differs from iid weights."""

from varlaw.derivations.catalogue import law
from varlaw.derivations.forward import i, j, m, pre_activation, q, s2
from varlaw.symbolic.activations import relu
from varlaw.symbolic.arrays import RandomArray
from varlaw.symbolic.declarations import (
    dimensions,
    indices,
    positive,
    random_array,
    random_variable,
)
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import named
from varlaw.symbolic.terms import Expectation, Sum, Variance

n, p = dimensions("n p")
k = indices("k")
g, f, R = positive("g f R")


def weights(symmetric: bool = False) -> RandomArray:
    """Weights whose entries may depend on one another in any way."""
    return random_array("w", second_moment="s2", independent=False, symmetric=symmetric)


@law(
    name="iid-gram",
    family="orthogonal",
    title="Independent weights of variance 1/m are orthogonal on average: E[W^T W] = 1",
    regime="at initialisation, exactly at finite width; an average over draws of W",
    sources=("saxe2014",),
    usual=("w: Gaussian",),
    symbols=("G: the Gram matrix W^T W",),
    pitfalls=(
        (
            "so a wide random matrix is nearly orthogonal",
            "entry by entry, but not as a map: its singular values spread from 0 to 2 if square",
            "largest singular value 2, not 1",
        ),
    ),
)
def iid_gram() -> Derivation:
    w = random_array("w", mean=0, second_moment="s2")
    gram = named("G", Sum(w[i, j] * w[i, k], (i, 1, m)), j, k)
    return (
        derive(Expectation(gram))
        .by("unfold linearity kronecker identical constants count")
        .by("substitute", values={s2: 1 / m}, because="weights of variance 1/m")
    )


@law(
    name="iid-gram-second",
    family="orthogonal",
    title="The squares of the singular values of independent weights spread: E[tr (W^T W)^2]/n",
    regime="at initialisation, exactly at finite width; tends to 1 + n/m where E[w^4] = O(1/m^2)",
    sources=("marchenko1967",),
    rests_on=("iid-gram",),
    usual=("w: Gaussian", "w: symmetric"),
    pitfalls=(
        (
            "E[W^T W] = 1 makes W an isometry",
            "the mean of the squared singular values is 1, the mean of their squares 1 + n/m",
            "2 and not 1 for square matrices",
        ),
    ),
)
def iid_gram_second() -> Derivation:
    w = random_array("w", mean=0, second_moment="s2")
    square = Sum(Sum(w[i, j] * w[i, k], (i, 1, m)) ** 2, (j, 1, n), (k, 1, n))
    return (
        derive(Expectation(square) / n)
        .by("expand linearity coincidence independence identical count")
        .by("algebra", form="expand")
        .by("substitute", values={s2: 1 / m}, because="weights of variance 1/m")
    )


@law(
    name="orthogonal-variance",
    family="orthogonal",
    title="Entries of a (semi-)orthogonal matrix of gain g have variance g^2/max(m, n)",
    regime="exact; entries of one law and mean 0, as under the Haar measure",
    sources=("saxe2014",),
    usual=("w: independent entries", "w: Gaussian"),
    symbols=(
        "p: the larger of the fans m and n",
        "w: the weights, in vectors of length g along the longer side",
    ),
    pitfalls=(
        (
            "the variance is g^2 over the fan-in",
            "over the larger of the two fans: the vectors along the longer side have length g",
            "1/20 for both 5 -> 20 and 20 -> 5",
        ),
    ),
)
def orthogonal_variance() -> Derivation:
    w = random_array("w", mean=0, second_moment="s2", independent=False)
    return (
        derive(Expectation(Sum(w[i, j] ** 2, (i, 1, p))))
        .by("linearity identical count")
        .by("require", equals=g**2, because="the vectors along the longer side have length g")
        .by("solve", unknown=s2)
        .by("call", name=Variance(w[i, j]))
    )


@law(
    name="orthogonal-forward",
    family="orthogonal",
    title="A semi-orthogonal layer passes g^2 m/max(m, n) of the second moment on",
    regime="at initialisation, exactly at finite width; isotropic inputs (or a Haar matrix)",
    sources=("saxe2014",),
    usual=("w: independent entries", "w: zero mean", "w: Gaussian"),
    rests_on=("orthogonal-variance",),
    symbols=("p: the larger of the fans m and n", "g: the gain", "y: the output of the layer"),
    pitfalls=(
        (
            "orthogonal matrices keep norms",
            "square ones do, and the narrowing side keeps E[y^2]; widening spreads |x|^2 out",
            "E[y^2] = q/4 for 5 -> 20, q for 20 -> 5",
        ),
    ),
)
def orthogonal_forward() -> Derivation:
    x = random_array("x", mean=0, second_moment="q")
    y = named("y", Sum(x[i] * weights()[i, j], (i, 1, m)), j)
    return (
        derive(Expectation(y**2))
        .by("unfold expand linearity independence")
        .by("kronecker", array="x")
        .by("collapse identical count")
        .by("substitute", values={s2: orthogonal_variance.derivation.end}, because="its variance")
    )


@law(
    name="orthogonal-backward",
    family="orthogonal",
    title="Backwards a semi-orthogonal layer passes g^2 n/max(m, n) of the second moment on",
    regime="at initialisation, exactly at finite width; isotropic probes (or a Haar matrix)",
    sources=("saxe2014",),
    usual=("w: independent entries", "w: zero mean", "w: Gaussian"),
    rests_on=("orthogonal-variance",),
    symbols=(
        "p: the larger of the fans m and n",
        "r: the probe, which stands for the gradient at the layer's output",
        "b: the gradient at the layer's input",
    ),
    pitfalls=(
        (
            "what is kept forwards is kept backwards",
            "only if square: widening keeps the gradient, narrowing keeps the signal",
            "1 for 5 -> 20, 1/4 for 20 -> 5",
        ),
    ),
)
def orthogonal_backward() -> Derivation:
    probe = random_array("r", mean=0, second_moment="q")
    b = named("b", Sum(probe[j] * weights()[i, j], (j, 1, n)), i)
    return (
        derive(Expectation(b**2))
        .by("unfold expand linearity independence")
        .by("kronecker", array="r")
        .by("collapse identical count")
        .by("substitute", values={s2: orthogonal_variance.derivation.end}, because="its variance")
    )


@law(
    name="orthogonal-relu",
    family="orthogonal",
    title="With ReLU an orthogonal layer that does not widen needs the gain sqrt(2)",
    regime="at initialisation, exactly at finite width; isotropic inputs, W and -W of one law",
    sources=("saxe2014", "he2015"),
    usual=("w: independent entries", "w: Gaussian"),
    rests_on=("orthogonal-variance",),
    symbols=("g: the gain", "h_j: the output ReLU(z_j) of the layer", "z: the pre-activation"),
    pitfalls=(
        (
            "with gain sqrt(2) a ReLU network keeps norms as a linear one does",
            "in the mean over draws only; the ratio |h|^2/|x|^2 of one draw is random",
            "mean 1, standard deviation 0.107 at width 256",
        ),
    ),
)
def orthogonal_relu() -> Derivation:
    x = random_array("x", mean=0, second_moment="q")
    h = relu(pre_activation(x, weights(symmetric=True)))
    return (
        derive(Expectation(h**2))
        .by("activation symmetry indicators unfold expand linearity independence")
        .by("kronecker", array="x")
        .by("collapse identical count")
        .by(
            "substitute",
            values={s2: orthogonal_variance.derivation.end.subs(p, m)},
            because="its variance, for m at least n",
        )
        .by("require", equals=q, because="the second moment of the input is kept: E[h_j^2] = q")
        .by("solve", unknown=g)
    )


@law(
    name="gaussian-length-fourth",
    family="orthogonal",
    title="The fourth moment of the length of n standard normal numbers is n (n + 2)",
    regime="exact",
    sources=("johnson1994",),
    symbols=("z: independent standard normal numbers",),
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
    family="orthogonal",
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
        .by("require", equals=z.array.moment(4), because="r u is a vector of standard normals")
        .by(
            "substitute",
            values={R: gaussian_length_fourth.derivation.end},
            because="the length of n standard normal numbers",
        )
        .by("solve", unknown=f)
    )


@law(
    name="haar-pair",
    family="orthogonal",
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
        .by("require", equals=z.array.moment(2) ** 2, because="r u_1 and r u_2 are standard normal")
        .by(
            "substitute",
            values={R: gaussian_length_fourth.derivation.end},
            because="the length of n standard normal numbers",
        )
        .by("solve", unknown=f)
    )


@law(
    name="haar-trace",
    family="orthogonal",
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
