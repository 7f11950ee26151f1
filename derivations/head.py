"""Laws of the output head and of the loss at step 0."""

from sympy import Expr, Integer, Rational, exp, log, sqrt

from varlaw.derivations.catalogue import law
from varlaw.derivations.truncation import truncated_normal
from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.declarations import (
    dimensions,
    indices,
    positive,
    random_array,
    random_variable,
)
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import Term, named
from varlaw.symbolic.terms import Expectation, Sum, Variance

K, d = dimensions("K d")
i, k, y = indices("i k y")
s, s2, b, o, p, u = positive("s s2 b o p u")


def logit(index: Expr = k, variance: Expr = s**2) -> Entry:
    """A logit z_k ~ N(0, variance), given the input; independent for different classes."""
    return random_array("z", mean=0, variance=variance, gaussian=True)[index]


def total(count: Expr = K, variance: Expr = s**2) -> Expr:
    """The sum of the exponentials of the logits."""
    return Sum(exp(logit(variance=variance)), (k, 1, count))


@law(
    name="head-logits",
    family="head",
    title="Weights of variance s2 give logits of variance d s2 on features of second moment 1",
    regime="at initialisation, exactly at finite width",
    sources=("devlin2019",),
    usual=("h: zero mean", "h: independent entries", "w: Gaussian"),
    symbols=("h: the features, of second moment 1, such as the output of a LayerNorm",),
)
def head_logits() -> Derivation:
    h = random_array("h", second_moment=1, independent=False)
    w = random_array("w", mean=0, second_moment=s2)
    z = named("z", Sum(h[i] * w[i, k], (i, 1, d)), k)
    return (
        derive(Variance(z))
        .by("moments unfold expand linearity independence")
        .by("kronecker", array="w")
        .by("collapse identical count")
    )


@law(
    name="head-bert",
    family="head",
    title="BERT: tied embeddings of std 0.02, truncated at two, give logits of std 0.4875",
    regime="at initialisation, d = 768, after the extra Dense and LayerNorm",
    sources=("devlin2019",),
    rests_on=("head-logits", "truncated-normal-factor"),
    symbols=("gamma: the variance that truncation leaves",),
    pitfalls=(
        (
            "without the extra Dense all logits would be near 0",
            "the extra layer hardly changes their spread (0.4864); it removes the spike that the"
            " identity path puts on the token's own logit",
            "own logit +4.25, nine standard deviations, without it",
        ),
        (
            "logits of std 0.49 make the prediction useless at the start",
            "nearly uniform, which is what one wants",
            "0.119 nats from uniform, of 10.326",
        ),
    ),
)
def head_bert() -> Derivation:
    gamma = named("gamma", truncated_normal.derivation.end.subs(positive("c"), 2))
    second = head_logits.derivation.end.subs({d: 768, s2: gamma / 2500})
    return derive(sqrt(second)).by("digits", places=12)


@law(
    name="loss-zero-head",
    family="head",
    title="A head of zeros has the loss log K at step 0, whatever the label",
    regime="exactly, before the first step",
    sources=("karpathy2019",),
    symbols=("z: the logits, all 0", "y: the label"),
)
def loss_zero_head() -> Derivation:
    def z(index: Expr) -> Expr:
        return named("z", Integer(0), index)

    return derive(log(Sum(exp(z(k)), (k, 1, K))) - z(y)).by("unfold count")


@law(
    name="loss-prior-bias",
    family="head",
    title="A bias of log prior has the entropy of the prior as its loss at step 0",
    regime="exactly, with zero weights; labels from the prior",
    sources=("karpathy2019",),
    symbols=("q: the prior of the classes", "b: the bias"),
    pitfalls=(
        (
            "a fresh classifier has the loss log K",
            "with a bias of log prior it has the entropy of the prior, which is at most log K",
            "a prior of 0.9 and 0.1: 0.325 nats, not 0.693",
        ),
    ),
)
def loss_prior_bias() -> Derivation:
    def bias(index: Expr) -> Expr:
        return named("b", log(Term("q", index)), index)

    prior = Sum(Term("q", k), (k, 1, K))
    loss = log(Sum(exp(bias(k)), (k, 1, K))) - bias(y)
    return derive(Sum(Term("q", y) * loss, (y, 1, K))).by("earlier").by("sums-to-one", of=prior)


