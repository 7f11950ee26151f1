"""Matrices drawn along what goes through them: linear, remembered, and of the law of whole ones."""

import numpy as np
import pytest

from varlaw.checks.blocks.measuring import measure
from varlaw.checks.blocks.running import Draw, run
from varlaw.checks.blocks.seen import Matrix, Seen, cost
from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.state import ONE


def test_one_matrix_for_all_inputs():
    """The same input twice, a sum, and a combination seen before, which draws nothing new."""
    rng = np.random.default_rng(3)
    matrix, x = Matrix(40, 7), rng.standard_normal((5, 40))
    y = matrix.product(x, rng)
    z = matrix.product(np.vstack([x[0] + 1e-6 * x[4], rng.standard_normal(40)]), rng)
    np.testing.assert_allclose((z[0] - y[0]) / 1e-6, y[4], atol=1e-8)
    np.testing.assert_allclose(matrix.product(x, rng), y, atol=1e-12)
    assert len(matrix.basis) == 6
    np.testing.assert_allclose(matrix.basis @ matrix.basis.T, np.eye(6), atol=1e-12)


def test_inputs_that_are_alike():
    rng = np.random.default_rng(3)
    matrix, x = Matrix(40, 7), np.outer([1, 2, 0], rng.standard_normal(40))
    y = matrix.product(x, rng)
    np.testing.assert_allclose(y[1], 2 * y[0], atol=1e-12)
    assert not y[2].any()
    assert len(matrix.basis) == 1


def test_law():
    """E[y y'] = x x' at each output, within five deviations, of inputs one after another."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal((4, 12))
    matrix = Matrix(12, 100_000)
    y = np.vstack([matrix.product(x[:2], rng), matrix.product(x[2:], rng)])
    gram = x @ x.T
    error = np.sqrt((np.outer(np.diag(gram), np.diag(gram)) + gram**2) / y.shape[1])
    assert (np.abs(y @ y.T / y.shape[1] - gram) < 5 * error).all()


@pytest.mark.parametrize("law", ["normal", "uniform"])
def test_run_again(law):
    """A network with dropout and experts gives the same once more; slopes are those of it."""
    block = read_block(
        "linear(200, 150, var=1/200) >> dropout(1/3) >> moe(linear(150, 300, var=1), 4)"
    )
    draw, x = Seen(np.random.default_rng(1), law, inputs=9), np.ones((3, 200))
    first = run(block, x, draw)
    np.testing.assert_allclose(run(block, x, draw.again()), first, rtol=1e-9)
    np.testing.assert_allclose(run(block, 3 * x, draw.again()), 3 * first, rtol=1e-9)


def test_small_matrices_are_drawn_whole():
    x = np.ones((2, 30))
    one, other = Seen(np.random.default_rng(1), inputs=4), Draw(np.random.default_rng(1))
    assert cost(30, 40, 4) == 30 * 40
    np.testing.assert_array_equal(one.product(x, ONE, 40), other.product(x, ONE, 40))


def test_a_choice_of_experts_is_no_slope():
    """Gradients of the expert chosen, 2 for ReLU at 4/fan_in, where nearby inputs choose others."""
    block = read_block("moe(linear(48, 48, var=2/48) >> relu >> linear(48, 48, var=2/48), 6)")
    found = measure(block, start(1), seed=2, most=200)["backward"]
    assert found.claimed == 2
    assert abs(found.estimate - 2) < 5 * found.error + 0.02
    assert found.error < 0.1
