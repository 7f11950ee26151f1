"""Laws of what enters a Transformer and steers it: positions, gates, adapters, real logits."""

from sympy import Integer, Symbol, cos, sin

from varlaw.derivations.attention import attention_projection, attention_scaled
from varlaw.derivations.attention import c as scale
from varlaw.derivations.attention import m as model
from varlaw.derivations.attention import s2 as weight
from varlaw.derivations.branches import DRAWN
from varlaw.derivations.catalogue import law
from varlaw.symbolic.activations import silu
from varlaw.symbolic.declarations import (
    dimensions,
    indices,
    positive,
    random_array,
    random_variable,
)
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import Term, named
from varlaw.symbolic.terms import Expectation, Slope, Sum, Variance, indicator

d, n, r = dimensions("d n r")
i, j, k = indices("i j k")
q, s, v, u2, f, g = positive("q s v u2 f g")
mu, theta = (Symbol(name, real=True) for name in ("mu", "theta"))


@law(
    name="embedding-scaled",
    family="sampling",
    title="Embeddings of variance 1/d are multiplied by sqrt(d) to have second moment 1",
    regime="at initialisation, exactly",
    sources=("vaswani2017",),
    usual=("u: Gaussian", "u: independent entries"),
    symbols=(
        "u: an entry of a token's embedding",
        "s: its second moment",
        "f: the factor",
        "d: the width",
    ),
    pitfalls=(
        (
            "sqrt(d) makes embeddings large beside the positions",
            "it makes them as large: without it they would be sqrt(d) times smaller",
            "second moment 1 beside 1/2 of sinusoidal positions; 1/512 without the factor",
        ),
    ),
)
def embedding_scaled() -> Derivation:
    u = random_array("u", mean=0, second_moment="s")
    return (
        derive(Expectation((f * u[i]) ** 2))
        .by("constants identical")
        .by("substitute", values={s: 1 / d}, because="embeddings of variance 1/d")
        .by("require", equals=Integer(1), because="what enters the stream has second moment 1")
        .by("solve", unknown=f)
    )


@law(
    name="sinusoidal-positions",
    family="sampling",
    title="Sinusoidal positions have mean square exactly 1/2, at every position",
    regime="exact",
    sources=("vaswani2017",),
    symbols=("n: the number of frequencies, half the width", "a_i: the angle at frequency i"),
    pitfalls=(
        (
            "positions and embeddings have equal size",
            "scaled embeddings have second moment 1, positions 1/2: two thirds and one third",
            "the stream starts at second moment 3/2",
        ),
    ),
)
def sinusoidal_positions() -> Derivation:
    angle = Term("a", i)
    return derive(Sum(sin(angle) ** 2 + cos(angle) ** 2, (i, 1, n)) / (2 * n)).by("circle count")


@law(
    name="rotary-positions",
    family="attention",
    title="Rotary positions leave the second moment of queries and keys alone",
    regime="exact, for entries of one second moment that are uncorrelated within a pair",
    sources=("su2024",),
    usual=("x: Gaussian", "x: independent entries"),
    symbols=(
        "x: a pair of entries of a query or key",
        "theta: the angle of its rotation, position times frequency",
        "y: the first entry of the rotated pair",
    ),
    note="A rotation keeps the length of the pair in every draw; that each entry keeps its own "
    "second moment needs the two to be alike and uncorrelated.",
    pitfalls=(
        (
            "rotary positions add to queries and keys as others do to the stream",
            "they turn them: lengths, and the variance d of q.k at initialisation, stay",
            "E[y^2] = E[x^2] at any angle",
        ),
    ),
)
def rotary_positions() -> Derivation:
    x, z = (random_variable(name, mean=0, second_moment=q) for name in ("x", "z"))
    y = named("y", cos(theta) * x - sin(theta) * z)
    return derive(Expectation(y**2)).by(
        "unfold expand linearity constants independence identical circle"
    )


