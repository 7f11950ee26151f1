"""E[f(Z1) f(Z2)] in double precision for functions with kinks: against proved digits."""

import numpy as np
import pytest

from varlaw.symbolic.gaussian import panels
from varlaw.symbolic.gaussian.doubles import PairFunction
from varlaw.symbolic.gaussian.enclosure import joined
from varlaw.symbolic.gaussian.functions import function_of
from varlaw.symbolic.gaussian.pair import pair_moment
from varlaw.symbolic.gaussian.pieces import pieces_of


@pytest.mark.parametrize("name", ["hardtanh", "elu"])
@pytest.mark.parametrize("rho", ["-0.3", "0.99", "0", "-1"])
def test_against_closed_forms(name: str, rho: str) -> None:
    proved = float(pair_moment(name, rho=rho, variances=("9/4", 1)).digits(17).digits)
    assert PairFunction(name)(float(rho), (2.25, 1.0)) == pytest.approx(proved, rel=0, abs=2e-15)


def test_against_the_square() -> None:
    # E[softsign(Z)^2] = sqrt(2/pi) (1 - e^(-1/2) (pi erfi(1/sqrt 2) - Ei(1/2))/2)
    assert PairFunction("softsign")([1.0, -1.0]) == pytest.approx(
        [0.18301402126654749909, -0.18301402126654749909], rel=0, abs=1e-15
    )


def test_what_two_resolutions_disagree_on_is_no_number() -> None:
    f, x = function_of("abs(x)*sin(4000*x)")
    wild = panels.Kinked(joined(pieces_of(f, x)), x)
    assert np.isnan(panels.mean_of_product(wild, wild, 0.3, 1.0, 1.0))


def test_what_outgrows_the_range_is_no_number() -> None:
    f, x = function_of("exp(0.24*x^2)*step(x)")
    grows = panels.Kinked(joined(pieces_of(f, x)), x)
    assert np.isnan(panels.mean_of_product(grows, grows, 0.3, 1.0, 1.0))
