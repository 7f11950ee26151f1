"""The picture of blocks, and the moments layer by layer that it shows.

Expected values are those of He's law, (fan_in var/2)^l, and of Pre-Norm, 1 + l.
"""

import pytest

from varlaw.checks.blocks.profile import measured, profile, units
from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.state import BlockError

PLAIN = "repeat(linear(24, 24, var=3/48) >> relu, 4)"
PRE = "repeat(prenorm(linear(24, 24, var=1/24)), 4)"
ERRORS = 6


def test_layers_of_known_laws():
    plain = profile(read_block(PLAIN), start(1))
    every = [1.0]
    for _ in range(4):
        every += [every[-1] * 1.5, every[-1] * 0.75]
    assert plain.forward == pytest.approx(every)
    assert plain.backward[0] == pytest.approx(0.75**4)
    assert plain.backward[-1] == 1
    pre = profile(read_block(PRE), start(1))
    assert pre.forward == pytest.approx([1, 2, 3, 4, 5])
    assert pre.backward == pytest.approx([5, 5 / 2, 5 / 3, 5 / 4, 1])


def test_measured_beside_it():
    found = measured(read_block(PLAIN), start(1), seed=1)
    assert len(found.measured_forward) == 9
    for points, claimed in (
        (found.measured_forward, found.forward),
        (found.measured_backward, found.backward),
    ):
        for point in points:
            assert abs(point.estimate - claimed[point.place]) < ERRORS * point.error + 1e-9
        last = points[-1] if claimed is found.forward else points[0]
        assert abs(last.estimate - 2 * claimed[last.place]) > ERRORS * last.error


def test_what_has_no_numbers():
    with pytest.raises(BlockError, match="numbers for d"):
        profile(read_block("linear(d, d, var=1)"), start(1))
    with pytest.raises(BlockError, match="at most 400"):
        units(read_block("repeat(relu, 401)"))


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_picture(varlaw, tmp_path, suffix):
    pytest.importorskip("matplotlib")
    path = tmp_path / f"growth.{suffix}"
    two = ["--compare", f"plain={PLAIN}", "--compare", f"pre={PRE}", "--second-moment", "1"]
    assert varlaw("explore", *two, "--plot", str(path)).code == 0
    first = path.read_bytes()
    assert len(first) > 5000
    if suffix == "svg":
        assert b"second moment of the gradient" in first or b"<g id=" in first
        varlaw("explore", *two, "--plot", str(path))
        assert path.read_bytes() == first


def test_refused(varlaw, tmp_path):
    pytest.importorskip("matplotlib")
    path = str(tmp_path / "x.gif")
    assert ".png" in varlaw("explore", "relu", "--plot", path).refused()
    path = str(tmp_path / "x.png")
    assert "numbers for q0" in varlaw("explore", "relu", "--plot", path).refused()