@law(
    name="gated-unit",
    family="activation",
    title="A gate multiplies second moments: E[(f b)^2] = E[f^2] E[b^2]",
    regime="at initialisation; exact for a gate and a value that are independent given the input",
    sources=("shazeer2020",),
    usual=("f: zero mean", "b: Gaussian"),
    symbols=(
        "f: the output of the gate's activation, of second moment v",
        "b: the value that it gates, of second moment u2",
        "v, u2: E[f^2] and E[b^2]",
    ),
    note="Given the input, independent weights make gate and value independent; over inputs of one "
    "length, as behind a Norm, so they are altogether.",
    pitfalls=(
        (
            "a gated unit needs the gain of its activation",
            "the value that it multiplies has a second moment of its own",
            "SwiGLU at unit pre-activations: 0.35578, so a gain of 1.6765 in the next layer",
        ),
    ),
)
def gated_unit() -> Derivation:
    gate, b = random_array("f", second_moment=v), random_array("b", second_moment=u2)
    return derive(Expectation((gate[j] * b[j]) ** 2)).by("independence identical")


@law(
    name="swiglu",
    family="activation",
    title="SwiGLU at unit pre-activations leaves second moment 0.35578",
    regime="gate and value N(0, 1), independent; exact for Gaussian weights given the input",
    sources=("shazeer2020",),
    rests_on=("gated-unit",),
    symbols=("z: the gate's pre-activation", "b: the value, of second moment 1"),
    pitfalls=(
        (
            "SwiGLU behaves like SiLU with twice the weights",
            "its output is centred, since the value is, so that second moment and variance agree",
            "E = 0, variance 0.35578; SiLU has mean 0.20662 and variance 0.31308",
        ),
    ),
)
def swiglu() -> Derivation:
    z = random_variable("z", mean=0, variance=1, gaussian=True)
    b = random_variable("b", mean=0, second_moment=1)
    return (
        derive(Expectation((silu(z) * b) ** 2)).by("independence identical").by("digits", places=15)
    )


@law(
    name="attention-qk-means",
    family="attention",
    title="Entries of mean mu and variance v: q.k has variance d v (v + 2 mu^2) about d mu^2",
    regime="exactly at finite width; all entries independent",
    sources=("vaswani2017",),
    usual=("q: Gaussian", "k: Gaussian"),
    symbols=("mu, v: the mean and the variance of the entries of q and k",),
    note="The source is background: it takes means of 0.",
    pitfalls=(
        (
            "the variance of q.k is d",
            "with means it is larger, and the logits have a mean that grows like d",
            "d = 64, mean 1/2, variance 1: variance 96 about 16",
        ),
    ),
)
def attention_qk_means() -> Derivation:
    query, key = (random_array(name, mean=mu, variance=v) for name in "qk")
    a = named("a", Sum(query[i] * key[i], (i, 1, d)))
    return (
        derive(Variance(a))
        .by("moments unfold expand linearity independence coincidence independence identical count")
        .by("algebra", form="factor")
    )


@law(
    name="attention-bert",
    family="attention",
    title="BERT's scaled logits have variance 0.0565, not 1",
    regime="at initialisation, exactly; inputs of second moment 1, as behind LayerNorm",
    sources=("devlin2019", "vaswani2017"),
    rests_on=("attention-projection", "attention-scaled", "truncated-normal-factor"),
    symbols=(
        "v: the variance of an entry of the query or the key, 768 times that of a weight",
        "a: the scaled logit",
    ),
    pitfalls=(
        (
            "dividing by sqrt(d) makes the logits' variance 1",
            "only where queries and keys have variance 1; in BERT theirs is 0.2377",
            "std 0.2377: attention is all but uniform at the start",
        ),
    ),
)
def attention_bert() -> Derivation:
    spread = attention_projection.derivation.end.subs({model: 768, weight: DRAWN})
    query = random_array("q", mean=0, variance=v, independent=False)
    key = random_array("k", mean=0, variance=v)
    return (
        derive(Variance(named("a", scale * Sum(query[i] * key[i], (i, 1, d)))))
        .by("moments unfold expand linearity constants independence")
        .by("kronecker", array="k")
        .by("collapse identical count")
        .by(
            "substitute",
            values={scale: attention_scaled.derivation.end, v: spread},
            because="c as found (attention-scaled), v at BERT's weights (attention-projection)",
        )
        .by("digits", places=12)
    )


