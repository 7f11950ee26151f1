"""Constants that libraries publish, as they print them, against the numbers that they stand for.

`published.json` holds what is printed, what it is said to be and where it is from, and no value of
ours. A literal that is no decimal, such as sqrt(2), stands for itself.
"""

import json
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from importlib.resources import files

from sympy import Expr, Integer, Symbol, oo

from varlaw.symbolic.gains.gain import HALF, Gains, Value, of_expression
from varlaw.symbolic.gains.levels import unit_level, variance_level
from varlaw.symbolic.gaussian.balls import ball
from varlaw.symbolic.gaussian.enclosure import joined
from varlaw.symbolic.gaussian.pieces import NotClosed, Piece, pieces_of
from varlaw.symbolic.language import read
from varlaw.symbolic.selu import selu_constants

X = Symbol("x", real=True)
COMPARED = 50  # digits that are compared
GUARD = 10  # further digits of the numbers
FEW = 3  # right digits from which a decimal is said to agree with a definition
QUANTITIES = {  # what a constant may claim to be: a power of a moment
    written.format(base): (base, power)
    for written, power in (("{}", Integer(1)), ("sqrt({})", HALF), ("1/sqrt({})", -HALF))
    for base in ("E[f]", "E[f^2]", "Var[f]", "E[f'^2]")
    if base != "E[f]" or power == 1
}
CONSTANTS = ("alpha", "lambda")  # of SELU


@dataclass(frozen=True)
class Published:
    """A constant as it is printed: `claims` says which quantity it is said to be, if any.

    `weights` says whether it is a gain of weights, as `calculate_gain` gives, and not a factor of
    the output; `measured` whether it was reported from a measurement, and nobody's constant.
    """

    publisher: str
    name: str
    function: str
    literal: str
    claims: str
    source: str
    note: str
    weights: bool
    measured: bool

    @property
    def decimal(self) -> Decimal | None:
        """The literal, if it is a decimal with a point."""
        return (
            Decimal(self.literal)
            if self.literal.replace(".", "", 1).isdigit() and ("." in self.literal)
            else None
        )

    @property
    def figures(self) -> int | None:
        """The significant figures of a decimal; of zero those behind the point."""
        found = self.decimal
        if found is None:
            return None
        return len(found.as_tuple().digits) if found else -int(found.as_tuple().exponent)


@dataclass(frozen=True)
class Comparison:
    """A published constant against the number that it claims to be.

    `value` holds that number's digits, `right` how many significant digits of it the literal has,
    `exact` whether the two are shown to be equal, `difference` the literal minus the number, and
    `units` the same in units of a decimal's last place. Without a claim these are None. `agrees`
    are the definitions that the literal agrees with: a decimal in at least three digits.
    """

    published: Published
    value: str | None
    exact: bool
    right: int | None
    difference: float | None
    units: float | None
    agrees: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """The right digits in words; without a claim the definition that it agrees with, if any."""
        if self.right is None:
            return f"= {self.agrees[0]}" if self.agrees else "none of the three"
        if self.exact:
            return "exact"
        figures = self.published.figures
        if figures is None:
            return str(self.right)
        return f"all {figures}" if self.right == figures else f"{self.right} of {figures}"


@cache
def published() -> tuple[Published, ...]:
    """All constants of the table."""
    table = files("varlaw.symbolic.gains").joinpath("published.json").read_text(encoding="utf-8")
    return tuple(
        Published(
            group["library"],
            entry["name"],
            entry["function"],
            entry["literal"],
            entry.get("claims", group.get("claims", "")),
            group["source"],
            entry.get("note", group.get("note", "")),
            group.get("weights", False),
            group.get("measured", False),
        )
        for group in json.loads(table)
        for entry in group["constants"]
    )


def published_for(function: Expr, variable: Symbol) -> tuple[Published, ...]:
    """The constants of the table for a function, whatever its name: elu(x) is celu(x)."""
    try:
        wanted = _pieces(function.subs(variable, X))
    except NotClosed:
        return ()
    return tuple(entry for entry in published() if _known_pieces(entry.function) == wanted)


