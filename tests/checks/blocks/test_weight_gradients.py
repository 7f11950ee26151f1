"""Gradients of the weights of attention and of routers against explicit backpropagation.

Networks are drawn with NumPy here and sent back through by hand; nothing is shared with the maps
but the numbers that are claimed. Bounds are 6 standard errors and a stated share of order 1/width.
"""

import numpy as np
import pytest
from sympy import Rational

from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.state import ONE, Approximation, BlockError, Gradient
from varlaw.symbolic.blocks.weights import weight_gradients

ERRORS = 6


def correlated(rng, shape, second_moment, rho):
    """Rows of this second moment that correlate by rho."""
    own, shared = rng.standard_normal(shape), rng.standard_normal(shape[-1])
    return np.sqrt(second_moment) * (np.sqrt(rho) * shared + np.sqrt(1 - rho) * own)


def rotations(tokens, head, base):
    """[t, i, j]: features i and i + head/2 are turned by t base^(-2i/head)."""
    half = head // 2
    angles = np.outer(np.arange(tokens), base ** (-np.arange(half) / half))
    found = np.zeros((tokens, head, head))
    for i in range(half):
        cos, sin = np.cos(angles[:, i]), np.sin(angles[:, i])
        found[:, i, i] = found[:, i + half, i + half] = cos
        found[:, i, i + half], found[:, i + half, i] = -sin, sin
    return found


class Head:
    """One head: weights (fan_in, fan_out), a key bias, rotations of queries and of keys."""

    def __init__(self, rng, d, asks, reads, strength, key_bias, turns):
        self.x, self.z, self.d = asks, reads, d
        root = np.sqrt(strength / d)
        self.query, self.key = (root * rng.standard_normal((d, d)) for _ in "qk")
        self.value, self.out = (rng.standard_normal((d, d)) / np.sqrt(d) for _ in "vo")
        self.bias = np.sqrt(key_bias) * rng.standard_normal(d)
        self.turn_q, self.turn_k = turns

    def forward(self):
        self.q = np.einsum("tij,tj->ti", self.turn_q, self.x @ self.query)
        self.k = np.einsum("tij,tj->ti", self.turn_k, self.z @ self.key + self.bias)
        logits = self.q @ self.k.T / np.sqrt(self.d)
        if self.causal:
            logits[~np.tri(len(logits), dtype=bool)] = -np.inf
        p = np.exp(logits - logits.max(-1, keepdims=True))
        self.p = p / p.sum(-1, keepdims=True)
        return self.p @ (self.z @ self.value) @ self.out

    def backward(self, g):
        """The gradients of the weights for those at the output."""
        v = self.z @ self.value
        back = g @ self.out.T
        a = back @ v.T
        logits = self.p * (a - (self.p * a).sum(-1, keepdims=True)) / np.sqrt(self.d)
        queries = np.einsum("tij,ti->tj", self.turn_q, logits @ self.k)
        keys = np.einsum("tij,ti->tj", self.turn_k, logits.T @ self.q)
        return {
            "query": self.x.T @ queries,
            "query bias": queries.sum(0),
            "key": self.z.T @ keys,
            "key bias": keys.sum(0),
            "value": self.z.T @ (self.p.T @ back),
            "value bias": (self.p.T @ back).sum(0),
            "out": (self.p @ v).T @ g,
            "out bias": g.sum(0),
        }


def drawn(rng, d, asking, reading, base, strength, key_bias=0.0, causal=False, own=True):
    reads = correlated(rng, (reading, d), 1.5, 0.25)
    asks = reads if own else correlated(rng, (asking, d), 2.0, 0.4)
    turn = rotations(reading, d, base) if base else np.tile(np.eye(d), (reading, 1, 1))
    turns = (turn, turn) if own else (np.tile(np.eye(d), (asking, 1, 1)), turn)
    head = Head(rng, d, asks, reads, strength, key_bias, turns)
    head.causal = causal
    return head


def test_the_backpropagation_is_right():
    """Against differences: else the tests below would compare with something else."""
    rng = np.random.default_rng(0)
    head = drawn(rng, 6, 4, 4, 10, 1.0, key_bias=0.5, causal=True)
    g, step = rng.standard_normal((4, 6)), 1e-6
    head.forward()
    claimed = head.backward(g)
    for name in ("query", "key", "value", "out"):
        weights = getattr(head, name)
        weights[1, 2] += step
        up = (g * head.forward()).sum()
        weights[1, 2] -= 2 * step
        slope = (up - (g * head.forward()).sum()) / (2 * step)
        weights[1, 2] += step
        assert slope == pytest.approx(claimed[name][1, 2], rel=1e-5)


