"""Functions of independent normal variables through one sum of them, such as |x + y| or 1[x > y].

The sum l = sum_i c_i x_i is normal; of two variables the sum u = c_2 v_2 x_1 - c_1 v_1 x_2 is
independent of it, and x_1 = (c_1 v_1 l + c_2 u) / V, x_2 = (c_2 v_2 l - c_1 u) / V, V = Var[l].
"""

from collections.abc import Callable, Mapping, Sequence

from sympy import Abs, Add, Expr, Integer, Max, Min, Mul, Pow

from varlaw.checks.claims.declarations.distributions import Distribution
from varlaw.symbolic.arrays import Entry

Made = Callable[[Distribution], Entry]


def without_maxima(f: Expr) -> Expr:
    """max(a, b) as (a + b + |a - b|)/2, min(a, b) as (a + b - |a - b|)/2."""

    def written(*sides: Expr, sign: int) -> Expr:
        a, b = sides
        return (a + b + sign * Abs(a - b)) / 2

    for kind, sign in ((Max, 1), (Min, -1)):
        for node in f.atoms(kind):
            if len(node.args) == 2:
                f = f.xreplace({node: written(*node.args, sign=sign)})
    return f


def separated(f: Expr, laws: Mapping[Entry, Distribution], make: Made) -> Expr | None:
    """f in the sums l and u, as new variables; None where they are not enough.

    The variables are independent and normal; `make` makes another one.
    """
    return _Separation(sorted(laws, key=str), laws, make).of(f)


class _Separation:
    def __init__(
        self, entries: Sequence[Entry], laws: Mapping[Entry, Distribution], make: Made
    ) -> None:
        self.entries, self.laws, self.make = entries, laws, make
        self.factors: list[Expr] = []  # of the sum l
        self.sum: Expr = Integer(0)

    def of(self, f: Expr) -> Expr | None:
        inner = self._inner(f)
        if inner is None or not inner.has(*self.entries):
            return inner
        if len(self.entries) != 2 or not self.factors:
            return None
        return inner.xreplace(self._by_sums())

    def _inner(self, f: Expr) -> Expr | None:
        """f with l inside of all functions that are no polynomials; None where there is another."""
        if not f.has(*self.entries) or isinstance(f, Entry):
            return f
        polynomial = isinstance(f, Add | Mul) or (
            isinstance(f, Pow) and f.exp.is_Integer and f.exp.is_positive
        )
        parts = [
            part
            if not part.has(*self.entries)
            else self._inner(part)
            if polynomial
            else self._multiple(part)
            for part in f.args
        ]
        return None if None in parts else f.func(*parts)

    def _multiple(self, part: Expr) -> Expr | None:
        """k l + c for an argument that is one, else None."""
        part = part.expand()
        factors = [part.coeff(entry) for entry in self.entries]
        rest = part.xreplace(dict.fromkeys(self.entries, Integer(0)))
        linear = Add(*(c * x for c, x in zip(factors, self.entries, strict=True)))
        if any(c.has(*self.entries) for c in factors) or (part - rest - linear).expand() != 0:
            return None
        if not self.factors:
            self.factors, self.sum = factors, self._sum(factors)
        at = next(k for k, c in enumerate(self.factors) if c != 0)
        times = (factors[at] / self.factors[at]).cancel()
        if any((c - times * d).cancel() != 0 for c, d in zip(factors, self.factors, strict=True)):
            return None
        return times * self.sum + rest

    def _sum(self, factors: Sequence[Expr]) -> Entry:
        terms = [(c, self.laws[x]) for c, x in zip(factors, self.entries, strict=True)]
        mean = Add(*(c * law["mean"] for c, law in terms))
        variance = Add(*(c**2 * law["var"] for c, law in terms))
        return self.make(Distribution("normal", {"mean": mean, "var": variance}))

    def _by_sums(self) -> dict[Entry, Expr]:
        c, d = self.factors
        v, w = (self.laws[x]["var"] for x in self.entries)
        total = c**2 * v + d**2 * w
        u = self._sum([d * w, -c * v])
        first, second = self.entries
        return {
            first: (c * v * self.sum + d * u) / total,
            second: (d * w * self.sum - c * u) / total,
        }
