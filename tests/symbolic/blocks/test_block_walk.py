"""The walk over blocks: where each stands, and what comes to it from both sides."""

from dataclasses import replace
from itertools import pairwise

import pytest
from sympy import Integer, Rational, Symbol

from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.state import ONE, BlockError, Gradient
from varlaw.symbolic.blocks.walk import LAYER as NUMBER
from varlaw.symbolic.blocks.walk import visits, walk

L = Symbol("L", positive=True)
ENDS = Gradient(second_moment=ONE)
WIDE, NARROW = "linear(8, 16, var=1/5)", "linear(16, 8, var=1/7)"
LAYER = f"prenorm({WIDE} >> gelu >> {NARROW} >> dropout(1/10)) >> residual({WIDE} >> {NARROW})"
INSIDE = [
    "prenorm.layernorm", "prenorm.linear1", "prenorm.activation", "prenorm.linear2",
    "prenorm.dropout", "residual.linear1", "residual.linear2",
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("linear(8, 8, var=1)", ["linear"]),
        (f"{WIDE} >> relu >> {NARROW}", ["linear1", "activation", "linear2"]),
        (f"repeat({LAYER}, 2)", [f"{layer}.{path}" for layer in (0, 1) for path in INSIDE]),
        ("repeat(linear(8, 8, var=1), 2) >> rmsnorm",
         ["repeat.0.linear", "repeat.1.linear", "rmsnorm"]),
        (f"sandwich({WIDE} >> {NARROW}) >> postnorm(linear(8, 8, var=1))",
         ["sandwich.layernorm1", "sandwich.linear1", "sandwich.linear2", "sandwich.layernorm2",
          "residual.linear", "layernorm"]),
        (f"parallel({WIDE}, {WIDE} >> relu) >> glu({NARROW}, {NARROW} >> relu)",
         ["parallel.1.linear", "parallel.2.linear", "parallel.2.activation", "gate.left.linear",
          "gate.right.linear", "gate.right.activation"]),
    ],
)  # fmt: skip
def test_paths(text, paths):
    assert [site.path for site in walk(read_block(text), start(1))] == paths


def test_blocks_with_parts_come_before_them():
    paths = [site.path for site in visits(read_block(f"repeat({LAYER}, 1)"), start(1))]
    assert paths[:3] == ["", "0.prenorm", "0.prenorm.layernorm"]


LAYERS = [
    f"{WIDE} >> relu >> {NARROW}",
    f"prenorm({WIDE} >> gelu >> {NARROW} >> dropout(1/10))",
    f"postnorm(glu({WIDE}, {WIDE} >> relu) >> {NARROW})",
    f"prenorm({WIDE} >> tanh >> {NARROW}) >> residual({WIDE} >> {NARROW}, 1, 1/2) >> dropout(1/9)",
]


@pytest.mark.parametrize("text", LAYERS)
def test_what_comes_to_a_layer_is_what_those_around_it_give(text):
    layer, first = read_block(text), start(Rational(7, 5), "1/3" if text == LAYERS[0] else None)
    sites = list(walk(Repeat(layer, 3) >> layer, first, ENDS))
    states, gradients = [first], [ENDS]
    for _ in range(3):
        states.append(decimals(layer.forward(states[-1])))
    for state in states[:0:-1]:
        gradients.append(decimals(layer.backward(gradients[-1], state)))
    for number, (state, gradient) in enumerate(zip(states[:3], gradients[:0:-1], strict=True)):
        inside = [site for site in sites if site.path.startswith(f"repeat.{number}.")]
        assert values(inside[0].state) == pytest.approx(values(state), rel=1e-12)
        assert values(inside[-1].gradient) == pytest.approx(values(gradient), rel=1e-12)
        assert inside[0].state.regime == state.regime


def decimals(flow):
    product = None if flow.product is None else flow.product.evalf(20)
    return replace(flow, second_moment=flow.second_moment.evalf(20), product=product)


def values(flow):
    return float(flow.second_moment), float(flow.product or 0)


def test_in_a_row_each_gives_to_the_next():
    row = read_block(f"{WIDE} >> relu >> {NARROW} >> layernorm >> {WIDE} >> gelu")
    sites = list(walk(row, start(1, "1/3"), replace(ENDS, product=ONE / 4)))
    for one, after in pairwise(sites):
        assert (one.out, one.gradient) == (after.state, after.passed)
    assert sites[-1].gradient.product == ONE / 4
    assert all(site.gradient is None for site in walk(row, start(1)))


def test_branches_get_their_scale_and_gates_the_other_side():
    (site,) = walk(read_block("residual(linear(8, 8, var=1/8), 2, 3)"), start(1), ENDS)
    assert site.gradient.second_moment == 9
    gate = read_block("glu(linear(8, 8, var=3/8), linear(8, 8, var=5/8) >> relu)")
    left, right, activation = walk(gate, start(1), ENDS)
    assert left.gradient.second_moment == Rational(5, 2)
    assert right.gradient == activation.passed
    assert activation.gradient.second_moment == 3


@pytest.mark.parametrize(
    "layer",
    [
        f"prenorm({WIDE} >> relu >> {NARROW})",
        f"residual({WIDE} >> {NARROW}, 1, 1/sqrt(L))",
        f"postnorm({WIDE} >> {NARROW})",
        "linear(8, 8, var=1/8, bias=1/2)",
    ],
)
def test_a_layer_of_many_has_closed_forms(layer):
    """In its number l and the depth L; the same layers one by one."""
    five = {L: 5}
    one_by_one = {
        site.path: site
        for site in walk(read_block(f"repeat({layer}, 5)", {"L": Integer(5)}), start(2), ENDS)
    }
    sites = list(walk(read_block(f"repeat({layer}, L)"), start(2), ENDS))
    assert len(sites) * 5 == len(one_by_one)
    for site in sites:
        for number in (1, 2, 3):
            other = one_by_one[f"{number}{site.path.removeprefix('l')}"]
            for flow, same in ((site.state, other.state), (site.gradient, other.gradient)):
                value = flow.second_moment.subs(five).subs(NUMBER, number)
                assert abs(value.evalf() - same.second_moment.evalf()) < 1e-12


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("repeat(linear(d, d, var=1/d), l)", "the name l"),
        (f"moe({WIDE} >> linear(n, d, var=1/n), 4)", "through experts"),
        ("repeat(linear(d, 2d, var=1/d), 2)", "features go into"),
    ],
)
def test_refused(text, message):
    with pytest.raises(BlockError, match=message):
        list(walk(read_block(text), start(1), replace(ENDS, product=ONE / 2)))
