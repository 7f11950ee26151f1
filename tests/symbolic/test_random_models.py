"""Random models against brute force: the strategy gives the right polynomial or refuses."""

import random
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import pytest
from sympy import Expr, Integer, Rational, Symbol

from varlaw.checks.report import Proof
from varlaw.checks.steps.proofs import prove
from varlaw.symbolic.arrays import Moment, RandomArray
from varlaw.symbolic.declarations import dimensions, indices, random_array
from varlaw.symbolic.derivation import RuleError
from varlaw.symbolic.strategy import normal_form
from varlaw.symbolic.terms import Expectation, Sum

m = dimensions("m")
BOUND, OUTER = indices("i j k"), indices("a")
LAWS = {
    True: [(Fraction(-1), 2), (Fraction(0), 1), (Fraction(2), 1)],  # mean 0, third moment 3/2
    False: [(Fraction(1), 2), (Fraction(-1), 1), (Fraction(3), 1)],  # mean 1
}
Value = Callable[[dict[tuple[str, int], Fraction], int], Fraction]


class Model:
    """A random expression in two arrays, and the same as a function of their entries."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)
        self.centred = {name: self.pick.random() < 0.5 for name in "xw"}
        self.arrays: dict[str, RandomArray] = {
            name: random_array(name, mean=0) if centred else random_array(name)
            for name, centred in self.centred.items()
        }

    def entry(self, bound: tuple[Symbol, ...]) -> tuple[Expr, Callable[..., Fraction]]:
        name = self.pick.choice("xw")
        index = self.pick.choice((*bound, *bound, OUTER, Integer(1)))
        power = self.pick.choice((1, 1, 2))

        def value(v: dict[tuple[str, int], Fraction], at: dict[Expr, int]) -> Fraction:
            return v[name, at.get(index, 1)] ** power

        return self.arrays[name][index] ** power, value

    def total(self) -> tuple[Expr, Value]:
        """A sum over one or two indices of a product of entries, or of two such products."""
        bound = tuple(self.pick.sample(BOUND, self.pick.choice((1, 1, 2))))
        terms = [
            [self.entry(bound) for _ in range(self.pick.choice((1, 2)))]
            for _ in range(self.pick.choice((1, 1, 2)))
        ]
        summand = sum((_product(e for e, _ in term) for term in terms), Integer(0))

        def value(v: dict[tuple[str, int], Fraction], size: int) -> Fraction:
            found = Fraction(0)
            for point in product(range(1, size + 1), repeat=len(bound)):
                at = dict(zip(bound, point, strict=True))
                for term in terms:
                    part = Fraction(1)
                    for _, of in term:
                        part *= of(v, at)
                    found += part
            return found

        return Sum(summand, *((index, 1, m) for index in bound)), value

    def expression(self) -> tuple[Expr, Value]:
        parts = [
            (*self.total(), self.pick.choice((1, 1, 2))) for _ in range(self.pick.choice((1, 2)))
        ]

        def value(v: dict[tuple[str, int], Fraction], size: int) -> Fraction:
            found = Fraction(1)
            for _, of, power in parts:
                found *= of(v, size) ** power
            return found

        return _product(e**power for e, _, power in parts), value

    def mean(self, value: Value, size: int) -> Fraction:
        keys = [(name, k) for name in "xw" for k in range(1, size + 1)]
        total, weight = Fraction(0), 0
        for outcome in product(*(LAWS[self.centred[name]] for name, _ in keys)):
            odds = 1
            for _, o in outcome:
                odds *= o
            weight += odds
            total += odds * value({k: v for k, (v, _) in zip(keys, outcome, strict=True)}, size)
        return total / weight

    def number(self, end: Expr, size: int) -> Fraction:
        found = end.xreplace({m: Integer(size), OUTER: Integer(1)}).xreplace(
            {e: self._moment(e) for e in end.atoms(Moment)}
        )
        assert found.is_Rational, found
        return Fraction(int(found.p), int(found.q))

    def _moment(self, e: Moment) -> Expr:
        law = LAWS[self.centred[e.name]]
        value = sum((o * v**e.order for v, o in law), Fraction(0)) / sum(o for _, o in law)
        return Rational(value.numerator, value.denominator)


def _product(parts) -> Expr:
    result: Expr = Integer(1)
    for part in parts:
        result *= part
    return result


@pytest.mark.parametrize("block", range(8))
def test_random_models(block: int) -> None:
    right = 0
    for seed in range(25 * block, 25 * block + 25):
        model = Model(seed)
        expression, value = model.expression()
        try:
            end = normal_form(Expectation(expression)).end
        except RuleError:
            continue
        for size in (1, 2, 3):
            assert model.number(end, size) == model.mean(value, size), (seed, expression, size)
        right += 1
    assert right >= 10


def test_their_steps_are_proved() -> None:
    proved = 0
    for seed in range(25):
        expression, _ = Model(seed).expression()
        try:
            chain = normal_form(Expectation(expression))
        except RuleError:
            continue
        outcomes = {report.outcome for report in prove(chain)}
        assert Proof.REFUTED not in outcomes, (seed, expression)
        proved += outcomes <= {Proof.PROVED}
    assert proved >= 10
