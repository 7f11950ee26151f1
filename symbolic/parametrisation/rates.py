"""The largest stable learning rates of a parametrisation, as exponents."""

from collections.abc import Mapping
from dataclasses import replace

from sympy import Expr, Integer, Max, oo

from varlaw.symbolic.parametrisation.layers import ZERO, Exponents, Kind, Layer, Optimizer
from varlaw.symbolic.parametrisation.parametrisation import Parametrisation
from varlaw.symbolic.parametrisation.sizes import a, c, entry_step, g, own_step, s, stream_step


def stable_rates(p: Parametrisation, *, common: bool = False) -> Mapping[Kind, Layer]:
    """The layers of p with the least exponents c at which nothing grows, each or one for all.

    The outputs may not grow by the readout's own step nor through the features. Where the readout
    starts at n^-(a+b) with a + b < 1, the second means that features move like n^-(1-a-b) at most.
    Depth exponents are each layer's own.
    """
    optimizer, out = p.optimizer, p.layers[Kind.OUTPUT].width
    room = Max(ZERO, 1 - out.a - out.b)
    readout = least(own_step(Kind.OUTPUT, optimizer).subs({a: out.a, g: 0}))
    later = entry_step(optimizer).subs({a: out.a, g: 0} | ({} if common else {c: readout}))
    rates = {Kind.OUTPUT: readout}
    for kind in p.layers.keys() - {Kind.OUTPUT}:
        own = own_step(kind, optimizer).subs(a, p.layers[kind].width.a) + room
        slopes = [slope for slope in (-out.a - out.b, later) if slope != -oo]
        rates[kind] = Max(*(least(own.subs(g, slope)) for slope in slopes))
    if common:
        rates = dict.fromkeys(rates, Max(*rates.values()))
    return {
        kind: Layer(replace(layer.width, c=rates[kind]), depth_rate(p, kind, layer.depth))
        for kind, layer in p.layers.items()
    }


def depth_rate(p: Parametrisation, kind: Kind, depth: Exponents) -> Exponents:
    """The exponents of a layer in depth, with the largest rate at which the stream is stable."""
    if not (p.residual and kind.repeated):
        return depth
    return replace(depth, c=stable_depth_rate(p.optimizer, p.branch, depth.a))


def stable_depth_rate(optimizer: Optimizer, branch: Expr, multiplier: Expr = ZERO) -> Expr:
    """The least depth exponent of a rate behind a branch L^-branch and a multiplier."""
    return least(stream_step(optimizer).subs({s: branch, a: multiplier}))


def least(size: Expr) -> Expr:
    """The least c at which a size's exponent, falling in c, is not positive."""
    slope = size.expand().coeff(c)
    return (size + Integer(-1) * slope * c).expand() / -slope
