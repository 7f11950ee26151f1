"""Activations as functions of one pre-activation."""

from sympy import Expr, Function

from varlaw.symbolic.terms import indicator


class Activation(Function):
    """Base of the activations: `pieces` writes one out with indicators of the sides of zero."""

    is_real = True
    label = ""  # how it is written in LaTeX

    def pieces(self) -> Expr:
        raise NotImplementedError


class relu(Activation):
    """max(z, 0)."""

    label = "ReLU"

    def pieces(self) -> Expr:
        (z,) = self.args
        return z * indicator(z, ">")


class leaky_relu(Activation):
    """z for z > 0, and a z for z < 0."""

    label = "LeakyReLU"

    def pieces(self) -> Expr:
        z, a = self.args
        return z * indicator(z, ">") + a * z * indicator(z, "<")
