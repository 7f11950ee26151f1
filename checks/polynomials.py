"""Exact polynomials in arbitrary atoms, with rational exponents; nothing but arithmetic."""

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

Monomial = tuple[tuple[Hashable, Fraction], ...]


@dataclass(frozen=True)
class Polynomial:
    """A sum of rational coefficients times products of powers of atoms."""

    terms: tuple[tuple[Monomial, Fraction], ...]

    @staticmethod
    def of(terms: dict[Monomial, Fraction]) -> "Polynomial":
        return Polynomial(tuple(sorted(((m, c) for m, c in terms.items() if c), key=repr)))

    @staticmethod
    def number(value: Fraction | int) -> "Polynomial":
        return Polynomial.of({(): Fraction(value)})

    @staticmethod
    def atom(name: Hashable, exponent: Fraction | int = 1) -> "Polynomial":
        return Polynomial.of({((name, Fraction(exponent)),): Fraction(1)})

    def __add__(self, other: "Polynomial") -> "Polynomial":
        total = dict(self.terms)
        for monomial, coefficient in other.terms:
            total[monomial] = total.get(monomial, Fraction(0)) + coefficient
        return Polynomial.of(total)

    def __mul__(self, other: "Polynomial") -> "Polynomial":
        total: dict[Monomial, Fraction] = {}
        for left, a in self.terms:
            for right, b in other.terms:
                product = times(left, right)
                total[product] = total.get(product, Fraction(0)) + a * b
        return Polynomial.of(total)

    def scaled(self, factor: Fraction | int) -> "Polynomial":
        return Polynomial(tuple((m, c * factor) for m, c in self.terms)) if factor else Polynomial(())

    def power(self, exponent: Fraction) -> "Polynomial":
        """The power; a sum of several terms to an exponent that is no natural number is an atom."""
        if exponent.denominator == 1 and exponent >= 0 and len(self.terms) != 1:
            result = Polynomial.number(1)
            for _ in range(int(exponent)):
                result = result * self
            return result
        if not self.terms:
            raise ZeroDivisionError("a power of zero")
        if len(self.terms) == 1:
            ((monomial, coefficient),) = self.terms
            raised = Polynomial.of({tuple((a, e * exponent) for a, e in monomial): Fraction(1)})
            return raised * root(coefficient, exponent)
        content = self.terms[0][1]
        primitive = self.scaled(1 / content)
        return Polynomial.atom(("power", primitive), exponent) * root(content, exponent)


def times(left: Monomial, right: Monomial) -> Monomial:
    """The product of two monomials."""
    powers = dict(left)
    for atom, exponent in right:
        powers[atom] = powers.get(atom, Fraction(0)) + exponent
    return tuple(sorted(((a, e) for a, e in powers.items() if e), key=repr))


def root(number: Fraction, exponent: Fraction) -> Polynomial:
    """number^exponent: exact where it is rational, else a product of powers of primes."""
    if exponent.denominator == 1:
        return Polynomial.number(number ** int(exponent))
    if number <= 0:
        raise ValueError(f"the power {exponent} of {number}")
    result = Polynomial.number(1)
    for part, sign in ((number.numerator, 1), (number.denominator, -1)):
        for prime, times_over in _primes(part):
            whole, rest = divmod(times_over * exponent * sign, 1)
            result = result * Polynomial.number(Fraction(prime) ** int(whole))
            if rest:
                result = result * Polynomial.atom(("prime", prime), rest)
    return _reduced(result)


def _reduced(value: Polynomial) -> Polynomial:
    """Prime atoms with exponents in [0, 1)."""
    total = Polynomial(())
    for monomial, coefficient in value.terms:
        kept = []
        for atom, exponent in monomial:
            if isinstance(atom, tuple) and atom[0] == "prime":
                whole, exponent = divmod(exponent, 1)
                coefficient *= Fraction(atom[1]) ** int(whole)
            kept.append((atom, exponent))
        total = total + Polynomial.of({tuple(x for x in kept if x[1]): coefficient})
    return total


def _primes(number: int) -> list[tuple[int, int]]:
    found, divisor = [], 2
    while divisor <= isqrt(number):
        count = 0
        while number % divisor == 0:
            number //= divisor
            count += 1
        if count:
            found.append((divisor, count))
        divisor += 1
    if number > 1:
        found.append((number, 1))
    return found
