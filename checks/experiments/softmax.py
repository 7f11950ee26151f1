"""Experiments on attention weights: draw logits, exponentiate, normalise, mix values.

Logits log e of exponential variables e make softmax's weights uniform on the simplex, so that all
their moments are rational.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb, exp, sqrt

import numpy as np
from numpy.random import Generator
from sympy import Expr, Rational

from varlaw.checks.experiments.moments import Number, Orders, exact, sum_moment
from varlaw.checks.experiments.registry import ANY, Case, Draws, LimitTrial, Trial, experiment
from varlaw.symbolic.terms import IndexSum

NORMAL = ("normal",)
HALF = Fraction(1, 2)
GRADIENTS = 8  # per softmax


def factorial(k: int) -> Fraction:
    return Fraction(math.factorial(k))


def softmax(logits: Draws) -> Draws:
    """Over the first axis."""
    weights = np.exp(logits - logits.max(axis=0))
    return np.asarray(weights / weights.sum(axis=0))


@dataclass(frozen=True)
class OnSimplex:
    """Moments of weights that are uniform on the simplex of n keys."""

    n: int

    def moment(self, k: int) -> Fraction:
        """E[p^k] = k!/(n (n + 1) ... (n + k - 1))."""
        return Fraction(math.factorial(k), math.prod(range(self.n, self.n + k)))

    def pair(self) -> Fraction:
        """E[p_1^2 p_2^2]."""
        return Fraction(4, math.prod(range(self.n, self.n + 4)))

    def squares(self) -> Fraction:
        """E[Sum p_i^2]."""
        return self.n * self.moment(2)

    def sums(self, second: int, third: int = 0) -> Fraction:
        """E[(Sum p_i^2)^second (Sum p_i^3)^third], by those of exponential variables."""
        degree = 2 * second + 3 * third
        whole = sum_moment(self.n, (second, third), lambda k: factorial(2 * k[0] + 3 * k[1]))
        return whole / math.prod(range(self.n, self.n + degree))

    def norm(self) -> Fraction:
        """E|J|^2 for the Jacobian J."""
        return self.sums(1) - 2 * self.sums(0, 1) + self.sums(2)

    def norm_squared(self) -> Fraction:
        """E|J|^4."""
        squares = self.sums(2) + 4 * self.sums(0, 2) + self.sums(4)
        return squares - 4 * self.sums(1, 1) + 2 * self.sums(3) - 4 * self.sums(2, 1)

    def sample(self, rng: Generator, replicates: int) -> Draws:
        return softmax(np.log(rng.standard_exponential((self.n, replicates))))

    def fourth(self, case: Case) -> Fraction:
        """E[(Sum p_i u_i)^4] for values u of the case's law."""
        return mixed_fourth(case, self.n * self.moment(4), self.n * (self.n - 1) * self.pair())


def mixed_fourth(case: Case, alone: Fraction, apart: Fraction) -> Fraction:
    """E[(Sum p_i u_i)^4] from E[Sum p_i^4] and E[Sum_{i != j} p_i^2 p_j^2]."""
    return case.weights.moment(4) * alone + 3 * apart


@experiment(law="attention-output", quantity="Var(o)", weights=ANY, n=4)
def attention_output(case: Case) -> Trial:
    n, p = case.size("n"), OnSimplex(case.size("n"))

    def draw(rng: Generator, replicates: int) -> Draws:
        weights, values = p.sample(rng, replicates), case.weights.sample(rng, (n, replicates))
        return np.asarray((weights * values).sum(axis=0) ** 2)

    claimed = case.claim({"p": p})
    wrong = {
        "1, as of the values": 1,
        "1/n, as of an average": Fraction(1, n),
        "E[p^2], of one value": p.squares() / n,
    }
    return Trial(draw, 2 * n, claimed, p.fourth(case) - p.squares() ** 2, wrong)


def shared(case: Case, mix: Callable[[Generator, Draws], Draws]) -> Callable[..., Draws]:
    """The square of the mix of values that have a part in common."""
    rho = float(case["rho"])

    def draw(rng: Generator, replicates: int) -> Draws:
        own = case.weights.sample(rng, (case.size("n" if "n" in case.values else "t"), replicates))
        values = sqrt(rho) * case.weights.sample(rng, (1, replicates)) + sqrt(1 - rho) * own
        return np.asarray(mix(rng, values) ** 2)

    return draw


