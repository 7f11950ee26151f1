"""Residual and scaling laws at numbers that were computed otherwise."""

import mpmath
import pytest
from sympy import Float, Integer, Rational

from varlaw.derivations.catalogue import find

mpmath.mp.dps = 30
GAMMA = 1 - 4 * mpmath.e ** (-2) / (mpmath.sqrt(2 * mpmath.pi) * mpmath.erf(mpmath.sqrt(2)))


def gelu_square(v):
    """E[gelu(z)^2] for z ~ N(0, v), by quadrature."""

    def integrand(z):
        gelu = z * mpmath.ncdf(z)
        return gelu**2 * mpmath.npdf(z, 0, mpmath.sqrt(v))

    return mpmath.quad(integrand, [-8, -2, -0.5, 0, 0.5, 2, 8])


def branches(weight):
    """Attention and feed-forward branch at width 768 and 3072 hidden units."""
    return (768 * weight) ** 2, 3072 * weight * gelu_square(768 * weight)


BERT = branches(mpmath.mpf("0.0004") * GAMMA)
GPT2 = branches(mpmath.mpf("0.0004"))
NUMBERS = {
    "bert-attention": BERT[0],
    "bert-feed-forward": BERT[1],
    "bert-identity-path-least": ((1 + BERT[0]) * (1 + BERT[1])) ** -6,
    "bert-identity-path-most": (1 + BERT[1]) ** -6,
    "gpt2-feed-forward": GPT2[1],
    "gpt2-stream": 0.0008 + sum(GPT2) / 2,
    "gpt2-stream-by-blocks": 0.0008 + sum(GPT2),
    "gpt2-stream-unscaled": 0.0008 + 12 * sum(GPT2),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_digits(name: str) -> None:
    found = mpmath.mpf(str(find(name).statement.rhs).rstrip("."))
    assert abs(found - NUMBERS[name]) < 2e-13


def at(name: str, **values) -> Float:
    end = find(name).statement.rhs
    return end.subs({s: values[s.name] for s in end.free_symbols})


def test_closed_forms() -> None:
    assert at("pre-norm-he", l=48) == 97
    assert at("pre-norm-share", t=24) == Rational(1, 25)
    assert at("residual-scaling", N=24) ** 2 == Rational(1, 24)
    assert at("gpt2-attention") == Rational(9437184, 10**8)
    assert at("gpt2-embeddings") == Rational(5, 10**4)
    assert at("fixup", N=16, l=2) == Rational(1, 2)
    assert at("deepnorm", N=2) == Rational(1, 2)
    assert at("t-fixup", N=9) == Rational(1, 3)
    assert at("zero-last-layer-before") == Integer(0)
    assert at("zero-first-layer-relu") == Integer(0)
