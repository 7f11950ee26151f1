"""The table of activations, with what is known of each. A row is a class; see `Activation`."""

from typing import Any

from sympy import Expr, Integer, Mul, Rational, erf, exp, log, oo, pi, sqrt, tanh

from varlaw.symbolic import activations_elementary  # noqa: F401 - its rows join the table
from varlaw.symbolic.activation import Activation, Parts
from varlaw.symbolic.gating import cubic, cubic_slope, gated_slope, logistic, wave
from varlaw.symbolic.names import suggestion
from varlaw.symbolic.selu import SELU_ALPHA, SELU_LAMBDA
from varlaw.symbolic.slopes import raised

MINUS = Integer(-1)
ROOT_2_PI = sqrt(2 * pi)


class UnknownActivation(LookupError):
    """No activation has the name."""


def named_activation(name: str) -> type[Activation]:
    """The activation called `name`, or by a name that PyTorch, Keras, JAX or timm has for it.

    Raises UnknownActivation, with the nearest name.
    """
    if name not in _BY_NAME:
        raise UnknownActivation(f"unknown activation {name!r}{suggestion(name, _BY_NAME)}")
    return _BY_NAME[name]


class relu(Activation):
    """max(z, 0)."""

    label, homogeneity = "ReLU", 1
    known = {"torch": "ReLU", "keras": "relu", "jax": "relu", "timm": "relu"}

    @staticmethod
    def parts(z: Any, *_: Any) -> Parts:
        return (-oo, Integer(0)), (Integer(0), z)


class leaky_relu(Activation):
    """z for z > 0, and a z for z < 0."""

    label, homogeneity = "LeakyReLU", 1
    parameters, defaults = ("a",), (Rational(1, 100),)
    known = {"torch": "LeakyReLU", "keras": "leaky_relu", "jax": "leaky_relu", "timm": "leaky_relu"}

    @staticmethod
    def parts(z: Any, a: Any = Rational(1, 100), *_: Any) -> Parts:
        return (-oo, a * z), (Integer(0), z)


class prelu(leaky_relu):
    """Leaky ReLU with a slope that is learnt; PyTorch starts it at 1/4."""

    label, defaults = "PReLU", (Rational(1, 4),)
    known = {"torch": "PReLU", "keras": "PReLU", "timm": "prelu"}


class relu_k(Activation):
    """max(z, 0)^k; k = 2 is the squared ReLU."""

    label, parameters, defaults = "ReLUk", ("k",), (Integer(2),)
    known = {"timm": "squared_relu", "keras": "relu_squared"}

    @staticmethod
    def parts(z: Any, k: Any = Integer(2), *_: Any) -> Parts:
        return (-oo, Integer(0)), (Integer(0), z**k)


class relu6(Activation):
    """min(max(z, 0), 6)."""

    label, from_above = "ReLU6", (1,)
    known = {"torch": "ReLU6", "keras": "relu6", "jax": "relu6", "timm": "relu6"}

    @staticmethod
    def parts(z: Any, *_: Any) -> Parts:
        return (-oo, Integer(0)), (Integer(0), z), (Integer(6), Integer(6))


class absolute(Activation):
    """|z|."""

    label, parity, homogeneity = "Abs", "even", 1
    known = {"torch": "abs"}

    @staticmethod
    def parts(z: Any, *_: Any) -> Parts:
        return (-oo, -z), (Integer(0), z)


class step(Activation):
    """1 for z > 0, else 0."""

    label, homogeneity, known = "Step", 0, {"other": "heaviside"}

    @staticmethod
    def parts(z: Any, *_: Any) -> Parts:
        return (-oo, Integer(0)), (Integer(0), Integer(1))


class identity(Activation):
    """z."""

    label, parity, homogeneity = "Id", "odd", 1
    known = {"torch": "Identity", "keras": "linear", "jax": "identity"}

    @staticmethod
    def parts(z: Any, *_: Any) -> Parts:
        return ((-oo, z),)


class hardtanh(Activation):
    """min(max(z, -1), 1)."""

    label, parity, from_above = "HardTanh", "odd", (1,)
    known = {"torch": "Hardtanh", "keras": "hard_tanh", "jax": "hard_tanh"}

    @staticmethod
    def parts(z: Any, *_: Any) -> Parts:
        return (-oo, Integer(-1)), (Integer(-1), z), (Integer(1), Integer(1))