@cache
def _known_pieces(function: str) -> tuple[Piece, ...]:
    return _pieces(read(function, names={"x": X}))


def _pieces(function: Expr) -> tuple[Piece, ...]:
    return tuple(joined(pieces_of(function, X)))


def compared(entry: Published, gains: Gains | None = None) -> Comparison:
    """What a published constant is worth; `gains` are those of its function, if they are at hand.

    >>> relu = next(p for p in published() if p.publisher == "NFNet, timm" and p.name == "relu")
    >>> compared(relu).verdict, compared(relu).agrees
    ('3 of 17', ('1/sqrt(Var[f])',))
    """
    gains = gains or _gains_of(entry.function)
    exact = read(entry.literal)
    literal = _number(_value(exact))
    values = {name: quantity(name, gains) for name in _rivals(entry.claims)}
    numbers = {name: _number(v) for name, v in values.items() if v.exact is not oo}
    right = {name: right_digits(literal, n, entry.figures) for name, n in numbers.items()}
    least = COMPARED if entry.figures is None else min(FEW, entry.figures)
    agrees = tuple(name for name in numbers if right[name] >= least)
    if not entry.claims:
        return Comparison(entry, None, False, None, None, None, agrees)
    claimed = entry.claims
    close = right_digits(literal, numbers[claimed]) == COMPARED
    equal = close and _equal(values[claimed].exact, exact)
    difference = 0 if equal else literal - numbers[claimed]
    shown = values[claimed].digits(max(entry.figures or 0, 15))
    place = None if entry.decimal is None else int(entry.decimal.as_tuple().exponent)
    return Comparison(
        entry,
        None if shown is None else shown.digits,
        equal,
        right[claimed],
        float(difference),
        None if place is None else float(difference / Fraction(10) ** place),
        agrees,
    )


def quantity(name: str, gains: Gains) -> Value:
    """A quantity that a constant may claim to be, such as "1/sqrt(Var[f])", or SELU's "alpha".

    "sigma, E[f^2]=1" is the deviation of pre-activations whose outputs have that second moment, and
    "chi, Var[f]=1/2" the slope d log Var[f]/d log v where the outputs have that variance.
    """
    if name in CONSTANTS:
        return _value(dict(zip(CONSTANTS, selu_constants(), strict=True))[name])
    what, _, where = name.partition(", ")
    if where:
        base, _, target = where.partition("=")
        level = unit_level(gains) if base == "E[f^2]" else variance_level(gains, read(target))
        return level.slope if what == "chi" else level.deviation
    return gains.power(*QUANTITIES[name])


def right_digits(literal: Fraction, number: Fraction, figures: int | None = None) -> int:
    """How many significant digits are right: the error is half a unit of the last one at most.

    >>> [right_digits(Fraction(text), Fraction(5, 3)) for text in ("1.67", "1.66")]
    [3, 2]
    """
    most = COMPARED if figures is None else figures
    error = 2 * abs(literal - number)
    if number == 0:
        return most if error == 0 else 0
    unit, right = Fraction(1), 0
    while unit > abs(number):
        unit /= 10
    while unit * 10 <= abs(number):
        unit *= 10
    while right < most and error <= unit:
        unit, right = unit / 10, right + 1
    return right


@cache
def _gains_of(function: str) -> Gains:
    return of_expression(function)


def _rivals(claims: str) -> tuple[str, ...]:
    """The quantities that a constant is held against: of the same kind as the one it claims."""
    if claims and claims not in QUANTITIES:
        return (claims,)
    power = QUANTITIES[claims][1] if claims else -HALF
    return tuple(name for name, (_, other) in QUANTITIES.items() if other == power)


def _equal(one: Expr | None, two: Expr) -> bool:
    """Whether two closed forms are shown to be equal, by themselves or by their squares."""
    return one is not None and any((one**k - two**k).expand() == 0 for k in (1, 2))


def _value(exact: Expr) -> Value:
    return Value(exact, lambda: ball(exact))


def _number(value: Value) -> Fraction:
    """The value, to so many digits that what is left does not matter here."""
    found = value.digits(COMPARED + GUARD)
    assert found is not None, "the table has no parameters"
    return Fraction(found.digits)