@law(
    name="sigmoid-prior-bias",
    family="head",
    title="The bias of a sigmoid head for positives of share p is -log((1 - p)/p)",
    regime="at step 0, with zero weights: where the mean gradient of the loss vanishes; 0 < p < 1",
    sources=("lin2017",),
    rests_on=("loss-prior-bias",),
    symbols=(
        "u: e^b for the bias b, so that the prediction is u/(1 + u)",
        "y: the label, 1 with probability p, else 0",
        "o: p/(1 - p)",
    ),
    note="The loss then starts at the entropy of the labels. RetinaNet takes p = 0.01: b = -4.595.",
    pitfalls=(
        (
            "the classifier of a detector starts at bias 0, as other layers do",
            "every background box then has the loss log 2, and there are thousands to an object",
            "0.6931 a box, 0.01005 with the bias of p = 0.01: 69 times less",
        ),
        (
            "p has to be the share of positives in the data",
            "that is where the mean gradient vanishes; RetinaNet's 0.01 is above the share of "
            "positive boxes, and any small p takes the sum over the background down",
            "b = -4.595 at p = 0.01, -6.907 at 0.001",
        ),
    ),
)
def sigmoid_prior_bias() -> Derivation:
    label = random_variable("y", mean=p)
    return (
        derive(Expectation(u / (1 + u) - label))
        .by("linearity identical")
        .by("require", equals=Integer(0), because="no mean gradient at the bias")
        .by("substitute", values={p: o / (1 + o)}, because="0 < p < 1: p = o/(1 + o), o > 0")
        .by("solve", unknown=u)
        .by("variable", old=o, value=p / (1 - p), new=p, inverse=o / (1 + o))
    )


@law(
    name="loss-lower",
    family="head",
    title="The loss of centred random logits is at least log K on average",
    regime="exact, at step 0",
    sources=("karpathy2019",),
    symbols=("z: the logits, N(0, s^2)", "y: the label"),
    note="Of the normal law the mean alone is used: it holds for centred logits of any law.",
    pitfalls=(
        (
            "the loss at step 0 is log K",
            "that is its least value; any spread of the logits adds to it",
            "std sqrt(768) * 0.02 = 0.554, K = 50257: 10.978, not 10.825",
        ),
    ),
)
def loss_lower() -> Derivation:
    return (
        derive(Expectation(log(total()) - logit(y)))
        .by("linearity identical")
        .by("jensen-convex")
        .by("parity count")
    )


@law(
    name="loss-upper",
    family="head",
    title="The loss of logits N(0, s^2) is at most log K + s^2/2 on average",
    regime="exact, at step 0; close while s^2 is below log K",
    sources=("karpathy2019",),
    symbols=("z: the logits, N(0, s^2)", "y: the label"),
    pitfalls=(
        (
            "the loss at step 0 is log K + s^2/2",
            "that is an upper bound, close while e^(s^2) is far below K",
            "K = 1000: 7.4078 where 7.4068 is right at s = 1, 11.41 where 11.20 is at s = 3",
        ),
    ),
)
def loss_upper() -> Derivation:
    return (
        derive(Expectation(log(total()) - logit(y)))
        .by("linearity identical")
        .by("jensen")
        .by("linearity complete-square count logarithms")
    )


