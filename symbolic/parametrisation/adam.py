"""Adam's epsilon and decoupled weight decay: how they go with width and depth.

Epsilon is added to the root of the mean square of a raw weight's gradient, and keeps its share of
the step where it goes like that gradient. Weight decay multiplies weights by 1 - rate * decay each
step, which is the same at every size where the decay goes like 1/rate (Dey et al. 2025, table 1 and
section 3; Loshchilov and Hutter 2019 for the decoupled decay).
"""

from sympy import Expr

from varlaw.symbolic.parametrisation import sizes
from varlaw.symbolic.parametrisation.layers import ZERO, Kind
from varlaw.symbolic.parametrisation.parametrisation import Parametrisation
from varlaw.symbolic.parametrisation.regime import feature_gradient
from varlaw.symbolic.parametrisation.sizes import DEPTH, WIDTH


def epsilon(p: Parametrisation, kind: Kind) -> Expr:
    """The factor of Adam's epsilon: that of the gradient by a raw weight in training."""
    layer, slope = p.layers[kind], ZERO if kind is Kind.OUTPUT else feature_gradient(p)
    power = sizes.weight_gradient().xreplace({sizes.a: layer.width.a, sizes.g: slope})
    if not (p.residual and kind.repeated):
        return WIDTH**power
    deep = sizes.weight_gradient_in_depth()
    return WIDTH**power * DEPTH ** deep.xreplace({sizes.a: layer.depth.a, sizes.s: p.branch})


def weight_decay(p: Parametrisation, kind: Kind) -> Expr:
    """The factor of the decay of AdamW, where weights shrink by rate * decay in a step."""
    layer = p.layers[kind]
    return WIDTH**layer.width.c * DEPTH**layer.depth.c
