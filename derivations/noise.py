"""Laws of sampling error, products, biases and dropout: what spreads, and by how much."""

from sympy import Symbol

from varlaw.derivations.catalogue import law
from varlaw.derivations.sampling import a as half
from varlaw.derivations.sampling import uniform_variance
from varlaw.symbolic.declarations import (
    dimensions,
    indices,
    positive,
    random_array,
)
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import named
from varlaw.symbolic.terms import Expectation, Sum, Variance

m, n, B = dimensions("m n B")
i, j = indices("i j")
p, q, v, r, s2, b2, step = positive("p q v r s2 b2 Delta")
mu, nu = (Symbol(name, real=True) for name in ("mu", "nu"))


@law(
    name="product-variance",
    family="sampling",
    title="Var(x y) = Var x Var y + E[y]^2 Var x + E[x]^2 Var y for independent x and y",
    regime="exact",
    sources=("johnson1994",),
    usual=("x: Gaussian", "y: Gaussian"),
    symbols=("v, mu: variance and mean of x", "r, nu: variance and mean of y"),
    pitfalls=(
        (
            "the variance of a product is the product of the variances",
            "for one centred factor the other enters by its second moment; for two by variances",
            "x of mean 1 and variance 4, y of mean -2 and variance 9: 61, not 36",
        ),
    ),
)
def product_variance() -> Derivation:
    x, y = random_array("x", mean=mu, variance=v), random_array("y", mean=nu, variance=r)
    return (
        derive(Variance(x[i] * y[i]))
        .by("moments independence identical")
        .by("algebra", form="expand")
    )


@law(
    name="linear-bias",
    family="forward",
    title="A random bias adds its variance: E[y^2] = m q s2 + b2",
    regime="at initialisation, exactly at finite width",
    sources=("he2015",),
    usual=("x: zero mean", "x: independent entries", "w: Gaussian", "b: Gaussian", "b: zero mean"),
    symbols=("b: the bias, of second moment b2", "y: the output of the layer"),
    note="The source sets biases to 0.",
    pitfalls=(
        (
            "biases are small beside the sum over the inputs",
            "their variance is added in every layer, where the weights' part may shrink",
            "1/3 + 1/1536 = 0.33398 in PyTorch's default at m = 512",
        ),
    ),
)
def linear_bias() -> Derivation:
    x = random_array("x", second_moment=q, independent=False)
    w = random_array("w", mean=0, second_moment=s2)
    bias = random_array("b", second_moment=b2, independent=False)
    y = named("y", bias[j] + Sum(x[i] * w[i, j], (i, 1, m)), j)
    return (
        derive(Expectation(y**2))
        .by("unfold expand linearity independence")
        .by("kronecker", array="w")
        .by("collapse identical count")
    )


@law(
    name="dropout-second-moment",
    family="sampling",
    title="Dropout at keep rate p, scaled by 1/p, divides the second moment by p",
    regime="exact; the mask is independent of what it is applied to",
    sources=("srivastava2014",),
    usual=("x: zero mean", "x: Gaussian"),
    symbols=("b: the mask: 1/p with probability p, else 0", "q: the second moment of x"),
    pitfalls=(
        (
            "the factor 1/p makes up for dropout",
            "it keeps the mean; the second moment grows",
            "by 1/0.9 = 1.111 at a rate of 0.1, by 2 at 0.5",
        ),
    ),
)
def dropout_second_moment() -> Derivation:
    x, b = random_array("x", second_moment=q), random_array("b", mean=1, second_moment=1 / p)
    return derive(Expectation((b[i] * x[i]) ** 2)).by("independence identical")


@law(
    name="dropout-variance",
    family="sampling",
    title="Dropout at keep rate p leaves the variance (v + (1 - p) mu^2)/p",
    regime="exact; the mask is independent of what it is applied to",
    sources=("srivastava2014",),
    usual=("x: Gaussian",),
    symbols=(
        "b: the mask: 1/p with probability p, else 0",
        "mu, v: the mean and the variance of x",
    ),
    pitfalls=(
        (
            "dropout divides the variance by the keep rate",
            "that holds for inputs of mean 0; behind a ReLU the mean adds to it",
            "mean 1, variance 1, rate 1/2: variance 3, not 2",
        ),
    ),
)
def dropout_variance() -> Derivation:
    x, b = random_array("x", mean=mu, variance=v), random_array("b", mean=1, second_moment=1 / p)
    return (
        derive(Variance(b[i] * x[i]))
        .by("moments independence identical")
        .by("algebra", form="expand")
    )


