"""What keeps second moments within a factor: closed forms, proved roots, ranges, large sizes."""

from math import acos, exp, pi, sqrt

import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm
from sympy import Rational, Symbol, simplify

from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.crossing import NoCrossing
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.similar import scale_of
from varlaw.symbolic.blocks.solve import solution, solve, within
from varlaw.symbolic.blocks.state import BlockError
from varlaw.symbolic.blocks.stream import part_for
from varlaw.symbolic.language import read

GELU = "repeat(prenorm(linear(d, 4*d, var=1/d) >> gelu >> linear(4*d, d, var=w/d)), 96)"
PLAIN = (
    "repeat(prenorm(attention(d, T, value=1/d, out=w/d)) >> "
    "prenorm(linear(d, 4*d, var=1/d) >> relu >> linear(4*d, d, var=w/(4*d))), 96)"
)
q0 = Symbol("q0", positive=True)
F = 1 / 3 + sqrt(3) / (6 * pi)  # E[gelu(z)^2], Hendrycks and Gimpel's GELU by integration by parts
SLOPE = 1 / 3 + 2 / (3 * sqrt(3) * pi)  # E[gelu'(z)^2]


def gelu_backward(x):
    """The product over layers of 1 + 4 x E[f'^2]/(1 + 4 l x E[f^2])."""
    whole = 1.0
    for layer in range(96):
        whole *= 1 + 4 * x * SLOPE / (1 + 4 * layer * x * F)
    return whole


def plain_forward(x, tokens):
    """Uniform attention over tokens and the arc-cosine kernel of Cho and Saul 2009, by hand."""
    q, c = 1.0, 0.0
    for _ in range(96):
        r = c / q
        q, c = q + x * (r + (1 - r) / tokens), c + x * (r + (1 - r) / tokens)
        r = min(c / q, 1)
        q += x / 2
        c += x * (sqrt(1 - r * r) + (pi - acos(r)) * r) / (2 * pi)
    return q


def test_a_pre_norm_stack_in_closed_form():
    """Each layer adds 4 w E[gelu^2]: w = (c - 1) q0/(384 E[gelu^2])."""
    found = solution(read_block(GELU), "w", factor=read("c"))
    expected = read("(c - 1)*q0/(384*(1/3 + sqrt(3)/(6*pi)))")
    assert simplify(found.value - expected) == 0
    assert found.rises is True


def test_backward_with_the_scale_of_the_input():
    found = solution(read_block(GELU), "w", "backward", factor=read("2"))
    root = brentq(lambda x: gelu_backward(x) - 2, 1e-4, 1, xtol=1e-14)
    assert float((found.value / q0).evalf()) == pytest.approx(root, rel=1e-10)
    assert found.rises is True


@pytest.mark.parametrize("tokens", [64, None])
def test_a_stack_that_follows_correlation(tokens):
    """With a number of tokens, and where they are many, for every second moment at the input."""
    values = {} if tokens is None else {"T": read(str(tokens))}
    found = solution(read_block(PLAIN, values), "w", state=start("q0", 0), factor=read("2"))
    root = brentq(lambda x: plain_forward(x, tokens or 1e15) - 2, 1e-4, 1, xtol=1e-14)
    assert float((found.value / q0).evalf()) == pytest.approx(root, rel=1e-9)
    assert [str(name) for name in found.large] == ([] if tokens else ["T"])


@pytest.mark.parametrize(
    ("keep", "mean"),
    [
        ("arithmetic", lambda f, b: (f + b) / 2),
        ("geometric", lambda f, b: sqrt(f * b)),
        ("quadratic", lambda f, b: sqrt((f * f + b * b) / 2)),
        ("contraharmonic", lambda f, b: (f * f + b * b) / (f + b)),
    ],
)
def test_means_are_the_factor(keep, mean):
    v = float(solve(read_block("linear(3, 8, var=v)"), "v", keep, factor=read("5/2")))
    assert mean(3 * v, 8 * v) == pytest.approx(2.5, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "side", "low", "high"),
    [
        ("linear(m, n, var=v)", "forward", "1/(2*m)", "2/m"),
        ("linear(m, n, var=v)", "backward", "1/(2*n)", "2/n"),
        ("repeat(prenorm(linear(d, d, var=v/d)), L)", "forward", None, "q0/L"),
        ("repeat(residual(linear(d, d, var=v/d)), L)", "forward", None, "2^(1/L) - 1"),
        ("postnorm(linear(d, d, var=v/d))", "backward", None, None),
        ("linear(d, d, var=1/(d*v))", "forward", "1/2", "2"),
    ],
)
def test_ranges(text, side, low, high):
    """By hand: v m = 1/2 and 2, q0 + L v = 2 q0, (1 + v)^L = 2; what falls has its ends turned."""
    block = read_block(text)
    if low is high is None:
        with pytest.raises(BlockError, match=r"not proved to rise|does not depend"):
            within(block, "v", side, read("2"))
        return
    found = within(block, "v", side, read("2"))
    for end, expected in ((found.low, low), (found.high, high)):
        if expected is None:
            assert end is None
        else:
            assert simplify(end - read(expected)) == 0


