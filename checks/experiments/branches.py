"""Experiments on real residual branches and on BERT's identity path."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.random import Generator
from sympy import Expr, Integer, sqrt

from varlaw.checks.experiments.activations import exact_of, found, value
from varlaw.checks.experiments.forward import SIGNS, multiply
from varlaw.checks.experiments.moments import Number, exact
from varlaw.checks.experiments.registry import (
    ANY,
    NON_GAUSSIAN,
    SYMMETRIC,
    Case,
    Draws,
    Trial,
    experiment,
)
from varlaw.checks.experiments.stacks import (
    Branch,
    Drawn,
    Stack,
    attention,
    gelu_layers,
    linear,
    outputs,
    rectified,
)
from varlaw.checks.experiments.truncation import within
from varlaw.checks.statistics.sampling import LAWS, Law, Shape
from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.gaussian.moment import moment
from varlaw.symbolic.terms import Expectation, IndexSum

NORMAL = ("normal",)
CENTRED = LAWS["rademacher"]
THREE = (Fraction(1, 2), Fraction(2), Fraction(1))  # variances of three branches


@dataclass(frozen=True)
class Truncated(Law):
    """A normal law truncated at two standard deviations, standardised again."""

    name: str = "truncated"
    symmetric: bool = True
    gaussian: bool = False
    bound: float | None = 2.28

    @cached_property
    def factor(self) -> float:
        """What truncation leaves of the variance."""
        return float(moment("x^2", given="|x| < 2").digits().digits)

    def moment(self, k: int) -> Fraction:
        raw = float(moment(f"x^{k}", given="|x| < 2").digits().digits)
        return Fraction(raw / self.factor ** (k / 2))

    def sample(self, rng: Generator, shape: Shape) -> Draws:
        wanted = (shape,) if isinstance(shape, int) else shape
        return within(-2.0, 2.0, rng, wanted) / self.factor**0.5


TRUNCATED = Truncated()
BERT = 0.02**2 * TRUNCATED.factor  # the variance of a weight of BERT, from its sampler
WIDTH, HIDDEN = 768, 3072


def one_branch(branch: Branch, claim: Number, wrong: Mapping[str, Number | float]) -> Trial:
    """The mean over the units of F^2, behind a fixed input of second moment 1."""

    def draw(rng: Generator, replicates: int) -> Draws:
        h = SIGNS.sample(rng, (branch.width, replicates))
        return np.asarray(np.mean(branch.draw(rng, h) ** 2, axis=0))

    spread = branch.fourth / branch.width**2 - branch.second**2
    others = {name: exact_of(number) for name, number in wrong.items()}
    return Trial(draw, branch.width + branch.numbers, claim, spread, others)


@experiment(
    law="relu-branch",
    quantity="E[F^2]",
    weights=SYMMETRIC,
    d=3,
    n=6,
    v=Fraction(5, 2),
    s=Fraction(2, 3),
)
def relu_branch(case: Case) -> Trial:
    width, hidden, v, s = case.size("d"), case["n"], case["v"], case["s"]
    first, last = Drawn(case.weights, float(v) / width), Drawn(case.weights, float(s))
    branch = rectified(first, last, width, case.size("n"))
    wrong = {
        "n s v, linear": hidden * s * v,
        "s v/2, of one unit": s * v / 2,
        "n s v (1 - 1/pi)/2, the variance of ReLU's output": float(hidden * s * v)
        * (1 - 1 / np.pi)
        / 2,
    }
    return one_branch(branch, case.claim(), wrong)


@experiment(law="residual-he-branch", quantity="E[F^2]/E[x^2]", weights=SYMMETRIC, d=5, n=7)
def he_branch(case: Case) -> Trial:
    wrong = {
        "1, as with 1/n in the last layer": 1,
        "4, as without ReLU": 4,
        "sqrt(2)": sqrt(2),
        "2 (1 - 1/pi), the variance of ReLU's output": 2 * (1 - 1 / np.pi),
    }
    return one_branch(he_layers(case), case.claim(), wrong)


def he_layers(case: Case) -> Branch:
    width, hidden = case.size("d"), case.size("n")
    first, last = Drawn(case.weights, 2 / width), Drawn(case.weights, 2 / hidden)
    return rectified(first, last, width, hidden)


def last_square(stack: Stack, claim: Number, wrong: Mapping[str, Number], unit: float = 1) -> Trial:
    """`unit` times the mean square of x_l."""

    def draw(rng: Generator, replicates: int) -> Draws:
        _, last = stack.ends(rng, replicates)
        return np.asarray(unit * np.mean(last**2, axis=0))

    spread = unit**2 * stack.size_variance(len(stack.branches))
    others = {name: exact_of(number) for name, number in wrong.items()}
    return Trial(draw, stack.numbers, claim, spread, others, work=stack.work)


@experiment(law="pre-norm-he", quantity="Var(x_l)", weights=SYMMETRIC, d=4, n=6, l=3)
def he_stream(case: Case) -> Trial:
    l = case["l"]  # noqa: E741
    stack = Stack([he_layers(case)] * case.size("l"), CENTRED)
    wrong = {"1 + l": 1 + l, "3^l, without Norm": 3**l, "2 l": 2 * l, "1 + 4 l": 1 + 4 * l}
    return last_square(stack, case.claim(), wrong)


@experiment(
    law="pre-norm-share",
    quantity="r_t E[x_t^2]/E[F_t^2]",
    weights=("normal", "uniform"),  # of discrete ones, x_t may be 0, which has no Norm
    d=4,
    t=2,
)
def share(case: Case) -> Trial:
    t = case["t"]
    stack = Stack(
        [linear(Drawn(case.weights, 1 / case.size("d")), case.size("d"))] * int(t), CENTRED
    )
    unit = float(case.claim())
    wrong = {
        "1, as if all weighed the same": t + 1,
        "1/t": (t + 1) / t,
        "1/(t + 2)": (t + 1) / (t + 2),
        "1/sqrt(t + 1), the std": sqrt(t + 1),
        "2^-t": (t + 1) / 2**t,
    }
    wrong = {f"share {name}": 1 / number for name, number in wrong.items()}
    return last_square(stack, 1, wrong, unit)


def three_branches(case: Case) -> Stack:
    width = case.size("d")
    branches = [linear(Drawn(case.weights, float(s) / width), width) for s in THREE]
    return Stack(branches, CENTRED, divisors=[float(1 + s) ** 0.5 for s in THREE])


def at_branches(case: Case, weight: Expr, **more: Number) -> Expr:
    """A weight of the statement for three branches, with their second moments put in."""
    given = case.at(weight, None, l=len(THREE), **more)
    squares = {e: exact(THREE[int(*e.args[0].base.indices)]) for e in given.atoms(Expectation)}
    return given.xreplace(squares)


@experiment(law="post-norm-identity-path", quantity="weight of x_0", weights=NON_GAUSSIAN, d=4)
def path_of_start(case: Case) -> Trial:
    """E[x_l x_0]/E[x_0^2] behind branches of three different variances."""
    stack, rhs = three_branches(case), case.law.statement.rhs.expand()
    (start,) = (e for e in rhs.atoms(Entry) if e.array.name == "x")
    kept = at_branches(case, rhs.coeff(start))

    def draw(rng: Generator, replicates: int) -> Draws:
        first, last = stack.ends(rng, replicates)
        return np.asarray(np.mean(first * last, axis=0))

    mean = sum(THREE) / 3
    wrong = {
        "its square": kept**2,
        "2^(-l/2), as at unit branches": 2 ** (-Integer(3) / 2),
        "(1 + mean variance)^(-l/2)": (1 + exact(mean)) ** (-Integer(3) / 2),
        "Prod (1 + sqrt(s))^-1, stds added": 1
        / float(np.prod([1 + float(s) ** 0.5 for s in THREE])),
        "1, as in Pre-Norm": 1,
    }
    others = {name: exact_of(number) for name, number in wrong.items()}
    return Trial(draw, stack.numbers, kept, stack.overlap_variance(), others, work=stack.work)


@experiment(law="post-norm-identity-path", quantity="weight of F_1", weights=NON_GAUSSIAN, d=4)
def path_of_branch(case: Case) -> Trial:
    """E[x_l F_1]/E[F_1^2] for the second of three branches."""
    stack, rhs = three_branches(case), case.law.statement.rhs.expand()
    (total,) = rhs.atoms(IndexSum)
    (branch,) = (f for f in total.summand.args if isinstance(f, Entry))
    (k,) = total.bound
    weight = rhs.coeff(total) * total.summand.coeff(branch)
    kept = at_branches(case, weight, **{k.name: 1})
    unit = 1 / float(THREE[1])

    def draw(rng: Generator, replicates: int) -> Draws:
        (_, _), (_, _), (_, added), (last, _) = stack.run(rng, replicates)
        return np.asarray(unit * np.mean(added * last, axis=0))

    wrong = {
        "without its own Norm": kept * sqrt(1 + exact(THREE[1])),
        "without the Norm of the last layer": kept * sqrt(1 + exact(THREE[2])),
        "that of x_0": kept / sqrt(1 + exact(THREE[0])),
        "1, as in Pre-Norm": 1,
    }
    spread = unit**2 * stack.branch_variance(1)
    return Trial(draw, stack.numbers, kept, spread, wrong, work=stack.work)


@experiment(
    law="gelu-branch",
    quantity="E[F^2]",
    weights=ANY,
    d=3,
    n=6,
    v=Fraction(5, 2),
    s=Fraction(2, 3),
)
def gelu_branch(case: Case) -> Trial:
    """Gaussian first layers at variance v/d, last layers of any law of second moment s."""
    hidden, v, s = case["n"], case["v"], case["s"]
    last = Drawn(case.weights, float(s))
    branch = gelu_layers(float(v), last, case.size("d"), case.size("n"))
    wrong = {
        "n s v/2, as for ReLU": hidden * s * v / 2,
        "n s v E[gelu(z)^2] at v = 1": float(hidden * s * v) * value("gelu(x)^2"),
        "s E[gelu^2], of one unit": branch.second / float(hidden),
        "n s v, linear": hidden * s * v,
    }
    return one_branch(branch, case.claim(), wrong)


@experiment(
    law="attention-branch",
    quantity="E[F^2]",
    weights=ANY,
    d=4,
    s=Fraction(2, 3),
)
def attention_branch(case: Case) -> Trial:
    """Three tokens of random signs attended to with weights 1/2, 1/3 and 1/6."""
    width, attended = case.size("d"), (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))
    weights = Drawn(case.weights, float(case["s"]))
    r = sum(p**2 for p in attended)
    inputs = width * (3 * r**2 - 2 * sum(p**4 for p in attended)) + width * (width - 1) * r**2

    def draw(rng: Generator, replicates: int) -> Draws:
        tokens = CENTRED.sample(rng, (len(attended), width, replicates))
        a = np.einsum("t,tdr->dr", [float(p) for p in attended], tokens)
        values = multiply(a, weights.sample(rng, (width, width, replicates)))
        f = multiply(values, weights.sample(rng, (width, width, replicates)))
        return np.asarray(np.mean(f**2, axis=0))

    claim, s = case.claim(r=r), case["s"]
    grown = outputs(width, weights.kurtosis) * weights.variance**2  # of |.|^4 through one layer
    spread = grown**2 * float(inputs) / width**2 - float(claim) ** 2
    d, several = case["d"], exact(r)
    wrong = {
        "d^2 s^2, of one token": d**2 * s**2,
        "d s^2 r, one sum short": d * s**2 * several,
        "d s r, of one layer": d * s * several,
        "d^2 s^2 r^2": d**2 * s**2 * several**2,
        "d^2 s^2/3, as if attended alike": d**2 * s**2 / 3,
    }
    return Trial(draw, width * (3 + 2 * width), claim, spread, wrong)


def bert_branch(width: int, hidden: int) -> Branch:
    """BERT's feed-forward branch with less units and larger weights: one product of both."""
    last = Drawn(TRUNCATED, BERT * HIDDEN / hidden)
    return gelu_layers(WIDTH * BERT, last, width, hidden)


