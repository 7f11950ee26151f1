"""Where a ratio that depends on one name takes a value: in closed form, or by proved signs."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from sympy import Basic, Dummy, Expr, Integer, Poly, Pow, Rational, Symbol, log, together
from sympy.polys.polyerrors import PolynomialError

from varlaw.symbolic.blocks.growth import decimal
from varlaw.symbolic.blocks.iteration import IteratedProduct
from varlaw.symbolic.blocks.lines import depends
from varlaw.symbolic.blocks.masked import masked
from varlaw.symbolic.blocks.recurrence import Recurrence
from varlaw.symbolic.blocks.roots import OCTAVES, Roots, free_below, roots, turns
from varlaw.symbolic.blocks.similar import scale_of
from varlaw.symbolic.blocks.state import ONE, BlockError, tidy
from varlaw.symbolic.clock import OutOfTime, clock
from varlaw.symbolic.language_text import typed

SECONDS = 1.0  # for a numerator: a longer one has no root in closed form
LARGE = (100, 140)  # powers of 2 that stand for sizes that are large
SAME = 10  # digits that are the same at both
LAYERS = Dummy("l", nonnegative=True)


class NoCrossing(BlockError):
    """The ratio takes the value nowhere; `above` says whether it is larger all over, if known.

    With `searched` that is known of the values that were looked through only, with `from_zero` of
    all smaller ones too.
    """

    def __init__(
        self, message: str, above: bool | None, searched: bool = False, from_zero: bool = True
    ) -> None:
        super().__init__(message)
        self.above, self.searched, self.from_zero = above, searched, from_zero


@dataclass(frozen=True)
class Crossing:
    """The value of a name at which a ratio is what it is to be.

    `rises` says that the ratio is proved to be smaller for smaller values and larger for larger
    ones (False: the other way round), None that neither is. `large` are sizes that the value is
    the leading order in: it holds where they are large. `searched` and `from_zero` are as for
    NoCrossing: where it is known that no other value does the same.
    """

    value: Expr
    rises: bool | None = None
    large: tuple[Symbol, ...] = ()
    searched: bool = False
    from_zero: bool = True


@dataclass(frozen=True)
class Search:
    """A name, what to call the ratio in messages, and the names that are sizes."""

    name: Symbol
    what: str
    sizes: Collection[Symbol] = ()
    exponent: Symbol | None = None  # of which the name is a power

    @property
    def told(self) -> Symbol:
        """What the name is called in messages."""
        return self.exponent or self.name

    @property
    def hint(self) -> str:
        return f"and --within FACTOR finds the {self.told} at which it is FACTOR"

    def at(self, ratio: Expr, target: Expr) -> Crossing:
        """The positive value of the name at which the ratio is the target.

        Raises NoCrossing where there is none, BlockError where there is more than one, or none is
        found.
        """
        v = self.name
        if v not in ratio.free_symbols:
            raise BlockError(f"the {self.what} ratio {typed(ratio)} does not depend on {v}")
        if (power := _power_of(ratio, v)) is not None:
            return self._exponent(ratio, target, *power)
        rises = _rises(ratio, v)
        if rises and not depends(ratio, v) and _at_least(ratio.subs(v, 0), target):
            raise NoCrossing(self._none(ratio, target, rises), rises)
        base, aim = _peeled(ratio, target, v)
        plain, back = masked(base - aim, v)
        polynomial = _polynomial(plain, v)
        found = None if polynomial is None else _roots(polynomial)
        if found is None:
            return self._numeric(ratio, target, rises)
        if not found:
            raise NoCrossing(self._none(ratio, target, rises), rises)
        if len(found) > 1:
            shown = " or ".join(typed(back(root)) for root in found)
            if not all(root.is_positive for root in found):
                raise BlockError(
                    f"the {self.what} ratio is {typed(target)} at {v} = {shown}, "
                    "of which either may be positive"
                )
            raise BlockError(f"{v} = {shown} all make the ratio {typed(target)}")
        if not tidy(plain.subs(v, found[0])).equals(0):
            raise BlockError(f"{v} = {typed(back(found[0]))} could not be checked")
        return Crossing(back(found[0]), rises)

    def _none(self, ratio: Expr, target: Expr, rises: bool | None) -> str:
        """That there is no solution, and where the ratio begins."""
        v = self.name
        shown = f"no positive {v} makes the {self.what} ratio {typed(ratio)} equal to "
        if rises is None:
            return f"{shown}{typed(target)}"
        least, side = tidy(ratio.subs(v, 0)), "above" if rises else "below"
        return f"{shown}{typed(target)}: it is {side} {typed(least)}, {self.hint}"

    def _exponent(self, ratio: Expr, target: Expr, base: Expr, turned: Dummy) -> Crossing:
        """The value of a name that is in exponents of one base alone."""
        powers = {
            e: base ** tidy(e.exp.subs(self.name, 0)) * turned ** e.exp.diff(self.name)
            for e in ratio.atoms(Pow)
            if self.name in e.exp.free_symbols
        }
        found = replace(self, name=turned, exponent=self.name).at(ratio.xreplace(powers), target)
        value = tidy(log(found.value).expand() / log(base))
        if value.is_negative or value.is_zero:
            raise NoCrossing(f"{self.name} = {typed(value)} is not positive", None)
        grows = bool((base - 1).is_positive) or base in self.sizes
        return Crossing(value, found.rises if grows else None, found.large)

    def _numeric(self, ratio: Expr, target: Expr, rises: bool | None) -> Crossing:
        """The root by proved signs, to the digits that are proved, times what sets its scale."""
        v, scale = self.name, ONE
        given: dict[Symbol, Integer] = {}
        for name in sorted(ratio.free_symbols - target.free_symbols - {v}, key=str):
            if (power := scale_of(ratio, v, name)) is not None:
                given[name], scale = ONE, scale * name**power
        others = sorted((ratio - target).free_symbols - {v, *given}, key=str)
        if not others:
            value, known = self._root(ratio, target, given)
            if rises is not None:
                return Crossing(scale * value, rises)
            below = known is not None and free_below(ratio - target, v, given)
            return Crossing(scale * value, known, searched=True, from_zero=below)
        if target.free_symbols or not set(others) <= set(self.sizes):
            raise self._open(others)
        try:
            value, _ = self._root(ratio, target, given | _large(others, False))
        except NoCrossing as error:
            above = {True: "above", False: "below", None: "not"}[error.above]
            raise NoCrossing(
                f"the {self.what} ratio is {above} {typed(target)} for {self.told} from "
                f"2^{OCTAVES[0]} to 2^{OCTAVES[1]} where {large(others)}, {self.hint}",
                error.above,
                error.searched,
                error.from_zero,
            ) from None
        low, high = (value * (1 + side * Rational(1, 10**SAME)) for side in (-1, 1))
        if not turns(ratio - target, v, low, high, given | _large(others, True)):
            raise self._open(others)
        return Crossing(scale * value, rises, tuple(others))

    def _open(self, others: list[Symbol]) -> BlockError:
        return BlockError(
            f"the {self.what} ratio is not solved for {self.told} in closed form: "
            f"give numbers for {', '.join(map(str, others))}"
        )

    def _root(
        self, ratio: Expr, target: Expr, given: Mapping[Symbol, Integer]
    ) -> tuple[Expr, bool | None]:
        """The only root, and whether the ratio is proved to rise through it."""
        v = self.told
        solved = roots(ratio - target, self.name, given=given)
        if len(solved.found) > 1:
            values = " or ".join(root.value.digits for root in solved.found)
            raise BlockError(f"{v} = {values} all make the ratio {typed(target)}")
        if not solved.found:
            below = free_below(ratio - target, self.name, given)
            raise NoCrossing(self._nowhere(solved, target), _side(solved), True, below)
        rises = solved.signs[0] < 0 if solved.complete else None
        return decimal(solved.found[0].value), rises

    def _nowhere(self, solved: Roots, target: Expr) -> str:
        v, (low, high) = self.told, OCTAVES
        how = "" if solved.complete else " was found that"
        told = f"no {v} from 2^{low} to 2^{high}{how} makes the {self.what} ratio equal to "
        proof = ", which is proved" if solved.complete else ""
        side = {True: ": it is above, ", False: ": it is below, ", None: ""}[_side(solved)]
        return f"{told}{typed(target)}{proof}" + (f"{side}{self.hint}" if side else "")


def large(names: Collection[Symbol]) -> str:
    """That some sizes are large."""
    return f"{' and '.join(map(str, names))} {'is' if len(names) == 1 else 'are'} large"


def _side(solved: Roots) -> bool | None:
    """Whether the ratio is above the target, where all signs found are the same."""
    signs = set(solved.signs)
    return None if len(signs) != 1 else signs.pop() > 0


def _large(names: list[Symbol], turn: bool) -> dict[Symbol, Integer]:
    """Sizes that are large; with `turn` others of them are larger still."""
    return {name: Integer(2) ** LARGE[(k + turn) % 2] for k, name in enumerate(names)}


def _power_of(ratio: Expr, v: Symbol) -> tuple[Expr, Dummy] | None:
    """The base B, and a symbol for B^v, where v is in exponents of it alone, linear in them."""
    if not _in_exponents(ratio, v):
        return None
    powers = {e for e in ratio.atoms(Pow) if v in e.exp.free_symbols}
    bases = {e.base for e in powers}
    if len(bases) != 1 or v in (base := bases.pop()).free_symbols:
        return None
    if any(not e.exp.diff(v).is_Rational for e in powers):
        return None
    if v in ratio.xreplace({e: Dummy(positive=True) for e in powers}).free_symbols:
        return None
    return base, Dummy(f"{base}^{v}", positive=True)


@lru_cache(maxsize=4096)
def _in_exponents(e: Basic, v: Symbol) -> bool:
    """Whether some power has the name in its exponent."""
    if isinstance(e, Pow) and v in e.exp.free_symbols:
        return True
    return any(_in_exponents(part, v) for part in e.args)


def _rises(ratio: Expr, v: Symbol) -> bool | None:
    """The sign of the slope where it is seen to be one everywhere.

    A product along layers has the slope's sign of its factors, if these have one.
    """
    rest, inner = ratio.as_independent(v, as_Add=False)
    if isinstance(inner, IteratedProduct) and rest.is_positive:
        factor, step, q, first, _ = inner.args
        before = Recurrence(step, q, first).after(LAYERS)
        if before is None or not factor.subs(q, before).is_positive:
            return None
        ratio = tidy(factor.subs(q, before))
    if depends(ratio, v):
        return None
    plain, _ = masked(ratio.diff(v), v, numbers=True)
    try:
        with clock(SECONDS):
            above, below = together(plain).as_numer_denom()
            above = above.expand()
    except OutOfTime:
        return None
    if not below.is_positive:
        return None
    return True if above.is_positive else False if above.is_negative else None


def _at_least(value: Expr, target: Expr) -> bool:
    """Whether a positive value is seen not to be below a target, which may be a root."""
    base, power = target.as_base_exp()
    if not power.is_number:
        value, target = value ** (1 / power), base
        if power.is_negative:
            value, target = target, value
    return bool((value - target).is_nonnegative)


def _peeled(ratio: Expr, target: Expr, v: Symbol) -> tuple[Expr, Expr]:
    """The sum of which the ratio is a power, and what that is to be."""
    while ratio.is_Mul or ratio.is_Pow:
        rest, inner = ratio.as_independent(v, as_Add=False)
        if not inner.is_Pow or v in inner.exp.free_symbols or not inner.base.is_positive:
            break
        if not inner.base.is_Add and not inner.base.is_Mul:
            break
        ratio, target = inner.base, tidy((target / rest) ** (1 / inner.exp))
    return ratio, target


def _polynomial(excess: Expr, v: Symbol) -> Poly | None:
    """The numerator as a polynomial in v; None where it is none, or is not found soon."""
    if depends(excess, v):
        return None
    try:
        with clock(SECONDS):
            return Poly(together(excess).as_numer_denom()[0], v).primitive()[1]
    except (PolynomialError, OutOfTime):
        return None


def _roots(polynomial: Poly) -> list[Expr] | None:
    """The roots of a x^k + b and of a quadratic that are positive, or may be; None of others.

    With positive a and b >= 0 only the greater root of a x^2 + b x + c may be.
    """
    terms = dict(polynomial.terms())
    degree, lowest = polynomial.degree(), min(power for (power,) in terms)
    if len(terms) == 1:
        return []
    if len(terms) == 2:
        base = tidy(-terms[(lowest,)] / terms[(degree,)])
        found = [] if base.is_nonpositive else [tidy(base ** (ONE / (degree - lowest)))]
    elif degree == 2 and len(terms) == 3:
        a, b, c = (terms[(power,)] for power in (2, 1, 0))
        root = Dummy()
        one, other = (tidy((-b + sign * root) / (2 * a)) for sign in (1, -1))
        found = [one] if a.is_positive and b.is_nonnegative else [one, other]
        found = [v.subs(root, tidy(b**2 - 4 * a * c) ** (ONE / 2)) for v in found]
    else:
        return None
    return [root for root in found if root.is_positive is not False]