def compared(found, claims, slack):
    """Means over networks against claims, and that twice the claim would be seen."""
    assert set(found[0]) == set(claims)
    for name, claimed in claims.items():
        values = np.array([np.mean(one[name] ** 2) for one in found])
        error = values.std(ddof=1) / np.sqrt(len(values))
        bound = ERRORS * error + slack * claimed + 1e-12
        assert abs(values.mean() - claimed) < bound, name
        assert claimed == 0 or abs(values.mean() - 2 * claimed) > bound, name


def claims_of(text, state, shared, tokens):
    gradient = Gradient(second_moment=ONE, product=ONE * shared)
    listed = list(weight_gradients(read_block(text), state, gradient, tokens))
    assert all(Approximation.TOKENS in one.regime for one in listed)
    return {one.name: float(one.second_moment) for one in listed}


@pytest.mark.parametrize(("d", "tokens"), [(32, 8), (64, 12), (96, 24)])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("base", [10, 1000])
def test_rotary(d, tokens, causal, base):
    text = (
        f"attention({d}, {tokens}, value=1/{d}, out=1/{d}, query=1/{4 * d}, key=1/{4 * d},"
        f" key_bias=1/4, rotary={base}, causal={int(causal)})"
    )
    claims = claims_of(text, start("3/2", "1/4"), Rational(1, 4), tokens)
    rng, found = np.random.default_rng(d), []
    for _ in range(150):
        head = drawn(rng, d, tokens, tokens, base, 0.25, 0.25, causal)
        head.forward()
        found.append(head.backward(correlated(rng, (tokens, d), 1.0, 0.25)))
    compared(found, claims, 0.08)


@pytest.mark.parametrize(("d", "asking", "reading"), [(32, 6, 10), (64, 1, 16), (96, 24, 12)])
def test_cross_attention(d, asking, reading):
    text = f"crossattention({d}, {reading}, value=1/{d}, out=1/{d}, query=1/{4 * d}, key=1/{4 * d})"
    state = start(2, "2/5").become(memory=start("3/2", "1/4"))
    claims = claims_of(text, state, Rational(1, 4), asking)
    rng, found = np.random.default_rng(d), []
    for _ in range(200):
        head = drawn(rng, d, asking, reading, 0, 0.25, own=False)
        head.causal = False
        head.forward()
        found.append(head.backward(correlated(rng, (asking, d), 1.0, 0.25)))
    compared(found, claims, 0.08)


@pytest.mark.parametrize(("d", "count", "top"), [(48, 4, 2), (64, 8, 2), (64, 8, 4), (96, 6, 6)])
def test_routers(d, count, top):
    tokens, router = 5, 1 / d
    text = f"linear({d}, {d}, var=1/{d}) >> moe(linear({d}, {d}, var=2/{d}), {count}, {top},"
    block = read_block(f"{text} router=1/{d})")
    listed = list(weight_gradients(block, start(1, "0"), Gradient(second_moment=ONE), tokens))
    (claimed,) = (one for one in listed if one.name == "router")
    assert Approximation.GATES in claimed.regime
    rng, found = np.random.default_rng(count), []
    for _ in range(300):
        x = rng.standard_normal((tokens, d)) @ rng.standard_normal((d, d)) / np.sqrt(d)
        logits = x @ rng.standard_normal((d, count)) * np.sqrt(router)
        chosen = logits >= np.sort(logits, -1)[:, -top, None]
        gates = np.where(chosen, np.exp(logits), 0)
        gates /= gates.sum(-1, keepdims=True)
        outs = x @ rng.standard_normal((count, d, d)) * np.sqrt(2 / d)
        sent = np.einsum("etd,td->te", outs, rng.standard_normal((tokens, d)))
        slopes = gates * (sent - (gates * sent).sum(-1, keepdims=True))
        found.append({"router": x.T @ slopes})
    compared(found, {"router": float(claimed.second_moment)}, 0.05)


def test_a_single_expert_has_a_gate_of_1():
    block = read_block("moe(linear(8, 8, var=1/8), 4, 1, router=1/8)")
    listed = list(weight_gradients(block, start(1), Gradient(second_moment=ONE), 3))
    router = next(iter(listed))
    assert (router.path, router.name, router.second_moment) == ("experts", "router", 0)


@pytest.mark.parametrize("option", ["qk_norm=1", "relative=1/9", "dropout=1/9"])
def test_refused(option):
    text = f"attention(8, 4, value=1/8, out=1/8, query=1/8, key=1/8, {option})"
    with pytest.raises(BlockError, match="covered without"):
        claims_of(text, start(1, "0"), 0, 4)
