"""Exact polynomials in arbitrary atoms, with rational exponents; nothing but arithmetic."""

from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from flint import fmpq

Power = Fraction | int  # whole powers as int, which hash and add faster
Monomial = frozenset[tuple[Any, Power]]
ONE: Monomial = frozenset()
ZERO = fmpq(0)


class Polynomial:
    """A sum of rational coefficients times products of powers of atoms. Immutable."""

    __slots__ = ("_hash", "terms")

    def __init__(self, terms: Mapping[Monomial, fmpq]) -> None:
        self.terms = {m: c for m, c in terms.items() if c != 0}
        self._hash: int | None = None

    @staticmethod
    def number(value: fmpq | int) -> "Polynomial":
        return Polynomial({ONE: fmpq(value)})

    @staticmethod
    def atom(name: Hashable, exponent: Power = 1) -> "Polynomial":
        return Polynomial({frozenset({(name, exponent)}): fmpq(1)})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.terms == other.terms

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash

    def __repr__(self) -> str:
        return f"Polynomial({self.terms})"

    def __add__(self, other: "Polynomial") -> "Polynomial":
        total = dict(self.terms)
        for monomial, coefficient in other.terms.items():
            total[monomial] = total.get(monomial, ZERO) + coefficient
        return Polynomial(total)

    def __mul__(self, other: "Polynomial") -> "Polynomial":
        total: dict[Monomial, fmpq] = {}
        for left, a in self.terms.items():
            for right, b in other.terms.items():
                product = times(left, right)
                total[product] = total.get(product, ZERO) + a * b
        return _reduced(Polynomial(total))

    def scaled(self, factor: fmpq | int) -> "Polynomial":
        return Polynomial({m: c * factor for m, c in self.terms.items()})

    def power(self, exponent: Power) -> "Polynomial":
        """The power; a sum of several terms to an exponent that is no natural number is an atom."""
        if exponent.denominator == 1:
            exponent = int(exponent)
        if exponent.denominator == 1 and exponent >= 0 and len(self.terms) != 1:
            result = Polynomial.number(1)
            for _ in range(int(exponent)):
                result = result * self
            return result
        if not self.terms:
            raise ZeroDivisionError("a power of zero")
        if len(self.terms) == 1:
            ((monomial, coefficient),) = self.terms.items()
            raised = Polynomial({frozenset((a, e * exponent) for a, e in monomial): fmpq(1)})
            return raised * root(coefficient, exponent)
        primitive, content = self.primitive()
        return Polynomial.atom(("power", primitive), exponent) * root(content, exponent)

    def primitive(self) -> tuple["Polynomial", fmpq]:
        """The polynomial over its content, so that multiples have one form; content is positive."""
        numerators = [int(c.p) for c in self.terms.values()]
        denominators = [int(c.q) for c in self.terms.values()]
        content = fmpq(gcd(*numerators), lcm(*denominators))
        return self.scaled(1 / content), content


def times(left: Monomial, right: Monomial) -> Monomial:
    """The product of two monomials."""
    if not left or not right:
        return left or right
    powers = dict(left)
    for atom, exponent in right:
        powers[atom] = powers.get(atom, 0) + exponent
    return frozenset((a, e) for a, e in powers.items() if e)


def multiplied(factors: Iterable[Polynomial]) -> Polynomial:
    """The product; all factors of one term are joined at once."""
    powers: dict[Any, Power] = {}
    number, rest = fmpq(1), []
    for factor in factors:
        if len(factor.terms) != 1:
            rest.append(factor)
            continue
        ((monomial, coefficient),) = factor.terms.items()
        number *= coefficient
        for atom, exponent in monomial:
            powers[atom] = powers.get(atom, 0) + exponent
    joined = frozenset((a, e) for a, e in powers.items() if e)
    result = _reduced(Polynomial({joined: number}))
    for factor in rest:
        result = result * factor
    return result


def root(number: fmpq, exponent: Power) -> Polynomial:
    """number^exponent: exact where it is rational, else a product of powers of primes."""
    if exponent.denominator == 1:
        return Polynomial.number(number ** int(exponent))
    if number <= 0:
        raise ValueError(f"the power {exponent} of {number}")
    powers = {("prime", p): e * exponent for p, e in _primes(int(number.p)).items()}
    powers |= {("prime", p): -e * exponent for p, e in _primes(int(number.q)).items()}
    return _reduced(Polynomial({frozenset(powers.items()): fmpq(1)}))


def _reduced(value: Polynomial) -> Polynomial:
    """Prime atoms with exponents in [0, 1), powers of sums to natural exponents multiplied out."""
    if not any(_reducible(a, e) for monomial in value.terms for a, e in monomial):
        return value
    total = Polynomial({})
    for monomial, coefficient in value.terms.items():
        part = Polynomial.number(coefficient)
        kept = {}
        for atom, exponent in monomial:
            if not _reducible(atom, exponent):
                kept[atom] = exponent
            elif atom[0] == "prime":
                whole, rest = divmod(exponent, 1)
                part = part.scaled(fmpq(atom[1]) ** int(whole))
                if rest:
                    kept[atom] = rest
            else:
                part = part * atom[1].power(exponent)
        total = total + part * Polynomial({frozenset(kept.items()): fmpq(1)})
    return total


def _reducible(atom: Any, exponent: Power) -> bool:
    if not isinstance(atom, tuple):
        return False
    if atom[0] == "prime":
        return not 0 < exponent < 1
    return bool(atom[0] == "power" and exponent.denominator == 1 and exponent > 0)


def _primes(number: int) -> dict[int, int]:
    found: dict[int, int] = {}
    divisor = 2
    while divisor * divisor <= number:
        while number % divisor == 0:
            number //= divisor
            found[divisor] = found.get(divisor, 0) + 1
        divisor += 1
    if number > 1:
        found[number] = found.get(number, 0) + 1
    return found
