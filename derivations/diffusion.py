"""Laws of diffusion and flow models: noise added to data, and networks kept at unit variance."""

from sympy import sqrt

from varlaw.derivations.catalogue import law
from varlaw.symbolic.declarations import positive, random_variable
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.terms import Expectation

r, s, c, k, a, q, t = positive("r s c k a q t")
x = random_variable("x", second_moment=r**2)
n = random_variable("n", mean=0, variance=1)
SUMS = "expand linearity constants independence identical"
MEAN = "the network's target has second moment 1"


@law(
    name="edm-input",
    family="diffusion",
    title="EDM scales the noisy input by c_in = 1/sqrt(sigma^2 + sigma_data^2)",
    regime="exact; noise independent of the data",
    sources=("karras2022",),
    usual=("x: zero mean", "x: Gaussian", "n: Gaussian"),
    symbols=(
        "x: the data, of second moment r^2; r is sigma_data, 0.5 in the source",
        "n: the noise, of variance 1",
        "s: the level of the noise, sigma",
        "c: the factor c_in",
    ),
    pitfalls=(
        (
            "c_in = 1/(sigma + sigma_data)",
            "variances add up, not standard deviations",
            "at sigma = sigma_data = 0.5 the input would have variance 1/2",
        ),
    ),
)
def edm_input() -> Derivation:
    chain = derive(Expectation((c * (x + s * n)) ** 2)).by(SUMS)
    return chain.by("require", equals=1, because="inputs of variance 1").by("solve", unknown=c)


@law(
    name="edm-skip",
    family="diffusion",
    title="EDM passes c_skip = sigma_data^2/(sigma^2 + sigma_data^2) of the noisy input on",
    regime="exact; the choice that makes the network's part c_out least",
    sources=("karras2022",),
    usual=("x: zero mean", "x: Gaussian", "n: Gaussian"),
    symbols=(
        "x: the data, of second moment r^2; r is sigma_data",
        "n: the noise, of variance 1",
        "s: the level of the noise, sigma",
        "k: the factor c_skip; what the network has to add is x - k (x + s n)",
    ),
    note="The best linear guess of x from x + s n: errors of the network are amplified least.",
    pitfalls=(
        (
            "a denoiser should predict the noise",
            "that is c_skip = 1 and c_out = -sigma, which amplifies the network's errors by sigma",
            "at sigma = 80 and sigma_data = 0.5 c_out is 0.49999, not 80",
        ),
    ),
)
def edm_skip() -> Derivation:
    chain = derive(Expectation((x - k * (x + s * n)) ** 2)).by(SUMS)
    return chain.by("minimise", over=k)


@law(
    name="edm-output",
    family="diffusion",
    title="EDM scales the network's output by c_out = 1/sqrt(1/sigma^2 + 1/sigma_data^2)",
    regime="exact; at the c_skip of edm-skip",
    sources=("karras2022",),
    rests_on=("edm-skip",),
    usual=("x: zero mean", "x: Gaussian", "n: Gaussian"),
    symbols=(
        "x: the data, of second moment r^2; r is sigma_data",
        "n: the noise, of variance 1",
        "s: the level of the noise, sigma",
        "k: the factor c_skip",
        "c: the factor c_out of the network's output",
    ),
    note="A squared error of x weighs 1/c_out^2 = 1/sigma^2 + 1/sigma_data^2, so that the error of "
    "the network itself weighs 1 at every level.",
    pitfalls=(
        (
            "the weight 1/sigma^2 evens the loss out over the levels of noise",
            "it does for small sigma; at large sigma the loss has 1/sigma_data^2 as its weight",
            "at sigma = 5, sigma_data = 0.5: 4.04, not 0.04",
        ),
    ),
)
def edm_output() -> Derivation:
    chain = derive(Expectation(((x - k * (x + s * n)) / c) ** 2)).by(SUMS)
    chain = chain.by("require", equals=1, because=MEAN)
    chain = chain.by(
        "substitute", values={k: edm_skip.derivation.end}, because="c_skip of edm-skip"
    )
    return chain.by("solve", unknown=c)


@law(
    name="vp-noising",
    family="diffusion",
    title="Variance-preserving noising leaves a q + 1 - a: it keeps second moment 1 alone",
    regime="exact, at any step; a is the product of all 1 - beta_t until then",
    sources=("song2021", "rombach2022"),
    usual=("x: zero mean", "x: Gaussian", "n: Gaussian"),
    symbols=(
        "x: the data, of second moment q",
        "n: the noise, of variance 1",
        "a: the share of the data's second moment that is left",
    ),
    pitfalls=(
        (
            "the variance-preserving process preserves the variance",
            "it does for data of second moment 1; other data are carried to 1, and the signal "
            "to noise ratio is q a/(1 - a)",
            "latents of std 5.49 are multiplied by 0.18215 first; as they are, 15.57 at a = 1/2",
        ),
    ),
)
def vp_noising() -> Derivation:
    data = random_variable("x", second_moment=q)
    noisy = sqrt(a) * data + sqrt(1 - a) * n
    return derive(Expectation(noisy**2)).by(SUMS)


@law(
    name="flow-path",
    family="diffusion",
    title="Flow matching: on the straight path from noise to data E[x_t^2] = (1 - t)^2 + t^2 q",
    regime="exact, for data independent of the noise",
    sources=("lipman2023",),
    usual=("x: zero mean", "x: Gaussian", "n: Gaussian"),
    symbols=(
        "x: the data, of second moment q",
        "n: the noise, of variance 1",
        "t: the time, 0 at the noise and 1 at the data",
    ),
    note="The target x - n has second moment 1 + q at every time.",
    pitfalls=(
        (
            "between noise and data of variance 1 the input of the network has variance 1",
            "the path is straight, not round: in the middle it comes nearer to 0",
            "1/2 at t = 1/2; at any q the least is q/(1 + q), at t = 1/(1 + q)",
        ),
    ),
)
def flow_path() -> Derivation:
    data = random_variable("x", second_moment=q)
    return derive(Expectation(((1 - t) * n + t * data) ** 2)).by(SUMS)
