"""Random products and compositions against quadrature: none may be wrong."""

import mpmath as mp
import pytest
from random_moments import Case, cases

from varlaw.symbolic.gaussian.functions import NoMoment
from varlaw.symbolic.gaussian.moment import moment


def check(case: Case) -> None:
    found = moment(case.text, mean=str(case.mean), variance=str(case.variance)).digits(16)
    expected = case.expected()
    assert abs(mp.mpf(found.digits) - expected) < 1e-12 * (1 + abs(expected)), case


@pytest.mark.parametrize("case", cases(seed=11, count=24), ids=lambda case: case.text)
def test_random_moments(case: Case) -> None:
    with mp.workdps(20):
        check(case)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_many_random_moments(seed: int) -> None:
    """None is wrong; a few are refused, with kinks without end such as |sin(x)|."""
    refused = 0
    with mp.workdps(30):
        for case in cases(seed, 60):
            try:
                check(case)
            except NoMoment as error:
                assert "its sign far out is not known" in str(error), (case, error)
                refused += 1
    assert refused <= 5


def test_a_wrong_value_is_noticed() -> None:
    """The comparison can fail: another function at the same text."""
    (case,) = cases(seed=11, count=1)
    wrong = Case(case.text, lambda t: case.function(t) + mp.mpf("1e-9"), case.kinks)
    with mp.workdps(20), pytest.raises(AssertionError):
        check(wrong)
