"""Orthogonal initialisation: what it keeps, on which side, and how it differs from iid weights."""

from varlaw.derivations.catalogue import law
from varlaw.derivations.forward import i, j, m, pre_activation, q, s2
from varlaw.symbolic.activations import relu
from varlaw.symbolic.arrays import RandomArray
from varlaw.symbolic.assumptions import Kind
from varlaw.symbolic.declarations import (
    dimensions,
    indices,
    positive,
    random_array,
)
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import named
from varlaw.symbolic.terms import Expectation, Sum, Variance

n, p = dimensions("n p")
k = indices("k")
g = positive("g")


def weights(symmetric: bool = False) -> RandomArray:
    """Weights whose entries may depend on one another in any way."""
    return random_array("w", second_moment="s2", independent=False, symmetric=symmetric)


@law(
    name="iid-gram",
    family="orthogonal",
    title="Independent weights of variance 1/m are orthogonal on average: E[W^T W] = I",
    regime="at initialisation, exactly at finite width; an average over draws of W",
    sources=("saxe2014",),
    usual=("w: Gaussian",),
    symbols=("G: the Gram matrix W^T W",),
    pitfalls=(
        (
            "so a wide random matrix is nearly orthogonal",
            "entry by entry, but not as a map: its singular values spread from 0 to 2 if square "
            "(iid-edge)",
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
            "E[W^T W] = I makes W an isometry",
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
    name="orthogonal-isometry",
    family="orthogonal",
    title="Orthonormal rows keep the length of every input: E[|x W|^4] = E[|x|^4]",
    regime="exact in every draw, for n at least m; the expectation is over inputs alone",
    sources=("saxe2014",),
    usual=("x: zero mean", "x: Gaussian", "w: independent entries"),
    symbols=("w: the weights, with orthonormal rows: W W^T = I",),
    pitfalls=(
        (
            "weights of variance 1/n keep the length as well",
            "on average; with independent normal weights |x W|^2 has a spread of its own",
            "E[|x W|^4] = (1 + 2/n) |x|^4 for independent normal weights",
        ),
        (
            "W^T W = I keeps lengths",
            "for x W it is W W^T that has to be I; for n < m a share n/m of |x|^2 is kept",
            "1/4 for 20 -> 5",
        ),
    ),
)
def orthogonal_isometry() -> Derivation:
    x = random_array("x", second_moment="q")
    w = random_array("w", independent=False, identical=False).with_property(Kind.ORTHONORMAL)
    length = Sum(Sum(x[i] * w[i, j], (i, 1, m)) ** 2, (j, 1, n))
    return (
        derive(Expectation(length**2))
        .by("expand orthonormal linearity constants collapse coincidence")
        .by("independence identical count")
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
        "g: the gain, which all singular values are",
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
        "g: the gain",
        "q: the second moment of the probe",
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
    symbols=(
        "g: the gain",
        "h_j: the output of the layer, behind its ReLU",
        "z: the pre-activation",
    ),
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
    name="muon-update",
    family="optimiser",
    title="An orthogonalised update has entries of rms u if scaled by u sqrt(max(m, n))",
    regime="exact; a gradient of full rank, of which all singular values are made g",
    sources=("liu2025",),
    rests_on=("orthogonal-variance",),
    symbols=(
        "p: the larger of the fans m and n",
        "w: the entries of the update",
        "g: its factor, what all of its singular values are",
    ),
    note="With u = 0.2, about the rms of Adam's updates, in the source.",
    pitfalls=(
        (
            "an orthogonal update moves weights as much in every layer",
            "its entries shrink by one over the root of the larger side",
            "rms 0.0156 for 4096 x 1024; scaled by 0.2 sqrt(4096) = 12.8 it is 0.2",
        ),
    ),
)
def muon_update() -> Derivation:
    size = positive("u")
    return orthogonal_variance.derivation.by(
        "require", equals=size**2, because="entries of rms u"
    ).by("solve", unknown=g)
