"""Laws of label smoothing: its loss at step 0, and where it ends."""

from sympy import log

from varlaw.derivations.catalogue import law
from varlaw.derivations.head import K, k, logit, total
from varlaw.symbolic.declarations import positive
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import Term
from varlaw.symbolic.terms import Expectation, Sum

epsilon, h, o, p, r, u = positive("epsilon h o p r u")
LABEL, OTHER = (o + 1 / K) / (1 + o), 1 / (K * (1 + o))  # targets at epsilon = 1/(1 + o)


@law(
    name="loss-smoothed",
    family="head",
    title="Label smoothing leaves the loss of centred random logits at step 0 as it is",
    regime="exact, at step 0; any targets that do not depend on the logits",
    sources=("szegedy2016",),
    usual=("z: independent entries",),
    symbols=("z: the logits, N(0, s^2)", "q: the target of each class, such as a smoothed label"),
    note="What is left is the loss of hard labels: log K for equal logits, and loss-delta above.",
    pitfalls=(
        (
            "with label smoothing the loss starts elsewhere than at log K",
            "at step 0 no logit knows the label; the targets enter by the logits' mean alone",
            "zero head, K = 1000: 6.908 at epsilon = 0.1 as at 0",
        ),
    ),
)
def loss_smoothed() -> Derivation:
    crossed = Sum(Term("q", k) * logit(), (k, 1, K))
    return derive(Expectation(log(total()) - crossed)).by("linearity constants identical")


@law(
    name="label-smoothing-entropy",
    family="head",
    title="Smoothed labels have the entropy of the target as the least loss, not 0",
    regime="exact; the loss at the logits log q, where it is least (Gibbs)",
    sources=("szegedy2016",),
    symbols=(
        "p: the target of the label, 1 - epsilon + epsilon/K",
        "r: the target of each other class, so that p + (K - 1) r = 1",
        "h: the loss at the logits log p and log r",
        "epsilon: the share of the target that is spread over all classes, 0 < epsilon < 1",
    ),
    pitfalls=(
        (
            "a loss that does not fall to 0 has not converged",
            "with smoothed labels it ends at the entropy of the target",
            "epsilon = 0.1: 1.0148 at K = 1000, 1.4075 at K = 50257",
        ),
    ),
)
def label_smoothing_entropy() -> Derivation:
    return (
        derive(-p * log(p) - Sum(r * log(r), (k, 1, K - 1)))
        .by("count")
        .by("equal", to=h, because="the least loss h")
        .by("substitute", values={r: epsilon / K}, because="the share epsilon/K of another class")
    )


@law(
    name="label-smoothing-margin",
    family="head",
    title="Label smoothing ends at a finite margin: e^a = 1 + K (1 - epsilon)/epsilon",
    regime="exact; where the gradient of the loss, softmax less target, vanishes",
    sources=("szegedy2016", "muller2019"),
    symbols=(
        "u: e^a for the margin a, the label's logit less that of each other class",
        "p: the target of the label, 1 - epsilon + epsilon/K",
        "r: the target of each other class, epsilon/K",
        "epsilon: the share of the target that is spread over all classes, 0 < epsilon < 1",
        "o: (1 - epsilon)/epsilon",
    ),
    pitfalls=(
        (
            "cross-entropy pushes the logits apart without end",
            "with hard labels it does; with smoothed ones it stops",
            "epsilon = 0.1, K = 1000: a margin of log 9001 = 9.105",
        ),
    ),
)
def label_smoothing_margin() -> Derivation:
    share = (1 - epsilon) / epsilon
    return (
        derive(u * r)
        .by("require", equals=p, because="softmax makes the label u times as likely as another")
        .by("solve", unknown=u)
        .by("substitute", values={p: LABEL, r: OTHER}, because="targets at epsilon = 1/(1 + o)")
        .by("algebra", form="cancel")
        .by("variable", old=o, value=share, new=epsilon, inverse=1 / (1 + o))
    )
