"""E[f(Z1) g(Z2)] in double precision, for arrays of correlations.

Smooth f and g: the trapezoid rule in two variables. With r = |rho| the density factors as in
`correlated`, so that the double sum is a correlation of two sequences. The step is set by the
strips in which f and g are known to be analytic, and by the width of the density. Functions with
kinks: their closed form where that is short, else Gauss-Legendre quadrature between the kinks, as
in `panels`. Whatever is not known to be accurate is enclosed, which is slow and right.
"""

from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from sympy import Add, Dummy, Integer, expand, oo

from varlaw.symbolic.gaussian.balls import NoEnclosure
from varlaw.symbolic.gaussian.bivariate import kernel
from varlaw.symbolic.gaussian.closed import Divergent
from varlaw.symbolic.gaussian.compiled import Compiled, NotCompiled, compiled
from varlaw.symbolic.gaussian.enclosure import joined
from varlaw.symbolic.gaussian.functions import NoMoment, function_of
from varlaw.symbolic.gaussian.pair import PairMoment, pair_moment
from varlaw.symbolic.gaussian.panels import Kinked, mean_of_product
from varlaw.symbolic.gaussian.pieces import NotClosed, pieces_of
from varlaw.symbolic.gaussian.probabilities import Phi2
from varlaw.symbolic.gaussian.programs import program
from varlaw.symbolic.gaussian.shorter import shorter
from varlaw.symbolic.gaussian.strips import strip
from varlaw.symbolic.language import Text, read

Array = Any
ZERO = Integer(0)
STEP = 0.25  # the coarsest
REACHES = (9.0, 13.0, 19.0)  # how far out, in standard deviations
EPSILONS = 40.0  # exp(-40) is below the rounding of doubles
MOST_POINTS = 50_000
FINER = (1 + 5**0.5) / 2  # incommensurate with 1: no oscillation fools both grids
AGREE = 1e-14
LOSS = 64  # how much larger than the result the terms of a closed form may be
CLOSEST = 1e-6  # of |rho| to 1, on a grid


class Unsafe(ValueError):
    """Double precision is not known to be accurate here."""


