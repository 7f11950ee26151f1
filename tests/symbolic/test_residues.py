"""The trapezoid rule with poles left inside its rectangle."""

import mpmath
import pytest
from flint import arb, ctx
from sympy import Expr, Integer, Rational, Symbol, cos, exp, lambdify, log, oo, sqrt, tanh

from varlaw.symbolic.gaussian import trapezoid
from varlaw.symbolic.gaussian.enclosure import enclose
from varlaw.symbolic.gaussian.parts import Scale
from varlaw.symbolic.gaussian.pieces import Piece
from varlaw.symbolic.gaussian.programs import program
from varlaw.symbolic.gaussian.residues import NoResidue, height_between, rows

x = Symbol("x", real=True)
SIGMOID = 1 / (1 + exp(-x))
MISH = x * (1 - 2 / (exp(2 * x) + 2 * exp(x) + 2))
WITH_POLES = [
    SIGMOID,
    SIGMOID**3 * x**2,
    (x * SIGMOID).diff(x) ** 2,
    x / (1 + exp(1 - 2 * x)) ** 2,
    MISH,
    MISH.diff(x) ** 2,
    tanh(x) ** 2,
    (1 - tanh(3 * x + 1) ** 2) ** 2,
    tanh(x) * SIGMOID,  # poles of two steps
    tanh(2 * x + 1) * cos(x) * exp(x / 3),
    1 / (1 + x**2),
    x / (2 + x + x**2) ** 3,
    1 / (exp(2 * x) + exp(x) + 1),
    1 / (exp(x) + sqrt(2)) ** 2,
    1 / (3 + exp(2 * x)) ** 4,
]
LAWS = [(Integer(0), Integer(1)), (Rational(1, 3), Integer(2)), (Integer(-2), Rational(1, 5))]


def found(f: Expr, mean: Expr, variance: Expr, digits: int) -> arb:
    return enclose([Piece(-oo, oo, f)], x, mean, variance, digits).value


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("f", WITH_POLES, ids=str)
def test_the_values_are_those_of_quadrature(f: Expr, law: tuple[Expr, Expr]) -> None:
    value = found(f, *law, 40)
    with mpmath.workdps(45):
        mean, deviation = mpmath.mpf(law[0]), mpmath.sqrt(mpmath.mpf(law[1]))
        function = lambdify(x, f, "mpmath")
        points = [-14, -8, -4, -2, -1, 0, 1, 2, 4, 8, 14]
        theirs = mpmath.quad(lambda t: function(mean + deviation * t) * mpmath.npdf(t), points)
        assert abs(mpmath.mpf(value.mid().str(45, radius=False)) - theirs) < mpmath.mpf(10) ** -36


@pytest.mark.parametrize("f", WITH_POLES, ids=str)
def test_the_poles_count(f: Expr, monkeypatch: pytest.MonkeyPatch) -> None:
    """With other residues the ball would hold another number, without any the rule still holds."""
    ours, counted = found(f, Rational(1, 3), Integer(1), 40), []

    def half(*parts: object) -> arb:
        counted.append(trapezoid_correction(*parts))  # type: ignore[arg-type]
        return counted[-1] / 2

    trapezoid_correction = trapezoid.correction
    monkeypatch.setattr(trapezoid, "correction", half)
    assert not found(f, Rational(1, 3), Integer(1), 40).overlaps(ours)
    assert counted and not counted[0].contains(0)

    def none(*_: object) -> list[object]:
        raise NoResidue

    monkeypatch.setattr(trapezoid, "rows", none)
    assert found(f, Rational(1, 3), Integer(1), 40).overlaps(ours)
    assert len(counted) == 1


