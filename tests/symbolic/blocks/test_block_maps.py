"""Maps of single blocks against published tables and closed forms."""

import pytest
from sympy import Symbol, acos, asin, exp, pi, simplify, sqrt

from varlaw.symbolic.blocks.activation import Activation
from varlaw.symbolic.blocks.attention import Attention
from varlaw.symbolic.blocks.block import Block, start
from varlaw.symbolic.blocks.linear import Dropout, Embedding, Linear
from varlaw.symbolic.blocks.norm import LayerNorm, RMSNorm
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.residual import Gate, Parallel, Residual, sandwich
from varlaw.symbolic.blocks.softmax import Softmax
from varlaw.symbolic.blocks.state import (
    ONE,
    ZERO,
    Approximation,
    BlockError,
    Gradient,
    State,
)
from varlaw.symbolic.language import read

d, n, v, b, s, G, p, T = (
    Symbol(name, positive=True) for name in ["d", "n", "v", "b", "s", "G", "p", "T"]
)
m, r, c = (Symbol(name, real=True) for name in ["m", "r", "c"])
a = s / (1 + s)


def given(mean=ZERO) -> State:
    """Variance s, the given mean and correlation r."""
    return State(second_moment=s + mean**2, mean=mean, product=mean**2 + r * s)


# DeepScaleLM (Kedia et al. 2024), tables of appendix A: block, mean of the input, then mean,
# variance and covariance of the output, and the two factors of the gradient.
ROWS = [
    (
        Linear(d, n, var=v),
        m,
        (ZERO, d * v * (s + m**2), d * v * (m**2 + r * s), n * v, n * v),
    ),
    (
        Activation("relu"),
        ZERO,
        (
            sqrt(s) / sqrt(2 * pi),
            s * (pi - 1) / (2 * pi),
            s * (pi * r + sqrt(1 - r**2) - r * acos(r) - 1) / (2 * pi),
            ONE / 2,
            ONE / 4 + asin(r) / (2 * pi),
        ),
    ),
    (
        Activation("gelu"),
        ZERO,
        (
            sqrt(s) * sqrt(a) / sqrt(2 * pi),
            s / (2 * pi) * (pi - a - acos(a) + 2 * a * sqrt((1 - a) / (1 + a))),
            s
            / 4
            * (
                r
                + 2 * r * asin(r * a) / pi
                + 2
                * s
                * (s * (1 - r**2) + 1 + r**2)
                / (pi * (s + 1) * sqrt((s + 1) ** 2 - (r * s) ** 2))
            )
            - s * a / (2 * pi),
            ONE / 2 + (-acos(a) + a * (5 * s + 3) / (1 + 2 * s) ** (3 * ONE / 2)) / (2 * pi),
            ONE / 2
            + (
                -acos(r * a)
                + r
                * a
                * ((s + 1) * (2 * s + 3) - 2 * (r * s) ** 2)
                / ((s + 1) ** 2 - (r * s) ** 2) ** (3 * ONE / 2)
            )
            / (2 * pi),
        ),
    ),
    (LayerNorm(), m, (ZERO, ONE, r, 1 / s, 1 / s)),
    (Dropout(p), m, (m, (s + p * m**2) / (1 - p), r * s, 1 / (1 - p), ONE)),
    (
        Softmax(d, correlation=p),
        m,
        (1 / d, (exp((1 - p) * s) - 1) / d**2, None, exp((1 - p) * s) / d**2, None),
    ),
    (  # the feed-forward block: its correlation is (1-p)(r + (sqrt(1-r^2) - r acos r)/pi)
        Linear(d, n, var=1 / d) >> Activation("relu") >> Linear(n, d, var=2 / n) >> Dropout(p),
        ZERO,
        (
            ZERO,
            s / (1 - p),
            s * (r + (sqrt(1 - r**2) - r * acos(r)) / pi),
            2 / (2 * (1 - p)),
            ONE / 2 + asin(r) / pi,
        ),
    ),
]


NAMES = ["linear", "relu", "gelu", "layernorm", "dropout", "softmax", "feed-forward"]


