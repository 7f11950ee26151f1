"""Laws of the first loss of real heads, and of its gradient at the logits."""

from sympy import Expr, Integer, Rational, log, sqrt

from varlaw.derivations.catalogue import law
from varlaw.derivations.head import K, d, head_logits, k, s2, total
from varlaw.symbolic.declarations import indices, positive, random_variable
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import named
from varlaw.symbolic.terms import Delta, Expectation, Slope, Sum

y = indices("y")
v = positive("v")


def logits_of(width: int, variance: Expr) -> Expr:
    """The variance of the logits on features of second moment 1 (head-logits)."""
    return head_logits.derivation.end.subs({d: width, s2: variance})


def excess(classes: int, variance: Expr) -> Derivation:
    """By how much the loss of centred logits exceeds log K at step 0, in digits."""
    loss = Expectation(log(total(Integer(classes), variance)))
    return derive(loss).by("log-sum", places=8)


@law(
    name="head-gpt2",
    family="head",
    title="GPT-2 small: tied embeddings of std 0.02 give logits of std 0.5543, at any depth",
    regime="at initialisation, d = 768, behind the final LayerNorm",
    sources=("radford2019",),
    rests_on=("head-logits",),
    symbols=("v: the variance of a logit, 768 * 0.02^2",),
    pitfalls=(
        (
            "a stream that grows with the depth makes the logits grow",
            "the final LayerNorm divides its scale out; what is left is the head's own",
            "sqrt(768) * 0.02 = 0.55426 for 6 blocks as for 48, scaled or not",
        ),
    ),
)
def head_gpt2() -> Derivation:
    return (
        derive(sqrt(named("v", logits_of(768, Rational(1, 2500)))))
        .by("earlier")
        .by("digits", places=12)
    )


@law(
    name="loss-gpt2",
    family="head",
    title="GPT-2's loss at step 0 is 10.9785, 0.1536 above log 50257",
    regime="exact for normal logits of variance 0.3072, at step 0",
    sources=("radford2019", "karpathy2019"),
    rests_on=("head-gpt2", "loss-upper"),
    symbols=("z: the logits, N(0, 0.3072) over 50257 tokens",),
    pitfalls=(
        (
            "a fresh language model starts at log V",
            "it starts s^2/2 above it: what counts as broken is more than that",
            "log 50257 = 10.82491, and 10.97850 with s^2 = 0.3072",
        ),
    ),
)
def loss_gpt2() -> Derivation:
    return excess(50257, logits_of(768, Rational(1, 2500)))


@law(
    name="loss-he-head",
    family="head",
    title="He's variance in a head of 1000 classes on 512 features: a loss of 7.9046 at step 0",
    regime="exact for normal logits of variance 2, at step 0",
    sources=("karpathy2019", "he2015"),
    rests_on=("head-logits", "loss-one-nat"),
    symbols=("z: the logits, N(0, 2): weights of std 1/16 on 512 features of second moment 1",),
    pitfalls=(
        (
            "He's variance is comparable with the threshold of one nat, above or below",
            "it is below by a hair",
            "0.99688 above log 1000 = 6.90776, at std 1/16; one nat at std 0.062598",
        ),
    ),
)
def loss_he_head() -> Derivation:
    return excess(1000, logits_of(512, Rational(2, 512)))


@law(
    name="loss-small-head",
    family="head",
    title="A head of std 0.02 on 512 features, 1000 classes: a loss of 7.0100 at step 0",
    regime="exact for normal logits of variance 0.2048, at step 0",
    sources=("karpathy2019",),
    rests_on=("head-logits",),
    symbols=("z: the logits, N(0, 0.2048)",),
    pitfalls=(
        (
            "the excess over log K grows like the logits' std",
            "like half their variance, as long as that is small",
            "0.10229 at variance 0.2048, of which half is 0.1024",
        ),
    ),
)
def loss_small_head() -> Derivation:
    return excess(1000, logits_of(512, Rational(1, 2500)))


@law(
    name="loss-gradient",
    family="head",
    title="At equal logits the gradient of the loss at the logits has squared norm (K - 1)/K",
    regime="exactly, before the first step; one sample, whatever its label",
    sources=("karpathy2019",),
    rests_on=("loss-zero-head",),
    symbols=("y: the label", "b_k: the gradient at logit k, 1/K less 1 at the label"),
    note="Its root mean square over the K logits is sqrt(K - 1)/K.",
    pitfalls=(
        (
            "a uniform prediction has no gradient",
            "nearly all of it sits on the label's own logit: 1/K - 1",
            "squared norm 0.999 at K = 1000; rms over the logits sqrt(999)/1000 = 0.0316",
        ),
    ),
)
def loss_gradient() -> Derivation:
    entry = named("b", 1 / K - Delta(k, y), k)
    return (
        derive(Sum(entry**2, (k, 1, K)))
        .by("unfold algebra constants collapse count")
        .by("algebra", form="factor")
    )


@law(
    name="mse-gradient",
    family="head",
    title="Squared error of outputs and targets of variance v: the gradient has second moment 8 v",
    regime="exactly, before the first step; outputs uncorrelated with the targets",
    sources=("blake2023",),
    usual=("y: Gaussian", "t: Gaussian", "t: zero mean"),
    symbols=("y: an output", "t: its target", "v: the variance of each"),
    pitfalls=(
        (
            "targets of variance 1 make the gradient of the squared error one of size 1",
            "the slope 2 and the variances of both enter",
            "root mean square sqrt(8) = 2.828, which unit scaling divides by",
        ),
    ),
)
def mse_gradient() -> Derivation:
    t = random_variable("t", second_moment=v)
    y = random_variable("y", mean=0, variance=v, uncorrelated_with=[t.array])
    gradient = Slope((y - t) ** 2, y)
    return derive(Expectation(gradient**2)).by("chain-rule expand linearity uncorrelated identical")