class PairFunction:
    """rho, variances -> E[f(Z1) g(Z2)] on arrays, mean 0, accurate to some 1e-15 in units of
    sqrt(E[f^2] E[g^2]).

    `f` and `g` are texts or expressions, in one variable each; g is f unless given.

    >>> tanh = PairFunction("tanh")
    >>> [f"{value:.12f}" for value in tanh([0.3, -0.3])]
    ['0.110668385547', '-0.110668385547']
    >>> relu = PairFunction("relu")
    >>> [f"{value:.12f}" for value in relu([0.3, 1])]
    ['0.241372141918', '0.500000000000']
    """

    def __init__(self, f: Text, g: Text | None = None) -> None:
        self.f, self.x = function_of(f)
        other, y = (self.f, self.x) if g is None else function_of(g)
        self.g = other.subs(y, self.x)
        self.pieces = [joined(pieces_of(h, self.x)) for h in (self.f, self.g)]
        self.values = lru_cache(maxsize=256)(self._values)
        self.checked = lru_cache(maxsize=256)(self._checked)

    def __call__(self, rho: Array, variances: tuple[Array, Array] = (1.0, 1.0)) -> Array:
        """The moments at all correlations and variances, broadcast against one another.

        Raises ValueError for |rho| > 1, a variance below 0, and what is not finite.
        """
        arrays = np.broadcast_arrays(*(np.asarray(a, float) for a in (rho, *variances)))
        r, v, w = (array.ravel() for array in arrays)
        if not (np.abs(r) <= 1).all():
            raise ValueError("a correlation is between -1 and 1")
        if not ((v >= 0) & (w >= 0) & np.isfinite(v + w)).all():
            raise ValueError("a variance is finite and not negative")
        if self.smooth_pieces:
            found = self._on_grids(r, v, w)
        else:
            found = self._in_closed_form(r, v, w) if self.homogeneous else np.full(len(r), np.nan)
            rest = np.isnan(found)
            found[rest] = self._on_panels(r[rest], v[rest], w[rest])
        for k in np.flatnonzero(~np.isfinite(found)):
            found[k] = self._enclosed(*(float(array[k]) for array in (r, v, w)))
        return found.reshape(arrays[0].shape)

    def _enclosed(self, rho: float, v: float, w: float) -> float:
        r, *variances = (read(number) for number in (rho, v, w))
        if self.smooth_pieces:  # an enclosure of what oscillates fast takes long
            found = pair_moment(self.f, self.g, rho=r, variances=(variances[0], variances[1]))
        else:
            means = (ZERO, ZERO)
            given = self.f, self.g, self.x, r, (variances[0], variances[1]), means, None, ""
            found = PairMoment(*given)
        return float(found.digits(17).digits)

    # smooth functions

    @property
    def smooth_pieces(self) -> bool:
        """Whether neither function has a kink."""
        return all(len(pieces) == 1 for pieces in self.pieces)

    @cached_property
    def smooth(self) -> list[tuple[Compiled, float]]:
        """Both functions on arrays, with the half widths of their strips."""
        found = []
        for (piece,) in self.pieces:
            width = strip(program(piece.expression, self.x))
            if width.open:
                raise Unsafe
            half = float(width.half_width.lower())
            found.append((compiled([piece.expression], [self.x]), half))
        return found

    @np.errstate(all="ignore")  # what overflows is enclosed
    def _on_grids(self, r: Array, v: Array, w: Array) -> Array:
        found = np.full(len(r), np.nan)
        for k, (rho, a, b) in enumerate(zip(r.tolist(), v.tolist(), w.tolist(), strict=True)):
            try:
                if min(a, b) > 0:
                    way = self._on_grid if abs(rho) <= 1 - CLOSEST else self._nearly_alike
                    found[k] = way(rho, a**0.5, b**0.5)
            except (Unsafe, NotCompiled, NoEnclosure):
                continue
        return found

    def _step(self, s: float, t: float) -> float:
        """The step that the strips allow."""
        finest = min(half / scale for (_, half), scale in zip(self.smooth, (s, t), strict=True))
        return min(STEP, 2 * float(np.pi) * finest / EPSILONS)

    def _nearly_alike(self, rho: float, s: float, t: float) -> float:
        """Taylor's series in 1 - |rho|: d/d rho E[f g] = s t E[f' g'] (Price)."""
        step = self._step(s, t) / 2  # the derivatives are larger
        u = step * np.arange(-(count := int(self.checked(s, t, step) / step)), count + 1)
        weight = np.exp(u * u / -2) * step / (2 * np.pi) ** 0.5
        sign, gap = (1.0 if rho > 0 else -1.0), 1 - abs(rho)
        f, g = (on(u * scale) for on, scale in zip(self.slopes, (s, sign * t), strict=True))
        orders = [weight @ (a * b) for a, b in zip(f, g, strict=True)]
        change = -gap * sign * s * t
        return float(orders[0] + change * orders[1] + change**2 / 2 * orders[2])

    @cached_property
    def slopes(self) -> list[Compiled]:
        """Both functions with their first two derivatives."""
        return [
            compiled([piece.expression.diff(self.x, k) for k in range(3)], [self.x])
            for (piece,) in self.pieces
        ]

    def _on_grid(self, rho: float, s: float, t: float) -> float:
        r = abs(rho)
        step = self._step(s, t)
        reach = self.checked(s, t, step)
        step = min(step, 2 * np.pi * ((1 - r) / EPSILONS) ** 0.5)
        u, f = self.values(0, s, step, reach)
        _, g = self.values(1, t, step, reach)
        weight = np.exp(u * u * (-0.5 / (1 + r)))
        f, g = f * weight, (g[::-1] if rho < 0 else g) * weight
        last = len(u) - 1
        lags = np.arange(-last, last + 1)
        decay = -r * step * step / (2 * (1 - r) * (1 + r))
        if decay * last * last < -2 * EPSILONS:  # far from the diagonal there is nothing
            near = int((-2 * EPSILONS / decay) ** 0.5) + 1
            lags = np.arange(-near, near + 1)
        if len(lags) > last:
            sums = np.correlate(f, g, "full")[lags + last]
        else:
            sums = np.array([f[max(k, 0) : len(f) + min(k, 0)] @ g[max(-k, 0) : len(g) - max(k, 0)]
                             for k in lags.tolist()])  # fmt: skip
        scale = step * step / (2 * np.pi * ((1 - r) * (1 + r)) ** 0.5)
        return float(scale * (np.exp(decay * lags * lags) @ sums))

    def _values(self, which: int, scale: float, step: float, reach: float) -> tuple[Array, Array]:
        """A grid, and a function on it."""
        count = int(np.ceil(reach / step))
        if count > MOST_POINTS:
            raise Unsafe
        u = step * np.arange(-count, count + 1)
        (values,) = self.smooth[which][0](scale * u)
        return u, np.broadcast_to(values, u.shape)

    @np.errstate(all="ignore")
    def _checked(self, s: float, t: float, step: float) -> float:
        """How far out the grid goes, once two grids agree on E[f^2], E[g^2] and E[f g]."""
        for reach in REACHES:
            sums, edges = [], 0.0
            for fine in (step, step / FINER):
                u, f = self._values(0, s, fine, reach)
                _, g = self._values(1, t, fine, reach)
                weight = np.exp(u * u / -2) * fine
                products = np.array([f * f, g * g, f * g, f * g[::-1]]) * weight
                sums.append(products.sum(axis=1))
                sizes = np.abs(products[:2])
                edges = max(edges, float(np.max(sizes[:, [0, -1]] / (sizes.sum(axis=1)[:, None]))))
            square = np.sqrt(sums[0][0] * sums[0][1])
            size = np.array([sums[0][0], sums[0][1], square, square])
            agree = np.abs(sums[1] - sums[0]) <= AGREE * size * 8
            if np.isfinite(size).all() and agree.all() and edges < 1e-17:
                return reach
        raise Unsafe

    # functions with kinks

    @property
    def homogeneous(self) -> bool:
        """Whether all kinks are at 0 and all pieces polynomials: then closed forms are short."""
        return all(
            piece.expression.is_polynomial(self.x) and piece.lower in (-oo, 0)
            for pieces in self.pieces
            for piece in pieces
        )

    @cached_property
    def kinked(self) -> tuple[Kinked, Kinked]:
        """Both functions in their pieces."""
        f, g = (Kinked(pieces, self.x) for pieces in self.pieces)
        return f, g

    def _on_panels(self, r: Array, v: Array, w: Array) -> Array:
        found = np.full(len(r), np.nan)
        try:
            f, g = self.kinked
        except NotCompiled:
            return found
        for k, (rho, a, b) in enumerate(zip(r.tolist(), v.tolist(), w.tolist(), strict=True)):
            if min(a, b) > 0:
                found[k] = mean_of_product(f, g, rho, a**0.5, b**0.5)
        return found

    @cached_property
    def closed(self) -> tuple[Compiled, Compiled, Compiled]:
        """Terms of the closed form below |rho| = 1, at 1 and -1; then E[f^2] and E[g^2]."""
        rho = Dummy("rho", real=True)
        v, w, gap = Dummy("v", positive=True), Dummy("w", positive=True), Dummy("gap")
        forms = []
        for r in (rho, Integer(1), Integer(-1)):
            form = shorter(kernel(self.f, self.g, self.x, r, (v, w)))
            if form.has(Phi2):
                raise Unsafe
            terms = Add.make_args(expand(form, deep=False))
            terms = [term.subs(1 - rho**2, gap) for term in terms]  # (1 - rho)(1 + rho) is better
            squares = [
                kernel(h, h, self.x, Integer(1), (variance, variance))
                for h, variance in ((self.f, v), (self.g, w))
            ]
            forms.append(compiled([*terms, *squares], [rho, gap, v, w]))
        return forms[0], forms[1], forms[2]

    def _in_closed_form(self, r: Array, v: Array, w: Array) -> Array:
        found = np.full(len(r), np.nan)
        try:
            forms = self.closed
        except (Unsafe, NotCompiled, NotClosed, NoMoment, Divergent):
            return found
        usable = (v > 0) & (w > 0)
        for form, there in zip(forms, (np.abs(r) < 1, r == 1, r == -1), strict=True):
            if (chosen := there & usable).any():
                found[chosen] = _summed(form, r[chosen], v[chosen], w[chosen])
        return found


def _summed(form: Compiled, r: Array, v: Array, w: Array) -> Array:
    """The sum of the terms, where rounding leaves it accurate; elsewhere not a number."""
    with np.errstate(all="ignore"):
        values = form(r, (1 - r) * (1 + r), v, w)
        *terms, f, g = (np.broadcast_to(value, r.shape) for value in values)
        size = np.abs(np.array(terms)).sum(axis=0)
        safe = np.isfinite(size) & (size <= LOSS * np.sqrt(f * g))
        return np.where(safe, np.array(terms).sum(axis=0), np.nan)