@pytest.mark.parametrize(("block", "mean", "row"), ROWS, ids=NAMES)
def test_the_table_of_deepscalelm(block: Block, mean, row):
    state = given(mean)
    out = block.forward(state)
    back = block.backward(Gradient(second_moment=G, product=G * c), state)
    found = (
        out.mean,
        out.variance,
        out.followed - out.mean**2,
        back.second_moment / G,
        back.product / (G * c),
    )
    at = {s: 1.7, m: 0.3, r: 0.4, v: 0.2, d: 3, n: 5, p: 0.1}
    for value, expected in zip(found, row, strict=True):
        if expected is not None:
            assert abs((value - expected).subs(at).evalf()) < 1e-12


@pytest.mark.parametrize("logits", ["1/100", "1/10"])
@pytest.mark.parametrize("rho", [0, ONE / 3])
@pytest.mark.parametrize("drop", [0, ONE / 3])
def test_the_attention_row_of_deepscalelm(logits, rho, drop):
    """Its code, simulations/SHA.py: many tokens, small logits, whose gradients it leaves out."""
    width, head, length, value, c_ = 316, 64, 548, ONE / 500, ONE / 2
    w = read(logits) / width
    block = Attention(
        width, length, value=value, out=ONE / head, query=w, key=w, head_width=head, dropout=drop
    )
    state = State(second_moment=ONE, product=rho)
    gradient = Gradient(second_moment=ONE * head / width, product=c_ * head / width)
    out, back = block.forward(state), block.backward(gradient, state)
    apart, s2 = 1 - rho, width * w**2
    term = apart**2 * (length - 1) * s2
    term += exp(apart * width * s2) / (1 - drop) * (4 * apart**2 * s2 + apart)
    variance = (term / length + rho) * width * value
    shared = (2 * apart**2 * width * w**2 + apart) / length + rho
    pairs = (length - 1) * c_
    expected = [
        (out.second_moment, variance),
        (out.product, shared * width * value),
        (back.second_moment, head * value * (1 / (1 - drop) + pairs) / length),
        (back.product, head * value * (1 + pairs) / length),
    ]
    for found, published in expected:
        assert float(found / published) == pytest.approx(1, rel=0.04)


def test_the_tables_wrong_neighbour_differs():
    out = Activation("relu").forward(given())
    assert simplify(out.variance - s / 2) != 0


def test_bias_and_rms_norm():
    out = Linear(d, n, var=v, bias=b).forward(given(m))
    assert simplify(out.second_moment - (d * v * (s + m**2) + b)) == 0
    assert simplify(out.followed - (d * v * (r * s + m**2) + b)) == 0
    out = RMSNorm().forward(given(m))
    assert out.second_moment == 1
    assert simplify(out.mean**2 - m**2 / (s + m**2)) == 0


def test_residuals_add_what_the_branch_gives():
    branch = Linear(d, d, var=v)
    out = Residual(branch, a=2, b=3).forward(given(m))
    assert simplify(out.second_moment - (4 * (s + m**2) + 9 * d * v * (s + m**2))) == 0
    assert out.mean == 2 * m
    means = Residual(branch >> Activation("relu")).forward(given(m))  # both have a mean
    q = s + m**2
    cross = 2 * m * sqrt(d * v * q / (2 * pi))
    assert simplify(means.second_moment - (q + d * v * q / 2 + cross)) == 0
    assert Approximation.WIDE in means.regime
    assert Approximation.WIDE not in out.regime


def test_branches_and_gates():
    one, two = Linear(d, n, var=v), Linear(d, n, var=2 * v) >> Activation("relu")
    q = d * v * s
    both = Parallel(one, two).forward(given())
    assert simplify(both.second_moment - 2 * q) == 0
    gate = Gate(two, one).forward(given())
    assert simplify(gate.second_moment - q * q) == 0
    assert gate.mean == 0
    back = Gate(two, one).backward(Gradient(second_moment=ONE), given())
    # E[relu'^2] q through the gate, E[relu^2] through the value; each times fan-out and variance
    assert simplify(back.second_moment - n * (2 * v * q / 2 + v * q)) == 0
    third = sandwich(Linear(d, d, var=v)).forward(given())
    assert third.second_moment == s + 1