def bert_attention_branch(width: int) -> Branch:
    weights = Drawn(TRUNCATED, BERT * WIDTH / width)
    return attention(weights, weights, width)


@experiment(law="bert-feed-forward", quantity="E[F^2]", weights=NORMAL)
def bert_feed_forward(case: Case) -> Trial:
    """Last layers truncated as BERT's are; the first Gaussian, of the same variance."""
    plain = HIDDEN * 0.0004 * value("gelu(x)^2", Fraction(WIDTH * 0.0004))
    wrong = {
        "1, as large as the stream": 1,
        "without truncation": plain,
        "with v/2 for E[gelu^2], as for ReLU": HIDDEN * WIDTH * BERT**2 / 2,
        "with weights of variance 0.02": 50 * float(case.claim()),
    }
    return one_branch(bert_branch(4, 16), case.claim(), wrong)


@experiment(law="bert-attention", quantity="E[F^2]", weights=NORMAL)
def bert_attention(case: Case) -> Trial:
    wrong = {
        "1, as large as the stream": 1,
        "without truncation": (WIDTH * 0.0004) ** 2,
        "one layer": WIDTH * BERT,
        "that of the feed-forward branch": found("bert-feed-forward"),
    }
    return one_branch(bert_attention_branch(6), case.claim(), wrong)


