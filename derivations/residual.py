"""Laws of residual streams: Post-Norm decay, Pre-Norm growth, and their gradients."""

from sympy import Expr, Integer, Symbol, sqrt

from varlaw.derivations.catalogue import law
from varlaw.symbolic.arrays import RandomArray
from varlaw.symbolic.declarations import (
    dimensions,
    indices,
    positive,
    random_array,
    random_variable,
)
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import Branch, IndexProduct, Named, Term, named
from varlaw.symbolic.terms import Covariance, Expectation, IndexSum, Sum, Variance

m, n, d = dimensions("m n d")
i, j = indices("i j")
s2, g, v = positive("s2 g v")
l, t = (Symbol(name, integer=True, nonnegative=True) for name in "lt")  # noqa: E741  (the layer)


@law(
    name="residual-sum",
    family="residual",
    title="Var(x + F) = Var(x) + Var(F) for uncorrelated x and F",
    regime="exact",
    sources=("vaswani2017",),
    usual=("F independent of x", "x: zero mean", "F: zero mean"),
    note="The source is background: it introduces the residual sum.",
    pitfalls=(
        (
            "x and F are independent",
            "F is a function of x; zero covariance is what counts",
            "Cov(x, F) = 0",
        ),
    ),
)
def residual_sum() -> Derivation:
    x = random_variable("x", variance="v")
    f = random_variable("F", variance="s2", uncorrelated_with=[x.array])
    return (
        derive(Variance(x + f)).by("moments expand linearity uncorrelated identical").by("algebra")
    )


@law(
    name="residual-branch",
    family="residual",
    title="A branch whose last layer is linear with centred weights is uncorrelated with its input",
    regime="at initialisation, exactly at finite width; else the branch may depend on x",
    sources=("zhang2019",),
    usual=("h independent of x", "w: independent entries", "w: identically distributed"),
    symbols=(
        "h: the hidden units of the branch",
        "w: the weights of its last layer",
        "n: the number of hidden units",
    ),
)
def residual_branch() -> Derivation:
    x = random_variable("x")
    h = random_array("h", independent=False, identical=False, depends_on=[x.array])
    w = random_array("w", mean=0, independent=False, identical=False)
    f = named("F", Sum(h[j] * w[j, i], (j, 1, n)), i)
    return derive(Covariance(x, f)).by("moments unfold expand linearity independence identical")


@law(
    name="residual-drop-path",
    family="residual",
    title="Drop-path with keep rate p and scale 1/p raises only the branch's own second moment",
    regime="exact; the branch may depend on x in any way, the drop on neither",
    sources=("huang2016",),
    usual=("F independent of x", "x: zero mean", "F: zero mean"),
    symbols=("b: the drop: 1/p with probability p, else 0", "p: the keep rate"),
)
def residual_drop_path() -> Derivation:
    p, q, r = positive("p q r")
    x = random_variable("x", second_moment=q)
    f = random_variable("F", second_moment=r, depends_on=[x.array])
    b = random_variable("b", mean=1, second_moment=1 / p)
    return derive(Expectation((x + b * f) ** 2)).by("expand linearity independence identical")


def stream() -> tuple[RandomArray, RandomArray]:
    """The stream x_t at unit second moment, and the branch outputs F_t of variance s2."""
    x = random_array("x", second_moment=1, independent=False)
    return x, random_array("F", mean=0, variance="s2", independent=False, uncorrelated_with=[x])


@law(
    name="post-norm-decay",
    family="residual",
    title="Post-Norm: after l layers x_0 weighs (1 + s2)^(-l/2) and F_k weighs (1 + s2)^(-(l-k)/2)",
    regime="exact recursion: Norm divides by the population root second moment",
    sources=("xiong2020", "vaswani2017"),
    usual=("F independent of x", "x: zero mean"),
    note="At s2 = 1 the weights are 2^(-l/2) and 2^(-(l-k)/2). Measured branch variances are far "
    "below 1: the divisors sqrt(1 + s2) of BERT are near 1.005 to 1.046.",
)
def post_norm_decay() -> Derivation:
    x, f = stream()
    total = x[t] + f[t]
    following = named("x", total / sqrt(Expectation(total**2)), t + 1)
    return (
        derive(following)
        .by("unfold expand linearity uncorrelated identical")
        .by("iterate", previous=x[t], index=t, steps=l, initial=x[0])
        .by("powers")
    )


def weights() -> tuple[Expr, Expr, IndexSum]:
    """The weight of x_0, the weight of F_k, and the sum over k that holds it."""
    x, f = stream()
    value = post_norm_decay.derivation.end
    (total,) = value.atoms(IndexSum)
    return value.coeff(x[0]), total.summand.coeff(f[total.bound[0]]), total