def test_attention_averages_tokens():
    head = Attention(d, T, value=1 / d, out=1 / d)
    out = head.forward(given())
    assert simplify(out.second_moment - (r * s + (s - r * s) / T)) == 0
    assert out.correlation == 1
    back = head.backward(Gradient(second_moment=G), given())
    assert back.second_moment == back.product == G / T
    soft = Attention(d, T, value=1 / d, out=1 / d, query=1 / d, key=1 / d)
    out = soft.forward(given())
    moved = s**3 * (1 - r) ** 2 / d
    one, two = exp(s**2 * (1 - r)), exp(s**2 * r * (1 - r))
    expected = r * s + (s - r * s) * one / (T - 1 + one) + moved
    assert simplify(out.second_moment - expected) == 0
    shared = r * s + (s - r * s) * two / (T - 1 + two) + r * moved
    assert simplify(out.followed - shared) == 0
    assert {Approximation.WIDE, Approximation.TOKENS} <= out.regime


def test_embedding_starts_anew():
    out = Embedding(d, var=v).forward(start("q0", "r0"))
    assert (out.second_moment, out.product, out.width) == (v, 0, d)


@pytest.mark.parametrize(
    ("block", "regime"),
    [
        ("linear(d, n, var=v)", "exact at finite width"),
        ("linear(d, n, var=v) >> relu", "exact at finite width, symmetric weights"),
        ("linear(d, n, var=v) >> gelu", "wide limit"),
        ("relu", "wide limit"),
        ("prenorm(linear(d, d, var=v) >> abs >> linear(d, d, var=v))", "exact at finite width, "
         "symmetric weights"),
        ("residual(linear(d, d, var=v) >> relu)", "symmetric weights, wide limit"),
        (
            "conv(3, 8, 3, var=1, padding=1, size=8) >> groupnorm(2) >> linear(8, 8, var=v)",
            "exact at finite width, means over positions",
        ),
        (
            "conv(3, 8, 3, var=1, padding=1, size=8) >> layernorm >> linear(8, 8, var=v)",
            "exact at finite width",
        ),
        (
            "layernorm >> moe(linear(8, 8, var=v), 4, 2, router=1/8)",
            "wide limit, means over gates",
        ),
        ("layernorm >> moe(linear(8, 8, var=v), 4, 1, router=1/8)", "exact at finite width"),
    ],
)  # fmt: skip
def test_regimes(block, regime):
    assert str(read_block(block).forward(start()).regime) == regime


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: read_block("relu >> relu").forward(start()), "needs Gaussian features"),
        (lambda: read_block("residual(relu)").forward(start()), "needs a linear layer"),
        (lambda: read_block("parallel(linear(d, d, var=1), relu)").forward(start()), "branches"),
        (lambda: Attention(d, T, value=1, out=1).forward(start()), "not followed"),
        (lambda: Attention(d, T, value=1, out=1, causal=1, position=2).backward(
            Gradient(second_moment=ONE), given()), "leave out position"),
        (lambda: (Linear(d, n, var=1) >> Linear(d, n, var=1)).forward(start()), "features go into"),
        (lambda: Residual(Linear(d, n, var=1)).forward(State(second_moment=s, width=d)), "joined"),
        (lambda: Activation("step").backward(Gradient(second_moment=ONE), start()), "jumps"),
        (lambda: Dropout(1), "not below 1"),
        (lambda: Linear(d, n, var=-1), "from 0 on"),
        (lambda: Linear("5/2", n, var=1), "whole number"),
        (lambda: start(1, 2), "between -1 and 1"),
    ],
)  # fmt: skip
def test_refusals(make, message):
    with pytest.raises(BlockError, match=message):
        make()


@pytest.mark.parametrize(
    ("text", "own", "shared"),
    [
        ("glu(linear(d, n, var=v), linear(d, n, var=v))", 2, 2 * r),
        (
            "glu(linear(d, n, var=v) >> relu, linear(d, n, var=v))",
            1,  # kernels of order 0 and 1: Cho and Saul 2009, section 2
            (pi - acos(r)) * r / (2 * pi) + (sqrt(1 - r**2) + (pi - acos(r)) * r) / (2 * pi),
        ),
    ],
)
def test_gradients_of_two_tokens_through_a_gate(text, own, shared):
    """Each factor gets the gradient times the other: n v d v s times these, and G or h."""
    h = Symbol("h", positive=True)
    state = start(s, r)
    found = read_block(text).backward(Gradient(second_moment=G, product=h), state)
    assert simplify(found.second_moment - own * n * d * v**2 * s * G) == 0
    apart = found.product / (n * d * v**2 * s * h) - shared
    assert abs(apart.subs(r, 0.3).evalf()) < 1e-12
