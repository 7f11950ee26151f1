"""From a symptom in the first steps of training to the law behind it and a check to make.

A row is a record; nothing else has to know of it. This module imports nothing heavy.
"""

from dataclasses import dataclass

from varlaw.symbolic.names import suggestion


class UnknownSymptom(LookupError):
    """No symptom has the name."""


@dataclass(frozen=True)
class Symptom:
    """What is seen, at which step, what causes it, by which laws, and what to measure.

    `check` is a relation between things that can be measured on a model; where it holds the cause
    is present, with `healthy` in its place it is not.
    """

    name: str
    when: str
    seen: str
    cause: str
    laws: tuple[str, ...]
    check: str
    healthy: str
    remedy: str


def symptom(name: str) -> Symptom:
    """The symptom called `name`. Raises UnknownSymptom, with the nearest name."""
    known = {row.name: row for row in SYMPTOMS}
    if name not in known:
        hint = suggestion(name, known) or "; `varlaw diagnose` lists them"
        raise UnknownSymptom(f"unknown symptom {name!r}{hint}")
    return known[name]


SYMPTOMS = (
    Symptom(
        "activations-halve",
        "step 0, forward",
        "the second moment of activations halves from layer to layer of a ReLU network",
        "weights of variance 1/fan-in, which serve linear layers",
        ("lecun", "he", "depth-lecun-relu"),
        "E[h_(l+1)^2] / E[h_l^2] = 1/2",
        "1",
        "variance 2/fan-in",
    ),
    Symptom(
        "activations-shrink-sixfold",
        "step 0, forward",
        "the second moment of activations falls by a factor 6 per ReLU layer",
        "PyTorch's default for Linear: uniform within 1/sqrt(fan-in), of variance 1/(3 fan-in)",
        ("uniform-bound", "pytorch-relu-factor"),
        "fan-in Var(w) = 1/3",
        "2",
        "initialise by He's law yourself",
    ),
    Symptom(
        "activations-explode",
        "step 0, forward",
        "the second moment of activations grows by one factor per layer",
        "weights too large for the fan-in, or a fan-in misread from the stored shape",
        ("he", "depth-power"),
        "fan-in Var(w) / 2 > 1 for ReLU",
        "1",
        "variance 2/fan-in, the fan-in counted as connections of one output",
    ),
    Symptom(
        "typical-signal-decays",
        "step 0, forward",
        "the mean of the second moment over seeds is right, but most seeds are far below it",
        "finite width: the logarithm drifts by about -5/(2n) per ReLU layer of width n",
        ("depth-he-spread", "depth-he-drift"),
        "median(q_L) < E[q_L] = q_0, with depth/width not small",
        "5 depth / width < 1",
        "more width, fewer layers, or normalisation",
    ),
    Symptom(
        "tanh-fades",
        "step 0, forward",
        "activations of a tanh network fade like 1/depth",
        "weights of variance 1/fan-in keep tanh only where it is linear",
        ("tanh-decay", "tanh-fixed-point"),
        "E[h_l^2] ~ 1/(2 l)",
        "settles at 0.424 for gain 5/3",
        "gain 5/3, or 1.5925 to keep pre-activations at variance 1",
    ),
    Symptom(
        "gelu-drifts",
        "step 0, forward",
        "pre-activations of a GELU network leave variance 1, up or down, faster and faster",
        "GELU is not homogeneous; the fixed point of its layer map repels",
        ("gelu-instability", "gain-gelu"),
        "d v_(l+1) / d v_l = 1.144 at v = 1",
        "below 1",
        "normalisation; no gain repairs it",
    ),
    Symptom(
        "gradients-vanish",
        "step 0, backward",
        "the second moment of gradients falls by one factor per layer towards the input",
        "weights set by the fan-in where layers narrow, or slopes of a saturating activation",
        ("backward", "he-backward", "sigmoid-backward", "tanh-backward"),
        "fan-out Var(w) E[f'(z)^2] < 1",
        "1",
        "variance by the fan-out, or an activation with larger slopes",
    ),
    Symptom(
        "sigmoid-stalls",
        "step 0, backward",
        "gradients fall by a factor 16 or more per sigmoid layer",
        "the slope of a sigmoid is at most 1/4",
        ("sigmoid-backward-bound", "sigmoid-no-variance"),
        "E[f'(z)^2] <= 1/16",
        "1/E[f'(z)^2] made up for by the weights",
        "another activation",
    ),
    Symptom(
        "loss-above-log-k",
        "step 0, loss",
        "the first loss is above log K of K classes",
        "logits of variance s^2 at step 0 add s^2/2",
        ("loss-upper", "loss-delta"),
        "loss - log K = s^2/2, for s^2 well below log K",
        "0.1 or less",
        "a smaller or a zero head",
    ),
    Symptom(
        "stream-grows",
        "step 0, forward",
        "the std of a Pre-Norm stream grows like sqrt(depth)",
        "each branch adds its variance; this is the law, not an error",
        ("pre-norm-growth", "pre-norm-std", "gpt2-stream"),
        "Var(x_l) = Var(x_0) + l Var(F)",
        "Var(F) of a branch scaled by 1/(number of branches)",
        "scale the last layer of each branch by 1/sqrt(number of branches)",
    ),
    Symptom(
        "branches-counted-by-blocks",
        "step 0, forward",
        "the stream of a GPT-2 like model ends at twice the variance that was meant",
        "1/sqrt(blocks) in place of 1/sqrt(branches); a block has two branches",
        ("block-scaling", "block-scaling-by-blocks", "gpt2-stream-by-blocks"),
        "std of the projections = 0.02/sqrt(blocks)",
        "0.02/sqrt(2 blocks)",
        "count every addition to the stream",
    ),
    Symptom(
        "early-layers-fade",
        "step 0, forward",
        "in a Post-Norm model the input is hardly seen behind many layers",
        "every norm divides the stream by sqrt(1 + s^2)",
        ("post-norm-decay", "post-norm-identity-path"),
        "weight of x_0 = product over branches of (1 + Var(F_k))^(-1/2)",
        "near 1 for small branches",
        "smaller branches at initialisation, or Pre-Norm",
    ),
    Symptom(
        "attention-saturates",
        "step 0, attention",
        "one key takes nearly all of the attention at step 0",
        "logits of variance d: the division by sqrt(d) is missing",
        ("attention-qk", "attention-scaled"),
        "Var(q.k) = d",
        "1 after the division",
        "divide by sqrt(d), or give the queries variance 1/d as T5 does",
    ),
    Symptom(
        "attention-uniform",
        "step 0, attention",
        "attention is uniform, logits are near 0",
        "scaled twice, or queries and keys of small variance (0.24 each in BERT)",
        ("attention-scaled", "bert-attention"),
        "Var(logit) = 1/d, or 0.056",
        "1",
        "scale once; small logits at step 0 are harmless",
    ),
    Symptom(
        "projections-fused",
        "step 0, attention",
        "logits have a quarter of the variance they should have, values half",
        "Xavier on the fused weight of queries, keys, values: a fan-out three times too large",
        ("xavier", "fused-qkv-variance", "fused-qkv-logits"),
        "Var(w) = 1/(2 d) at width d",
        "1/d",
        "initialise the three blocks apart, or with gain sqrt(2)",
    ),
    Symptom(
        "std-twelve-percent-low",
        "step 0, weights",
        "weights have 88 % of the standard deviation that was asked for",
        "a normal law truncated at two standard deviations",
        ("truncated-normal-factor", "truncated-normal-correction"),
        "Var(w) = 0.7737 s^2",
        "s^2",
        "sample with 1.1368 s",
    ),
    Symptom(
        "norm-output-small",
        "step 0, forward",
        "the output of a normalisation has a standard deviation below 1",
        "inputs so small that eps counts",
        ("norm-moment", "norm-epsilon-outside"),
        "Var(output) = v/(v + eps) for an input of variance v",
        "1",
        "a smaller eps, or inputs of larger scale",
    ),
    Symptom(
        "branch-never-learns",
        "step 1, backward",
        "a branch initialised at zero gets no gradient at all",
        "its first layer is zero: ReLU passes nothing on, forward or backward",
        ("zero-first-layer-relu", "zero-last-layer"),
        "gradients of both layers = 0",
        "a gradient for the last layer",
        "zero the last layer, not the first",
    ),
    Symptom(
        "updates-grow-with-width",
        "steps 1 to 10",
        "with Adam at one learning rate, wider models change their features more per step",
        "the n entries of an update add up coherently",
        ("adam-coherent", "relative-update-adam"),
        "|change of features| ~ n at fixed learning rate",
        "constant in n",
        "learning rate of hidden layers as 1/n",
    ),
    Symptom(
        "first-steps-full-size",
        "step 1, optimiser",
        "Adam's first step moves every weight by the learning rate, however small the gradient",
        "bias correction makes the first step the sign of the gradient",
        ("adam-first-step",),
        "|w_1 - w_0| = eta for every entry",
        "falls to about 0.23 eta on noise later",
        "warm the learning rate up",
    ),
    Symptom(
        "half-precision-overflows",
        "step 0, attention",
        "exp of unscaled logits overflows in half precision",
        "three standard deviations of an unscaled logit are 3 sqrt(d)",
        ("overflow-float16",),
        "exp(3 sqrt(d)) > 65504",
        "exp(3) = 20.1",
        "divide by sqrt(d), and subtract the largest logit",
    ),
)
