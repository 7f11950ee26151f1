"""Exact evaluation of expressions in a finite model, by going through all outcomes."""

from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from flint import fmpq
from sympy import Add, Basic, Expr, Integer, Mul, Pow, Rational, Symbol, nan, prime, zoo

from varlaw.checks.finite.worlds import Seed, World
from varlaw.checks.steps.algebra import opened
from varlaw.checks.steps.moments import NotCovered, Writer
from varlaw.symbolic.activation import Activation
from varlaw.symbolic.activations import leaky_relu, relu
from varlaw.symbolic.arrays import Entry, Moment, RandomArray
from varlaw.symbolic.gradients import gradient
from varlaw.symbolic.sequences import Defined, IndexProduct, Named, Term
from varlaw.symbolic.terms import (
    Covariance,
    Delta,
    Expectation,
    IndexSum,
    Indicator,
    Slope,
    Variance,
)

MAX_OUTCOMES = 5_000


class Enumerator:
    """Evaluates expressions in one world, with exact fractions."""

    def __init__(
        self,
        world: World,
        indices: dict[Basic, int] | None = None,
        memory: dict[Any, fmpq | NotCovered] | None = None,
    ) -> None:
        self.world = world
        self.memory = {} if memory is None else memory
        self.at: dict[Basic, int] = {**world.sizes, **(indices or {})}
        self.outside: dict[Any, Rational] = {}
        self.outcomes = 0  # gone through so far
        self._writer = Writer({})

    def exact(self, e: Expr, at: dict[Basic, int] | None = None) -> Expr:
        """The value: a SymPy number, where entries outside of expectations take some value each."""
        at = self.at if at is None else at
        match e:
            case Expectation():
                return _rational(self.mean(e.args[0], at))
            case Variance():
                return _rational(self.covariance(e.args[0], e.args[0], at))
            case Covariance():
                return _rational(self.covariance(e.args[0], e.args[1], at))
            case Entry():
                return self._placeholder((e.array.name, self._writer._indices(e.indices, at)))
            case Term():
                return self.world.symbols.get(e) or self._placeholder((e.name, e.args[1:]))
            case Moment():
                return _rational(self.world.moment(e.name, e.order))
            case Named() | Defined():
                return self.exact(e.definition, at)
            case Slope() if isinstance(e.args[1], Entry):
                return self.exact(gradient(*e.args), at)
            case Delta():
                left, right = self._writer._indices(e.args, at)
                return Integer(1 if left == right else 0)
            case IndexSum():
                return Add(
                    *(
                        self.exact(e.summand, {**at, **v}) * w
                        for w, v in self._writer._choices(e, at)
                    )
                )
            case IndexProduct():
                raise NotCovered("a product over a symbolic number of factors")
            case Symbol():
                if e in at:
                    return Integer(at[e])
                return self.world.symbols.get(e, e)
            case _ if not e.args:
                return e
            case _:
                value = e.func(*(self.exact(part, at) for part in e.args))
                if value.has(nan, zoo):
                    raise NotCovered(f"{e} has no value")
                return value

    def _placeholder(self, key: Any) -> Rational:
        return self.outside.setdefault(key, Rational(prime(len(self.outside) + 2), 4))

    def covariance(self, x: Expr, y: Expr, at: dict[Basic, int]) -> fmpq:
        return self.mean(x * y, at) - self.mean(x, at) * self.mean(y, at)

    def mean(self, inside: Expr, at: dict[Basic, int]) -> fmpq:
        """E of a function of entries, term by term; kept, since models differ in few arrays."""
        match inside:
            case Add():
                return sum((self.mean(term, at) for term in inside.args), fmpq(0))
            case IndexSum():
                choices = self._writer._choices(inside, at)
                means = (self.mean(inside.summand, {**at, **v}) * w for w, v in choices)
                return sum(means, fmpq(0))
        names, symbols = _ingredients(inside)
        recipes, known = self.world.recipes, self.world.symbols
        key = (
            inside,
            tuple((name, recipes[name]) for name in names),
            tuple(at.get(s, known.get(s)) for s in symbols),
        )
        if key not in self.memory:
            try:
                self.memory[key] = self._mean(inside, at)
            except NotCovered as error:
                self.memory[key] = error
        found = self.memory[key]
        if isinstance(found, NotCovered):
            raise found
        return found

    def _mean(self, inside: Expr, at: dict[Basic, int]) -> fmpq:
        """E of a function of entries, over all outcomes of the seeds that it uses."""
        seeds: dict[Seed, int] = {}
        self._collect(inside, at, seeds)
        sizes = list(seeds.values())
        count = 1
        for size in sizes:
            count *= size
        if count > MAX_OUTCOMES:
            raise NotCovered(f"{count} outcomes (at most {MAX_OUTCOMES})")
        self.outcomes += count
        grid = np.array(list(product(*(range(size) for size in sizes))), dtype=int).reshape(
            count, len(sizes)
        )
        columns = {seed: grid[:, k] for k, seed in enumerate(seeds)}
        odds = np.ones(count, dtype=object)
        for seed, column in columns.items():
            odds = odds * np.array(self._odds[seed], dtype=object)[column]
        values = self._on(inside, at, columns) * odds
        return fmpq(np.sum(values)) / fmpq(int(np.sum(odds)))

    @property
    def _odds(self) -> dict[Seed, tuple[int, ...]]:
        return self.__dict__.setdefault("_odds_of", {})

    def _collect(self, e: Expr, at: dict[Basic, int], seeds: dict[Seed, int]) -> None:
        if isinstance(e, Entry):
            where = self._writer._indices(e.indices, at)
            for seed, table in self.world.recipes[e.array.name].columns(where):
                seeds[seed] = len(table.odds)
                if self._odds.setdefault(seed, table.odds) != table.odds:
                    raise NotCovered("one seed with two laws")
        elif isinstance(e, (Named, Defined)):
            self._collect(e.definition, at, seeds)
        elif isinstance(e, Slope) and isinstance(e.args[1], Entry):
            self._collect(gradient(*e.args), at, seeds)
        elif isinstance(e, IndexSum):
            for _, values in self._writer._choices(e, at):
                self._collect(e.summand, {**at, **values}, seeds)
        elif isinstance(e, Mul) and self._vanishes(e, at):
            return
        elif not isinstance(e, (Expectation, Variance, Covariance)):
            for part in e.args:
                if isinstance(part, Expr):
                    self._collect(part, at, seeds)

    def _vanishes(self, product: Mul, at: dict[Basic, int]) -> bool:
        """Whether a Kronecker delta makes a product 0 whatever the entries are."""
        return any(isinstance(e, Delta) and self.exact(e, at) == 0 for e in product.args)

    def _on(self, e: Expr, at: dict[Basic, int], columns: dict[Seed, Any]) -> Any:
        """The value at every outcome, as an array of fractions."""
        match e:
            case Entry():
                where = self._writer._indices(e.indices, at)
                recipe = self.world.recipes[e.array.name]
                result: Any = recipe.factor(where)
                for seed, table in recipe.columns(where):
                    result = result * np.array(table.values, dtype=object)[columns[seed]]
                return result + recipe.shift
            case Named() | Defined():
                return self._on(e.definition, at, columns)
            case Slope() if isinstance(e.args[1], Entry):
                return self._on(gradient(*e.args), at, columns)
            case IndexSum():
                return sum(
                    (
                        self._on(e.summand, {**at, **v}, columns) * w
                        for w, v in self._writer._choices(e, at)
                    ),
                    fmpq(0),
                )
            case Indicator():
                z = self._on(e.args[0], at, columns)
                holds = {">": z > 0, "<": z < 0, "=": z == 0}[e.relation]
                return np.asarray(holds).astype(int).astype(object)
            case relu():
                z = self._on(e.args[0], at, columns)
                return z * np.asarray(z > 0).astype(int).astype(object)
            case leaky_relu():
                z, a = self._on(e.args[0], at, columns), self._on(e.args[1], at, columns)
                up = np.asarray(z > 0).astype(int).astype(object)
                return z * up + a * z * (1 - up)
            case Activation():
                raise NotCovered(f"no finite model knows {type(e).__name__}")
            case Add():
                return sum((self._on(part, at, columns) for part in e.args), fmpq(0))
            case Mul():
                result = fmpq(0 if self._vanishes(e, at) else 1)
                if result == 0:
                    return result
                for part in e.args:
                    result = result * self._on(part, at, columns)
                return result
            case Pow() if e.exp.is_Integer and e.exp > 0:
                return self._on(e.base, at, columns) ** int(e.exp)
            case _:
                number = self.exact(e, at)
                if not number.is_Rational:
                    raise NotCovered(f"{e} is no rational number in the model")
                return fmpq(int(number.p), int(number.q))


@lru_cache(maxsize=1024)
def _ingredients(inside: Expr) -> tuple[tuple[str, ...], tuple[Basic, ...]]:
    """The names of the arrays, and the symbols and terms of sequences, in an expression."""
    whole = opened(inside)
    names = {a.name for a in whole.atoms(RandomArray, Moment)}
    symbols = whole.atoms(Symbol, Term) | whole.free_symbols
    return tuple(sorted(names)), tuple(sorted(symbols, key=str))


def _rational(value: fmpq) -> Rational:
    return Rational(int(value.p), int(value.q))
