"""Convolutions, pooling, norms over samples, gated units, experts and scaled residuals."""

from dataclasses import replace
from itertools import product

import pytest
from sympy import Rational, Symbol, atan, pi, simplify, sqrt

from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.convolution import Conv, ConvTransposed
from varlaw.symbolic.blocks.linear import Embedding, Linear, unembedding
from varlaw.symbolic.blocks.norm import BatchNorm, InstanceNorm
from varlaw.symbolic.blocks.pooling import GlobalAveragePool, MaxPool
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.scaled import rescaled
from varlaw.symbolic.blocks.state import ONE, Approximation, BlockError, Gradient, State
from varlaw.symbolic.blocks.walk import walk
from varlaw.symbolic.language import read

ENDS = Gradient(second_moment=ONE)
d, n, v, N = (Symbol(name, positive=True) for name in "dnvN")


def maps(text, rho=None, q="q0"):
    block, state = read_block(text), start(q, rho)
    return block.forward(state), block.backward(ENDS, state)


CONVOLUTIONS = [
    (k, s, p, size)
    for k, s, p, size in product((1, 3, 4), (1, 2, 3), (0, 1, 2), (4, 5, 7))
    if p < k
]


@pytest.mark.parametrize(("kernel", "stride", "padding", "size"), CONVOLUTIONS)
def test_counts_of_positions_against_brute_force(kernel, stride, padding, size):
    """Pairs of an output and an input position that share a weight, in two directions."""
    places = range((size + 2 * padding - kernel) // stride + 1)
    pairs = sum(0 <= o * stride + t - padding < size for o in places for t in range(kernel))
    conv = Conv(3, 5, kernel, stride=stride, padding=padding, size=size, var=1)
    assert conv.gathered == Rational(pairs, len(places)) ** 2
    assert conv.spread == Rational(pairs, size) ** 2
    flipped = ConvTransposed(3, 5, kernel, stride=stride, padding=padding, size=len(places), var=1)
    if (size + 2 * padding - kernel) % stride == 0 and (len(places), kernel) != (1, 1):
        assert (flipped.gathered, flipped.spread) == (conv.spread, conv.gathered)


@pytest.mark.parametrize(
    ("text", "forward", "backward"),
    [
        ("conv(c, h, k, var=v)", "c*k^2*v*q0", "h*k^2*v"),
        ("conv(c, h, k, var=v, stride=s, groups=g, bias=b)", "c*k^2*v*q0/g + b", "h*k^2*v/(g*s^2)"),
        ("conv(c, h, 3, var=v, padding=1, size=n)", "c*v*q0*(3 - 2/n)^2", "h*v*(3 - 2/n)^2"),
        ("conv(c, h, k, var=v, dims=1, size=n)", "c*k*v*q0", "h*k*v*(n - k + 1)/n"),
        ("convtransposed(c, h, k, var=v, stride=s)", "c*k^2*v*q0/s^2", "h*k^2*v"),
    ],
)
def test_convolutions(text, forward, backward):
    out, back = maps(text)
    assert simplify(out.second_moment - read(forward)) == 0
    assert simplify(back.second_moment - read(backward)) == 0
    assert (Approximation.POSITIONS in out.regime) == ("padding" in text or "transposed" in text)


def test_pooling_averages_positions_that_correlate():
    out, back = maps("averagepool(2)", "r")
    assert simplify(out.second_moment - read("q0*(r + (1 - r)/4)")) == 0
    assert simplify(out.followed - read("q0*r")) == 0
    assert back.second_moment == Rational(1, 16)
    assert maps("averagepool(3, 1, size=6)", "r")[1].second_moment == Rational(4, 6) ** 2 / 9
    out, back = maps("globalaveragepool(P)", "0")
    assert simplify(out.second_moment - read("q0/P")) == 0
    assert out.product is None
    assert back.product == back.second_moment == GlobalAveragePool("P").positions ** -2


@pytest.mark.parametrize(
    ("count", "mean", "square"),
    [  # the largest of 2, 3 and 4 standard Gaussians (Jones 1948; David and Nagaraja 2003, 3.2)
        (1, 0, 1),
        (2, 1 / sqrt(pi), 1),
        (3, 3 / (2 * sqrt(pi)), 1 + sqrt(3) / (2 * pi)),
        (4, 6 * atan(sqrt(2)) / pi ** Rational(3, 2), 1 + sqrt(3) / pi),
        (9, 1.4850131622092, 2.5626174190),  # mpmath's quadrature
    ],
)
def test_largest_of_gaussians(count, mean, square):
    out = MaxPool(count, dims=1).forward(start(1, 0))
    assert abs(out.mean.evalf() - mean) < 1e-9
    assert abs(out.second_moment.evalf() - square) < 1e-9
    shared = MaxPool(count, dims=1).forward(start(4, 1))
    assert (shared.mean, shared.second_moment) == (0, 4)
    passed = MaxPool(count, dims=1, function="relu")
    slope = passed.backward(ENDS, start(1, 0)).second_moment
    assert abs(slope.evalf() - (1 - 2.0**-count) / count) < 1e-12


def test_batch_norm():
    """Over N samples, Yang et al. 2019: the others' product is -1/(N-1)."""
    state = start("q0", "r")
    out = BatchNorm(N).forward(state)
    assert (out.mean, out.second_moment) == (0, 1)
    assert out.correlation == -1 / (N - 1)
    back = BatchNorm(N).backward(ENDS, state).second_moment
    assert simplify(back - read("(N - 2)/((N - 3)*q0*(1 - r))")) == 0
    limit = BatchNorm().backward(ENDS, state)
    assert simplify(limit.second_moment - read("1/(q0*(1 - r))")) == 0
    assert Approximation.SAMPLES in limit.regime
    # the positions of one image are not apart: what follows takes no moments of a sphere
    assert InstanceNorm(N).forward(state) == replace(out, samples=None) != out


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bilinear(d, h, var=1/d, out=1/h)", "q0^2"),
        ("reglu(d, h, var=1/d, out=1/h)", "q0^2/2"),
        ("geglu(d, h, var=1/d, out=1/h)", None),
        ("swiglu(d, h, var=1/d, out=1/h)", None),
        ("sigmoidglu(d, h, var=1/d, out=1/h)", None),
    ],
)
def test_gated_units(text, expected):
    """E[f(z)^2] E[z^2] of independent Gaussians; by E[f(z)^2] where it has no short form."""
    name = {"ge": "gelu(x)", "sw": "silu(x)", "si": "sigmoid(x)"}.get(text[:2])
    found = maps(text)[0].second_moment
    if expected is None:
        alone = read_block(f"linear(d, d, var=1/d) >> {name}").forward(start()).second_moment
        expected = alone * Symbol("q0", positive=True)
    assert simplify(found - read(expected)) == 0


