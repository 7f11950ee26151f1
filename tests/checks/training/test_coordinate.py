"""The coordinate check against the known exponents of three parametrisations (Yang and Hu 2021)."""

import pytest

from varlaw.checks.experiments.coordinate import Exponents, slopes
from varlaw.checks.statistics.sampling import LAWS

HALF = 0.5
STANDARD = {
    "input": Exponents(0, 0, 0),
    "hidden": Exponents(0, HALF, 0),
    "readout": Exponents(0, HALF, 0),
}
NTK = {
    "input": Exponents(0, 0, 0),
    "hidden": Exponents(HALF, 0, 0),
    "readout": Exponents(HALF, 0, 0),
}
MUP = {
    "input": Exponents(-HALF, HALF, 0),
    "hidden": Exponents(0, HALF, 0),
    "readout": Exponents(HALF, HALF, 0),
}
EXPECTED = [
    (STANDARD, "sgd", {"input": -0.5, "hidden": 0.5, "readout": 1.0}),
    (STANDARD, "adam", {"input": 0.0, "hidden": 1.0, "readout": 1.0}),
    (NTK, "sgd", {"input": -0.5, "hidden": -0.5, "readout": 0.0}),
    (MUP, "sgd", {"input": 0.0, "hidden": 0.0, "readout": 0.0}),
]


@pytest.mark.parametrize("weights", ["normal", "uniform"])
@pytest.mark.parametrize(("layers", "optimiser", "expected"), EXPECTED)
def test_measured_exponents(layers, optimiser, expected, weights):
    """Within 0.1 of what is derived, with errors so small that 1/4 more or less is refuted.

    At 8 standard errors the false-alarm rate is below 1e-6 for the 94 degrees of freedom.
    """
    found = slopes(layers, optimiser, LAWS[weights], draws=24)
    for name, exponent in expected.items():
        slope, error = found[name]
        assert abs(slope - exponent) < 0.1 + 8 * error, (name, slope, error)
        assert 8 * error < 0.25, (name, slope, error)


def test_a_wrong_exponent_is_refuted():
    slope, error = slopes(STANDARD, "adam", LAWS["normal"])["hidden"]
    assert abs(slope - 0.5) > 0.25 + 8 * error


def test_two_widths_are_no_slope():
    with pytest.raises(ValueError, match="at least three widths"):
        slopes(MUP, "sgd", LAWS["normal"], widths=(8, 16, 16))
