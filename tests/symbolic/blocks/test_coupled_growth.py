"""Growth of gradients that tokens share: what goes through a matrix, and what does not."""

import pytest
from sympy import Matrix, Rational, Symbol, exp, symbols

from varlaw.symbolic.blocks import coupled_growth
from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.coupled_growth import _degree, _larger, _step, coupled_gradient
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.recurrence import Growth
from varlaw.symbolic.blocks.repeat import _back_through
from varlaw.symbolic.blocks.state import BlockError, Gradient

G, H, A = Symbol("g", positive=True), Symbol("h", real=True), Symbol("a", positive=True)
L = Symbol("L", positive=True, integer=True)


@pytest.mark.parametrize(
    ("form", "degree"),
    [
        (G, 1),
        (A * G + exp(A) * H, 1),
        (A * (G - H) / 3, 1),
        (A, 0),
        (G * H, 2),
        (G + A, None),
        (A + G + H, None),
        (exp(G), None),
        (1 / G, None),
        (G**2, None),
    ],
)
def test_degrees_as_they_are_written(form, degree):
    assert _degree(form, (G, H)) == degree


class Wrong:
    """Layers that pass on what is no linear form."""

    def __init__(self, back):
        self.g, self.h, self.back = G, H, back

    def followed(self, state):
        return Gradient(second_moment=self.back, product=H)


@pytest.mark.parametrize("back", [G * H, G + 1, exp(G)])
def test_what_is_no_matrix_is_refused(back):
    with pytest.raises(BlockError, match="not passed on by a matrix"):
        _step(Wrong(back), start(1, 0))
    assert _step(Wrong(2 * G - H), start(1, 0)) == Matrix([[2, -1], [0, 1]])


def test_refusals_are_a_class_that_is_not_known(monkeypatch):
    repeat = read_block("repeat(linear(8, 8, var=1/8) >> batchnorm(6), L)")
    state, forward = start(1, 0), Growth("constant")
    assert coupled_gradient(repeat, state, forward, Growth("")).kind == "exponential"
    monkeypatch.setattr(coupled_growth, "_degree", lambda form, values: None)
    assert coupled_gradient(repeat, state, forward, Growth("")).kind == ""


def test_the_larger_eigenvalue():
    assert _larger(Matrix([[2, 1], [1, 2]])) == 3
    assert _larger(Matrix([[2, 1], [0, 5]])) == 2  # h has nothing to do with g's growth here
    assert _larger(Matrix([[1, 2], [2, 4]])) == 5  # of rank 1: the trace


@pytest.mark.parametrize("depth", [1, 2, 3, 7])
@pytest.mark.parametrize(
    "matrix", [[[2, 4], [1, 2]], [[Rational(1, 2), -1], [Rational(-1, 4), Rational(1, 2)]]]
)
def test_back_through_layers_of_rank_1(matrix, depth):
    """Against the power of the matrix, in numbers and by a name."""
    g, h = symbols("u v", positive=True)
    m = Matrix(matrix)
    backs = dict(zip((g, h), m * Matrix([g, h]), strict=True))
    ends = {g: Rational(3), h: Rational(1)}
    expected = m**depth * Matrix([3, 1])
    for count in (Rational(depth), L):
        whole, values = _back_through(backs, ends, count)
        found = [(whole * values[u]).subs(L, depth) for u in (g, h)]
        assert found == list(expected)


def test_back_through_layers_that_are_a_diagonal():
    g, h = symbols("u v", positive=True)
    whole, values = _back_through({g: 2 * g, h: 3 * h}, {g: Rational(1), h: Rational(5)}, L)
    assert [(whole * values[u]).subs(L, 4) for u in (g, h)] == [16, 405]
