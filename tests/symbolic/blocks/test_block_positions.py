"""Covariances of logits by position against sums written out, one pair of keys after another."""

from itertools import product

import numpy as np
import pytest
from sympy import Float, Integer

from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.overlaps import rounded
from varlaw.symbolic.blocks.positions import Positions, bucket
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.state import BlockError
from varlaw.symbolic.blocks.token_attention import follow
from varlaw.symbolic.blocks.tokens import alike

N = 9
FREQUENCIES = [1, 100 ** (-1 / 4), 100 ** (-2 / 4), 100 ** (-3 / 4)]


def cosine(distance):
    return np.mean(np.cos(np.multiply(FREQUENCIES, distance)))


@pytest.mark.parametrize("causal", [False, True])
def test_rotation(causal):
    place = Positions(N, causal, base=100.0, pairs=4)
    root = np.random.default_rng(0).standard_normal((N, N))
    keys = root @ root.T
    others = place.others(keys)
    assert np.allclose(place.alike, place.others(np.ones((N, N))))
    for t, u in product(range(N), repeat=2):
        seen = range(min(t, u) + 1 if causal else N)
        found = [keys[s, z] * cosine((z - s) - (u - t)) for s in seen for z in seen if s != z]
        assert others[t, u] == pytest.approx(np.mean(found) if found else 0)
        assert place.kept[t, u] == pytest.approx(cosine(u - t))


@pytest.mark.parametrize("tokens", [3, N, 300])
def test_means_of_rotated_tokens_without_arrays_of_pairs(tokens):
    place = Positions(tokens, True, base=100.0, pairs=4)
    kept, one, two = place.turned()
    assert kept == pytest.approx(place.mean(place.kept, pairs=True), rel=1e-13)
    assert one == pytest.approx(place.mean(place.alike, pairs=False), rel=1e-13)
    assert two == pytest.approx(place.mean(place.alike, pairs=True), rel=1e-13)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("buckets", [0, 8])
def test_biases_by_distance(causal, buckets):
    added = Positions(N, causal, variance=2.0, buckets=buckets, furthest=16).added

    def one(t, s):
        return int(bucket(np.array(t - s), buckets, 16, causal)) if buckets else t - s

    for t, u in product(range(N), repeat=2):
        seen = range(min(t, u) + 1 if causal else N)
        same = [2.0 * (one(t, s) == one(u, s)) for s in seen]
        two = [2.0 * (one(t, s) == one(u, z)) for s in seen for z in seen if s != z]
        assert added[t, u] == pytest.approx(np.mean(same) - (np.mean(two) if two else 0))


@pytest.mark.parametrize(
    ("distance", "causal", "expected"),
    [  # by hand from 16 + floor(log(n/16)/log(128/16) 16), and half of it on either side
        (15, True, 15),
        (32, True, 21),
        (127, True, 31),
        (500, True, 31),
        (-3, False, 19),
        (20, False, 10),
    ],
)
def test_buckets_of_t5(distance, causal, expected):
    assert bucket(np.array(distance), 32, 128, causal) == expected


@pytest.mark.parametrize(
    "extra", ["rotary=100", "relative=1/16", "relative=1/16, buckets=8", "rotary=100, causal=1"]
)
def test_tokens_that_are_alike(extra):
    """Means over positions in symbols, and every position in numbers."""
    text = f"attention(256, 12, value=1/256, out=1/256, query=1/256, key=1/2048, heads=16, {extra})"
    block, state = read_block(text), start(1, "1/2")
    claimed, found = block.forward(state), follow(block, alike(state, 12))
    assert found.second_moment == pytest.approx(float(claimed.second_moment), rel=3e-3)
    assert found.product == pytest.approx(float(claimed.followed), rel=3e-3)
    plain = read_block(text.replace(f", {extra}", ", causal=1" if "causal" in extra else ""))
    without = follow(plain, alike(state, 12)).second_moment
    assert found.second_moment > without * (1 + 1e-4)  # logits of tokens that correlate spread more


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ("rotary=100, heads=8, head_width=3", "3 is odd"),
        ("rotary=b", "positions by distance need numbers"),
        ("rotary=100, causal=1, position=3", "leave out position"),
        ("relative=-1", "from 0 on"),
    ],
)
def test_refused(extra, message):
    with pytest.raises(BlockError, match=message):
        text = f"attention(64, 12, value=1/64, out=1/64, query=1/64, key=1/64, {extra})"
        read_block(text).forward(start(1, "1/2"))


def test_whole_numbers_are_printed_as_such():
    """Biases by distance turn nothing: what is left of products is 1, not 1.0."""
    text = "attention(64, 8, value=1/64, out=1/64, query=1/64, key=1/64, relative=1/4)"
    out = read_block(text).forward(start("q0", "c0"))
    assert not any(f == 1 for f in out.second_moment.atoms(Float) | out.product.atoms(Float))
    assert rounded(0.9999999999999998) is Integer(1)
    assert rounded(0.999999) == Float(0.999999, 15)
