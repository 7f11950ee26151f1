"""Steps that use orthonormal rows, right and forged; and QR decompositions that are not Haar."""

from dataclasses import replace

import numpy as np
import pytest
from sympy import Expr, Integer

from varlaw.checks.experiments.measuring import measure_trial
from varlaw.checks.experiments.orthogonal import haar
from varlaw.checks.experiments.registry import Trial
from varlaw.checks.experiments.run import Settings, find, plan
from varlaw.checks.report import Proof
from varlaw.checks.statistics.verdicts import Verdict
from varlaw.checks.steps.proofs import prove_step
from varlaw.symbolic.arrays import RandomArray, arrays_in
from varlaw.symbolic.assumptions import Kind
from varlaw.symbolic.declarations import dimensions, indices, random_array
from varlaw.symbolic.derivation import RuleError, Step, derive
from varlaw.symbolic.terms import Delta, Expectation, Sum

m, n = dimensions("m n")
i, j, k = indices("i j k")
x = random_array("x", second_moment="q", independent=False)


def weights(orthonormal: bool = True) -> RandomArray:
    w = random_array("w", independent=False, identical=False)
    return w.with_property(Kind.ORTHONORMAL) if orthonormal else w


def length(w: RandomArray) -> Expr:
    return Sum(x[i] * x[k] * w[i, j] * w[k, j], (i, 1, m), (k, 1, m), (j, 1, n))


def step() -> Step:
    return derive(Expectation(length(weights()))).by("orthonormal").steps[0]


def judged(forged: Step) -> tuple[Proof, str]:
    return prove_step(forged, arrays_in(forged.before) | arrays_in(forged.after))


def doubled(s: Step) -> dict[str, object]:
    """The certificate with twice the Gram matrix written into it."""
    return {**s.certificate, "written": 2 * s.certificate["written"]}


def test_the_gram_matrix_becomes_a_delta() -> None:
    whole = Sum(x[i] * x[k] * Delta(i, k), (i, 1, m), (k, 1, m))
    assert step().after == Expectation(whole)
    assert judged(step())[0] is Proof.PROVED


def test_a_square_of_an_entry_sums_to_one() -> None:
    chain = derive(Expectation(Sum(weights()[i, j] ** 2, (j, 1, n)))).by("orthonormal")
    assert chain.end == 1


@pytest.mark.parametrize(
    "forge",
    [
        lambda s: replace(s, after=2 * s.after),
        lambda s: replace(s, after=Expectation(Sum(x[i] * x[k], (i, 1, m), (k, 1, m)))),
        lambda s: replace(s, assumptions=frozenset()),
        lambda s: replace(s, certificate={**s.certificate, "array": weights(orthonormal=False)}),
        lambda s: replace(s, certificate={**s.certificate, "columns": {(Integer(1), m)}}),
        lambda s: replace(s, before=2 * s.before),
        lambda s: replace(s, relation="->"),
        lambda s: replace(s, after=2 * s.after, certificate=doubled(s)),
    ],
)  # fmt: skip
def test_forged_steps_are_refuted(forge) -> None:
    outcome, why = judged(forge(step()))
    assert outcome is Proof.REFUTED, why


def test_rows_that_were_not_declared_orthonormal() -> None:
    with pytest.raises(RuleError, match="0 arrays with orthonormal rows"):
        derive(Expectation(length(weights(orthonormal=False)))).by("orthonormal")


def test_sums_over_rows_are_left_alone() -> None:
    """Orthonormal rows say nothing of Sum_i w[i, j] w[i, k]."""
    w = weights()
    with pytest.raises(RuleError, match="changes nothing"):
        derive(Expectation(Sum(w[i, j] * w[i, k], (i, 1, m)))).by("orthonormal")


def test_haar_matrices_are_orthogonal_on_the_longer_side() -> None:
    rng = np.random.default_rng(0)
    wide, tall = haar(rng, 3, 5, 20), haar(rng, 5, 3, 20)
    assert np.allclose(np.einsum("ijr,kjr->ikr", wide, wide), np.eye(3)[:, :, None])
    assert np.allclose(np.einsum("ijr,ikr->jkr", tall, tall), np.eye(3)[:, :, None])


def test_haar_matrices_are_qr_decompositions_with_signs() -> None:
    found = haar(np.random.default_rng(5), 5, 3, 20)
    matrices = np.moveaxis(
        np.random.default_rng(5).standard_normal((3, 5, 20)), (2, 1, 0), (0, 1, 2)
    )
    q, r = np.linalg.qr(matrices)
    q *= np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None, :]
    assert np.allclose(found, np.moveaxis(q, 0, -1))


def trial(law: str) -> tuple[object, Trial]:
    (task, *_) = plan([law], Settings(tolerance=0.02, error_rate=1e-3))
    return task, find(task).prepare(task.weights, dict(task.values))


def test_raw_qr_is_not_haar() -> None:
    """Without the signs E[(tr Q)^2] is not 1: the experiment with raw QR is refuted."""
    task, made = trial("haar-trace")
    size = int(dict(task.values)["n"])

    def raw(rng, replicates):
        q, _ = np.linalg.qr(rng.standard_normal((replicates, size, size)))
        return np.trace(q, axis1=1, axis2=2) ** 2

    assert measure_trial(task, made).verdict is Verdict.VERIFIED
    assert measure_trial(task, replace(made, draw=raw)).verdict is Verdict.REFUTED


def test_independent_weights_keep_lengths_on_average_only() -> None:
    """E[|x W|^4] is (1 + 2/n) times what orthonormal rows give."""
    task, made = trial("orthogonal-isometry")
    rows, cols = (int(dict(task.values)[name]) for name in "mn")
    inputs = np.sqrt(5 / 4)

    def independent(rng, replicates):
        values = inputs * rng.standard_normal((rows, replicates))
        w = rng.standard_normal((rows, cols, replicates)) / np.sqrt(cols)
        return (np.einsum("ir,ijr->jr", values, w) ** 2).sum(axis=0) ** 2

    assert measure_trial(task, replace(made, draw=independent)).verdict is Verdict.REFUTED


def test_the_edge_of_independent_weights() -> None:
    """Square matrices of variance 1/n: the largest singular value is near 2, the least 0."""
    values = np.linalg.svd(np.random.default_rng(1).standard_normal((400, 400)) / 20)[1]
    assert 1.95 < values[0] < 2.02 and values[-1] < 0.02
    assert np.mean(values**2) == pytest.approx(1, abs=0.02)
    assert np.mean(values**4) == pytest.approx(2 + 1 / 400, abs=0.05)
