"""Random products and compositions against quadrature: none may be wrong, and all are answered."""

from dataclasses import replace

import mpmath as mp
import pytest
from random_moments import Case, Part, cases, pairs

from varlaw.symbolic.gaussian.moment import moment
from varlaw.symbolic.gaussian.pair import pair_moment


def check(case: Case) -> None:
    found = moment(case.part.text, mean=str(case.mean), variance=str(case.variance)).digits(16)
    expected = case.expected()
    assert abs(mp.mpf(found.digits) - expected) < 1e-12 * (1 + abs(expected)), case


@pytest.mark.parametrize("case", cases(seed=11, count=20), ids=lambda case: case.part.text)
def test_random_moments(case: Case) -> None:
    with mp.workdps(18):
        check(case)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_many_random_moments(seed: int) -> None:
    with mp.workdps(20):
        for case in cases(seed, 25):
            check(case)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("case", pairs(seed=5, count=6), ids=lambda case: case[0].text)
def test_random_pairs_on_a_line(case: tuple[Part, Part, object], sign: int) -> None:
    """At correlation 1 and -1 there is one variable."""
    f, g, _ = case
    mirrored = tuple((lambda t, h=h: h(sign * t), value) for h, value in g.kinks)
    line = Part(f.text, lambda t: f.function(t) * g.function(sign * t), f.kinks + mirrored)
    with mp.workdps(18):
        found = pair_moment(f.text, g.text, rho=sign).digits(14).digits
        expected = Case(line).expected()
        assert abs(mp.mpf(found) - expected) < 1e-12 * (1 + abs(expected))


def test_a_wrong_value_is_noticed() -> None:
    """The comparison can fail: another function at the same text."""
    (case,) = cases(seed=11, count=1)
    f = case.part.function
    part = replace(case.part, function=lambda t: f(t) + mp.mpf("1e-9"))
    with mp.workdps(18), pytest.raises(AssertionError):
        check(replace(case, part=part))
