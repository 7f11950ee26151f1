"""Growth with the depth L where layers depend on it, against such stacks at two large depths."""

import math

import pytest
from sympy import Rational

from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.depth import depth
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.state import ONE, Gradient

LAYER = "linear(m, m, var=2/m) >> relu >> linear(m, m, var=1/m)"
FORWARD = [  # a stack, its class, its rate
    (f"repeat(residual({LAYER}, 1, 1/sqrt(L)), L)", "bounded", None),
    (f"repeat(residual(layernorm >> {LAYER}, 1, 1/sqrt(2*L)), L)", "bounded", None),
    (f"repeat(residual(layernorm >> {LAYER}, 1, 1/L), L)", "bounded", None),
    (f"repeat(residual(layernorm >> {LAYER}, 1, L^(-1/4)), L)", "sqrt", Rational(1, 2)),
    (f"repeat(residual(layernorm >> {LAYER}, 1, L^(-3/8)), L)", "polynomial", Rational(1, 4)),
    (f"repeat(residual({LAYER}, 1, L^(-1/4)), L)", "subexponential", Rational(1, 2)),
    (f"repeat(residual({LAYER}, sqrt(1-1/L), 1/sqrt(2*L)), L)", "bounded", None),
]


def moments(text, layers):
    """The second moment at the end, and of the gradient at the start, of so many layers."""
    block, entering = read_block(text.replace("L", str(layers))), start(2)
    forward = block.forward(entering).second_moment
    return forward, block.backward(Gradient(second_moment=ONE), entering).second_moment


def agrees(growth, low, high, at):
    """Whether two values at depths `at` grow as is said."""
    if growth.kind == "bounded":
        return math.isclose(high, growth.limit, rel_tol=2e-3)
    (depth_,) = growth.asymptotic.free_symbols
    said = [float(growth.asymptotic.subs(depth_, n)) for n in at]
    if growth.kind == "subexponential":
        near, nearer = (
            math.log(v) / math.log(one) for v, one in zip((low, high), said, strict=True)
        )
        return abs(nearer - 1) < min(0.05, abs(near - 1))
    return math.isclose(high - low, said[1] - said[0], rel_tol=0.05)


@pytest.mark.parametrize(("text", "kind", "rate"), FORWARD)
def test_forward_and_backward(text, kind, rate):
    found = depth(read_block(text), start(2))
    assert (found.forward.kind, found.forward.rate) == (kind, rate)
    at = 100, 10_000
    (low, back_low), (high, back_high) = (map(float, moments(text, n)) for n in at)
    assert agrees(found.forward, low, high, at)
    assert not agrees(found.forward, 1.2 * low, 1.2 * high, at) or kind == "subexponential"
    if found.backward.kind:
        assert agrees(found.backward, back_low, back_high, at)


def test_layers_that_do_not_depend_on_the_depth_are_told_by_layer():
    found = depth(read_block(f"repeat(residual({LAYER}), L)"), start(2))
    assert str(found.forward) == "exponential, times 2 per layer"


@pytest.mark.parametrize("scale", ["2^(-L)", "L^(1/4)", "log(L)"])
def test_other_functions_of_the_depth_are_not_known(scale):
    found = depth(read_block(f"repeat(residual({LAYER}, 1, {scale}), L)"), start(2))
    assert str(found.forward) == "not known"
