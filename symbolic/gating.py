"""What gates are made of, for rows of the table of activations."""

from typing import Any

from sympy import Expr, Integer, Rational, exp, pi, sqrt

from varlaw.symbolic.slopes import raised

ROOT = sqrt(2 / pi)
CUBE = Rational(8943, 200000)  # 0.044715
BEND = 3 * CUBE * ROOT


def wave(u: Any) -> Expr:
    """e^u; SymPy would take long to see that e^(c x) is nothing else."""
    return exp(u, evaluate=not u.as_coeff_Mul()[1].is_Symbol)


def logistic(u: Any) -> Expr:
    """1/(1 + e^-u)."""
    return raised(1 + wave(-u), Integer(-1))


def gated_slope(z: Any, beta: Any) -> Expr:
    """The derivative of z/(1 + e^-(beta z))."""
    rise = beta * z * wave(-beta * z) * raised(1 + wave(-beta * z), Integer(-2))
    return rise + logistic(beta * z)


def cubic(z: Any) -> Expr:
    """sqrt(2/pi) (z + 0.044715 z^3), in the gate of gelu_tanh."""
    return ROOT * (z + CUBE * z**3)


def cubic_slope(z: Any) -> Expr:
    """Its derivative."""
    return ROOT + BEND * z**2