def test_multipliers_and_heads():
    """The NTK parametrisation: variance 1, multiplier 1/sqrt(fan-in)."""
    out, back = maps("linear(m, n, var=1, scale=1/sqrt(m))")
    assert out.second_moment == read("q0")
    assert simplify(back.second_moment - read("n/m")) == 0
    assert Linear(d, n, var=v, law="uniform").forward(start()).second_moment == read("d*v*q0")
    rows = Embedding(d, var=1 / d, scale=sqrt(d))
    assert rows.forward(start()).second_moment == 1
    assert rows.backward(ENDS, start()).second_moment == d
    assert unembedding(d, n, var=v) == Linear(d, n, var=v)


@pytest.mark.parametrize(
    ("text", "forward", "backward"),
    [
        ("rezero(linear(d, d, var=1/d))", "q0", "1"),
        ("skipinit(linear(d, d, var=1/d), a)", "q0*(1 + a^2)", "1 + a^2"),
        ("fixup(linear(d, d, var=2/d) >> relu >> linear(d, d, var=1/d), L)", "q0", "1"),
        ("fixup(linear(d, d, var=2/d) >> relu >> linear(d, d, var=1/d), L, 1)", "q0*(1 + 1/L)",
         "1 + 1/L"),
        ("deepnorm(linear(d, d, var=1/d) >> linear(d, d, var=1/d), L, norm=dropout(0))",
         "q0*(sqrt(2*L) + 1/(8*L))", "sqrt(2*L) + 1/(8*L)"),
        ("moe(linear(d, d, var=3/d), E, 1, router=1/d)", "3*q0", "3"),
        ("moe(linear(d, d, var=3/d), E, 2)", "3*q0/2", "3/2"),
    ],
)  # fmt: skip
def test_scaled_branches_and_experts(text, forward, backward):
    out, back = maps(text)
    assert simplify(out.second_moment - read(forward)) == 0
    assert simplify(back.second_moment - read(backward)) == 0