@law(
    name="post-norm-unit",
    family="residual",
    title="Post-Norm with unit branches: x_0 weighs 2^(-l/2) and F_k weighs 2^(-(l-k)/2)",
    regime="exact recursion: Norm divides by the population root second moment",
    sources=("xiong2020", "vaswani2017"),
    rests_on=("post-norm-decay",),
    note="Measured branch variances are far below 1: the divisors sqrt(1 + s2) of BERT are near "
    "1.005 to 1.046, not sqrt(2).",
    pitfalls=(
        (
            "Norm behind the sum divides by sqrt(2)",
            "by sqrt(1 + s2 + 2 rho s), which is sqrt(2) only for uncorrelated "
            "branches of variance 1",
            "1.005 to 1.046 in BERT at its initial weights",
        ),
    ),
)
def post_norm_unit() -> Derivation:
    return post_norm_decay.derivation.by("substitute", values={s2: Integer(1)})


@law(
    name="post-norm-energy",
    family="residual",
    title="Post-Norm: the squared weights of x_0 and of the branches add up to 1",
    regime="an identity of the exact recursion",
    sources=("xiong2020",),
    rests_on=("post-norm-decay",),
    symbols=("c_0: the weight of x_0 in x_l", "c_k: the weight of F_k in x_l"),
)
def post_norm_energy() -> Derivation:
    first, other, total = weights()
    parts = named("c_0", first), named("c", other, total.bound[0])
    return (
        derive(parts[0] ** 2 + s2 * IndexSum(parts[1] ** 2, *total.ranges))
        .by("earlier")
        .by("geometric-sum")
        .by("powers")
    )


@law(
    name="post-norm-layernorm",
    family="residual",
    title="Wide LayerNorm: the identity weight tends to (1 + s2)^(-l/2) in probability",
    regime="wide limit d to infinity at fixed depth l; iid units with a finite fourth moment",
    note="The weight departs by O(1/sqrt(d)) in probability; its mean by O(1/d), as measured.",
    sources=("xiong2020",),
    symbols=(
        "u: the sums x_t + F_t that enter the LayerNorm of layer t",
        "S: the variance over the units of one sum",
        "d: the number of units",
    ),
)
def post_norm_layernorm() -> Derivation:
    u = random_array("u", mean=0, variance=1 + s2)
    mean = Sum(u[t, i], (i, 1, d)) / d
    spread = named("S", Sum(u[t, i] ** 2, (i, 1, d)) / d - mean**2, t)
    return (
        derive(IndexProduct(1 / sqrt(spread), t, Integer(0), l - 1))
        .by("concentrate", mean=spread, width=d)
        .by("constant-product")
    )


@law(
    name="post-norm-gradient",
    family="residual",
    title="Post-Norm gradients: each layer multiplies the second moment by (1 + g)/(1 + s2)",
    regime="exact recursion, for a probe independent of the branches; g is their backward gain",
    sources=("xiong2020",),
    usual=("p: zero mean",),
    rests_on=("post-norm-decay",),
    symbols=("v_t: E of the squared gradient after t pull-backs, v_0 at the output",),
    note="At g = s2 the factor is 1: the whole gradient stays, only the identity path vanishes.",
    pitfalls=(
        (
            "Post-Norm makes gradients vanish, since x_0 keeps only 2^(-l/2)",
            "that is one path; the sum over all paths keeps the second moment where "
            "branches have equal gains forward and backward",
            "factor (1 + 1)/(1 + 1) = 1 per layer; of it 2^-24 on the identity path of 24 layers",
        ),
    ),
)
def post_norm_gradient() -> Derivation:
    scale = named("a", post_norm_decay.derivation.after("identical").expand().coeff(stream()[0][t]))
    back = backward_stream(scale)
    return (
        derive(Expectation(back**2))
        .by("unfold", name="b")
        .by("earlier", name="a")
        .by("expand linearity constants independence kronecker collapse identical count")
        .by("algebra", form="factor")
        .by("call", name=Term("v", t + 1))
        .by("iterate", previous=Term("v", t), index=t, steps=l, initial=Term("v", 0))
    )


def backward_stream(scale: Expr, gain: Expr = g) -> Named:
    """The probe pulled back through one residual layer: scale (p_i + Sum_j p_j w_ij)."""
    p = random_array("p", second_moment=Term("v", t), independent=False)
    w = random_array("w", mean=0, variance=gain / n)
    return named("b", scale * (p[i] + Sum(p[j] * w[i, j], (j, 1, n))), i)


