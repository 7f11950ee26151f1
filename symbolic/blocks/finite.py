"""Finite width: how the second moment of a network's features scatters from seed to seed.

The input is one fixed vector, everything random is in the weights: q = mean of f(z_j)^2 over the n
features of a layer. Given the layer before, the z_j are independent with variance
K = fan_in var q + bias, so that q has the mean G(K) = E[f(z)^2] and the relative variance s/n with
s = E[f^4]/E[f^2]^2 - 1. To leading order in 1/n relative variances go through a layer by the square
of its elasticity d log G/d log q, and means are moved by G's curvature. Where f is linear on each
side of zero, the first two moments of q are exact at any width.

Sources: Hanin and Rolnick 2018, theorem 5; Roberts, Yaida and Hanin 2022, chapters 4 and 5.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from sympy import Dummy, Expr, Float, Integer, Rational, exp, sqrt

from varlaw.symbolic.blocks.activation import Activation
from varlaw.symbolic.blocks.block import Block, Sequential, quantity
from varlaw.symbolic.blocks.linear import Linear
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.state import ONE, ZERO, BlockError, tidy
from varlaw.symbolic.gaussian.functions import NoMoment
from varlaw.symbolic.gaussian.moment import moment
from varlaw.symbolic.language import Text
from varlaw.symbolic.language_text import typed

V = Dummy("v", positive=True)
DIGITS = 17
GAUSSIAN = Integer(3)  # the kurtosis


@dataclass(frozen=True)
class Scatter:
    """The second moment q of a network's features over fresh weights.

    `limit` is q at infinite width; `mean` E[q] and `relative_variance` Var[q]/E[q]^2 are exact if
    `exact`, else right to order 1/n, as is `log_variance`, the variance of log q between seeds.
    `typical` is exp(E[log q]) to the same order, the geometric mean over seeds; in deep networks
    the median is near it, and falls behind the mean. (With ReLU, rare seeds with q = 0 apart.)
    """

    limit: Expr
    mean: Expr
    relative_variance: Expr
    log_variance: Expr
    typical: Expr
    exact: bool

    @property
    def log_std(self) -> Expr:
        """The standard deviation of log q: seeds differ by factors of about exp of it."""
        return sqrt(self.log_variance)


@dataclass(frozen=True)
class _Layer:
    """A linear layer and the activation behind it, if there is one."""

    linear: Linear
    activation: Activation | None


@dataclass(frozen=True)
class _Unit:
    """Moments of f(z) for z ~ N(0, K): E[f^2], E[f^4]/E[f^2]^2, K G'/G and K^2 G''/G."""

    second: Expr
    fourth: Expr
    elasticity: Expr
    curvature: Expr


def scatter(
    block: Block, second_moment: Text = "q0", *, kurtosis: Text = 3, input_kurtosis: Text = 3
) -> Scatter:
    """How the second moment behind linear layers and activations scatters between seeds.

    `second_moment` and `input_kurtosis` are mean x_i^2 and mean x_i^4/(mean x_i^2)^2 of the input,
    `kurtosis` E[w^4]/E[w^2]^2 of the weights, which are symmetric; biases are Gaussian.

    >>> relu = Linear("m", "n", var="2/m") >> Activation("relu")
    >>> print(scatter(relu, 1).relative_variance)
    5/n

    Raises BlockError for other blocks, and where an activation needs numbers.
    """
    layers = list(_layers(block))
    q = quantity(second_moment, "second moment", positive=True)
    kappa, spread = (quantity(k, "kurtosis") for k in (kurtosis, input_kurtosis))
    for value in (kappa, spread):
        if (value - 1).is_negative:
            raise BlockError(f"a kurtosis is at least 1, not {typed(value)}")
    limit, shift, variance = _leading(layers, q, kappa, spread)
    typical = limit * exp(tidy(shift - variance / 2))
    if any(_halves(layer.activation) is None for layer in layers):
        mean = tidy(limit * (1 + shift))
        return Scatter(limit, mean, variance, variance, typical, exact=False)
    mean, square = _exact(layers, q, kappa, spread)
    relative = tidy(square / mean**2 - 1)
    return Scatter(limit, mean, relative, variance, typical, exact=True)


def _layers(block: Block) -> Iterator[_Layer]:
    """The linear layers of a block, each with its activation."""
    parts = list(_flat(block))
    for k, part in enumerate(parts):
        after = parts[k + 1] if k + 1 < len(parts) else None
        if isinstance(part, Linear):
            yield _Layer(part, after if isinstance(after, Activation) else None)
        elif k == 0 or isinstance(parts[k - 1], Activation):
            raise BlockError("every activation needs a linear layer before it")


