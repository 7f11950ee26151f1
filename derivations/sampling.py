"""How weights are sampled: normal and uniform laws, and the default of a library."""

from sympy import Expr, Integer, Integral, Symbol, sqrt

from varlaw.derivations.catalogue import law
from varlaw.derivations.forward import he_leaky, i, inputs, j, m, pre_activation, q, s2
from varlaw.derivations.softmax import largest
from varlaw.symbolic.activations import relu
from varlaw.symbolic.declarations import positive, random_array
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import named
from varlaw.symbolic.terms import Expectation, Sum

a, g, s, v = positive("a g s v")
u = Symbol("u", real=True)


def uniform(bound: Expr, order: int = 2) -> Expr:
    """E[w^order] for w ~ U(-bound, bound), as an integral over the density 1/(2 bound)."""
    return Integral(u**order / (2 * bound), (u, -bound, bound))


@law(
    name="normal-std",
    family="sampling",
    title="A standard normal variable times s has variance s^2: the std of variance v is sqrt(v)",
    regime="exact; for any law of mean 0 and variance 1",
    sources=("johnson1994",),
    usual=("z: Gaussian",),
    symbols=("z: the values drawn", "s: the factor", "v: the variance that is asked for"),
    pitfalls=(
        (
            "N(0, 0.02) says how the weights are drawn",
            "authors mean the std or the variance by the second argument, and these differ",
            "std 0.02 or std 0.1414, sevenfold",
        ),
    ),
)
def normal_std() -> Derivation:
    z = random_array("z", mean=0, variance=1)
    return (
        derive(Expectation((s * z[i]) ** 2))
        .by("constants identical")
        .by("require", equals=v, because="the variance is v")
        .by("solve", unknown=s)
    )


@law(
    name="uniform-variance",
    family="sampling",
    title="A uniform law on [-a, a] has variance a^2/3",
    regime="exact",
    sources=("johnson1995",),
    symbols=("a: the bound, half of the width", "u: the value, of density 1/(2 a) on [-a, a]"),
    pitfalls=(
        (
            "U(-a, a) has the size of a normal law of std a",
            "its std is a/sqrt(3): bound, std and variance are three numbers",
            "std 0.577 a",
        ),
    ),
)
def uniform_variance() -> Derivation:
    return derive(uniform(a)).by("integrate")


@law(
    name="uniform-interval",
    family="sampling",
    title="A uniform law on [a, b] has variance (b - a)^2/12 about its mean (a + b)/2",
    regime="exact",
    sources=("johnson1995",),
    symbols=("a: the lower end", "b: the upper end", "u: the value, of density 1/(b - a)"),
    pitfalls=(
        (
            "the second moment of U[0, 1) is its variance 1/12",
            "its mean is 1/2; the second moment, which a layer passes on, is four times as large",
            "1/3 against 1/12",
        ),
    ),
)
def uniform_interval() -> Derivation:
    low, high = Symbol("a", real=True), Symbol("b", real=True)
    spread = (u - (low + high) / 2) ** 2 / (high - low)
    return derive(Integral(spread, (u, low, high))).by("integrate").by("algebra", form="factor")


@law(
    name="uniform-bound",
    family="sampling",
    title="A uniform law of standard deviation s reaches to sqrt(3) s",
    regime="exact",
    sources=("johnson1995",),
    rests_on=("uniform-variance",),
    symbols=("a: the bound", "s: the standard deviation that is asked for"),
)
def uniform_bound() -> Derivation:
    variance = named("V", uniform_variance.derivation.end)
    return (
        derive(variance)
        .by("earlier")
        .by("require", equals=s**2, because="the standard deviation is s")
        .by("solve", unknown=a)
    )


@law(
    name="uniform-gain",
    family="sampling",
    title="Variance g^2/m with a uniform law: bound g sqrt(3/m)",
    regime="exact",
    sources=("he2015",),
    rests_on=("uniform-variance",),
    symbols=("a: the bound", "g: the gain of the activation", "m: the fan that is chosen"),
    pitfalls=(
        (
            "kaiming_uniform draws between plus and minus g/sqrt(m)",
            "that is the standard deviation; the bound is sqrt(3) times as far out",
            "the variance would be a third: 1/3",
        ),
    ),
)
def uniform_gain() -> Derivation:
    variance = named("V", uniform_variance.derivation.end)
    return (
        derive(variance)
        .by("earlier")
        .by("require", equals=g**2 / m, because="the variance is g^2/m")
        .by("solve", unknown=a)
    )


@law(
    name="uniform-kurtosis",
    family="sampling",
    title="The kurtosis of a uniform law is 9/5, a normal law's is 3",
    regime="exact",
    sources=("johnson1995",),
    symbols=("a: the bound", "u: the value, of density 1/(2 a) on [-a, a]"),
    pitfalls=(
        (
            "only the variance of the weights matters",
            "so it is for second moments; fourth moments at finite width see the whole law",
            "E[w^4]/E[w^2]^2 = 1.8 or 3",
        ),
    ),
)
def uniform_kurtosis() -> Derivation:
    return derive(uniform(a, 4) / uniform(a) ** 2).by("integrate")


