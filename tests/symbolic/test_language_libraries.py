"""Functions that libraries have under names of their own: values, derivatives, moments."""

from collections.abc import Callable

import mpmath as mp
import pytest

from varlaw.symbolic.gaussian.moment import moment
from varlaw.symbolic.language import ReadingError, read, read_function

Function = Callable[[mp.mpf], mp.mpf]
FUNCTIONS: dict[str, Function] = {
    "sech": mp.sech,
    "asinh": mp.asinh,
    "arcsinh": mp.asinh,
    "log1p": mp.log1p,
    "expm1": mp.expm1,
    "log2": lambda t: mp.log(t, 2),
    "log10": mp.log10,
    "square": lambda t: t * t,
    "logistic": lambda t: 1 / (1 + mp.exp(-t)),
    "logsigmoid": lambda t: -mp.log1p(mp.exp(-t)),
    "log_sigmoid": lambda t: -mp.log1p(mp.exp(-t)),
    "tanhshrink": lambda t: t - mp.tanh(t),
    "tanh_shrink": lambda t: t - mp.tanh(t),
    "squareplus": lambda t: (t + mp.sqrt(t * t + 4)) / 2,
    "sgn": mp.sign,
    "heaviside": lambda t: mp.mpf(t > 0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_value_and_derivative(name: str) -> None:
    f = FUNCTIONS[name]
    for point in ("2/3", "7/4"):
        at = mp.mpf(7) / 4 if point == "7/4" else mp.mpf(2) / 3
        assert abs(float(read(f"{name}({point})")) - f(at)) < 1e-13
        slope, x = read_function(f"{name}'(x)")
        assert abs(float(slope.subs(x, read(point)).doit()) - mp.diff(f, at)) < 1e-10


@pytest.mark.parametrize("name", ["asinh", "logsigmoid", "tanhshrink", "squareplus", "sech"])
def test_second_moments(name: str) -> None:
    f = FUNCTIONS[name]
    with mp.workdps(25):
        for text, g in ((name, f), (f"{name}'", lambda t: mp.diff(f, t))):
            wanted = mp.quad(lambda t, g=g: g(t) ** 2 * mp.npdf(t), range(-14, 15))
            assert abs(mp.mpf(moment(f"{text}(x)^2").digits(12).digits) - wanted) < 1e-11


def test_clipping() -> None:
    for name in ("clip", "clamp"):
        assert read_function(f"{name}(x, -1, 2)") == read_function("min(max(x, -1), 2)")
        with pytest.raises(ReadingError, match="1 and 0 to clip at are out of order"):
            read(f"{name}(x, 1, 0)")
        with pytest.raises(ReadingError, match=f"{name} takes 3 arguments, not 1"):
            read(f"{name}(x)")
    assert moment("clip(x, -1, 1)^2").exact == moment("hardtanh(x)^2").exact