@law(
    name="batch-gradient",
    family="optimiser",
    title="The mean gradient over a batch of B samples has second moment mu^2 + v/B",
    regime="exact; independent samples",
    sources=("goyal2017",),
    usual=("g: Gaussian",),
    symbols=(
        "g: the gradient of a weight by one sample, of mean mu and variance v",
        "a: its mean over the batch",
        "B: the size of the batch",
    ),
    pitfalls=(
        (
            "a batch B times as large has gradients of 1/sqrt(B) the size",
            "that is the noise; the mean gradient stays, and B decides which of them is seen",
            "signal-to-noise ratio sqrt(B) mu/sqrt(v)",
        ),
    ),
)
def batch_gradient() -> Derivation:
    g = random_array("g", mean=mu, variance=v)
    a = named("a", Sum(g[i], (i, 1, B)) / B)
    return (
        derive(Expectation(a**2))
        .by("unfold expand linearity constants coincidence independence identical count")
        .by("algebra", form="expand")
    )


@law(
    name="sample-variance",
    family="sampling",
    title="The mean square of n weights spreads: its variance is (E[w^4] - s2^2)/n",
    regime="exact; the mean is known to be 0",
    sources=("johnson1994",),
    symbols=("S: the mean square of n weights", "s2: their variance"),
    note="For normal weights it is 2 s2^2/n, so that the std is found to s/sqrt(2 n).",
    pitfalls=(
        (
            "the std of a printed matrix should agree to all its digits",
            "it scatters by 1/sqrt(2 n) of itself",
            "256 x 256 weights: 0.28 %, 0.005774 +- 0.000016",
        ),
    ),
)
def sample_variance() -> Derivation:
    w = random_array("w", mean=0, second_moment=s2)
    square = named("S", Sum(w[i] ** 2, (i, 1, n)) / n)
    return (
        derive(Variance(square))
        .by("moments unfold expand linearity constants coincidence independence identical count")
        .by("algebra", form="cancel")
    )


@law(
    name="sample-mean",
    family="sampling",
    title="The mean of n weights has variance s2/n",
    regime="exact; whatever their mean",
    sources=("johnson1994",),
    usual=("w: zero mean", "w: Gaussian"),
    symbols=("a: the mean of n weights", "w: the weights", "s2: their variance"),
    pitfalls=(
        (
            "a matrix of centred weights has mean 0",
            "it has a mean of about s/sqrt(n), in a sample of n",
            "0.02/256 = 7.8e-5 for 256 x 256 weights of std 0.02",
        ),
    ),
)
def sample_mean() -> Derivation:
    w = random_array("w", variance=s2)
    a = named("a", Sum(w[i], (i, 1, n)) / n)
    return derive(Variance(a)).by(
        "moments unfold expand linearity constants coincidence independence identical count algebra"
    )


@law(
    name="rounding-noise",
    family="sampling",
    title="Weights rounded to steps of Delta add noise of variance m q Delta^2/12 to an output",
    regime="rounding errors uniform and independent of one another and of the inputs, as for fine "
    "steps; exactly at finite width",
    sources=("bennett1948",),
    usual=("x: zero mean", "x: independent entries"),
    symbols=(
        "u: the errors of the weights, uniform within half a step",
        "x: the inputs, of second moment q",
        "z: the error of an output",
        "Delta: the step",
    ),
    note="An absmax scale over b bits has Delta = max |w|/(2^(b - 1) - 1).",
    pitfalls=(
        (
            "an error of at most half a step has the variance Delta^2/4",
            "that is its largest square; errors spread evenly have a third of it",
            "Delta^2/12; each bit less makes it four times as large, 6.02 dB",
        ),
    ),
)
def rounding_noise() -> Derivation:
    x = random_array("x", second_moment=q, independent=False)
    u = random_array("u", mean=0, second_moment=v)
    z = named("z", Sum(x[i] * u[i, j], (i, 1, m)), j)
    return (
        derive(Expectation(z**2))
        .by("unfold expand linearity independence")
        .by("kronecker", array="u")
        .by("collapse identical count")
        .by(
            "substitute",
            values={v: uniform_variance.derivation.end.subs(half, step / 2)},
            because="uniform within half a step (uniform-variance)",
        )
    )


@law(
    name="experts-average",
    family="forward",
    title="The average of n experts has 1/n of the second moment of one",
    regime="at initialisation, exactly; equal gates 1/n, experts of weights of their own",
    sources=("shazeer2017",),
    usual=("F: Gaussian",),
    symbols=(
        "F: the outputs of the experts at one input, of second moment s2",
        "n: the number of experts",
    ),
    note="With gates g_i it is the sum of their squares times s2, which is least for equal gates.",
    pitfalls=(
        (
            "gates that sum to 1 keep the scale",
            "they keep that of equal outputs; independent ones add by the squares of the gates",
            "two experts at 1/2 each: a second moment of 1/2, a std of 0.707",
        ),
    ),
)
def experts_average() -> Derivation:
    outputs = random_array("F", mean=0, second_moment=s2)
    return (
        derive(Expectation((Sum(outputs[i], (i, 1, n)) / n) ** 2))
        .by("expand linearity constants coincidence")
        .by("identical count")
    )