@law(
    name="pytorch-linear-bound",
    family="sampling",
    title="PyTorch's kaiming_uniform with slope sqrt(5) is U(-1/sqrt(m), 1/sqrt(m))",
    regime="exact; nn.Linear and nn.Conv as they come",
    sources=("paszke2019",),
    rests_on=("uniform-variance", "he-leaky"),
    symbols=("a: the bound", "m: the fan-in"),
    note="The source is the library's; the default is in its reset_parameters.",
    pitfalls=(
        (
            "PyTorch initialises linear layers with He's law, as the name of the call says",
            "the slope sqrt(5) stands for no activation: it makes the bound 1/sqrt(m)",
            "variance 1/(3 m), a sixth of He's 2/m",
        ),
    ),
)
def pytorch_linear_bound() -> Derivation:
    variance = named("V", uniform_variance.derivation.end)
    he = he_leaky.derivation.end.subs(a, sqrt(5))
    return (
        derive(variance)
        .by("earlier")
        .by("require", equals=he, because="He's variance for a leaky ReLU of slope sqrt(5)")
        .by("solve", unknown=a)
    )


@law(
    name="pytorch-linear-variance",
    family="sampling",
    title="PyTorch's default for linear layers and convolutions has variance 1/(3 fan-in)",
    regime="exact",
    sources=("paszke2019",),
    rests_on=("pytorch-linear-bound",),
    symbols=("a: the bound 1/sqrt(m)", "m: the fan-in", "u: the value of a weight"),
    pitfalls=(
        (
            "U(-1/sqrt(m), 1/sqrt(m)) is LeCun's 1/m",
            "1/sqrt(m) is the bound; the variance is a third of its square",
            "std 0.025516 at m = 512, not 0.044194",
        ),
    ),
)
def pytorch_linear_variance() -> Derivation:
    bound = pytorch_linear_bound.derivation.end
    return derive(uniform(bound)).by("integrate")


@law(
    name="pytorch-linear-output",
    family="sampling",
    title="PyTorch's default linear layer, its random bias included: q/3 + 1/(3 m)",
    regime="at initialisation, exactly at finite width",
    sources=("paszke2019",),
    usual=("x: zero mean", "x: independent entries", "w: Gaussian"),
    rests_on=("pytorch-linear-variance",),
    symbols=("b: the bias, drawn like the weights", "y: the output of the layer"),
    pitfalls=(
        (
            "the bias starts at zero",
            "it is drawn from the same interval as the weights and adds 1/(3 m)",
            "0.333984375 at m = 512 for inputs of second moment 1",
        ),
    ),
)
def pytorch_linear_output() -> Derivation:
    x = inputs()
    w, b = (random_array(name, mean=0, second_moment="s2") for name in "wb")
    y = named("y", b[j] + Sum(x[i] * w[i, j], (i, 1, m)), j)
    return (
        derive(Expectation(y**2))
        .by("unfold expand linearity independence")
        .by("kronecker", array="w")
        .by("collapse identical count")
        .by(
            "substitute",
            values={s2: pytorch_linear_variance.derivation.end},
            because="the default of weights and biases",
        )
    )


@law(
    name="pytorch-relu-factor",
    family="sampling",
    title="PyTorch's default weights and ReLU keep a sixth of the second moment per layer",
    regime="at initialisation, exactly at finite width, without biases",
    sources=("paszke2019", "he2015"),
    usual=("x: zero mean", "x: independent entries", "w: Gaussian"),
    rests_on=("pytorch-linear-variance",),
    symbols=("h_j: the output of the layer, behind its ReLU",),
    pitfalls=(
        (
            "the default suits ReLU networks",
            "the second moment falls to 1/6 per layer where He keeps it; the biases set a floor",
            "6^-10 = 1.65e-8 after 10 layers",
        ),
    ),
)
def pytorch_relu_factor() -> Derivation:
    x, w = inputs(), random_array("w", second_moment="s2", symmetric=True)
    h = relu(pre_activation(x, w))
    return (
        derive(Expectation(h**2) / q)
        .by("activation symmetry indicators unfold expand linearity independence")
        .by("kronecker", array="w")
        .by("collapse identical count")
        .by(
            "substitute",
            values={s2: pytorch_linear_variance.derivation.end},
            because="the default of the weights",
        )
    )


@law(
    name="largest-weight",
    family="sampling",
    title="The largest of 256 x 256 normal weights lies 4.29 standard deviations out on average",
    regime="exact for independent normal weights; 0.0858 at a standard deviation of 0.02",
    sources=("boucheron2013",),
    rests_on=("softmax-largest",),
    symbols=("M: the expected largest of 65536 weights", "z: a weight, in standard deviations"),
    pitfalls=(
        (
            "the largest of n weights is sqrt(2 log n) standard deviations",
            "that is an upper bound, which is approached slowly",
            "4.71 at n = 65536, where the mean is 4.29",
        ),
        (
            "weights beyond four standard deviations show a bug",
            "among 65536 normal weights four lie beyond, on average; truncated ones have none",
            "erfc(4/sqrt(2)) 65536 = 4.15",
        ),
    ),
)
def largest_weight() -> Derivation:
    z, _, weight = largest(Integer(256**2), Integer(1))
    return derive(named("M", Expectation(weight * z))).by("earlier").by("digits", places=10)
