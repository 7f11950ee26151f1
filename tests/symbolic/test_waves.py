"""Means of fast waves, against rays and shifted lines on which they fade (mpmath)."""

from collections.abc import Callable

import pytest
from flint import acb, arb, ctx
from mpmath import exp, expj, linspace, mp, mpc, mpf, npdf, pi, quad, sqrt

from varlaw.symbolic.gaussian.balls import NoEnclosure
from varlaw.symbolic.gaussian.moment import NoMoment, moment
from varlaw.symbolic.gaussian.waves import waves_of
from varlaw.symbolic.language import read_function

DIGITS = 25


def _on_ray(amplitude: Callable[[mpc], mpc], power: int, rate: int = 1) -> mpc:
    """Int_0^oo a(z) e^(i rate z^power) of the density, on z = r e^(i pi/(2 power))."""
    turn = expj(pi / (2 * power))

    def value(r: mpf) -> mpc:
        z = r * turn
        return turn * amplitude(z) * exp(1j * rate * z**power - z * z / 2) / sqrt(2 * pi)

    return quad(value, [0, 0.2, 0.5, 1, 1.5, 2, 4])


def _shifted(amplitude: Callable[[mpc], mpc], phase: Callable[[mpc], mpc], height: mpf) -> mpc:
    def value(t: mpf) -> mpc:
        z = mpc(t, height)
        return amplitude(z) * exp(1j * phase(z) - z * z / 2) / sqrt(2 * pi)

    return quad(value, linspace(-14, 8, 45))


FAST: dict[str, Callable[[], mpf]] = {
    "x sin(x^7)": lambda: 2 * _on_ray(lambda z: z, 7).imag,
    "relu(x) cos(x^9)": lambda: _on_ray(lambda z: z, 9).real,
    "sin(x^7)^2": lambda: mpf(1) / 2 - _on_ray(lambda z: 1, 7, 2).real,
    "cos(50 x^4) + x^2": lambda: 1 + 2 * _on_ray(lambda z: 1, 4, 50).real,
    "sin(x) cos(x)^2*sin(x^5)": lambda: 2 * _on_ray(lambda z: mp.sin(z) * mp.cos(z) ** 2, 5).imag,
    "x cos(exp(2 x))": lambda: _shifted(lambda z: z, lambda z: exp(2 * z), pi / 8).real,
}


@pytest.mark.parametrize("text", FAST)
def test_fast_waves_are_integrated_where_they_fade(text: str) -> None:
    with mp.workdps(DIGITS + 10):
        wanted = FAST[text]()
        found = moment(text).digits(DIGITS)
        assert abs(mpf(found.digits) - wanted) < mpf(10) ** (2 - DIGITS)
    assert float(found.radius) < 10.0 ** (2 - DIGITS)


def test_a_wave_splits_into_powers_of_e_to_the_iq() -> None:
    g, name = read_function("x sin(x^3)^3*cos(x^2) + exp(x)")
    waves = waves_of(g, name)
    with ctx.workprec(100):
        for place in ("0.3", "-1.7", "2.25"):
            z = arb(place)
            total = sum(
                (
                    w.a.on_reals()(z) * w.q.on_reals()(z).cos()
                    - w.b.on_reals()(z) * w.q.on_reals()(z).sin()
                    for w in waves
                ),
                arb(0),
            )
            exact = z * (z**3).sin() ** 3 * (z * z).cos() + z.exp()
            assert abs(total - exact) < arb(10) ** -25


@pytest.mark.parametrize("text", ["exp(cos(x^7))", "cos(x^7)/(1 + x^4*sin(x^7)^2)"])
def test_what_is_no_sum_of_waves_is_refused(text: str) -> None:
    f, name = read_function(text)
    with pytest.raises(NoEnclosure):
        waves_of(f, name)
    with pytest.raises(NoMoment, match=r"varies too fast|not known"):
        moment(text)


@pytest.mark.parametrize("text", ["1/x - 1/sinh(x)", "1/tanh(x) - 1/x", "x^3/sinh(x)^2"])
def test_an_odd_function_whose_poles_cancel_has_mean_zero(text: str) -> None:
    found = moment(text)
    assert found.exact == 0
    assert (found.method, found.digits(20).digits) == ("symmetry", "0")


@pytest.mark.parametrize("text", ["1/x", "1/sinh(x)", "1/x^3 - 1/x", "1/x - 2/sinh(x)"])
def test_an_odd_function_with_a_pole_has_none(text: str) -> None:
    with pytest.raises(NoMoment, match="infinite or undefined"):
        moment(text)


def test_poles_that_cancel_in_a_square() -> None:
    with mp.workdps(30):
        wanted = 2 * quad(lambda t: (1 / t - 1 / mp.sinh(t)) ** 2 * npdf(t), [1e-9, 1, 4, 12])
        found = mpf(moment("(1/x - 1/sinh(x))^2").digits(15).digits)
        assert abs(found - wanted) < mpf(10) ** -15


def test_the_logarithm_of_a_slope_that_falls_like_a_cubic_exponential() -> None:
    with mp.workdps(30):
        c = mpf("0.044715")

        def slope(t: mpf) -> mpf:
            u, du = (sqrt(2 / pi) * part for part in (t + c * t**3, 1 + 3 * c * t * t))
            wave = exp(2 * u)
            return wave * (1 + wave + 2 * t * du) / (1 + wave) ** 2

        zero = mp.findroot(slope, -0.75)
        places = [-30, -8, -4, -2, zero, 0, 2, 4, 8, 30]
        wanted = quad(lambda t: mp.log(abs(slope(t))) * npdf(t), places)
        found = mpf(moment("log(|gelu_tanh'(x)|)").digits(15).digits)
        assert abs(found - wanted) < mpf(10) ** -14


def test_an_amplitude_with_a_cut_is_not_finite_on_a_ball_that_touches_it() -> None:
    """A Gauss-Legendre rule has an error bound where all of a ball is in the domain."""
    f, name = read_function("log(1 + exp(x))*cos(x^5)")
    (wave,) = waves_of(f, name)
    across = acb(arb(0, 0.5), arb.pi() + arb(0, 0.1))  # log is of a negative number there
    value = wave.on_complexes()
    assert not value(across, True).is_finite()
    assert value(across - acb(0, 2), True).is_finite()
    assert 3.1 < wave.width < 3.1416
    with mp.workdps(30):
        found = mpf(moment("log(1 + exp(x))*cos(x^5)").digits(20).digits)
        wanted = sum(
            _on_ray(lambda z, side=side: mp.log(1 + exp(side * z)), 5).real for side in (1, -1)
        )
        assert abs(found - wanted) < mpf(10) ** -19
