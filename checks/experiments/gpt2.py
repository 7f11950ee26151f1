"""Experiments on GPT-2's stream, at small widths with the products of width and variance kept."""

from collections.abc import Mapping

import numpy as np
from numpy.random import Generator

from varlaw.checks.experiments.activations import exact_of, found
from varlaw.checks.experiments.branches import HIDDEN, WIDTH, last_square, one_branch
from varlaw.checks.experiments.moments import Number
from varlaw.checks.experiments.registry import ANY, NON_GAUSSIAN, Case, Draws, Trial, experiment
from varlaw.checks.experiments.scaling import SIGNED
from varlaw.checks.experiments.stacks import Branch, Drawn, Stack, attention, gelu_layers

GPT2 = 0.02**2  # the variance of a weight of GPT-2


@experiment(law="gpt2-embeddings", quantity="E[(u + p)^2 - u^2]", weights=ANY)
def gpt2_embeddings(case: Case) -> Trial:
    """What the positions add to the tokens' 0.0004, in the mean over 16 entries."""
    stds, width = (0.02, 0.01), 16

    def draw(rng: Generator, replicates: int) -> Draws:
        u, p = (std * case.weights.sample(rng, (width, replicates)) for std in stds)
        return np.asarray(np.mean((u + p) ** 2 - u**2, axis=0))

    (u, p), fourth = (std**2 for std in stds), float(case.weights.moment(4))
    spread = ((fourth - 1) * p**2 + 4 * u * p) / width
    wrong = {
        "both of std 0.02": 2 * u,
        "tokens alone": u,
        "stds added": (stds[0] + stds[1]) ** 2,
        "0.02 as a variance": 0.02,
    }
    told = {name: exact_of(number - u) for name, number in wrong.items()}
    return Trial(draw, 2 * width, case.claim() - exact_of(u), spread, told, scale=p)


def gpt2_kinds(weights: Drawn, width: int, hidden: int) -> list[Branch]:
    """GPT-2's branches with less units and larger weights: one product of both."""
    inner = Drawn(weights.law, GPT2 * WIDTH / width)
    last = Drawn(weights.law, GPT2 * HIDDEN / hidden)
    return [attention(inner, inner, width), gelu_layers(WIDTH * GPT2, last, width, hidden)]


@experiment(law="gpt2-attention", quantity="E[F^2]", weights=ANY)
def gpt2_attention(case: Case) -> Trial:
    branch, _ = gpt2_kinds(Drawn(case.weights, 1), 6, 2)
    wrong = {
        "one layer": WIDTH * GPT2,
        "that of the feed-forward branch": found("gpt2-feed-forward"),
        "with BERT's truncation": found("bert-attention"),
    }
    return one_branch(branch, case.claim(), wrong)


@experiment(law="gpt2-feed-forward", quantity="E[F^2]", weights=ANY)
def gpt2_feed_forward(case: Case) -> Trial:
    _, branch = gpt2_kinds(Drawn(case.weights, 1), 4, 16)
    wrong = {
        "as for ReLU": HIDDEN * WIDTH * GPT2**2 / 2,
        "with BERT's truncation": found("bert-feed-forward"),
        "that of the attention branch": float(found("gpt2-attention")),
    }
    return one_branch(branch, case.claim(), wrong)


def gpt2(case: Case, factor: float, wrong: Mapping[str, Number | float]) -> Trial:
    """The stream of a token that attends to itself, after 12 blocks, from both embeddings."""
    kinds = [k.scaled(factor) for k in gpt2_kinds(Drawn(case.weights, 1), 2, 2)]
    stack = Stack(kinds * 12, SIGNED, (2 * GPT2) ** 0.5)
    return last_square(stack, case.claim(), wrong)


@experiment(law="gpt2-stream", quantity="E[x_l^2]", weights=NON_GAUSSIAN)
def gpt2_stream(case: Case) -> Trial:
    wrong = {
        "1/sqrt(12)": found("gpt2-stream-by-blocks"),
        "unscaled": found("gpt2-stream-unscaled"),
        "constant": 2 * GPT2,
    }
    return gpt2(case, 24**-0.5, wrong)


@experiment(law="gpt2-stream-by-blocks", quantity="E[x_l^2]", weights=NON_GAUSSIAN)
def gpt2_stream_by_blocks(case: Case) -> Trial:
    wrong = {
        "1/sqrt(24)": found("gpt2-stream"),
        "unscaled": found("gpt2-stream-unscaled"),
        "constant": 2 * GPT2,
    }
    return gpt2(case, 12**-0.5, wrong)


@experiment(law="gpt2-stream-unscaled", quantity="E[x_l^2]", weights=NON_GAUSSIAN)
def gpt2_stream_unscaled(case: Case) -> Trial:
    branches = found("gpt2-attention") + found("gpt2-feed-forward")
    wrong = {
        "1/sqrt(24)": found("gpt2-stream"),
        "24 blocks": 24 * branches,
        "compounded": 2 * GPT2 * (1 + branches) ** 12,
    }
    return gpt2(case, 1.0, wrong)