def shared_fourth(case: Case, squares: Fraction, fourth: Fraction) -> Fraction:
    """E[(sqrt(rho) c + sqrt(1 - rho) x)^4] for x of mean 0 with E[x^2] and E[x^4]."""
    rho = Fraction(case.values["rho"])
    mixed = 6 * rho * (1 - rho) * squares
    return rho**2 * case.weights.moment(4) + mixed + (1 - rho) ** 2 * fourth


@experiment(law="attention-output-correlated", quantity="Var(o)", weights=ANY, n=2, rho=HALF)
def attention_output_correlated(case: Case) -> Trial:
    n, p, rho = case.size("n"), OnSimplex(case.size("n")), Fraction(case.values["rho"])
    draw = shared(case, lambda rng, v: (p.sample(rng, v.shape[1]) * v).sum(axis=0))
    mean = rho + (1 - rho) * p.squares()
    spread = shared_fourth(case, p.squares(), p.fourth(case)) - mean**2
    wrong = {"as if uncorrelated": p.squares(), "1": 1, "rho": rho}
    return Trial(draw, 2 * n + 1, case.claim({"p": p}), spread, wrong)


@experiment(law="attention-causal", quantity="Var(o_t)", weights=ANY, t=2, rho=HALF)
def attention_causal(case: Case) -> Trial:
    """The last of t positions under a causal mask, at equal logits."""
    t, rho = case.size("t"), Fraction(case.values["rho"])
    masked = np.where(np.tri(t) > 0, 0.0, -np.inf)
    last = softmax(masked.T)[:, -1]
    draw = shared(case, lambda rng, v: np.asarray(last @ v))
    fourth = mixed_fourth(case, Fraction(1, t**3), Fraction(t - 1, t**3))
    mean = rho + (1 - rho) / t
    wrong = {"1": 1, "1/t, as if uncorrelated": Fraction(1, t), "rho": rho}
    spread = shared_fourth(case, Fraction(1, t), fourth) - mean**2
    return Trial(draw, t + 1, case.claim(), spread, wrong)


# The Jacobian


def jacobian(p: Draws) -> Draws:
    """diag(p) - p p^T, one for each replicate on the last axis."""
    return np.asarray(np.eye(len(p))[:, :, None] * p[:, None] - p[:, None] * p[None])


def norm_claim(case: Case, p: OnSimplex) -> Expr:
    """The claim with the sum over pairs of E[p_i^2 p_j^2] put in."""
    pairs = exact(p.n * p.moment(4) + p.n * (p.n - 1) * p.pair())
    rhs = case.law.statement.rhs.replace(IndexSum, lambda *parts: pairs)
    return case.at(rhs, {"p": p})


def norm_neighbours(p: OnSimplex) -> dict[str, Number]:
    second, third = p.squares(), p.n * p.moment(3)
    return {"Sum p^2": second, "Sum p^2 - Sum p^3": second - third, "(n - 1)/n^2": uniform(p.n)}


def uniform(n: int) -> Fraction:
    return Fraction(n - 1, n**2)


@experiment(law="softmax-jacobian", quantity="E|J|^2", weights=NORMAL, n=4)
def softmax_jacobian(case: Case) -> Trial:
    p = OnSimplex(case.size("n"))

    def draw(rng: Generator, replicates: int) -> Draws:
        return np.asarray((jacobian(p.sample(rng, replicates)) ** 2).sum(axis=(0, 1)))

    spread = p.norm_squared() - p.norm() ** 2
    return Trial(draw, p.n, norm_claim(case, p), spread, norm_neighbours(p), work=p.n**2)