@pytest.mark.parametrize("digits", [15, 200, 1000])
def test_many_digits(digits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    f = MISH.diff(x)
    ours = found(f, Rational(1, 3), Integer(2), digits)

    def none(*_: object) -> list[object]:
        raise NoResidue

    monkeypatch.setattr(trapezoid, "rows", none)
    theirs = found(f, Rational(1, 3), Integer(2), digits)
    assert ours.overlaps(theirs)
    assert ours.rad() < arb(10) ** -digits and theirs.rad() < arb(10) ** -digits


def test_rows_hold_all_zeros_of_the_denominator() -> None:
    """Of e^(2x) + 2 e^x + 2 at mean 1/2, variance 4: x = log(-1 +- i) + 2 pi i k."""
    scale = Scale(Rational(1, 2), Integer(2), arb(1))
    with ctx.workprec(100):
        seen = [z.t for row in rows(program(MISH, x), scale)[0] for z in row.below(10.0)]
    expected = [
        (mpmath.log(mpmath.mpc(-1, sign)) + 2j * mpmath.pi * k - 0.5) / 2
        for k in range(-9, 9)
        for sign in (-1, 1)
    ]
    above = sorted(float(z.imag) for z in expected if 0 < z.imag < 10)
    assert len(above) == len(seen) > 5
    for height, z in zip(above, sorted(seen, key=lambda z: float(z.imag.mid())), strict=True):
        assert abs(float(z.imag.mid()) - height) < 1e-12
        assert abs(float(z.real.mid()) - (float(mpmath.log(2)) / 2 - 0.5) / 2) < 1e-12


@pytest.mark.parametrize(
    "f",
    [log(1 + exp(x)), tanh(x + x**3), 1 / (1 + exp(x) + exp(sqrt(2) * x)), 1 / (exp(x) - 2)],
    ids=str,
)
def test_other_singularities_are_refused(f: Expr) -> None:
    with pytest.raises(NoResidue):
        rows(program(f, x), Scale(Integer(0), Integer(1), arb(1)))


def test_poles_of_two_steps_at_one_place() -> None:
    """tanh(x) and 1/(1 + e^(2x)) have the same poles: the old way is taken, to the same value."""
    both = tanh(x) ** 2 / (1 + exp(2 * x))
    alone = tanh(x) ** 2 * (1 - tanh(x)) / 2
    law = Rational(1, 3), Integer(2)
    assert found(both, *law, 40).overlaps(found(alone, *law, 40))


def test_a_pole_at_the_height_is_doubtful() -> None:
    (row,), _ = rows(program(1 / (1 + x**2), x), Scale(Integer(0), Integer(1), arb(1)))
    with pytest.raises(NoResidue):
        row.below(1.0)
    assert row.below(0.99) == [] and len(row.below(1.01)) == 1


def test_the_height_lies_between_rows() -> None:
    known = rows(program(SIGMOID, x), Scale(Integer(0), Integer(1), arb(1)))
    for row, span in enumerate((30.0, 300.0), 1):
        height = height_between(*known, span, 120.0, 3.0)
        assert height == pytest.approx(2 * row * float(mpmath.pi))
    assert height_between(*known, 1e-3, 120.0, 3.0) == 3.0  # a few points are fewer than a pole


@pytest.mark.parametrize("inner", [x + x**3 / 7, -x - 2 * x**3, (x - 1) + (x - 1) ** 3], ids=str)
def test_poles_of_tanh_of_a_cubic(inner: Expr) -> None:
    """All solutions of p(z) = i pi (k + 1/2) for many k, below the height that is told."""
    scale = Scale(Integer(0), Integer(1), arb(1))
    with ctx.workprec(1000):
        found, ceiling = rows(program(tanh(inner.expand()), x), scale)
    top = float(ceiling.lower())
    seen = sorted(h for row in found if (h := float(row.first.t.imag.mid())) < top)
    coefficients = [complex(inner.expand().coeff(x, power)) for power in (3, 2, 1, 0)]
    heights = []
    for k in range(-60, 60):
        *above, constant = coefficients
        with mpmath.workdps(30):
            shifted = [*above, constant - 1j * mpmath.pi * (k + 0.5)]
            heights += [float(z.imag) for z in mpmath.polyroots(shifted, maxsteps=500)]
    expected = sorted(h for h in heights if 0 < h < top)
    assert len(seen) == len(expected) >= 4
    assert max(abs(a - b) for a, b in zip(seen, expected, strict=True)) < 1e-9


def test_many_digits_with_tanh_of_a_cubic(monkeypatch: pytest.MonkeyPatch) -> None:
    f = tanh(x + x**3 / 7) * x
    ours = found(f, Rational(1, 3), Integer(1), 500)

    def none(*_: object) -> object:
        raise NoResidue

    monkeypatch.setattr(trapezoid, "rows", none)
    assert found(f, Rational(1, 3), Integer(1), 500).overlaps(ours)
    assert ours.rad() < arb(10) ** -500


@pytest.mark.parametrize(("mean", "power"), [(-500, 1), (-500, 2), (-3000, 1), (-60, 2)])
def test_softplus_far_in_its_tail(mean: int, power: int) -> None:
    """There log(1 + e^z) = e^z - e^(2z)/2 + ..., whose means are exp(k mean + k^2/2).

    To the digits asked for, which are significant ones, the first two terms are enough.
    """
    value = found(log(1 + exp(x)) ** power, Integer(mean), Integer(1), 20)
    with mpmath.workdps(40):
        first, second = (mpmath.exp(k * mean + mpmath.mpf(k * k) / 2) for k in (power, power + 1))
        expected = first - second * power / 2
        assert value.rel_accuracy_bits() > 66
        seen = mpmath.mpf(value.mid().str(30, radius=False))
        assert abs(seen / expected - 1) < mpmath.mpf(10) ** -20
