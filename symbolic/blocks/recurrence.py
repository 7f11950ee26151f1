"""Recurrences of one value in depth: closed forms, growth, fixed points."""

from dataclasses import dataclass
from functools import cached_property
from math import prod

from sympy import Expr, Integer, Poly, Rational, Symbol, Tuple, gamma, together
from sympy.polys.polyerrors import PolynomialError

from varlaw.symbolic.blocks.masked import masked
from varlaw.symbolic.blocks.state import ONE, ZERO, tidy
from varlaw.symbolic.language_text import typed

MOST_FACTORS = 8
POINTS = (Rational(3, 2), Integer(2), Rational(5, 2))
SURE = 30  # digits


@dataclass(frozen=True)
class Growth:
    """How a value goes with depth.

    `kind` is "constant", "linear" (rate: what is added per layer), "exponential" (rate: the factor
    per layer, a decay below 1), "bounded" (rate: what the distance to `limit` is multiplied by in
    each layer; None where layers depend on the number of all of them),
    "polynomial" and, for the power 1/2, "sqrt" (rate: the power of the number l of layers;
    `asymptotic` is what it comes near to, such as 1/(2*l)), "subexponential" (rate: the power of l
    in the exponent; the logarithm comes near to that of `asymptotic`) or "" where it is not known.
    """

    kind: str
    rate: Expr | None = None
    limit: Expr | None = None
    asymptotic: Expr | None = None

    def __str__(self) -> str:
        match self.kind:
            case "":
                return "not known"
            case "constant":
                return "constant"
            case "linear":
                return f"linear, {typed(self.rate)} per layer"
            case "exponential":
                return f"exponential, times {typed(self.rate)} per layer"
            case "polynomial" | "sqrt":
                like = "" if self.asymptotic is None else f", like {typed(self.asymptotic)}"
                return f"{self.kind}, of power {typed(self.rate)}{like}"
            case "subexponential":
                like = f"log like that of {typed(self.asymptotic)}"
                return f"subexponential, of power {typed(self.rate)} in the exponent, {like}"
        apart = "" if self.rate is None else f", distance times {typed(self.rate)} per layer"
        return f"bounded, tends to {typed(self.limit)}{apart}"