@experiment(law="softmax-gradient", quantity="E|J g|^2", weights=ANY, n=4)
def softmax_gradient(case: Case) -> Trial:
    """The mean over several gradients; E|J g|^4 <= max(3, E[g^4]) |J|^4 for iid entries."""
    n, p = case.size("n"), OnSimplex(case.size("n"))

    def draw(rng: Generator, replicates: int) -> Draws:
        gradients = case.weights.sample(rng, (n, GRADIENTS, replicates))
        weights = p.sample(rng, replicates)[:, None]
        pulled = weights * (gradients - (weights * gradients).sum(axis=0))
        return np.asarray((pulled**2).sum(axis=0).mean(axis=0))

    heavy = max(Fraction(3), case.weights.moment(4))
    spread = p.norm_squared() * (heavy + GRADIENTS - 1) / GRADIENTS - p.norm() ** 2
    claimed = norm_claim(case, p)
    return Trial(draw, n * (GRADIENTS + 1), claimed, spread, norm_neighbours(p))


@experiment(law="softmax-jacobian-uniform", quantity="|J|^2", weights=NORMAL, n=8)
def softmax_jacobian_uniform(case: Case) -> Trial:
    n = case.size("n")

    def draw(rng: Generator, replicates: int) -> Draws:
        weights = softmax(np.repeat(rng.standard_normal((1, replicates)), n, axis=0))
        return np.asarray((jacobian(weights) ** 2).sum(axis=(0, 1)))

    wrong = {"1/n": Fraction(1, n), "1/n^2": Fraction(1, n**2), "1": 1}
    return Trial(draw, n, case.claim(), 0, wrong, work=n**2)


# Gaussian logits. What is averaged is the statistic less its linear part in the means over the
# keys, of which the expectation is known. The rest R is of second order; a power of the sum of
# exponentials below it goes by Jensen, 1/u <= b exp(-mean a), which shifts the logits.


def tilted(s2: float, order: int, power: int, shift: float) -> float:
    """E[(k - a)^power w^order], w = tau exp(a - s2/2), with k = s2 + shift, tau = exp(-shift)."""
    centre = s2 + shift - order * s2
    polynomial = (1.0, centre, centre**2 + s2)[power]
    return exp((order**2 - order) * s2 / 2 - order * shift) * polynomial


def signed(s2: float, count: int, power: int, shift: float, weights: int) -> float:
    """E[(k - a)^power w^(weights + power) (w - 1)^count]."""
    return math.fsum(
        comb(count, j) * (-1) ** (count - j) * tilted(s2, weights + power + j, power, shift)
        for j in range(count + 1)
    )


def of_means(n: int, orders: Orders, joint: Callable[[Orders], float]) -> float:
    """E of a product of powers of means over n iid vectors, from the moments of one."""
    whole = sum_moment(n, orders, lambda powers: joint(powers))  # type: ignore[arg-type, return-value]
    return float(whole) / float(n) ** sum(orders)


def over_square(n: int, s2: float, parts: Mapping[Orders, float]) -> float:
    """At least E[Sum c e^p y^q/u^2], if the sum is not negative; c by (p, q).

    For the means u of n iid w = exp(a - s2/2), e of (s2 - a) w, and y = u - 1.
    """
    shift = 2 * s2 / n

    def joint(powers: Orders) -> float:
        power, count = powers
        return signed(s2, count, power, shift, 0)

    total = math.fsum(c * of_means(n, powers, joint) for powers, c in parts.items())
    return exp(s2 + 2 * s2 / n) * total


def remainder(n: int, s2: float) -> float:
    """At least E[(y - log u)^2] for the mean u = 1 + y of n iid exp(a - s2/2).

    0 <= y - log u <= y^2 (1 + y/3)/(2 u): the derivative of the difference is y^3/(3 u^2).
    """
    return over_square(n, s2, {(0, 4): 1 / 4, (0, 5): 1 / 6, (0, 6): 1 / 36})


def of_sizes(
    case: Case,
    sizes: tuple[int, ...],
    statistic: Callable[[Draws, int], Draws],
    mean: Callable[[int], float],
    square: Callable[[int], float],
    wrong: Mapping[str, Number],
    margins: tuple[float, ...] = (0.0015, 0.001, 0.0006),
    claimed: Expr | None = None,
) -> LimitTrial:
    """A statistic of the logits at each size; `square` bounds the second moment of its rest."""
    std = float(case["s"])

    def at(n: int) -> Trial:
        def draw(rng: Generator, replicates: int) -> Draws:
            return statistic(std * rng.standard_normal((n, replicates)), n)

        return Trial(draw, n, Rational(mean(n)), square(n), {})

    return LimitTrial(sizes, tuple(map(at, sizes)), claimed or case.claim(), wrong, margins)