def test_a_range_does_not_go_beyond_what_was_looked_through():
    """E[silu(z)^2] at z ~ N(0, v): 1/100 at the low end, and 1/300 is below 2^-18 of w."""
    block, state = read_block("linear(4096, 4096, var=w) >> silu"), start(1)

    def ratio(w):
        std = sqrt(4096 * w)
        square = lambda z: (std * z / (1 + exp(-std * z))) ** 2 * norm.pdf(z)  # noqa: E731
        return quad(square, -30, 30, epsabs=0, epsrel=1e-11, limit=400)[0]

    found = within(block, "w", "forward", read("100"), state)
    for end, value in ((found.low, 1 / 100), (found.high, 100)):
        assert ratio(float(end)) == pytest.approx(value, rel=1e-8)
    assert ratio(2.0**-18) > 1 / 300 > ratio(2.0**-19)
    with pytest.raises(BlockError, match="not known for all w"):
        within(block, "w", "forward", read("300"), state)


def test_both_sides_at_once():
    block = read_block("linear(4, 9, var=v)")
    forward, backward = (within(block, "v", side, read("2")) for side in ("forward", "backward"))
    both = forward & backward
    assert (both.low, both.high) == (Rational(1, 8), Rational(2, 9))


def test_an_exponent_of_the_depth():
    """1 + L^(1 - 2 a)/q0 = 3."""
    block = read_block("repeat(residual(rmsnorm >> linear(d, d, var=1/d), 1, L^(-a)), L)")
    found = solve(block, "a", factor=read("3"))
    assert simplify(found - read("1/2 - log(2*q0)/(2*log(L))")) == 0
    backward = within(block, "a", "forward", read("3"))
    assert backward.high is None
    assert simplify(backward.low - found) == 0


def test_what_only_grows_says_from_where():
    with pytest.raises(NoCrossing, match=r"above 1, and --within FACTOR"):
        solve(read_block(GELU), "w")
    with pytest.raises(NoCrossing, match=r"above 1 .* T is large, and --within"):
        solve(read_block(PLAIN), "w", state=start("q0", 0))
    with pytest.raises(BlockError, match="give numbers for T, c"):
        solve(read_block(PLAIN), "w", state=start("q0", 0), factor=read("c"))


@pytest.mark.parametrize(
    ("text", "power"),
    [
        ("1 + w/q0", 1),
        ("w^2/q0 + sqrt(q0)/w", Rational(1, 2)),
        ("1 + w*q0", -1),
        ("q0 + w", None),
        ("1 + w/q0 + w", None),
        ("exp(w)/q0", None),
        ("exp(w/q0)", 1),
    ],
)
def test_names_that_set_a_scale(text, power):
    assert scale_of(read(text), Symbol("w", positive=True), q0) == power


def test_a_scale_through_layers_is_refused_where_a_bias_has_one_of_its_own():
    ratio = read_block("repeat(prenorm(linear(d, d, var=w/d, bias=1)), L)").forward(start())
    whole = ratio.second_moment / q0
    assert scale_of(whole, Symbol("w", positive=True), q0) is None


def test_what_stands_behind_a_last_norm_is_left_out():
    state = start()
    stack = "repeat(prenorm(linear(d, d, var=w/d)), 6)"
    block = read_block(f"embedding(d, var=3) >> {stack} >> layernorm >> linear(d, n, var=1/d)")
    part = part_for(block, state, "w")
    assert (part.block, part.state.second_moment) == (read_block(stack), 3)
    assert part.rest == read_block("layernorm >> linear(d, n, var=1/d)")
    assert solve(part.block, "w", state=part.state, factor=read("2")) == Rational(1, 2)
    assert part_for(block, state, "d").rest is None
