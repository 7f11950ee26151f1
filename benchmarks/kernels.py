"""E[f(Z1) f(Z2)] against scipy.dblquad and mpmath.quad, in one run.

`python benchmarks/kernels.py` prints CPU milliseconds, ratios to ours in double precision, and the
error of each against proved digits. Where dblquad errs more than it claims, that is printed.
"""

import time
import warnings
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
from scipy import integrate, special

from varlaw.symbolic.gaussian.doubles import PairFunction
from varlaw.symbolic.gaussian.pair import pair_moment

FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "relu": (lambda z: z if z > 0 else 0.0, lambda z: max(z, mpmath.mpf(0))),
    "erf": (special.erf, mpmath.erf),
    "gelu": (lambda z: z * special.ndtr(z), lambda z: z * mpmath.ncdf(z)),
    "tanh": (np.tanh, mpmath.tanh),
}


def cpu(work: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    """(mean CPU milliseconds, result)."""
    result, began = None, time.process_time()
    for _ in range(repeats):
        result = work()
    return (time.process_time() - began) * 1e3 / repeats, result


def by_scipy(f: Callable[[Any], Any], r: float, split: bool) -> Any:
    norm, width = 1 / (2 * np.pi * np.sqrt(1 - r * r)), 2 - 2 * r * r

    def density(v: float, u: float) -> Any:
        return norm * f(u) * f(v) * np.exp((2 * r * u * v - u * u - v * v) / width)

    low = 0 if split else -np.inf
    return integrate.dblquad(density, low, np.inf, low, np.inf, epsabs=1e-12, epsrel=1e-12)


def by_mpmath(f: Callable[[Any], Any], r: str) -> Any:
    rho = mpmath.mpf(r)
    narrow = mpmath.sqrt(1 - rho * rho)
    ends = [-mpmath.inf, 0, mpmath.inf]
    return mpmath.quad(
        lambda u, w: f(u) * f(rho * u + narrow * w) * mpmath.npdf(u) * mpmath.npdf(w), ends, ends
    )


def main() -> None:
    warnings.simplefilter("ignore")  # of scipy, where it does not reach its tolerance
    print(f"{'f':5s} {'rho':>5s} {'ours':>8s} {'error':>7s} {'proved':>8s}", end=" ")
    print(f"{'dblquad':>9s} {'ratio':>8s} {'error':>7s} {'mpmath':>9s} {'ratio':>8s} {'error':>7s}")
    for name, (double, precise) in FUNCTIONS.items():
        kernel = PairFunction(name)
        for rho in ("0.3", "0.99"):
            r = float(rho)
            first = pair_moment(name, rho=rho)
            proved, digits = cpu(lambda m=first: m.digits(17))
            exact = float(digits.digits)
            kernel(r)
            ours, value = cpu(lambda k=kernel, r=r: k(r), 200)
            line = f"{name:5s} {rho:>5s} {ours:8.3f} {abs(float(value) - exact):7.0e} {proved:8.2f}"
            slow, (found, claim) = cpu(lambda f=double, r=r, n=name: by_scipy(f, r, n == "relu"))
            line += f" {slow:9.1f} {slow / ours:7.0f}x {abs(found - exact):7.0e}"
            slower, other = cpu(lambda f=precise, r=rho: by_mpmath(f, r))
            line += f" {slower:9.0f} {slower / ours:7.0f}x {float(abs(other - exact)):7.0e}"
            wrong = abs(found - exact) > max(10 * claim, 1e-12)
            print(line, f"  dblquad claims {claim:.0e}" if wrong else "")


if __name__ == "__main__":
    main()
