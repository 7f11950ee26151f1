"""How a function can grow: bounds for all t >= start, derived step by step from its program.

Each register gets what is proved of its value v(t) at x = offset + slope t, for every t >= start:

    |v(t)| <= most(t),   |v(t)| >= least(t),   its sign,   bottom(t) <= v(t) <= top(t)

with `most` and `least` of the kind exp(c + k log t + b t + a t^2), and polynomials `top` and
`bottom`. None stands for: no bound is known. From `most` follows a bound on the Gaussian tail.
"""

from functools import partial, reduce
from math import inf, log, sqrt
from typing import Any

from flint import arb

from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.gaussian.envelopes import (
    curve_over,
    envelope,
    exponent_of,
    exponential,
    larger,
    of_one_sign,
    size_of,
)
from varlaw.symbolic.gaussian.known import Known, either, smaller
from varlaw.symbolic.gaussian.operations import Step
from varlaw.symbolic.gaussian.patterns import shifted_exponential, squashed
from varlaw.symbolic.gaussian.programs import Program
from varlaw.symbolic.gaussian.rates import ONE, ZERO, Polynomial, Rate, added, scaled, widest

OUTGROWN = "the expectation does not converge: the function outgrows the Gaussian"


class Growth:
    """The bounds of a program's registers for x = offset + slope t and t >= start >= 1."""

    def __init__(self, program: Program, offset: arb, slope: arb, start: arb) -> None:
        self.program, self.start, self.offset, self.slope = program, start, offset, slope
        self.polynomials, first = program.rough_polynomials, program.first
        self.registers: list[Any] = [self._number((offset, slope))]
        self.registers += [self._number(self.polynomials[k]) for k in range(1, first)]
        self.registers += [None] * len(program.steps)
        needed = {program.result}
        for position, step in reversed([*enumerate(program.steps, first)]):
            if position in needed and position not in self.polynomials:
                needed |= {step.left, step.right}
        for position, step in enumerate(program.steps, first):
            if position in self.polynomials and position in needed:
                self._polynomial(position)
            elif position in needed:
                self.registers[position] = self._completed(self._step(step, position))
        self.result: Known = self.registers[program.result]

    def _polynomial(self, register: int) -> None:
        found = self._number(self._shifted(self.polynomials[register]))
        if not found.sign:  # as 1 + x^4 has, where the mean is many deviations from 0
            step = self.program.steps[register - self.program.first]
            for part in (step.left, step.right):
                if part >= 0 and self.registers[part] is None:
                    self._polynomial(part)
            known = self._step(step, register)
            found = found._replace(sign=known.sign, least=known.least)
        self.registers[register] = found

    def tail(self, edge: arb, power: arb = ONE) -> arb:
        """A bound on E[|f|^power; T > edge] for standard normal T and edge >= start."""
        rate = self._weighted(power)
        slope = rate.k.max(ZERO) / edge + rate.b + 2 * rate.a * edge  # of the exponent, from there
        if not (rate.a < 0 and slope < 0):
            return arb.pos_inf()
        return (rate.log_at(edge).exp() / -slope).upper()

    def edge(self, bits: float, power: arb = ONE) -> float:
        """Where the tail bound is below 2^-bits, nearly as near as possible."""
        rate = self._weighted(power)
        c, k, b, a = (float(v.mid()) for v in (rate.c, rate.k, rate.b, rate.a))
        if not rate.a < 0:
            raise NoEnclosure(OUTGROWN)
        t = max(float(self.start.mid()), -b / (2 * a))
        for _ in range(40):  # c + k log t + b t + a t^2 = -bits log 2, with log t from before
            rest = c + max(k, 0) * log(t) + bits * log(2)
            root = (-b - sqrt(max(b * b - 4 * a * rest, 0.0))) / (2 * a)
            new = max(root, float(self.start.mid()))
            if abs(new - t) < 1e-3 * t:
                return new * 1.002
            t = new
        return t

    def fading(self, t: float) -> float:
        """About how many bits below 1 the bound, times the density, is for good from t on."""
        rate, edge = self._weighted(), arb(t)
        if not (edge >= self.start and rate.falls_from(edge)):
            return -inf
        return -float(rate.log_at(edge).mid()) / log(2)

    def _weighted(self, power: arb = ONE) -> Rate:
        """The bound, to a power, times the normal density."""
        if self.result.most is None:
            raise NoEnclosure(f"no bound on it is known towards {'-' if self.slope < 0 else ''}oo")
        density = Rate(-(2 * arb.pi()).log() / 2, a=arb(-0.5))
        return self.result.most**power * density

    def _shifted(self, coefficients: Polynomial) -> Polynomial:
        """The polynomial in x as one in t."""
        if self.offset.is_zero():
            return tuple(c * self.slope**n for n, c in enumerate(coefficients))
        total: list[arb] = [ZERO]
        for coefficient in reversed(coefficients):
            stepped = [ZERO, *(c * self.slope for c in total)]
            for power, c in enumerate(total):
                stepped[power] += c * self.offset
            stepped[0] += coefficient
            total = stepped
        return tuple(total[: len(coefficients)])

    def _number(self, p: Polynomial) -> Known:
        """What is known of a polynomial."""
        if len(p) == 1 and (p[0] > 0 or p[0] < 0):
            most, least = (Rate(arb(end).log()) for end in (p[0].abs_upper(), p[0].abs_lower()))
            return Known(most, least, 1 if p[0] > 0 else -1, p, p)
        sign, parts = of_one_sign(self.start, p)
        least = None
        for power, c in enumerate(parts):
            if c > 0:
                found = Rate(arb(c.lower()).log(), arb(power))
                least = found if least is None else larger(self.start, least, found)
        if not sign and len(p) == 3 and p[2] > 0:
            lowest = p[0] - p[1] ** 2 / (4 * p[2])
            if lowest > 0:
                sign, least = 1, Rate(arb(lowest.lower()).log())
        return Known(size_of(self.start, p), least, sign, p, p)

    def _step(self, step: Step, position: int) -> Known:
        u = self.registers[step.left]
        match step.operation:
            case "add":
                return self._squashed_sum(position) or self._add(u, self.registers[step.right])
            case "mul":
                return self._mul(u, self.registers[step.right])
            case "raise":
                n = arb(step.exponent)
                sign = 1 if step.exponent % 2 == 0 else u.sign
                return Known(u.most and u.most**n, u.least and u.least**n, sign)
            case "inverse":
                return Known(u.least and u.least**-ONE, u.most and u.most**-ONE, u.sign)
            case "sqrt" | "power":
                n = ONE / 2 if step.operation == "sqrt" else self._constant(step.right)
                if u.sign < 1:
                    return Known()
                big, small = (u.most, u.least) if n > 0 else (u.least, u.most)
                return Known(big and big**n, small and small**n, 1)
            case "exp":
                return Known(
                    exponential(self.start, u.top, True),
                    exponential(self.start, u.bottom, False),
                    1,
                )
            case "log":
                found = self._log(u)
                pair = shifted_exponential(self.program, step.left)
                if pair is None:
                    return found
                other = self._softplus(*(self.registers[register] for register in pair))
                if found.top is None:
                    return other
                return found._replace(least=other.least, sign=other.sign)
            case "either" | "min" | "max":
                v = self.registers[step.right]
                most = envelope(self.start, u.most, v.most)
                if step.operation == "max":
                    return -smaller(-u, -v, most)
                return (smaller if step.operation == "min" else either)(u, v, most)
            case name:
                return self._function(name, u, step.left)

    def _constant(self, register: int) -> arb:
        (value,) = self.registers[register].top or (arb.nan(),)
        return value

    def _add(self, u: Known, v: Known) -> Known:
        sign = u.sign if u.sign == v.sign else 0
        top = added(u.top, v.top)
        bottom = added(u.bottom, v.bottom)
        if sign:
            leasts = [rate for rate in (u.least, v.least) if rate is not None]
            least = reduce(partial(larger, self.start), leasts) if leasts else None
        else:
            least, sign = self._difference(u, v)
            if least is None:
                least, sign = self._difference(v, u)
        return Known(envelope(self.start, u.most, v.most), least, sign, top, bottom)

    def _squashed_sum(self, position: int) -> Known | None:
        """c (1 + tanh(u)) = 2 c/(1 + e^(-2 u)), between c e^(2 u) and 2 c e^(2 u) where u <= 0."""
        if (found := squashed(self.program, position)) is None:
            return None
        u, turn, c = self.registers[found[0]], found[1], self.registers[found[2]]
        u = u if turn > 0 else -u
        if u.sign >= 0 or c.most is None or not c.sign:
            return None
        most = exponential(self.start, scaled(u.top, 2 * ONE), True)
        least = exponential(self.start, scaled(u.bottom, 2 * ONE), False)
        twice = c.most._replace(c=c.most.c + arb(2).log())
        return Known(most and most * twice, least and c.least and least * c.least, c.sign)

    def _difference(self, big: Known, small: Known) -> tuple[Rate | None, int]:
        """A lower bound on |big + small|, and the sign, where `big` dominates."""
        if big.least is None or small.most is None:
            return None, 0
        ratio = small.most * big.least**-ONE
        share = 1 - ratio.log_at(self.start).exp()
        if not (ratio.falls_from(self.start) and share > 0):
            return None, 0
        return big.least._replace(c=big.least.c + share.log()), big.sign

    def _mul(self, u: Known, v: Known) -> Known:
        most = u.most * v.most if u.most and v.most else None
        least = u.least * v.least if u.least and v.least else None
        top: Polynomial | None = None
        bottom: Polynomial | None = None
        for one, other in ((u, v), (v, u)):
            if one.top is not None and one.top is one.bottom and len(one.top) == 1:
                (c,) = one.top
                top, bottom = (scaled(p, c) for p in (other.top, other.bottom))
                if c <= 0:
                    top, bottom = bottom, top
                elif not c >= 0:
                    top = bottom = None
        return Known(most, least, u.sign * v.sign, top, bottom)

    def _log(self, u: Known) -> Known:
        if u.sign < 1 or u.least is None:
            return Known()
        top = exponent_of(self.start, u.most, True) if u.most else None
        return Known(top=top, bottom=exponent_of(self.start, u.least, False))

    def _softplus(self, u: Known, c: Known) -> Known:
        """log c <= log(c + e^u) <= log(1 + c) + max(u, 0), for c > 0.

        From below log(1 + w) >= min(w, 1) log 2, as log is concave.
        """
        (value,) = c.top or (ZERO,)
        if u.top is None or not value > 0:
            return Known()
        top = added(widest(u.top, (ZERO,)), ((1 + value).log(),))
        least = None
        if value >= 1 and u.bottom is not None:
            lower = scaled(widest(tuple(-c for c in u.bottom), (ZERO,)), -ONE)
            least = exponential(self.start, lower, False)
            least = least and least._replace(c=least.c + arb(2).log().log())
        return Known(None, least, int(value >= 1), top, (value.log(),))

    def _function(self, name: str, u: Known, register: int) -> Known:
        one = Rate(ZERO)
        match name:
            case "tanh" | "erf":
                bottom, top = (ZERO if u.sign > 0 else -ONE), (ZERO if u.sign < 0 else ONE)
                return Known(
                    self._small(u, ONE), self._squashed(name, u), u.sign, (top,), (bottom,)
                )
            case "sin" | "cos":
                most = self._small(u, ONE) if name == "sin" else one
                return Known(most, None, 0, (ONE,), (-ONE,))
            case "atan":
                half = arb.pi() / 2
                bottom, top = (ZERO if u.sign > 0 else -half), (ZERO if u.sign < 0 else half)
                return Known(self._small(u, half), None, u.sign, (top,), (bottom,))
            case "erfc":
                square = self._square(register, u)
                return Known(self._erfc(u, square), self._erfc_from_below(u, square), 1)
            case "sinh" | "cosh" | "asinh":
                return self._hyperbolic(name, u)
        return Known()

    def _small(self, u: Known, most: arb) -> Rate:
        """A bound on |f(u)| <= min(most, 2 |u|/sqrt(pi)), as sin, tanh, erf and atan have."""
        if u.most is None or not u.most.falls_from(self.start):
            return Rate(most.log())
        return u.most._replace(c=u.most.c + (2 / arb.pi().sqrt()).log())

    def _squashed(self, name: str, u: Known) -> Rate | None:
        """A lower bound on |tanh| or |erf|, which rise with |u|."""
        least = u.least
        if least is None or not (least.k >= 0 and least.b >= 0 and least.a >= 0):
            return None
        smallest = arb(getattr(least.log_at(self.start).exp(), name)().lower())
        return Rate(smallest.log()) if smallest > 0 else None

    def _square(self, register: int, u: Known) -> Polynomial | None:
        """The square of an affine value, from exact coefficients: (sqrt(2)/2)^2 is 1/2."""
        exact = self.program.polynomials.get(register)
        if exact is None or len(exact) != 2 or u.bottom is not u.top:
            return None
        a, b = exact
        return self._shifted((ball(a**2), ball(2 * a * b), ball(b**2)))

    def _erfc(self, u: Known, square: Polynomial | None) -> Rate:
        """erfc(y) <= 2, and <= exp(-y^2) for y >= 0."""
        if u.bottom is not None and len(u.bottom) == 2:
            c, b = u.bottom
            if b >= 0 and c + b * self.start >= 0:
                power = square or (c * c, 2 * b * c, b * b)
                return Rate(-power[0], ZERO, -power[1], -power[2])
        return Rate(arb(2).log())

    def _erfc_from_below(self, u: Known, square: Polynomial | None) -> Rate | None:
        """erfc(y) >= 1 for y <= 0, and >= exp(-y^2)/(sqrt(pi) (1 + y)) for y >= 0 (DLMF 7.8.2)."""
        if u.top is None or len(u.top) != 2:
            return None
        c, b = u.top
        if b <= 0 and c + b * self.start <= 0:
            return Rate(ZERO)
        if not (b >= 0 and c + b * self.start >= 0):
            return None
        most = (abs(c) + 1) / self.start + b  # 1 + y <= most t
        power = square or (c * c, 2 * b * c, b * b)
        return Rate(-power[0] - (most * arb.pi().sqrt()).log(), -ONE, -power[1], -power[2])

    def _hyperbolic(self, name: str, u: Known) -> Known:
        """1 <= cosh, |u| <= |sinh|, both at most exp(|u|); |asinh(u)| <= |u|."""
        if name == "asinh":
            return Known(u.most, None, u.sign)
        least = Rate(ZERO) if name == "cosh" else u.least
        if u.top is None or u.bottom is None:
            return Known(None, least, 1 if name == "cosh" else u.sign)
        size = widest(u.top, tuple(-c for c in u.bottom))
        return Known(exponential(self.start, size, True), least, 1 if name == "cosh" else u.sign)

    def _completed(self, v: Known) -> Known:
        """The polynomial bounds from the sizes, or the other way round."""
        if v.most is None and v.top is not None and v.bottom is not None:
            size = widest(tuple(abs(c) for c in v.top), tuple(abs(c) for c in v.bottom))
            v = v._replace(most=size_of(self.start, size))
        if v.sign == 0 and v.bottom is not None and all(c >= 0 for c in v.bottom):
            v = v._replace(sign=1)
        if v.sign > 0 and v.bottom is None:
            v = v._replace(bottom=(ZERO,))
        if v.sign < 0 and v.top is None:
            v = v._replace(top=(ZERO,))
        if v.most is None or (v.top is not None and v.bottom is not None):
            return v
        curve = curve_over(self.start, v.most)
        if curve is not None:
            top = (ZERO,) if v.sign < 0 else curve
            bottom = (ZERO,) if v.sign > 0 else tuple(-c for c in curve)
            v = v._replace(top=v.top or top, bottom=v.bottom or bottom)
        return v
