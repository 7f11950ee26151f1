"""Second moments of what flows through linear and residual layers, one layer at a time.

The state is a table of expectations of products of the power sums

    p[a, b] = Sum_i x_i^a c_i^b

of the stream x and of a vector c that was drawn earlier. A layer x' = x + x W with fresh weights
maps it linearly, and the expectation calculus gives the map.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import prod

from sympy import Expr, Float, Integer, Rational, sqrt

from varlaw.checks.experiments.moments import Number, evaluate, exact, expected, normal
from varlaw.checks.statistics.sampling import Law
from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.declarations import dimensions, indices, positive, random_array
from varlaw.symbolic.ranges import Range
from varlaw.symbolic.terms import Expectation, IndexSum, Sum, factors, terms

Powers = tuple[int, int]  # the exponents (a, b) of p[a, b]
Key = tuple[Powers, ...]  # a product of power sums, in increasing order

SECOND: Key = ((2, 0),)  # |x|^2
SQUARE: Key = ((2, 0), (2, 0))  # |x|^4
FOURTH: Key = ((4, 0),)  # Sum_i x_i^4
OVERLAP: Key = ((1, 1),)  # x . c
OVERLAP_SQUARE: Key = ((1, 1), (1, 1))  # (x . c)^2
PRODUCT: Key = ((0, 2), (2, 0))  # |x|^2 |c|^2
ALONE: tuple[Key, ...] = (SECOND, SQUARE, FOURTH)
BESIDE: tuple[Key, ...] = (OVERLAP, OVERLAP_SQUARE, PRODUCT)

DIGITS = 60
LONG = 10**DIGITS

d, n = dimensions("d n")
i, j = indices("i j")
b = positive("b")  # the std of the weights
start = random_array("x")
x = random_array("x", independent=False, identical=False)
c = random_array("c", independent=False, identical=False, depends_on=[x])
centred, symmetric = (random_array("w", variance=1, mean=0, symmetric=s) for s in (False, True))


@dataclass(frozen=True)
class Stream:
    """What is known of a stream of some width: E of the products of power sums by their keys."""

    width: int
    state: Mapping[Key, Expr]

    @classmethod
    def begin(cls, law: Law, width: int, scale: Number = 1) -> "Stream":
        """A stream with iid entries of the law of `scale` times x; c is the stream itself."""
        state = {}
        for key in (*ALONE, *BESIDE):
            statistic = prod(
                (Sum(start[j] ** (p + q), (j, 1, d)) for p, q in key), start=Integer(1)
            )
            order = sum(p + q for p, q in key)
            state[key] = exact(scale) ** order * expected(statistic, {"d": width}, {"x": law})
        return cls(width, state)

    def __getitem__(self, key: Key) -> Expr:
        return self.state[key]

    @property
    def second_moment(self) -> Expr:
        """E[x_i^2], averaged over the channels: what Norm divides by the root of."""
        return self[SECOND] / self.width

    @property
    def variance(self) -> Expr:
        """Var |x|^2."""
        return self[SQUARE] - self[SECOND] ** 2

    @property
    def overlap_variance(self) -> Expr:
        """Var (x . c)."""
        return self[OVERLAP_SQUARE] - self[OVERLAP] ** 2

    def through(self, weights: Law, variance: Number, width: int) -> "Stream":
        """x W, with weights of some variance."""
        return Stream(width, self._mapped(ALONE, "linear", weights, variance, width))

    def residual(self, weights: Law, variance: Number, *, capture: bool = False) -> "Stream":
        """x + x W, with symmetric weights of some variance; `capture` makes x W the new c."""
        kind = "captured" if capture else "residual"
        return Stream(
            self.width, self._mapped((*ALONE, *BESIDE), kind, weights, variance, self.width)
        )

    def scaled(self, square: Number) -> "Stream":
        """a x, with a^2 = `square`."""
        a = sqrt(exact(square))
        return Stream(
            self.width,
            {key: a ** sum(p for p, _ in key) * value for key, value in self.state.items()},
        )

    def marked(self) -> "Stream":
        """The same stream, with what it is now as c."""
        square = self[SQUARE]
        beside = {OVERLAP: self[SECOND], OVERLAP_SQUARE: square, PRODUCT: square}
        return Stream(self.width, {**self.state, **beside})

    def _mapped(
        self, keys: tuple[Key, ...], kind: str, weights: Law, variance: Number, width: int
    ) -> dict[Key, Expr]:
        if kind != "linear" and not weights.symmetric:
            raise ValueError(f"residual layers need symmetric weights, not {weights.name}")
        values = {"d": self.width, "n": width, "b": sqrt(exact(variance))}
        return {
            key: lean(
                sum(
                    (
                        evaluate(coefficient, values, {"w": weights}) * self.state[source]
                        for source, coefficient in image(key, kind).items()
                    ),
                    Integer(0),
                )
            )
            for key in keys
        }


def lean(value: Expr) -> Expr:
    """The number, to 60 digits where it has more than that: in deep streams they pile up."""
    long = any(max(abs(q.p), q.q) >= LONG for q in value.atoms(Rational))
    return value.evalf(DIGITS) if long or value.has(Float) else value


@cache
def image(key: Key, kind: str) -> dict[Key, Expr]:
    """E over the weights of a product of power sums after a layer, in those before it."""
    w, cols = (centred, n) if kind == "linear" else (symmetric, d)
    branch = Sum(b * x[i] * w[i, j], (i, 1, d))
    after = branch if kind == "linear" else x[j] + branch
    beside = branch if kind == "captured" else c[j]
    statistic = prod((Sum(after**p * beside**q, (j, 1, cols)) for p, q in key), start=Integer(1))
    return power_sums(normal(statistic))


def power_sums(total: Expr) -> dict[Key, Expr]:
    """Sums over distinct indices as power sums: Sum_{i != j} f_i g_j = p_f p_g - p_fg."""
    found: dict[Key, Expr] = {}
    for term in terms(total.expand()):
        (inner,) = (f for f in factors(term) if isinstance(f, IndexSum))
        for key, weight in _one_sum(inner).items():
            found[key] = found.get(key, Integer(0)) + weight * (term / inner)
    found = {key: value.expand() for key, value in found.items()}
    return {key: value for key, value in found.items() if value != 0}


def _one_sum(total: IndexSum) -> dict[Key, Expr]:
    exponents: dict[Expr, list[int]] = {}
    inside = [f.args[0] for f in factors(total.summand) if isinstance(f, Expectation)]
    for factor in (f for part in inside for f in factors(part)):
        entry, exponent = factor.as_base_exp()
        assert isinstance(entry, Entry)
        powers = exponents.setdefault(entry.indices[0], [0, 0])
        powers["xc".index(entry.array.name)] += int(exponent)
    found: dict[Key, Expr] = {(): Integer(1)}
    for span in total.ranges:  # indices of different ranges may coincide, those of one may not
        used = [(p, q) for p, q in (exponents.get(k, (0, 0)) for k in span.indices) if p + q]
        found = {
            tuple(sorted(key + more)): weight * times
            for key, weight in found.items()
            for more, times in _distinct(used, span).items()
        }
    return found


def _distinct(used: list[Powers], span: Range) -> dict[Key, Expr]:
    """A sum over the distinct indices of a range, of which those with powers are `used`."""
    count = span.upper - span.lower + 1
    idle = prod((count - k for k in range(len(used), len(span.indices))), start=Integer(1))
    match used:
        case []:
            return {(): idle}
        case [one]:
            return {(one,): idle}
        case [(p, q), (s, t)]:
            return {((p, q), (s, t)): idle, ((p + s, q + t),): -idle}
        case _:
            raise ValueError(f"not covered: {len(used)} distinct indices")