def _flat(block: Block) -> Iterator[Block]:
    if isinstance(block, Sequential):
        for part in block.parts:
            yield from _flat(part)
    elif isinstance(block, Repeat):
        if not isinstance(block.depth, Integer):
            raise BlockError(
                f"the scatter between seeds needs a number of layers, not {block.depth}"
            )
        for _ in range(int(block.depth)):
            yield from _flat(block.block)
    elif isinstance(block, Linear | Activation):
        yield block
    else:
        raise BlockError(
            "the scatter between seeds is known of linear layers and activations only,"
            f" not of {type(block).__name__}"
        )


def _leading(layers: list[_Layer], q: Expr, kappa: Expr, spread: Expr) -> tuple[Expr, Expr, Expr]:
    """q at infinite width, and to order 1/n the relative shift of its mean and its variance."""
    shift, variance = ZERO, ZERO
    for layer in layers:
        linear = layer.linear
        k = tidy(linear.fan_in * linear.var * q + linear.bias)
        share = tidy(linear.fan_in * linear.var * q / k)
        unit = _unit(layer.activation, k)
        tails = (kappa - GAUSSIAN) / 6 * spread * share**2 / linear.fan_in
        passed = unit.elasticity * share
        shift = tidy(passed * shift + unit.curvature * (share**2 * variance / 2 + tails))
        variance = tidy(passed**2 * variance + (unit.fourth - 1) / linear.fan_out)
        q, spread = unit.second, unit.fourth
    return q, shift, variance


def _unit(activation: Activation | None, k: Expr) -> _Unit:
    halves = _halves(activation)
    if halves is not None:
        second, fourth = halves
        return _Unit(tidy(second * k), tidy(GAUSSIAN * fourth / second**2), ONE, ZERO)
    assert activation is not None
    if k.free_symbols:
        missing = ", ".join(sorted(map(str, k.free_symbols)))
        raise BlockError(f"{typed(activation.function)} needs numbers for {missing}")
    return _numeric(activation.function, activation.variable, Rational(str(k.evalf(DIGITS))))


@lru_cache(maxsize=256)
def _numeric(f: Expr, x: Expr, k: Expr) -> _Unit:
    """By Stein's lemma K G' = E[f^2 (z^2/K - 1)]/2, K^2 G'' = E[f^2 (z^4/K^2 - 6 z^2/K + 3)]/4."""
    second, first_he, second_he, fourth = (
        Float(_moment(g, x, k), DIGITS) for g in (f**2, f**2 * x**2 / k, f**2 * x**4 / k**2, f**4)
    )
    slope, curvature = (first_he - second) / 2, (second_he - 6 * first_he + 3 * second) / 4
    return _Unit(second, fourth / second**2, slope / second, curvature / second)


def _moment(f: Expr, x: Expr, k: Expr) -> str:
    try:
        return moment(f, 0, k, variable=x.name).digits(DIGITS).digits
    except NoMoment as error:
        raise BlockError(f"E[{typed(f)}]: {error}") from error


def _halves(activation: Activation | None) -> tuple[Expr, Expr] | None:
    """(p^2 + m^2)/2 and (p^4 + m^4)/2 where f has the slopes p and m on the sides of zero."""
    return (ONE, ONE) if activation is None else _sides(activation.function, activation.variable)


@lru_cache(maxsize=256)
def _sides(f: Expr, x: Expr) -> tuple[Expr, Expr] | None:
    """E[f^2]/v and E[f^4]/(3 v^2) where they are the same for every variance v.

    The moments at all variances determine the even functions f(z)^2 + f(-z)^2 and
    f(z)^4 + f(-z)^4, so these are then multiples of z^2 and z^4.
    """
    try:
        second, fourth = (moment(f**power, 0, V, variable=x.name).exact for power in (2, 4))
    except NoMoment:  # no closed form
        return None
    if second is None or fourth is None:
        return None
    found = (second / V).simplify(), (fourth / (GAUSSIAN * V**2)).simplify()
    return None if any(value.has(V) for value in found) else found


def _exact(layers: list[_Layer], q: Expr, kappa: Expr, spread: Expr) -> tuple[Expr, Expr]:
    """E[q] and E[q^2], with E[x_i^4]: given x, E[z^4] is 3 K^2 + (kappa - 3) var^2 Sum x_i^4."""
    mean, square, fourth = q, q**2, spread * q**2
    for layer in layers:
        halves = _halves(layer.activation)
        assert halves is not None
        gain, bias = layer.linear.fan_in * layer.linear.var, layer.linear.bias
        tails = (kappa - GAUSSIAN) * gain**2 / layer.linear.fan_in
        kernel = gain**2 * square + 2 * gain * bias * mean + bias**2  # E[K^2]
        fourth = tidy(halves[1] * (GAUSSIAN * kernel + tails * fourth))
        n = layer.linear.fan_out
        square = tidy(fourth / n + (1 - 1 / n) * halves[0] ** 2 * kernel)
        mean = tidy(halves[0] * (gain * mean + bias))
    return mean, square