def test_rescaled_weights_of_attention_and_branches():
    attention = read_block("attention(d, T, value=1/d, out=1/d, query=1/d, key=1/d)")
    smaller = rescaled(attention, ONE / 4)
    assert (smaller.value, smaller.out, smaller.query) == (1 / (4 * d), 1 / (4 * d), 1 / d)
    both = "parallel(linear(d, d, var={0}), glu(linear(d, d, var={0}), linear(d, d, var={0})))"
    assert rescaled(read_block(both.format("1/d")), ONE / 4) == read_block(both.format("1/(4d)"))


def test_one_expert_gets_its_share():
    (site,) = walk(read_block("moe(linear(d, d, var=1/d), 8, 2)"), start(), ENDS)
    assert (site.path, site.gradient.second_moment) == ("experts.linear", Rational(1, 16))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: maps("conv(3, 4, 3, var=1, padding=3)"), "as wide as the kernel"),
        (lambda: maps("conv(3, 4, 5, var=1, size=4)"), "does not fit"),
        (lambda: maps("conv(3, 4, 3, var=1, groups=2)"), "do not go into 2 groups"),
        (lambda: maps("conv(3, 4, 3, var=1, padding=1, stride=2, size=n)"), "need numbers"),
        (lambda: maps("conv(c, 4, 3, var=1) >> conv(5, 4, 3, var=1)"), "features go into"),
        (lambda: maps("linear(3, 4, var=1, law=cauchy)"), "unknown law 'cauchy'"),
        (lambda: maps("maxpool(k)"), "number for the size"),
        (lambda: maps("maxpool(2, function=gelu)"), "functions such as relu"),
        (lambda: maps("maxpool(2, function=relu)", "r"), "needs correlation 0"),
        (lambda: maps("linear(d, d, var=1) >> relu >> maxpool(2)", "0"), "Gaussian"),
        (lambda: maps("maxpool(2)"), "two inputs is needed"),
        (lambda: maps("averagepool(2)"), "two inputs is needed"),
        (lambda: BatchNorm(3), "4 of them"),
        (lambda: maps("batchnorm"), "two inputs is needed"),
        (lambda: BatchNorm().forward(State(second_moment=ONE, product=ONE)), "all 0"),
        (lambda: maps("moe(linear(d, d, var=1), 4, 2, router=1)"), "top=1"),
        (lambda: maps("moe(linear(d, d, var=1), 2, 3)"), "than there are"),
        (lambda: maps("moe(linear(d, d, var=1) >> relu, 2)"), "at its end"),
        (lambda: maps("fixup(linear(d, d, var=1), L)"), "two linear layers"),
        (lambda: maps("softmax(d, correlation=2)"), "at most 1"),
    ],
)
def test_refused(make, message):
    with pytest.raises(BlockError, match=message):
        make()
