"""Growth of nonlinear recurrences against iteration in floats and published values; phases."""

import math

import mpmath
import pytest
from sympy import Rational, Symbol, log, pi, simplify, sqrt

from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.correlation import correlation_growth, critical, phases
from varlaw.symbolic.blocks.depth import depth
from varlaw.symbolic.blocks.growth import fate
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.roots import roots
from varlaw.symbolic.blocks.state import BlockError

layers = Symbol("l", positive=True)
HALF = "linear(d, d, var=1/d)"


@pytest.mark.parametrize(
    ("text", "first", "kind", "rate", "asymptotic"),
    [
        (f"tanh >> {HALF}", "q0", "polynomial", -1, 1 / (2 * layers)),
        (f"sin >> {HALF}", "q0", "polynomial", -1, 1 / layers),
        ("tanh >> linear(d, d, var=1/(2*d))", "q0", "exponential", Rational(1, 2), None),
        (f"residual({HALF} >> tanh >> linear(d, d, var=3/d))", "q0", "linear", 3, None),
        (f"residual({HALF} >> sqrt(abs(x)) >> {HALF})", "q0", "polynomial", 2,
         layers**2 / (2 * pi)),
        ("gelu >> linear(d, d, var=3/d)", "1/5", "exponential", Rational(3, 4), None),
        ("gelu >> linear(d, d, var=3/d)", 1, "exponential", Rational(3, 2), None),
        ("gelu >> linear(d, d, var=3/d)", "q0", "", None, None),
    ],
)  # fmt: skip
def test_classes(text, first, kind, rate, asymptotic):
    found = fate(read_block(f"repeat({text}, L)").recurrence(start(first))).growth
    assert (found.kind, found.rate) == (kind, rate)
    assert asymptotic is None or simplify(found.asymptotic - asymptotic) == 0


def test_the_law_of_sine_by_iteration():
    """q -> (1 - exp(-2 q))/2 after 100 000 layers: 1/l with an error O(log l/l^2)."""
    q = 1.0
    for _ in range(100_000):
        q = -math.expm1(-2 * q) / 2
    assert q * 100_000 == pytest.approx(1, rel=1e-3)


def test_gradients_of_tanh_at_lecun_fall_with_the_layers():
    assert depth(read_block(f"repeat(tanh >> {HALF}, L)"), start()).backward.rate == -1


@pytest.mark.parametrize(
    ("text", "exponent"),
    [  # 2 c sqrt(l/b): c = E[f'^2] sqrt(q) far out, by the integral of f'^2, and b per layer
        (f"residual({HALF} >> tanh)", 2 * Rational(4, 3) / sqrt(2 * pi) * sqrt(layers)),
        (f"residual({HALF} >> erf >> linear(d, d, var=1/d))", 4 / pi * sqrt(layers)),
    ],
)
def test_gradients_in_streams_of_bounded_functions(text, exponent):
    """exp of the root of the number of layers (Yang and Schoenholz 2017, section 4)."""
    found = depth(read_block(f"repeat({text}, L)"), start(1)).backward
    assert (found.kind, found.rate) == ("subexponential", Rational(1, 2))
    assert simplify(log(found.asymptotic) - exponent) == 0


def test_the_law_of_erf_by_iteration():
    """A million layers q -> q + 2 asin(2 q/(2 q + 1))/pi, the logarithm of the gradients."""
    q, total = 1.0, 0.0
    for _ in range(1_000_000):
        total += math.log1p(4 / (math.pi * math.sqrt(4 * q + 1)))
        q += 2 * math.asin(2 * q / (2 * q + 1)) / math.pi
    assert total == pytest.approx(4 / math.pi * 1000, rel=0.01)


STREAM = "prenorm(attention(d, {}, value=1/d, out=1/d))"
MLP = "prenorm(linear(d, 4*d, var=2/d) >> relu >> linear(4*d, d, var=1/(4*d)))"


def gradient_of_stack(depth_, tokens):
    """The gradient at the input of layers of uniform attention and a ReLU MLP, in floats."""
    q, c, path = 1.0, 0.5, []
    for _ in range(depth_):
        path.append((q, c))
        q, c = q + c / q + (1 - c / q) / tokens, c + c / q + (1 - c / q) / tokens
        rho = c / q
        path.append((q, rho))
        angle = math.acos(rho)
        q, c = q + 1, c + (math.sin(angle) + (math.pi - angle) * rho) / math.pi
    g, h = 1.0, 0.0
    for (before, _), (middle, rho) in zip(path[-2::-2], path[::-2], strict=True):
        g, h = g + g / middle, h + h * (1 - math.acos(rho) / math.pi) / middle
        shared = (g + (tokens - 1) * h) / tokens / before
        g, h = g + shared, h + shared
    return g


def test_gradients_that_tokens_share_grow_with_the_layers():
    found = depth(read_block(f"repeat({STREAM.format(8)} >> {MLP}, L)"), start(1, "1/2"))
    assert (found.backward.kind, found.backward.rate) == ("polynomial", 1)
    early, late = (
        math.log2(gradient_of_stack(2 * n, 8) / gradient_of_stack(n, 8)) for n in (1000, 16_000)
    )
    assert abs(1 - late) < 0.03  # the kernel's slope comes near with the power -1/4 of the layers
    assert abs(1 - late) < abs(1 - early) / 2
    only = depth(read_block(f"repeat({STREAM.format('T')}, L)"), start(1, "1/2"))
    assert (only.backward.kind, only.backward.rate) == ("polynomial", 1)


