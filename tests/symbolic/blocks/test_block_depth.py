"""Laws in depth: closed forms against layers one by one, growth, fixed points, roots."""

import pytest
from sympy import Rational, Symbol, simplify

from varlaw.derivations.catalogue import find
from varlaw.symbolic.blocks.block import Block, start
from varlaw.symbolic.blocks.depth import depth
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.roots import fixed_points
from varlaw.symbolic.blocks.solve import solve
from varlaw.symbolic.blocks.state import ONE, BlockError, Gradient
from varlaw.symbolic.language import read
from varlaw.symbolic.language_text import typed

q0, L = Symbol("q0", positive=True), Symbol("L", positive=True)
RELU = "linear(d, 4d, var=2/d) >> relu >> linear(4d, d, var=2/(4d))"
PLAIN = "linear(16, 16, var=1/16)"
LAYERS = [
    PLAIN,
    "linear(16, 16, var=1/8) >> relu",
    "linear(16, 16, var=1/20, bias=1/3) >> relu",
    f"prenorm({PLAIN})",
    f"prenorm({PLAIN} >> gelu >> linear(16, 16, var=1/8))",
    f"postnorm({PLAIN} >> gelu >> {PLAIN})",
    f"residual({PLAIN} >> relu >> {PLAIN}, 1/2, 2)",
    f"residual(layernorm >> {PLAIN} >> relu >> {PLAIN}, 1/2, 2)",
    f"residual(rmsnorm >> glu({PLAIN}, {PLAIN} >> relu) >> {PLAIN}, 1, 1/3)",
    "linear(16, 16, var=1/16) >> gelu >> linear(16, 16, var=1/8)",
    f"repeat(prenorm({PLAIN}), 2) >> dropout(1/10)",
]

CASES = [(layer, n) for layer in LAYERS for n in (1, 2, 3) if n < 3 or "gelu" not in layer]


@pytest.mark.parametrize(("layer", "depth"), CASES)
def test_depth_against_layers_one_by_one(layer, depth):
    """The closed form, or the iteration, and the same blocks written side by side."""
    state = start(Rational(7, 5))
    block = read_block(layer)
    side_by_side: Block = block
    for _ in range(depth - 1):
        side_by_side = side_by_side >> block
    for found, also, expected in zip(
        *(_both(one, state) for one in (Repeat(block, L), Repeat(block, depth), side_by_side)),
        strict=True,
    ):
        assert abs(also.evalf() / expected.evalf() - 1) < 1e-12
        if depth > 1:
            assert abs(found.subs(L, depth).evalf() / expected.evalf() - 1) < 1e-12


def _both(block, state):
    yield block.forward(state).second_moment
    yield block.backward(Gradient(second_moment=ONE), state).second_moment


@pytest.mark.parametrize("layer", [LAYERS[1], LAYERS[5].replace("gelu", "relu"), LAYERS[6]])
def test_correlations_against_layers_one_by_one(layer):
    block = read_block(layer)
    for rho in (Rational(1, 3), ONE):
        state = start(1, rho)
        found = Repeat(block, 3).forward(state).product
        expected = (block >> block >> block).forward(state).product
        assert abs(found.evalf() - expected.evalf()) < 1e-12


@pytest.mark.parametrize(
    ("text", "forward", "backward", "growth", "back"),
    [
        (f"repeat(prenorm({RELU}), L)", "q0 + 2*L", "1 + 2*L/q0", "linear", "linear"),
        (f"repeat(postnorm({RELU}), L)", "1", "1/q0", "constant", "constant"),
        (f"repeat(sandwich({RELU}), L)", "q0 + L", "1 + L/q0", "linear", "linear"),
        (f"repeat(residual({RELU}), L)", "q0*3^L", "3^L", "exponential", "exponential"),
        ("repeat(linear(d, d, var=2/d) >> relu, L)", "q0", "1", "constant", "constant"),
        ("repeat(linear(d, d, var=1/d) >> relu, L)", "q0/2^L", "1/2^L", "exponential",
         "exponential"),
        ("repeat(linear(d, d, var=1/d, bias=1) >> relu, L)", "1 + (q0 - 1)/2^L", "1/2^L",
         "bounded", "exponential"),
        ("repeat(prenorm(linear(d, h, var=1/d) >> relu >> linear(h, d, var=2/h) >> "
         "linear(d, d, var=3/d)), L)", "q0 + 3*L", "1 + 3*L/q0", "linear", "linear"),
        ("repeat(prenorm(linear(d, 2d, var=1/d) >> linear(2d, d, var=1/d)), L)", "q0 + 2*L",
         "1 + 2*L/q0", "linear", "linear"),
    ],
)  # fmt: skip
def test_closed_forms(text, forward, backward, growth, back):
    block = read_block(text)
    out, gradient = _both(block, start())
    names = {"q0": q0, "L": L}
    assert simplify(out - read(forward, names=names)) == 0
    assert simplify(gradient - read(backward, names=names)) == 0
    assert block.recurrence(start()).growth.kind == growth
    assert block.product(start()).growth.kind == back


