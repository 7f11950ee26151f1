"""Laws of branches that start at zero: which gradients they have, and how they leave zero."""

from sympy import Expr, Integer, Symbol, tanh

from varlaw.derivations.catalogue import law
from varlaw.symbolic.activations import gelu, relu
from varlaw.symbolic.arrays import RandomArray
from varlaw.symbolic.declarations import (
    dimensions,
    indices,
    positive,
    random_array,
    random_variable,
)
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.gradients import Gradient
from varlaw.symbolic.sequences import Named, Term, named
from varlaw.symbolic.terms import Expectation, Sum

d, n = dimensions("d n")
i, j, k = indices("i j k")
r = indices("r")


def block(activation: type, first: str, last: str) -> tuple[Named, RandomArray, RandomArray]:
    """y = x + f(x u) w, with weights of the second moments given; 0 makes them zero."""
    x = random_array("x", second_moment="q", independent=False)
    u = random_array("u", mean=0, second_moment=first, symmetric=True)
    w = random_array("w", mean=0, second_moment=last)
    z = named("z", Sum(x[r] * u[r, j], (r, 1, d)), j)
    y = named("y", x[i] + Sum(activation(z) * w[j, i], (j, 1, n)), i)
    return y, u, w


def pulled_back(y: Expr, by: Expr) -> Derivation:
    """E of the squared derivative of the loss by a weight: the chain rule through y."""
    p = random_array("p", second_moment="g", independent=False)
    return derive(Expectation(Sum(p[i] * Gradient(y, by), (i, 1, d)) ** 2))