def test_no_root_is_said_only_where_it_is_proved():
    x = Symbol("x", positive=True)
    assert roots(x**2 - 2, x).found[0].value.digits == "1.41421356237"
    assert roots(x**2 - 2, x).complete
    assert (roots(x**2 + 1, x).found, roots(x**2 + 1, x).complete) == ((), True)
    touching = roots((x - Rational(1, 3)) ** 2, x)
    assert (touching.found, touching.complete) == ((), False)
    assert len(roots((x - 1) * (x - Rational(101, 100)), x).found) == 2


def edge_of_tanh(bias: str) -> float:
    """The critical weight variance by mpmath: (q - b) E[tanh'^2] = E[tanh^2]."""
    with mpmath.workdps(15):

        def mean(f, q):
            return mpmath.quad(lambda z: f(mpmath.sqrt(q) * z) * mpmath.npdf(z), [-9, 0, 9])

        def slopes(q):
            return mean(lambda x: mpmath.sech(x) ** 4, q)

        q = mpmath.findroot(
            lambda q: (q - mpmath.mpf(bias)) * slopes(q) - mean(lambda x: mpmath.tanh(x) ** 2, q),
            (0.3, 0.8),
            solver="anderson",
        )
        return float(1 / slopes(q))


def test_the_edge_of_chaos_of_tanh():
    """About 1.76 at 0.05 (Schoenholz et al. 2017, figure 1)."""
    (found,) = critical(read_block("tanh >> linear(d, d, var=v/d, bias=1/20)"), "v")
    value = float(found.weight_variance.digits)
    assert value == pytest.approx(edge_of_tanh("0.05"), rel=1e-9)
    assert value == pytest.approx(1.76, abs=0.005)


def test_relu_is_critical_at_two_and_zero_only():
    (found,) = critical(read_block("relu >> linear(d, d, var=v/d)"), "v")
    assert found.exact == 2
    assert critical(read_block("relu >> linear(d, d, var=v/d, bias=1/10)"), "v") == ()
    with pytest.raises(BlockError, match="edge of chaos"):
        critical(read_block(f"prenorm({HALF})"), "v")


@pytest.mark.parametrize(("weights", "phase"), [("3/2", "ordered"), ("5/2", "chaotic")])
def test_phases_on_either_side(weights, phase):
    for text in ("tanh >> linear(d, d, var={}/d, bias=1/20)",
                 "linear(d, d, var={}/d, bias=1/20) >> tanh"):  # fmt: skip
        (found,) = phases(read_block(text.format(weights)))
        assert found.name == phase
        assert (found.chi > 1) == (phase == "chaotic")
        assert (found.limit < 1) == (phase == "chaotic")
        assert abs(found.length + 1 / log(found.rate)) < 1e-9


def collapse(text: str):
    return correlation_growth(Repeat(read_block(text), "L"), start("q0", "r0"))[0]


def test_rank_collapse():
    """Uniform attention over T tokens with W_V, W_O of gain 1, and an MLP of gain 1."""
    head = "attention(d, T, value=1/d, out=1/d)"
    mlp = "linear(d, d, var=2/d) >> relu >> linear(d, d, var=1/d)"
    assert (collapse(head).kind, collapse(head).rate) == ("bounded", 0)  # in one layer
    assert collapse(f"residual({head})").rate == Rational(1, 2)
    assert (collapse(f"prenorm({head})").kind, collapse(f"prenorm({head})").rate) == (
        "polynomial",
        -1,
    )
    assert collapse(f"prenorm({head}) >> prenorm({mlp})").rate == -Rational(1, 2)


def test_relu_at_he_tends_to_one_with_the_square():
    """1 - 9 pi^2/(2 l^2) (Hayou et al. 2019, proposition 1 on the edge of chaos)."""
    found = collapse("relu >> linear(d, d, var=2/d)")
    assert simplify(found.asymptotic - (1 - 9 * pi**2 / (2 * layers**2))) == 0


def test_ratio_and_share_by_layer():
    """Pre-Norm with branches of 1: q = 1 + l, so that branch l has the share 1/(l + 1)."""
    block = read_block(f"repeat(prenorm({HALF}), L)")
    found = depth(block, start(1))
    assert simplify(found.share - 1 / (1 + layers)) == 0
    whole = Symbol("L", positive=True)
    assert simplify(found.ratio - (1 + whole) / (1 + layers) ** 2) == 0


def test_decimals_that_cancel_are_no_factor_of_growth():
    """Experts whose gates are decimals: a power of l, as for any branch, not 1.0^l."""
    unit = "linear(64, 64, var=1/32) >> relu >> linear(64, 64, var=1/64)"
    gated = read_block(f"repeat(prenorm(moe({unit}, 8, 2, router=1/64)), L)")
    found = depth(gated, start()).backward
    assert found.kind == "polynomial"
    assert 1 < found.rate < 2
