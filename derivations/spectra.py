"""The spectrum of square matrices of independent normal weights, and where it ends."""

from sympy import Symbol

from varlaw.derivations.catalogue import law
from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.declarations import dimensions, indices, positive, random_array
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.spectra import Norm, Trace
from varlaw.symbolic.terms import Expectation

n = dimensions("n")
i, j = indices("i j")
s2 = positive("s2")
k = Symbol("k", integer=True, nonnegative=True)


def weight(variance: object) -> Entry:
    return random_array("w", mean=0, variance=variance, gaussian=True)[i, j]


@law(
    name="iid-gram-moments",
    family="orthogonal",
    title="Square matrices of normal weights: the mean powers of singular values squared",
    regime="at initialisation, n to infinity at fixed k; normal weights of variance 1/n; the error "
    "is O(1/n)",
    sources=("marchenko1967", "anderson2010"),
    symbols=(
        "tau_k: tr (w^T w)^k/n, the mean k-th power of the squared singular values",
        "c_k: the limit of E[tau_k]",
        "w: the square matrix of the weights",
        "n: its size",
    ),
    pitfalls=(
        (
            "on average a random square matrix is orthogonal, so its singular values are near 1",
            "the powers of the squared singular values have the Catalan numbers as their means",
            "1, 2, 5, 14 for k = 1, 2, 3, 4; all of them 1 for an orthogonal matrix",
        ),
    ),
)
def iid_gram_moments() -> Derivation:
    return (
        derive(Expectation(Trace(weight(s2), n, k + 1)))
        .by("loop")
        .by("substitute", values={s2: 1 / n}, because="weights of variance 1/n")
        .by("trace-limits", name="c")
    )


@law(
    name="iid-edge",
    family="orthogonal",
    title="The largest singular value of a square matrix of normal weights tends to 2, not 1",
    regime="at initialisation, n to infinity; normal weights of variance 1/n; the error is "
    "O(n^(-2/3))",
    sources=("davidson2001", "yin1988", "bai1988", "johnstone2001", "zhai2023"),
    rests_on=("iid-gram-moments",),
    symbols=(
        "tau_k: tr (w^T w)^k/n, the mean k-th power of the squared singular values",
        "c_k: the limit of E[tau_k]; c_0 = 1",
        "F: the series Sum_k c_k z^k",
        "s_max: the largest singular value",
        "w: the square matrix of the weights",
        "n: its size",
    ),
    note="The next term is -0.7601 n^(-2/3): 2^(-2/3) times the mean -1.2065 of the Tracy-Widom "
    "law of order 1. Other iid weights of variance 1/n have the same limit if their fourth moment "
    "is O(1/n^2), and not otherwise (Bai, Silverstein and Yin).",
    pitfalls=(
        (
            "E[W^T W] = I, so a wide random matrix is nearly orthogonal",
            "its singular values fill the interval from 0 to 2: some direction is stretched by 2",
            "E||W|| is 1.908 at n = 32 and 1.979 at n = 256",
        ),
        (
            "weights of variance 1/n have the spectral radius 1, so no signal grows by more",
            "eigenvalues bound what many equal steps do; one step stretches by a singular value",
            "1 and 2",
        ),
        (
            "weights divided by their largest singular value, as in spectral normalisation and "
            "sigmaReparam, keep signals",
            "they keep them from growing; a random input lies across all directions, and only the "
            "top one is passed on whole",
            "1/4 of the second moment a layer at the start, for square weights and gain 1",
        ),
    ),
)
def iid_edge() -> Derivation:
    return iid_gram_moments.derivation.by("generating-function branch-point").by(
        "spectral-edge", of=Norm(weight(1 / n), n)
    )
