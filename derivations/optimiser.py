"""Laws of the optimiser's step: the size of Adam's, the proportion of SGD's."""

from sympy import Expr, Integer, Rational, Symbol, sqrt

from varlaw.derivations.catalogue import law
from varlaw.symbolic.declarations import indices, positive, random_array
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import Term, named
from varlaw.symbolic.terms import Expectation

i = indices("i")
eta, b, h, v, u, q, r, c = positive("eta b h v u q r c")
b1, b2 = positive("b_1 b_2")
s, t = (Symbol(name, integer=True, nonnegative=True) for name in "st")
BETWEEN = "0 < b < 1, so that b = h/(1 + h) with h > 0"


def average(previous: Expr, value: Expr, rate: Expr = b) -> Expr:
    """The moving average after one more value."""
    return rate * previous + (1 - rate) * value


@law(
    name="adam-ratio",
    family="optimiser",
    title="Adam's mean step is eta r/sqrt(1 + r^2) at a signal-to-noise ratio r",
    regime="stationary gradients, moving averages at their means (b_1 and b_2 near 1)",
    sources=("kingma2015",),
    symbols=(
        "g: the gradient of one weight, of mean r sqrt(v) and variance v",
        "r: the signal-to-noise ratio of the gradient",
    ),
    pitfalls=(
        (
            "Adam moves every weight by eta, whatever the noise",
            "the mean step is eta r/sqrt(1 + r^2): noise shrinks it, the gradient's scale does not",
            "0.0995 eta at a signal-to-noise ratio of 0.1",
        ),
    ),
)
def adam_ratio() -> Derivation:
    g = random_array("g", mean=r * sqrt(v), variance=v)[i]
    return (
        derive(eta * Expectation(g) / sqrt(Expectation(g**2)))
        .by("identical")
        .by("algebra", form="factor")
    )


@law(
    name="adam-bound",
    family="optimiser",
    title="Adam's mean step is at most eta",
    regime="stationary gradients, moving averages at their means; any law of the gradient",
    sources=("kingma2015",),
    rests_on=("adam-ratio",),
    symbols=("r: the signal-to-noise ratio of the gradient",),
    note="|E g| <= sqrt(E[g^2]) (Cauchy and Schwarz); no step reaches eta unless the noise is 0. "
    "A single step may be larger where the two averages have different memories.",
)
def adam_bound() -> Derivation:
    step = named("u", adam_ratio.derivation.end)
    return derive(step).by("earlier", name="u").by("at-most", bound=eta)


@law(
    name="adam-average",
    family="optimiser",
    title="The moving average of noise keeps b^(2 t) of its start and tends to (1 - b)/(1 + b) v",
    regime="exact, at any step t, for gradients of mean 0 independent from step to step",
    sources=("kingma2015",),
    usual=("g: symmetric", "g: Gaussian"),
    symbols=(
        "g: the gradient of one weight, of mean 0 and variance v",
        "m: the moving average",
        "b: the decay rate, between 0 and 1",
        "u: the second moment of the moving average; Adam starts at u_0 = 0",
        "h: b/(1 - b)",
    ),
    note="The source's own correction for the start divides m_t by 1 - b^t.",
)
def adam_average() -> Derivation:
    m = random_array("m", second_moment=Term("u", s))[i]
    g = random_array("g", mean=0, variance=v)[i]
    return (
        derive(Expectation(average(m, g) ** 2))
        .by("expand linearity constants independence identical")
        .by("call", name=Term("u", s + 1))
        .by("iterate", previous=Term("u", s), index=s, steps=t, initial=Term("u", 0))
        .by("substitute", values={b: h / (1 + h)}, because=BETWEEN)
        .by("geometric-sum")
        .by("variable", old=h, value=b / (1 - b), new=b, inverse=h / (1 + h))
        .by("algebra")
        .by("algebra", form="terms")
    )


@law(
    name="adam-stationary",
    family="optimiser",
    title="On pure noise the moving average settles at variance (1 - b)/(1 + b) of the gradient's",
    regime="stationary; exact; any law of the gradient with mean 0, independent from step to step",
    sources=("kingma2015",),
    usual=("g: symmetric", "g: Gaussian"),
    symbols=(
        "g: the gradient of one weight, of mean 0 and variance v",
        "m: the moving average, of second moment u",
        "b: the decay rate, between 0 and 1",
        "h: b/(1 - b)",
    ),
)
def adam_stationary() -> Derivation:
    m = random_array("m", second_moment=u)[i]
    g = random_array("g", mean=0, variance=v)[i]
    return (
        derive(Expectation(average(m, g) ** 2))
        .by("expand linearity constants independence identical")
        .by("require", equals=u, because="stationary: one more step leaves E[m^2] = u")
        .by("substitute", values={b: h / (1 + h)}, because=BETWEEN)
        .by("solve", unknown=u)
        .by("variable", old=h, value=b / (1 - b), new=b, inverse=h / (1 + h))
    )


