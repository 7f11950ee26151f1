"""What flows through blocks: moments of one feature, and of the gradient in one entry."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from math import prod
from typing import Any, ClassVar, Self

from sympy import (
    Add,
    Basic,
    Dummy,
    Expr,
    Float,
    Function,
    Integer,
    Mul,
    NumberSymbol,
    Pow,
    Rational,
    sqrt,
)

from varlaw.symbolic.occurrences import contains
from varlaw.symbolic.quotients import reduced

ZERO, ONE = Integer(0), Integer(1)
MOST_FACTORED = 40  # operations
MOST_TERMS = 1000  # of it as a quotient of polynomials
MOST_OPERATIONS = 120  # of an expression that is shortened at all


class BlockError(ValueError):
    """A block cannot be built, or a map is not covered; the message says why."""


class Approximation(StrEnum):
    """What a map took for granted beyond fresh zero-mean weights."""

    SYMMETRIC = "symmetric weights"
    WIDE = "wide limit"
    TOKENS = "many tokens"
    LOGITS = "small logits"
    POSITIONS = "means over positions"
    GATES = "means over gates"
    SAMPLES = "many samples"
    REPEATS = "means over repeated tokens"
    DIGITS = "numbers to few digits"
    PROBE = "gradient independent of the weights"


class Regime(frozenset[Approximation]):
    """The approximations that a result rests on."""

    def __str__(self) -> str:
        listed = [a.value for a in Approximation if a in self]
        limits = {Approximation.WIDE, Approximation.TOKENS, Approximation.SAMPLES}
        return ", ".join(listed if self & limits else ["exact at finite width", *listed])


def joint(regimes: Iterable[frozenset[Approximation]]) -> Regime:
    """What several results rest on together."""
    return Regime(frozenset[Approximation]().union(*regimes))


@dataclass(frozen=True, kw_only=True)
class _Flow:
    second_moment: Expr
    regime: Regime = field(default_factory=Regime)
    product_regime: Regime = field(default_factory=Regime)

    REGIMES: ClassVar[dict[str, str]] = {"second_moment": "regime", "product": "product_regime"}
    PASSING: ClassVar[tuple[str, ...]] = ()  # what the next map takes away, unless it gives it

    def become(self, *used: Approximation, **changed: Any) -> Self:
        """The same with other values; every number given rests on what it did, and on `used`.

        Where no number is given, all of them do.
        """
        numbers = [name for name in self.REGIMES if name in changed] or list(self.REGIMES)
        changed = dict.fromkeys(self.PASSING) | changed
        for regime in (self.REGIMES[name] for name in numbers):
            changed.setdefault(regime, Regime(getattr(self, regime) | set(used)))
        return replace(self, **changed)

    def resting(self, *numbers: str) -> Regime:
        """What some numbers rest on together; all of them, if none is named."""
        return joint(getattr(self, self.REGIMES[name]) for name in numbers or self.REGIMES)

    @property
    def regimes(self) -> dict[str, Regime]:
        """What each number rests on."""
        return {name: getattr(self, regime) for name, regime in self.REGIMES.items()}


@dataclass(frozen=True, kw_only=True)
class State(_Flow):
    """Moments of one feature, the same for all features, over inputs and weights.

    `product` is E[x x'] for two inputs (or tokens) of equal second moment, None where it is not
    followed. `gaussian` says that the features are jointly Gaussian, in the wide limit at least;
    `mixed`, that fresh zero-mean weights stand between them and the start of the branch that they
    are in; `symmetric`, that the sign of those weights is a sign of all features together.
    `regime` is what the second moment rests on, `mean_regime` and `product_regime` the others.
    `memory` is the state of the tokens that cross attention reads, None where there are none.
    `samples` are those that the features were just normalised over, if they were.
    """

    mean: Expr = ZERO
    product: Expr | None = None
    width: Expr | None = None
    gaussian: bool = True
    mixed: bool = False
    symmetric: bool = False
    mean_regime: Regime = field(default_factory=Regime)
    memory: "State | None" = None
    samples: Expr | None = None

    PASSING: ClassVar[tuple[str, ...]] = ("samples",)
    REGIMES: ClassVar[dict[str, str]] = {
        "second_moment": "regime",
        "mean": "mean_regime",
        "product": "product_regime",
    }

    @property
    def variance(self) -> Expr:
        """Second moment less the squared mean."""
        return self.second_moment - self.mean**2

    @property
    def correlation(self) -> Expr:
        """The correlation of a feature for two inputs. Raises BlockError where not followed."""
        return tidy((self.followed - self.mean**2) / self.variance)

    @property
    def followed(self) -> Expr:
        """The product of two inputs. Raises BlockError where it is not followed."""
        if self.product is None:
            raise BlockError("the correlation of two inputs is needed: --correlation follows it")
        return self.product


@dataclass(frozen=True, kw_only=True)
class Gradient(_Flow):
    """The second moment of the gradient in one entry; `product` is that of two tokens' gradients.

    A gradient is a probe sent backward, of uncorrelated entries and independent of the weights.
    `turned` is E[g^2 x^2] and, of two samples, E[g g' x x'] for features x that were just
    normalised over samples, where g depends on them; None where it does not.
    Where it is `pooled`, all positions of an image were averaged: `product` is that of two of
    them, and two images share nothing.
    """

    turned: tuple[Expr, Expr] | None = None

    PASSING: ClassVar[tuple[str, ...]] = ("turned",)

    product: Expr = ZERO
    pooled: bool = False
    regime: Regime = field(default_factory=lambda: Regime({Approximation.PROBE}))
    product_regime: Regime = field(default_factory=lambda: Regime({Approximation.PROBE}))

    @property
    def correlation(self) -> Expr:
        """The correlation of the gradients of two inputs, whose mean is 0."""
        return tidy(self.product / self.second_moment)


@lru_cache(maxsize=4096)
def tidy(expression: Expr) -> Expr:
    """The shortest of a few equal forms of an expression; roots and functions are left alone."""
    if not contains(expression, Add):
        return expression
    apart: dict[Expr, Dummy] = {}
    inner = _outer(expression, apart, {})
    if not _is_rational(inner):
        return _tidy_roots(expression)
    if inner.count_ops() > MOST_OPERATIONS or max(_terms(inner)) > MOST_TERMS:
        return expression
    expanded = inner.expand(power_base=False, power_exp=False, log=False, basic=False)
    forms = dict.fromkeys([inner, expanded, *reduced(inner, MOST_FACTORED)])
    sizes = {form: form.count_ops() for form in forms}
    shortest = [form for form, count in sizes.items() if count == min(sizes.values())]
    best = shortest[0] if len(shortest) == 1 else min(shortest, key=lambda form: len(str(form)))
    return best.xreplace({dummy: node for node, dummy in apart.items()})


def _tidy_roots(expression: Expr) -> Expr:
    """The shortest form with the square roots of positive symbols as symbols of their own."""
    halves = _halves(expression)
    if not halves or expression.count_ops() > MOST_FACTORED:
        return expression
    roots = {symbol: Dummy(positive=True) for symbol in sorted(halves, key=str)}
    short = tidy(expression.xreplace({symbol: root**2 for symbol, root in roots.items()}))
    back = short.xreplace({root: sqrt(symbol) for symbol, root in roots.items()})
    return back if back.count_ops() < expression.count_ops() else expression


@lru_cache(maxsize=4096)
def _halves(e: Basic) -> frozenset[Expr]:
    """The positive symbols of which there are square roots."""
    root = isinstance(e, Pow) and isinstance(e.exp, Rational) and e.exp.q == 2
    if root and e.base.is_Symbol and e.base.is_positive:
        return frozenset([e.base])
    return frozenset[Expr]().union(*map(_halves, e.args))


@lru_cache(maxsize=4096)
def _is_rational(e: Basic) -> bool:
    """Whether an expression without functions is a quotient of polynomials in its symbols."""
    if isinstance(e, Pow) and not e.exp.is_Integer:
        return False
    if isinstance(e, (Add, Mul, Pow)):
        return all(map(_is_rational, e.args))
    return e.is_Symbol or not e.free_symbols


def _outer(e: Expr, apart: dict[Expr, Dummy], known: dict[Expr, Expr]) -> Expr:
    """An expression with symbols, kept in `apart`, for its functions, constants and roots."""
    found = known.get(e)
    if found is None:
        found = known[e] = _outside(e, apart, known)
    return found


def _outside(e: Expr, apart: dict[Expr, Dummy], known: dict[Expr, Expr]) -> Expr:
    root = isinstance(e, Pow) and not e.exp.is_Integer and e.is_number
    if root or isinstance(e, (Float, NumberSymbol, Function)):
        return apart.setdefault(e, _stand_in(e))
    if not isinstance(e, (Add, Mul, Pow)):
        return e
    parts = tuple(_outer(part, apart, known) for part in e.args)
    return e if parts == e.args else e.func(*parts)


@lru_cache(maxsize=1024)
def _stand_in(e: Expr) -> Dummy:
    """The symbol for an expression, the same each time, so that SymPy's memory is of use."""
    return Dummy(real=True)


def _terms(e: Expr) -> tuple[int, int]:
    """How many terms an expression has at most above and below as a quotient of polynomials."""
    if e.is_Add:
        parts = [_terms(part) for part in e.args]
        below = prod(bottom for _, bottom in parts)
        return sum(top * below // bottom for top, bottom in parts), below
    if e.is_Mul:
        parts = [_terms(part) for part in e.args]
        return prod(top for top, _ in parts), prod(bottom for _, bottom in parts)
    if e.is_Pow and e.exp.is_Integer:
        top, bottom = _terms(e.base)
        power = abs(int(e.exp))
        found = top**power, bottom**power
        return found if e.exp > 0 else found[::-1]
    return 1, 1