def bert_path(case: Case, kinds: tuple[Branch, ...], wrong: Mapping[str, Number | float]) -> Trial:
    """The weight of x_0 after 12 blocks, E[x_l x_0]/E[x_0^2]."""
    branches = [branch for _ in range(12) for branch in kinds]
    stack = Stack(branches, CENTRED, divisors=[(1 + b.second) ** 0.5 for b in branches])

    def draw(rng: Generator, replicates: int) -> Draws:
        first, last = stack.ends(rng, replicates)
        return np.asarray(np.mean(first * last, axis=0))

    others = {name: exact_of(number) for name, number in wrong.items()}
    others |= {"2^-12": Fraction(1, 2**12), "1, as in Pre-Norm": Fraction(1)}
    others |= {"its square": exact_of(float(case.claim()) ** 2)}
    spread = stack.overlap_variance()
    return Trial(draw, stack.numbers, case.claim(), spread, others, work=stack.work)


@experiment(law="bert-identity-path-least", quantity="weight of x_0", weights=NORMAL)
def bert_least(case: Case) -> Trial:
    kinds = bert_attention_branch(2), bert_branch(2, 2)
    return bert_path(case, kinds, {"that without attention": found("bert-identity-path-most")})


@experiment(law="bert-identity-path-most", quantity="weight of x_0", weights=NORMAL)
def bert_most(case: Case) -> Trial:
    wrong = {"that with attention": found("bert-identity-path-least")}
    return bert_path(case, (bert_branch(2, 2),), wrong)