@experiment(law="softmax-participation", quantity="n Sum p^2", weights=NORMAL, s=HALF)
def softmax_participation(case: Case) -> LimitTrial:
    """X = n Sum p^2 = e^(s^2) v/u^2; with y = u - 1, R = -v y^3 (4 + 3 y)/u^2 is left of it."""
    s2 = float(case["s"] ** 2)
    limit = exp(s2)

    def joint(shift: float) -> Callable[[Orders], float]:  # of v and y at shifted logits
        return lambda powers: exp(-powers[0] * s2) * signed(s2, powers[1], 0, shift, 2 * powers[0])

    @cache
    def expected(n: int) -> float:
        return 1 - 2 * math.expm1(2 * s2) / n + 3 * of_means(n, (1, 2), joint(0.0))

    def statistic(a: Draws, n: int) -> Draws:
        w = np.exp(a - s2 / 2)
        v, y = exp(-s2) * (w * w).mean(axis=0), w.mean(axis=0) - 1
        rest = expected(n) - v * (1 - 2 * y + 3 * y**2)
        return np.asarray(n * (softmax(a) ** 2).sum(axis=0) + limit * rest)

    def square(n: int) -> float:
        parts = {6: 16.0, 7: 24.0, 8: 9.0}  # v^2 y^6 (4 + 3 y)^2
        total = sum(c * of_means(n, (2, k), joint(4 * s2 / n)) for k, c in parts.items())
        return limit**2 * exp(2 * s2 + 8 * s2 / n) * total

    wrong = {"1": 1, "e^(2 s^2)": Rational(exp(2 * s2)), "e^(s^2/2)": Rational(exp(s2 / 2))}
    margins = (0.001, 0.0005, 0.00025)
    return of_sizes(case, (16, 32, 64), statistic, lambda n: limit, square, wrong, margins)


@experiment(law="softmax-entropy", quantity="log n - H", weights=NORMAL, s=HALF)
def softmax_entropy(case: Case) -> LimitTrial:
    """Y = d/u - log u - s^2/2, for the mean d of a w; R is left of it beyond first order.

    With e = s^2 u - d - b y, R = y e/u + b y^2/u + (y - log u), and (y - log u) u/y^2 lies between
    1/2 + y/6 and that less y^2/3: |R| <= |y| (|e| + |c y + y^2/6| + |y|^3/3)/u for c = b + 1/2.
    Sizes are added by Minkowski; b makes e least.
    """
    s2 = float(case["s"] ** 2)

    def statistic(a: Draws, n: int) -> Draws:
        p = softmax(a)
        w = np.exp(a - s2 / 2)
        u, d = w.mean(axis=0), (a * w).mean(axis=0)
        fallen = math.log(n) + (p * np.log(p)).sum(axis=0)
        return np.asarray(fallen - (d - s2) + (s2 + 1) * (u - 1))

    b = signed(s2, 1, 1, 0.0, 0) / signed(s2, 2, 0, 0.0, 0)
    c = b + 0.5
    parts: tuple[dict[Orders, float], ...] = (
        {(2, 2): 1, (1, 3): -2 * b, (0, 4): b**2},
        {(0, 4): c**2, (0, 5): c / 3, (0, 6): 1 / 36},
        {(0, 8): 1 / 9},
    )

    def square(n: int) -> float:
        return float(sum(sqrt(over_square(n, s2, part)) for part in parts) ** 2)

    wrong = {"s^2": case["s"] ** 2, "s^2/4": case["s"] ** 2 / 4, "s/2": case["s"] / 2}
    margins = (0.0022, 0.0015, 0.0009)
    return of_sizes(case, (8, 16, 32), statistic, lambda n: s2 / 2, square, wrong, margins)