class hardsigmoid(Activation):
    """min(max(z/6 + 1/2, 0), 1)."""

    label, from_above = "HardSigmoid", (1,)
    known = {"torch": "Hardsigmoid", "keras": "hard_sigmoid", "jax": "hard_sigmoid"}

    @staticmethod
    def parts(z: Any, *_: Any) -> Parts:
        return (-oo, Integer(0)), (Integer(-3), z / 6 + Rational(1, 2)), (Integer(3), Integer(1))


class hardswish(Activation):
    """z hardsigmoid(z)."""

    label, from_above = "HardSwish", (0,)
    known = {"torch": "Hardswish", "keras": "hard_silu", "jax": "hard_swish", "timm": "hard_swish"}

    @staticmethod
    def parts(z: Any, *_: Any) -> Parts:
        return (-oo, Integer(0)), (Integer(-3), z * (z + 3) / 6), (Integer(3), z)


class elu(Activation):
    """z for z > 0, alpha (e^z - 1) for z < 0."""

    label, parameters, defaults = "ELU", ("alpha",), (Integer(1),)
    known = {"torch": "ELU", "keras": "elu", "jax": "elu", "timm": "elu"}

    @staticmethod
    def parts(z: Any, alpha: Any = Integer(1), *_: Any) -> Parts:
        return (-oo, alpha * (exp(z) - 1)), (Integer(0), z)


class celu(Activation):
    """z for z > 0, alpha (e^(z/alpha) - 1) for z < 0."""

    label, parameters, defaults = "CELU", ("alpha",), (Integer(1),)
    known = {"torch": "CELU", "keras": "celu", "jax": "celu", "timm": "celu"}

    @staticmethod
    def parts(z: Any, alpha: Any = Integer(1), *_: Any) -> Parts:
        return (-oo, alpha * (exp(z / alpha) - 1)), (Integer(0), z)


class selu(Activation):
    """lambda times ELU(alpha), with lambda and alpha that keep mean 0 and variance 1.

    Klambauer et al. (2017), section 2; here alpha and lambda in closed form.
    """

    label = "SELU"
    known = {"torch": "SELU", "keras": "selu", "jax": "selu", "timm": "selu"}

    @staticmethod
    def parts(z: Any, *_: Any) -> Parts:
        return (-oo, SELU_LAMBDA * SELU_ALPHA * (exp(z) - 1)), (Integer(0), SELU_LAMBDA * z)


class softplus(Activation):
    """log(1 + e^z)."""

    label = "Softplus"
    known = {"torch": "Softplus", "keras": "softplus", "jax": "softplus"}

    @staticmethod
    def parts(z: Any, *_: Any) -> Parts:
        return ((-oo, log(1 + wave(z))),)


class softsign(Activation):
    """z / (1 + |z|)."""

    label, parity = "Softsign", "odd"
    known = {"torch": "Softsign", "keras": "softsign", "jax": "soft_sign"}

    @staticmethod
    def parts(z: Any, *_: Any) -> Parts:
        return (-oo, z * raised(1 - z, MINUS)), (Integer(0), z * raised(1 + z, MINUS))


class sigmoid(Activation):
    """1 / (1 + e^-z)."""

    label = "sigmoid"
    known = dict.fromkeys(("keras", "jax", "timm"), "sigmoid")
    known |= {"torch": "Sigmoid", "other": "logistic"}

    @staticmethod
    def parts(z: Any, *_: Any) -> Parts:
        return ((-oo, logistic(z)),)


class silu(Activation):
    """z sigmoid(beta z), also called swish."""

    label, parameters, defaults = "SiLU", ("beta",), (Integer(1),)
    known = {"torch": "SiLU", "keras": "silu", "jax": "silu", "timm": "silu", "other": "swish"}

    @staticmethod
    def parts(z: Any, beta: Any = Integer(1), *_: Any) -> Parts:
        return ((-oo, z * logistic(beta * z)),)

    @staticmethod
    def slopes(z: Any, beta: Any = Integer(1), *_: Any) -> tuple[Expr, ...]:
        return (gated_slope(z, beta),)


class quick_gelu(Activation):
    """z sigmoid(1.702 z)."""

    label = "QuickGELU"
    known = {"timm": "quick_gelu"}

    @staticmethod
    def parts(z: Any, *_: Any) -> Parts:
        return ((-oo, z * logistic(Rational(851, 500) * z)),)

    @staticmethod
    def slopes(z: Any, *_: Any) -> tuple[Expr, ...]:
        return (gated_slope(z, Rational(851, 500)),)