@law(
    name="loss-delta",
    family="head",
    title="The loss is log K + s^2/2 - (e^(s^2) - 1)/(2 K) up to smaller terms",
    regime="as K grows at fixed s; useful for s^2 below log K, leading order only up to 2 log K",
    sources=("karpathy2019",),
    symbols=("B: the mean of the exponentials of the logits",),
    pitfalls=(
        (
            "the loss is log K + s^2/2",
            "from about s^2 = log K on it falls behind, and grows like s sqrt(2 log K) in the end",
            "s^2 = 768, K = 32128: 114.6, not 394",
        ),
    ),
)
def loss_delta() -> Derivation:
    mean = named("B", total() / K)
    return (
        derive(K * (Expectation(log(mean)) - log(Expectation(exp(logit())))))
        .by("delta-method", over=K)
        .by("complete-square")
        .by("algebra")
    )


@law(
    name="loss-one-nat",
    family="head",
    title="With 1000 classes the loss starts one nat above log K at logits of std 1.4164",
    regime="exact, at step 0",
    sources=("karpathy2019",),
    symbols=("s: the std of the logits z",),
    pitfalls=(
        (
            "a std larger than 0.02 but smaller than He's starts a nat too high",
            "He's is the threshold itself: on 512 unit features it gives logits of std 1.4142",
            "excess 0.99688 at He's std, 0.10229 at 0.02",
        ),
        (
            "one nat above log K is reached near a logit std of 1.5, 0.066 per weight",
            "a little below: s^2/2 less (e^(s^2) - 1)/(2 K) reaches 1 at s = 1.416",
            "s = 1.41643, std 0.062598 on 512 unit features; at 1.5 the excess is 1.12",
        ),
    ),
)
def loss_one_nat() -> Derivation:
    excess = Expectation(log(total(Integer(1000)))) - log(1000)
    return (
        derive(excess)
        .by("require", equals=Integer(1), because="the loss is one nat above log K")
        .by("log-sum-root", unknown=s, places=10)
    )


@law(
    name="loss-saturated",
    family="head",
    title="Logits of variance 768 over 32128 classes: the loss is 114.6, not log K + s^2/2 = 394",
    regime="exact, at step 0",
    sources=("raffel2020",),
    rests_on=("loss-upper",),
    symbols=("z: the logits, N(0, 768): embeddings of std 1 on 768 unit features",),
    pitfalls=(
        (
            "log K + s^2/2 is the leading order at any s",
            "only up to s^2 = 2 log K; beyond it the largest logit is what counts, and the loss "
            "stays below s sqrt(2 log K)",
            "s^2 = 768, K = 32128, 2 log K = 20.75: 114.6, below 126.3; not 394.4",
        ),
    ),
)
def loss_saturated() -> Derivation:
    return derive(Expectation(log(total(Integer(32128), Integer(768))))).by("log-sum", places=4)


@law(
    name="overflow-float16",
    family="head",
    title="e^(3 sqrt(d)) overflows float16 from d = 14",
    regime="exact; unscaled logits at three standard deviations, no maximum subtracted",
    sources=("micikevicius2018",),
    symbols=("d: the least head width at which a logit of 3 sqrt(d) overflows",),
    pitfalls=(
        (
            "softmax of unscaled logits overflows",
            "only where the exponentials are taken before the maximum is subtracted",
            "largest float16 65504: d >= 14; largest float32 3.4e38: d >= 875",
        ),
    ),
)
def overflow_float16() -> Derivation:
    return overflow((2 - Rational(1, 2**10)) * 2**15, "float16")


@law(
    name="overflow-float32",
    family="head",
    title="e^(3 sqrt(d)) overflows float32 from d = 875",
    regime="exact; unscaled logits at three standard deviations, no maximum subtracted",
    sources=("micikevicius2018",),
    symbols=("d: the least head width at which a logit of 3 sqrt(d) overflows",),
)
def overflow_float32() -> Derivation:
    return overflow((2 - Rational(1, 2**23)) * 2**127, "float32")


def overflow(largest: Expr, format: str) -> Derivation:
    """The least d at which e^(3 sqrt(d)) exceeds the largest number of a format."""
    because = f"the largest finite number of {format}"
    return (
        derive(exp(3 * sqrt(d)))
        .by("require", equals=largest, because=because)
        .by("first-integer", unknown=d)
    )