def test_polynomial_growth_of_gradients():
    """Each factor is (q + 4)/q at q = 1 + 2 l: the product grows like l^2."""
    block = read_block("repeat(prenorm(dropout(1/2) >> linear(d, d, var=1/d)), L)")
    product = block.product(start(1))
    assert (product.growth.kind, product.growth.rate) == ("linear", 2)
    from varlaw.symbolic.blocks.recurrence import Product, Recurrence

    q = Symbol("q", positive=True)
    wide = Product((q + 4) / q, Recurrence(q + 2, q, ONE))
    assert (wide.growth.kind, wide.growth.rate) == ("polynomial", 2)
    expected = 1.0
    for k in range(6):
        expected *= (1 + 2 * k + 4) / (1 + 2 * k)
    assert abs(wide.after(L).subs(L, 6).evalf() - expected) < 1e-9


def test_gelu_at_the_relu_gain_vanishes():
    """7.8e-9 after 32 layers, and not the 0.0056 of a constant factor (mpmath quadrature)."""
    block = read_block("repeat(gelu >> linear(d, d, var=2/d), 32)")
    assert abs(block.forward(start(1)).second_moment.evalf() / 7.8e-9 - 1) < 0.01


def test_fixed_point_of_tanh():
    """weight variance 25/9: 1.17848 for pre-activations, slope 0.430899 (`LayerMap`'s doctest)."""
    path = read_block("repeat(tanh >> linear(d, d, var=25/(9d)), L)").recurrence(start())
    solved = fixed_points(path.step, path.variable)
    (point,) = solved.found
    assert solved.complete
    assert (point.value.digits, point.slope.digits) == ("1.17848049039", "0.430899386365")
    assert point.stable


@pytest.mark.parametrize(
    ("text", "keep", "expected"),
    [
        ("linear(m, n, var=v)", "arithmetic", "2/(m + n)"),
        ("linear(m, n, var=v)", "geometric", "1/sqrt(m*n)"),
        ("linear(m, n, var=v) >> relu", "backward", "2/n"),
        ("linear(m, n, var=v) >> leaky_relu(x, 1/5)", "forward", "25/(13*m)"),
        ("repeat(linear(m, m, var=v) >> relu, L)", "forward", "2/m"),
        ("residual(linear(m, m, var=1/m), sqrt(1 - b^2), b)", "forward", None),
        ("linear(m, m, var=v) >> linear(m, m, var=v)", "forward", "1/m"),
    ],
)
def test_solutions(text, keep, expected):
    block = read_block(text)
    if expected is None:
        with pytest.raises(BlockError, match="does not depend"):
            solve(block, "v", keep)
    else:
        assert simplify(solve(block, "v", keep) - read(expected)) == 0


@pytest.mark.parametrize(("law", "text"), [("lecun", ""), ("he", " >> relu")])
def test_solutions_are_the_laws_of_the_catalogue(law, text):
    found = solve(read_block(f"linear(m, n, var=v){text}"), "v")
    assert typed(found) == typed(find(law).statement.rhs)


def test_no_variance_keeps_a_residual_sum():
    with pytest.raises(BlockError, match="no positive v"):
        solve(read_block("residual(linear(d, d, var=v))"), "v")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("repeat(linear(d, 2d, var=1/d), L)", "features go into"),
        ("repeat(relu, L)", "needs Gaussian"),
        ("repeat(linear(d, d, var=1/d), 3/2)", "whole number"),
    ],
)
def test_refused_in_depth(text, message):
    with pytest.raises(BlockError, match=message):
        read_block(text).forward(start("q0", "r0"))


def test_a_name_l_of_the_blocks_own_is_no_layer():
    """With the variance v, v/(l v + q0) of the stream is what layer l added."""
    for name, share in (("v", "v/(l*v + q0)"), ("l", None)):
        block = read_block(f"repeat(prenorm(linear(d, d, var={name}/d)), L)")
        found = depth(block, start(q0))
        assert (found.ratio is None) == (share is None)
        assert found.share == (None if share is None else read(share))


def test_deepnorm_in_depth():
    """Wang et al. 2022: unit branches keep both passes, at any N in the block's own scales."""
    layer = read_block("deepnorm(linear(d, d, var=1/d), N)")
    block = Repeat(layer, 2 * Symbol("N", positive=True))
    assert block.forward(start(q0)).second_moment == 1
    assert block.backward(Gradient(second_moment=ONE), start(q0)).second_moment == 1 / q0
