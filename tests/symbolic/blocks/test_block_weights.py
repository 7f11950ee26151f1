"""Gradients of weights: sums over tokens and positions, layer by layer."""

import pytest
from sympy import Symbol, simplify

from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.state import Approximation, BlockError, Gradient
from varlaw.symbolic.blocks.weights import weight_gradients
from varlaw.symbolic.language import read

G, c = Symbol("G", positive=True), Symbol("c", positive=True)


def found(text, rho=None, product=0, tokens="T"):
    gradient = Gradient(second_moment=G, product=G * product)
    listed = weight_gradients(read_block(text), start("q0", rho), gradient, tokens)
    return {f"{one.path} {one.name}": one for one in listed}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("linear(m, n, var=v)", {"linear weight": "T*G*q0", "linear bias": "T*G"}),
        ("linear(m, n, var=1, scale=1/sqrt(m))",
         {"linear weight": "T*G*q0/m", "linear bias": "T*G"}),
        ("linear(m, n, var=v) >> relu >> linear(n, k, var=w)",
         {"linear1 weight": "T*k*w*G*q0/2", "linear1 bias": "T*k*w*G/2",
          "linear2 weight": "T*m*v*q0*G/2", "linear2 bias": "T*G"}),
        ("embedding(d, var=v, scale=s) >> linear(d, k, var=w)",
         {"embedding row": "s^2*k*w*G", "linear weight": "T*s^2*v*G", "linear bias": "T*G"}),
        ("repeat(residual(linear(d, d, var=1/d), 1, b), 2)",
         {"0.residual.linear weight": "T*b^2*(1 + b^2)*G*q0",
          "0.residual.linear bias": "T*b^2*(1 + b^2)*G",
          "1.residual.linear weight": "T*b^2*(1 + b^2)*G*q0",
          "1.residual.linear bias": "T*b^2*G"}),
        ("conv(a, h, k, var=v, dims=1, size=n)",
         {"conv weight": "T*(n - k + 1)*G*q0", "conv bias": "T*(n - k + 1)*G"}),
        ("conv(a, h, 3, var=v, padding=1, size=n)",
         {"conv weight": "T*(n - 2/3)^2*G*q0", "conv bias": "T*n^2*G"}),
        ("convtransposed(a, h, 2, var=v, stride=2, size=5)",
         {"convtransposed weight": "T*25*G*q0", "convtransposed bias": "T*100*G"}),
    ],
)  # fmt: skip
def test_sums(text, expected):
    every = found(text)
    assert list(every) == list(expected)
    for name, one in every.items():
        assert simplify(one.second_moment - read(expected[name])) == 0, name
        assert {Approximation.WIDE, Approximation.PROBE} <= one.regime


def test_tokens_whose_gradients_correlate():
    every = found("linear(m, n, var=v)", "r", c, 4)
    expected = {"weight": "4*G*q0 + 12*G*c*r*q0", "bias": "4*G + 12*G*c"}
    for name, value in expected.items():
        assert simplify(every[f"linear {name}"].second_moment - read(value)) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("linear(m, n, var=v)", None, c), "is needed"),
        (("conv(3, 4, 3, var=v)",), "give a size"),
        (("conv(3, 4, 3, var=v, padding=1, size=5)", "0", c), "with padding"),
        (("linear(m, n, var=v)", None, 0, "5/2"), "whole number"),
        (("attention(d, T, value=v, out=v)", "r", 0, 1), "over the T tokens"),
        (("attention(d, T, value=v, out=v, query=v, key=v, qk_norm=1)", "r"), "without qk_norm"),
    ],
)
def test_refused(arguments, message):
    with pytest.raises(BlockError, match=message):
        found(*arguments)