@law(
    name="pre-norm-growth",
    family="residual",
    title="Pre-Norm: the variance of the stream grows like 1 + l s2",
    regime="exact, for branches uncorrelated with the stream",
    sources=("xiong2020",),
    usual=("F independent of x", "x: zero mean", "F: zero mean"),
    symbols=("v_t: the variance of the stream after t layers",),
    note="At unit branches the variance is 1 + l and the std grows like sqrt(l).",
    pitfalls=(
        (
            "normalisation keeps a residual network from growing",
            "in front of a branch it does not touch the stream; behind the sum "
            "(Post-Norm) it stops the growth",
            "1 + l at unit branches, against 1",
        ),
    ),
)
def pre_norm_growth() -> Derivation:
    x = random_variable("x", variance=Term("v", t))
    f = random_variable("F", variance="s2", uncorrelated_with=[x.array])
    return (
        derive(Variance(x + f))
        .by("moments expand linearity uncorrelated identical")
        .by("algebra")
        .by("call", name=Term("v", t + 1))
        .by("iterate", previous=Term("v", t), index=t, steps=l, initial=Term("v", 0))
        .by(
            "substitute",
            values={Term("v", 0): Integer(1)},
            because="for an input of variance v_0 = 1",
        )
    )


@law(
    name="pre-norm-std",
    family="residual",
    title="Pre-Norm with unit branches: the std of the stream grows like sqrt(l)",
    regime="asymptotic in the depth",
    sources=("xiong2020",),
    rests_on=("pre-norm-growth",),
    symbols=("v_l: the variance of the stream after l layers",),
)
def pre_norm_std() -> Derivation:
    spread = named("v", pre_norm_growth.derivation.end.subs(s2, 1), l)
    return derive(sqrt(spread)).by("earlier").by("asymptotic", to=sqrt(l), variable=l)


@law(
    name="pre-norm-expansion",
    family="residual",
    title="Pre-Norm: x_l = x_0 + Sum F_k(x_k/sqrt(k+1)), every branch with the same weight",
    regime="exact recursion: Norm divides by the population std",
    sources=("xiong2020",),
    rests_on=("pre-norm-growth",),
    note="Relative to the stream it joins, branch t contributes the share 1/(t + 1).",
    symbols=("v_t: the variance of the stream x_t at unit branches",),
)
def pre_norm_expansion() -> Derivation:
    spread = named("v", pre_norm_growth.derivation.end.subs({s2: 1, l: t}), t)
    x = Term("x", t)
    following = named("x", x + Branch(t, x / sqrt(spread)), t + 1)
    return (
        derive(following)
        .by("earlier", name="x")
        .by("earlier", name="v")
        .by("iterate", previous=x, index=t, steps=l, initial=Term("x", 0))
    )


@law(
    name="pre-norm-gradient",
    family="residual",
    title="Pre-Norm gradients: the second moment grows by the product of 1 + g/(t + 1)",
    regime="exact recursion, for a probe independent of the branches; g is their backward gain",
    sources=("xiong2020",),
    usual=("p: zero mean",),
    rests_on=("pre-norm-growth",),
    symbols=(
        "v_t: E of the squared gradient at the input of a stack of t branches, v_0 at its output; "
        "each branch multiplies it by a factor of its own, in whatever order",
    ),
)
def pre_norm_gradient() -> Derivation:
    spread = named("s", pre_norm_growth.derivation.end.subs({s2: 1, l: t}), t)
    back = backward_stream(Integer(1), gain=g / spread)
    return (
        derive(Expectation(back**2))
        .by("unfold expand linearity independence kronecker collapse identical count")
        .by("earlier", name="s")
        .by("algebra", form="factor")
        .by("call", name=Term("v", t + 1))
        .by("iterate", previous=Term("v", t), index=t, steps=l, initial=Term("v", 0))
    )


@law(
    name="pre-norm-gradient-unit",
    family="residual",
    title="Pre-Norm gradients at unit gain: the second moment grows by l + 1",
    regime="exact recursion, for a probe independent of the branch Jacobians",
    sources=("xiong2020",),
    rests_on=("pre-norm-gradient",),
    symbols=(
        "v_t: E of the squared gradient at the input of a stack of t branches, v_0 at its output; "
        "each branch multiplies it by a factor of its own, in whatever order",
    ),
)
def pre_norm_gradient_unit() -> Derivation:
    return pre_norm_gradient.derivation.by(
        "substitute", values={g: Integer(1)}, because="at unit backward gain g = 1"
    ).by("telescope")