class gelu(Activation):
    """z Phi(z), the exact form with the error function."""

    label = "GELU"
    known = {"torch": "GELU", "keras": "gelu", "timm": "gelu"}

    @staticmethod
    def parts(z: Any, *_: Any) -> Parts:
        return ((-oo, z * (1 + erf(z / sqrt(2))) / 2),)

    @staticmethod
    def slopes(z: Any, *_: Any) -> tuple[Expr, ...]:
        return (z * exp(-(z**2) / 2) / ROOT_2_PI + (1 + erf(z / sqrt(2))) / 2,)


class gelu_tanh(Activation):
    """z (1 + tanh(sqrt(2/pi) (z + 0.044715 z^3))) / 2; the default of JAX."""

    label = "GELUtanh"
    known = {"jax": "gelu", "timm": "gelu_tanh"}

    @staticmethod
    def parts(z: Any, *_: Any) -> Parts:
        return ((-oo, z * (1 + tanh(cubic(z), evaluate=not z.is_Symbol)) / 2),)

    @staticmethod
    def slopes(z: Any, *_: Any) -> tuple[Expr, ...]:
        gate = tanh(cubic(z), evaluate=not z.is_Symbol)
        return (Mul(Rational(1, 2), 1 + gate, 1 + Mul(z, cubic_slope(z), 1 - gate)),)


class mish(Activation):
    """z tanh(softplus(z)) = z (1 - 2 / (2 + 2 e^z + e^(2 z)))."""

    label = "Mish"
    known = {"torch": "Mish", "keras": "mish", "jax": "mish", "timm": "mish"}

    @staticmethod
    def parts(z: Any, *_: Any) -> Parts:
        return ((-oo, z * (1 - 2 * raised(2 + 2 * wave(z) + wave(2 * z), MINUS))),)

    @staticmethod
    def slopes(z: Any, *_: Any) -> tuple[Expr, ...]:
        one, two = wave(z), wave(2 * z)
        share = raised(2 + 2 * one + two, MINUS)
        return (1 + share * (4 * z * (one + two) * share - 2),)


class bump(Activation):
    """The Gaussian bump e^(-z^2)."""

    label, parity = "Bump", "even"

    @staticmethod
    def parts(z: Any, *_: Any) -> Parts:
        return ((-oo, exp(-(z**2))),)


class hardshrink(Activation):
    """z for |z| > lambda, else 0."""

    label, parity, parameters, defaults = "HardShrink", "odd", ("lambda",), (Rational(1, 2),)
    from_above = (0,)
    known = {"torch": "Hardshrink", "keras": "hard_shrink"}

    @staticmethod
    def parts(z: Any, edge: Any = Rational(1, 2), *_: Any) -> Parts:
        return (-oo, z), (-edge, Integer(0)), (edge, z)


class softshrink(Activation):
    """z - lambda for z > lambda, z + lambda for z < -lambda, else 0."""

    label, parity, parameters, defaults = "SoftShrink", "odd", ("lambda",), (Rational(1, 2),)
    from_above = (0,)
    known = {"torch": "Softshrink", "keras": "soft_shrink"}

    @staticmethod
    def parts(z: Any, edge: Any = Rational(1, 2), *_: Any) -> Parts:
        return (-oo, z + edge), (-edge, Integer(0)), (edge, z - edge)


class threshold(Activation):
    """z for z > theta, else a value."""

    label, parameters = "Threshold", ("theta", "value")
    defaults = (Integer(1), Integer(0))
    known = {"torch": "Threshold", "keras": "threshold"}

    @staticmethod
    def parts(z: Any, theta: Any = Integer(1), value: Any = Integer(0), *_: Any) -> Parts:
        return (-oo, value), (theta, z)


def _tabulated(kind: type[Activation]) -> list[type[Activation]]:
    return [kind, *(row for child in kind.__subclasses__() for row in _tabulated(child))]


ACTIVATIONS: dict[str, type[Activation]] = {row.__name__: row for row in _tabulated(Activation)[1:]}
_BY_NAME = {name: row for row in ACTIVATIONS.values() for name in row.known.values()} | ACTIVATIONS