@law(
    name="logits-outside",
    family="softmax",
    title="Some of n standard normal logits lies beyond three std with chance 1 - erf(3/sqrt(2))^n",
    regime="exact for independent normal logits",
    sources=("boucheron2013",),
    symbols=("a: the logits", "p: the chance that one of them lies within three std, 0.99730"),
    note="Logits q.k of one query share its length: given it they are N(0, |q|^2), and that length "
    "spreads. At d = 64 the chance of 512 keys is 0.679; taken as independent, with the law that "
    "one of them has (0.99670 within three std), it would be 0.816; in the limit of wide heads "
    "0.749.",
    pitfalls=(
        (
            "logits range from -3 sqrt(d) to 3 sqrt(d)",
            "one of them does in 99.7 % of all cases; the more keys, the less all of them do",
            "64 keys: 0.159, 512: 0.749, 1024: 0.937, for independent normal logits",
        ),
        (
            "some of 512 logits lies outside with probability 0.82",
            "that takes logits of d = 64 for independent, though they share their query",
            "0.679 at d = 64; 0.749 for independent normal logits",
        ),
    ),
)
def logits_outside() -> Derivation:
    a = random_variable("a", mean=0, variance=1, gaussian=True)
    inside = indicator(a - 3, "<") * indicator(a + 3, ">")
    return derive(1 - Expectation(inside) ** n).by("normal")


@law(
    name="lora",
    family="scaling",
    title="LoRA: with B = 0 behind a random A, B has a gradient and the model is unchanged",
    regime="at initialisation, exactly at finite rank",
    sources=("hu2022",),
    usual=("x: zero mean",),
    symbols=(
        "a: the weights A of the adapter's first map, random, of second moment s",
        "b: the weights B of its second map, all 0",
        "r: the rank",
        "p: the derivative of the loss by the output y, of second moment g",
        "q: the second moment of the input x",
    ),
    note="Without an activation the other way round works as well: A = 0 behind which B is random.",
    pitfalls=(
        (
            "both maps of an adapter should start at 0",
            "then neither has a gradient; one of the two has to be random",
            "E of B's squared gradient is d g q s, A's is 0 at the first step",
        ),
    ),
)
def lora() -> Derivation:
    x = random_array("x", second_moment=q, independent=False)
    p = random_array("p", second_moment=g, independent=False)
    a = random_array("a", mean=0, second_moment=s)
    b = random_array("b", mean=0, second_moment=0)
    h = named("h", Sum(x[k] * a[k, j], (k, 1, d)), j)
    y = named("y", x[i] + Sum(h * b[j, i], (j, 1, r)), i)
    index, out = indices("l m")
    return (
        derive(Expectation(Sum(p[i] * Slope(y, b[index, out]), (i, 1, d)) ** 2))
        .by("chain-rule unfold expand linearity independence")
        .by("kronecker", array="a")
        .by("collapse identical count")
    )


@law(
    name="lora-rank",
    family="scaling",
    title="LoRA scaled by 1/sqrt(r): the first step of B moves the output as much at any rank",
    regime="at the first step of SGD, in expectation over A; exactly at finite rank",
    sources=("kalajdzievski2023", "hu2022"),
    usual=("x: zero mean",),
    symbols=(
        "a: the weights A of the adapter's first map, random, of second moment s",
        "b: the weights B of its second map, all 0",
        "c: the factor of the adapter",
        "r: the rank",
        "q: the second moment of the input x",
    ),
    note="A step -eta p on the output y moves it by -eta p times the sum of the squared slopes.",
    pitfalls=(
        (
            "alpha/r makes a learning rate fit for any rank",
            "the sum over the rank and the square of the factor leave 1/r of the movement; "
            "alpha/sqrt(r) keeps it",
            "at rank 64 with alpha/r a 64th of the movement at rank 1",
        ),
    ),
)
def lora_rank() -> Derivation:
    x = random_array("x", second_moment=q, independent=False)
    a = random_array("a", mean=0, second_moment=s)
    b = random_array("b", mean=0, second_moment=0)
    h = named("h", Sum(x[k] * a[k, j], (k, 1, d)), j)
    y = named("y", x[i] + scale * Sum(h * b[j, i], (j, 1, r)), i)
    index = indices("l")
    return (
        derive(Expectation(Sum(Slope(y, b[index, i]) ** 2, (index, 1, r))))
        .by("chain-rule unfold expand linearity independence")
        .by("kronecker", array="a")
        .by("collapse identical count")
        .by("require", equals=d * q * s, because="as much as at rank 1, unscaled")
        .by("solve", unknown=scale)
    )