@dataclass(frozen=True)
class Recurrence:
    """u -> step, a function of `variable`; the first value is `first`.

    Closed forms are those of linear steps.
    """

    step: Expr
    variable: Symbol
    first: Expr

    @cached_property
    def linear(self) -> tuple[Expr, Expr] | None:
        """A and B of u -> A u + B; None where the step is not linear."""
        if self._bends:
            return None
        slope = tidy(self.step.diff(self.variable))
        if self.variable not in slope.free_symbols:
            return slope, tidy(self.step.subs(self.variable, 0))
        try:
            polynomial = Poly(together(self.step), self.variable)
        except PolynomialError:
            return None
        if polynomial.degree() > 1:
            return None
        a, b = (polynomial.coeff_monomial(self.variable**k) for k in (1, 0))
        return tidy(a), tidy(b)

    @property
    def _bends(self) -> bool:
        """Whether three points of the step lie on no line, with numbers for other names."""
        others = sorted(self.step.free_symbols - {self.variable}, key=str)
        at = {s: Integer(k) if s.is_integer else Rational(k, 7) for k, s in enumerate(others, 5)}
        points = [self.step.xreplace({**at, self.variable: q}).evalf(SURE) for q in POINTS]
        if not all(p.is_Float for p in points):
            return False
        low, mid, high = points
        return bool(abs(low - 2 * mid + high) > abs(mid) / 10 ** (SURE // 2))

    def after(self, count: Expr) -> Expr | None:
        """The value after `count` >= 1 steps; None where no closed form is known."""
        if self.linear is None:
            return None
        a, b = self.linear
        if a == 1:
            return self.first + count * b
        if a == 0:
            return b
        if tidy(a * self.first + b - self.first) == 0:
            return self.first
        if b == 0:
            return self.first * a**count
        settled = tidy(b / (1 - a))
        return settled + tidy(self.first - settled) * a**count

    @property
    def growth(self) -> Growth:
        """The growth class. A linear step with a symbolic A is exponential: A = 1 is excluded."""
        if self.linear is None:
            return Growth("")
        a, b = self.linear
        if a == 1:
            return Growth("constant") if b == 0 else Growth("linear", b)
        if a == 0 or tidy(a * self.first + b - self.first) == 0:
            return Growth("constant")
        if b != 0 and (1 - a).is_positive:
            return Growth("bounded", a, tidy(b / (1 - a)))
        return Growth("exponential", a)


@dataclass(frozen=True)
class Product:
    """factor(u_0) factor(u_1) ... along a recurrence, as gradients have it through layers."""

    factor: Expr
    path: Recurrence

    @property
    def telescopes(self) -> bool:
        """Whether each factor is the ratio of the value after a step to that before."""
        return bool(tidy(self.factor - self.path.step / self.path.variable) == 0)

    @property
    def settled(self) -> Expr | None:
        """The factor from the second step on, where it is the same from there on."""
        path, u = self.path, self.path.variable
        if u not in self.factor.free_symbols:
            return self.factor
        if tidy(path.step.subs(u, path.first) - path.first) == 0:
            return tidy(self.factor.subs(u, path.first))
        if path.linear is not None and path.linear[0] == 0:
            return tidy(self.factor.subs(u, path.linear[1]))
        return None

    def after(self, count: Expr) -> Expr | None:
        """The product of `count` >= 1 factors; None where no closed form is known."""
        if self.settled is not None:
            first = tidy(self.factor.subs(self.path.variable, self.path.first))
            return first * self.settled ** (count - 1) if first != self.settled else first**count
        if self.telescopes:
            end = self.path.after(count)
            return None if end is None else tidy(end / self.path.first)
        if self.shifts is None:
            return None
        scale, above, below = self.shifts
        whole = scale**count
        if len(above) == len(below) == 1:
            apart = tidy(above[0] - below[0])
            if isinstance(apart, Integer) and abs(apart) <= MOST_FACTORS:
                low = below[0] if apart > 0 else above[0]
                rest = prod((low + count + j) / (low + j) for j in range(abs(int(apart))))
                return tidy(whole * (rest if apart > 0 else 1 / rest))
        for shift, sign in (*((s, 1) for s in above), *((s, -1) for s in below)):
            whole *= (gamma(shift + count) / gamma(shift)) ** sign
        return whole

    @property
    def growth(self) -> Growth:
        """The growth class of the product; by Stirling's formula where it has Gamma functions."""
        if self.settled is not None:
            return Growth("constant") if self.settled == 1 else Growth("exponential", self.settled)
        if self.telescopes:
            found, first = self.path.growth, self.path.first
            if found.kind == "linear":
                return Growth("linear", tidy(found.rate / first))
            limit = None if found.limit is None else tidy(found.limit / first)
            return Growth(found.kind, found.rate, limit)
        if self.shifts is None:
            return Growth("")
        scale, above, below = self.shifts
        if scale != 1:
            return Growth("exponential", scale)
        return Growth("polynomial", tidy(sum(above, ZERO) - sum(below, ZERO)))

    @property
    def shifts(self) -> tuple[Expr, list[Expr], list[Expr]] | None:
        """scale (t + a)/(t + b) as (scale, [a], [b]), for a value that grows by steps of one size.

        None where the factor is no quotient of linear functions, or the value grows otherwise.
        """
        if self.path.linear is None or self.path.linear[0] != 1:
            return None
        given = Tuple(self.factor, self.path.linear[1], self.path.first)
        (factor, added, first), back = masked(given, self.path.variable)
        shifts: tuple[list[Expr], list[Expr]] = ([], [])
        scale = ONE
        for part, sign, found in zip(
            together(factor).as_numer_denom(), (1, -1), shifts, strict=True
        ):
            try:
                polynomial = Poly(part, self.path.variable)
            except PolynomialError:
                return None
            if polynomial.degree() > 1:
                return None
            a, b = (polynomial.coeff_monomial(self.path.variable**k) for k in (1, 0))
            if a == 0:
                scale *= b**sign
            else:
                scale *= (a * added) ** sign
                found.append(back(tidy((a * first + b) / (a * added))))
        return (back(tidy(scale)), *shifts) if len(shifts[0]) == len(shifts[1]) else None