@law(
    name="adam-noise",
    family="optimiser",
    title="On pure noise the root mean square of Adam's step is eta sqrt((1 - b)/(1 + b))",
    regime="stationary gradients of mean 0; the second-moment estimate at its mean (b_2 near 1)",
    sources=("kingma2015",),
    rests_on=("adam-stationary",),
    symbols=(
        "g: the gradient of one weight, of mean 0 and variance v",
        "u: the second moment of the moving average of the gradient",
        "b: the decay rate b_1 of the first moment, between 0 and 1",
    ),
    pitfalls=(
        (
            "with nothing but noise Adam stands still, or moves by eta at every step",
            "the steps do not average out to 0: they have root mean square eta "
            "sqrt((1 - b_1)/(1 + b_1))",
            "0.2294157 eta at b_1 = 0.9",
        ),
    ),
)
def adam_noise() -> Derivation:
    g = random_array("g", mean=0, variance=v)[i]
    spread = named("u", adam_stationary.derivation.end)
    start = eta * sqrt(spread) / sqrt(Expectation(g**2))
    return derive(start).by("identical").by("earlier", name="u")


@law(
    name="adam-noise-default",
    family="optimiser",
    title="At b_1 = 0.9 pure noise moves a weight by 0.2294 eta (root mean square)",
    regime="stationary gradients of mean 0; the second-moment estimate at its mean (b_2 near 1)",
    sources=("kingma2015",),
    rests_on=("adam-noise",),
    symbols=("b: the decay rate b_1 of the first moment",),
)
def adam_noise_default() -> Derivation:
    usual = {b: Rational(9, 10), eta: Integer(1)}
    return adam_noise.derivation.by("substitute", values=usual).by("digits", places=15)


@law(
    name="adam-first-step",
    family="optimiser",
    title="Adam's first step is eta times the sign of the gradient",
    regime="exact for a gradient that is not 0; the constant epsilon of the divisor is left out",
    sources=("kingma2015",),
    symbols=(
        "g: the gradient of one weight at the first step",
        "m: the moving average of the gradient, from 0",
        "v: the moving average of its square, from 0",
        "b_1: the decay rate of the first moment",
        "b_2: the decay rate of the second moment",
    ),
    note="Every weight moves by eta at once, however small its gradient.",
    pitfalls=(
        (
            "warmup is needed since the first estimates are biased",
            "with the correction the first step is exactly eta sign(g), whatever b_1 and b_2 are",
            "eta, not (1 - 0.9)/sqrt(1 - 0.999) eta = 3.16 eta",
        ),
    ),
)
def adam_first_step() -> Derivation:
    g = random_array("g")[i]
    m, w = named("m", average(Integer(0), g, b1)), named("v", average(Integer(0), g**2, b2))
    return derive(eta * (m / (1 - b1)) / sqrt(w / (1 - b2))).by("earlier")


@law(
    name="adam-first-step-uncorrected",
    family="optimiser",
    title="Without bias correction Adam's first step is (1 - b_1)/sqrt(1 - b_2) times as large",
    regime="exact for a gradient that is not 0; the constant epsilon of the divisor is left out",
    sources=("kingma2015",),
    symbols=(
        "g: the gradient of one weight at the first step",
        "m: the moving average of the gradient, from 0",
        "v: the moving average of its square, from 0",
        "b_1: the decay rate of the first moment",
        "b_2: the decay rate of the second moment",
    ),
    note="3.16 times eta at b_1 = 0.9 and b_2 = 0.999.",
)
def adam_first_step_uncorrected() -> Derivation:
    g = random_array("g")[i]
    m, w = named("m", average(Integer(0), g, b1)), named("v", average(Integer(0), g**2, b2))
    return derive(eta * m / sqrt(w)).by("earlier")


@law(
    name="sgd-step",
    family="optimiser",
    title="SGD's step is proportional to the gradient: c times the loss, c times the step",
    regime="exact, one step",
    sources=("robbins1951",),
    usual=("g: zero mean", "g: Gaussian"),
    symbols=(
        "g: the gradient of one weight, of second moment q",
        "c: the factor by which the loss is scaled",
    ),
    note="Adam's step is the same for any c: compare adam-ratio, free of the gradient's scale.",
)
def sgd_step() -> Derivation:
    g = random_array("g", second_moment=q)[i]
    return derive(sqrt(Expectation((eta * c * g) ** 2))).by("constants identical")
