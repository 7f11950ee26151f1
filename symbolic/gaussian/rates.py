"""Bounds exp(c + k log t + b t + a t^2) and polynomial bounds, for t >= start."""

from typing import NamedTuple

from flint import arb

Polynomial = tuple[arb, ...]  # coefficients of 1, t, t^2, ...
ZERO, ONE = arb(0), arb(1)


class Rate(NamedTuple):
    """exp(c + k log t + b t + a t^2)."""

    c: arb
    k: arb = ZERO
    b: arb = ZERO
    a: arb = ZERO

    def log_at(self, t: arb) -> arb:
        return self.c + self.k * t.log() + (self.b + self.a * t) * t

    def __mul__(self, other: "Rate") -> "Rate":  # type: ignore[override]
        return Rate(self.c + other.c, self.k + other.k, self.b + other.b, self.a + other.a)

    def __pow__(self, n: arb) -> "Rate":
        return Rate(self.c * n, self.k * n, self.b * n, self.a * n)

    def falls_from(self, start: arb) -> bool:
        """Whether it is certain that it does not increase for t >= start."""
        steepest = self.k.max(ZERO) / start + self.b + 2 * self.a * start
        return bool(self.a <= 0 and steepest <= 0)


def added(p: Polynomial | None, q: Polynomial | None) -> Polynomial | None:
    if p is None or q is None:
        return None
    longer, shorter = (p, q) if len(p) >= len(q) else (q, p)
    return tuple(a + b for a, b in zip(longer, shorter, strict=False)) + longer[len(shorter) :]


def scaled(p: Polynomial | None, factor: arb) -> Polynomial | None:
    return None if p is None else tuple(c * factor for c in p)


def widest(p: Polynomial, q: Polynomial) -> Polynomial:
    """A polynomial that bounds both, term by term."""
    if len(p) < len(q):
        p, q = q, p
    return tuple(a.max(b) for a, b in zip(p, q, strict=False)) + tuple(
        c.max(ZERO) for c in p[len(q) :]
    )
