"""What is known of a value v(t) for every t >= start, and of the larger or smaller of two."""

from typing import NamedTuple

from varlaw.symbolic.gaussian.rates import ONE, Polynomial, Rate, scaled, widest


class Known(NamedTuple):
    """|v| <= most, |v| >= least, its sign, bottom <= v <= top; None where no bound is known."""

    most: Rate | None = None
    least: Rate | None = None
    sign: int = 0
    top: Polynomial | None = None
    bottom: Polynomial | None = None

    def __neg__(self) -> "Known":
        top, bottom = scaled(self.bottom, -ONE), scaled(self.top, -ONE)
        return self._replace(sign=-self.sign, top=top, bottom=bottom)


def either(u: Known, v: Known, most: Rate | None) -> Known:
    """One of two values, whose sizes are below `most`."""
    top = widest(u.top, v.top) if u.top and v.top else None
    sign = u.sign if u.sign == v.sign else 0
    return Known(most, None, sign, top, _below(u, v))


def smaller(u: Known, v: Known, most: Rate | None) -> Known:
    """The smaller of two values."""
    tops = sorted((p for p in (u.top, v.top) if p is not None), key=len)
    top = tops[0] if tops else None
    if len(tops) == 2 and len(tops[1]) == 1:
        top = (tops[0][0].min(tops[1][0]),)
    sign = 1 if u.sign == v.sign == 1 else 0
    if top is not None and all(c <= 0 for c in top):
        sign = -1
    return Known(most, None, sign, top, _below(u, v))


def _below(u: Known, v: Known) -> Polynomial | None:
    if u.bottom is None or v.bottom is None:
        return None
    return scaled(widest(*(tuple(-c for c in p) for p in (u.bottom, v.bottom))), -ONE)
