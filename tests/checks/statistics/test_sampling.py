"""The samplers follow the laws whose exact moments the table states; streams are stable."""

import math
import os
import pickle
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from varlaw.checks.statistics.sampling import LAWS, Discrete, Law, Shifted, shifted, stream
from varlaw.checks.statistics.verdicts import CatoniSequence, Interval

SIZE = 100_000
MOMENTS = range(1, 5)
ALL = [*LAWS.values(), *(shifted(law, Fraction(-2, 3)) for law in LAWS.values())]


def measured_moment(law: Law, k: int) -> Interval:
    """Interval for E[x^k] that fails with probability 1e-7, from the exact variance of x^k."""
    variance = float(law.moment(2 * k) - law.moment(k) ** 2)
    # without variance the powers agree but for rounding, which the small bound makes room for
    sequence = CatoniSequence(1e-7, max(variance, 1e-20), planned=SIZE)
    sequence.update(law.sample(stream(11, law.name, k), SIZE) ** k)
    return sequence.interval()


@pytest.mark.parametrize("law", ALL, ids=lambda law: law.name)
@pytest.mark.parametrize("k", MOMENTS)
def test_sampled_moments_agree_with_the_exact_ones(law: Law, k: int) -> None:
    assert float(law.moment(k)) in measured_moment(law, k)


@pytest.mark.parametrize("law", LAWS.values(), ids=lambda law: law.name)
def test_moments_of_other_laws_are_told_apart(law: Law) -> None:
    interval = measured_moment(law, 4)
    for other in LAWS.values():
        assert (float(other.moment(4)) in interval) == (other.name == law.name)


@pytest.mark.parametrize("law", LAWS.values(), ids=lambda law: law.name)
def test_rows_are_standardised_and_true(law: Law) -> None:
    assert [law.moment(k) for k in range(3)] == [1, 0, 1]
    assert LAWS[law.name] is law
    assert law.symmetric == (law.moment(3) == 0)
    values = law.sample(stream(12, law.name), SIZE)
    if law.bound is not None:
        assert np.abs(values).max() <= law.bound
        assert law.moment(8) <= Fraction(law.bound) ** 8 + Fraction(1, 10**9)


def test_moments_from_independent_sources() -> None:
    assert [LAWS["normal"].moment(k) for k in range(9)] == [1, 0, 1, 0, 3, 0, 15, 0, 105]
    # integral of x^k / (2 sqrt 3) over [-sqrt 3, sqrt 3]
    assert [LAWS["uniform"].moment(k) for k in (4, 6, 8)] == [
        Fraction(9, 5),
        Fraction(27, 7),
        Fraction(9),
    ]
    # at a and -1/a with mean 0 and variance 1: E[x^3] = a - 1/a, E[x^4] = 1 + E[x^3]^2
    assert LAWS["skewed"].moment(3) == 2 - Fraction(1, 2)
    assert LAWS["leaning"].moment(3) == Fraction(3, 2) - Fraction(2, 3)
    # no two laws share their kurtosis, so that none can stand in for another
    kurtosis = [law.moment(4) for law in LAWS.values()]
    assert sorted(kurtosis) == [1, Fraction(61, 36), Fraction(9, 5), 3, Fraction(13, 4), 4]


def test_kinds_of_law_that_the_experiments_need() -> None:
    assert [law.name for law in LAWS.values() if law.gaussian] == ["normal"]
    assert [law.name for law in LAWS.values() if not law.symmetric] == ["skewed", "leaning"]
    assert [law.name for law in LAWS.values() if law.bound is None] == ["normal"]


def test_shifted_moments() -> None:
    law = shifted(LAWS["uniform"], Fraction(3))
    # E[(x + 3)^4] = 81 + 6 * 9 * 1 + 9/5
    assert law.moment(4) == 81 + 54 + Fraction(9, 5)
    assert [law.moment(k) for k in range(2)] == [1, 3]
    assert not law.symmetric and not law.gaussian
    assert law.bound == pytest.approx(3 + math.sqrt(3))
    assert shifted(LAWS["normal"], 2).gaussian and shifted(LAWS["normal"], 2).bound is None
    assert shifted(LAWS["uniform"], 0) is LAWS["uniform"]
    assert isinstance(law, Shifted)


@pytest.mark.parametrize("law", ALL, ids=lambda law: law.name)
@pytest.mark.parametrize("shape", [5, (5,), (2, 3, 4), (0, 3)])
def test_shapes(law: Law, shape: int | tuple[int, ...]) -> None:
    values = law.sample(stream(13), shape)
    assert values.shape == np.empty(shape).shape and values.dtype == np.float64


@pytest.mark.parametrize("law", ALL, ids=lambda law: law.name)
def test_laws_travel_to_worker_processes(law: Law) -> None:
    copy = pickle.loads(pickle.dumps(law))
    assert copy == law
    np.testing.assert_array_equal(copy.sample(stream(14), 9), law.sample(stream(14), 9))


@pytest.mark.parametrize(
    ("symmetric", "gaussian", "bound", "atoms", "mistake"),
    [
        (True, False, 1.0, [(1, "1/2"), (-1, "1/4")], "sum to 1"),
        (True, False, 1.0, [(1, "3/2"), (-1, "-1/2")], "not positive"),
        (True, False, 1.0, [(1, "1/4"), (1, "1/4"), (-1, "1/2")], "repeated"),
        (True, False, 2.0, [(2, "1/5"), (-1, "4/5")], "symmetry"),
        (True, False, 3.0, [(1, "1/2"), (-1, "1/2")], "bound"),
        (True, True, 1.0, [(1, "1/2"), (-1, "1/2")], "Gaussian"),
        (False, False, 1.0, [(1, "1/257"), (0, "256/257")], "denominator"),
    ],
)
def test_wrong_rows_are_refused(
    symmetric: bool, gaussian: bool, bound: float, atoms: list[tuple[int, str]], mistake: str
) -> None:
    rows = tuple((Fraction(value), Fraction(probability)) for value, probability in atoms)
    with pytest.raises(ValueError, match=f"law 'wrong': .*{mistake}"):
        Discrete("wrong", symmetric, gaussian, bound, rows)


def test_streams_do_not_depend_on_the_order_of_calls() -> None:
    keys = [("he", 0), ("he", 1), ("lecun", 0)]
    forwards = {key: stream(1, *key).random(4).tolist() for key in keys}
    backwards = {key: stream(1, *key).random(4).tolist() for key in reversed(keys)}
    assert forwards == backwards


def test_different_keys_have_different_streams() -> None:
    keys: list[tuple[int | str, ...]] = [
        (),
        (0,),
        (1,),
        ("1",),
        ("", 1),
        (1, ""),
        (1, 2),
        (12,),
        ("1, 2",),
        (2**32,),
        (0, 1),
        (-1,),
    ]
    first = {stream(1, *key).random() for key in keys}
    assert len(first) == len(keys)
    assert stream(1, "he").random() != stream(2, "he").random()


def test_streams_are_the_same_in_every_process() -> None:
    code = (
        "from varlaw.checks.statistics.sampling import stream; "
        "print(stream(7, 'he', 3).random(3).tolist())"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": salt},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for salt in ("1", "2")
    }
    assert printed == {str(stream(7, "he", 3).random(3).tolist())}


def test_integers_of_any_kind_make_the_same_key() -> None:
    assert stream(1, int(np.int64(5))).random() == stream(1, np.int64(5)).random()  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        stream(1, 0.5)  # type: ignore[arg-type]
