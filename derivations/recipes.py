"""Default initialisations of libraries and models: what is drawn, and the variance that results.

`recipe_table.py` and `recipe_models.py` hold the rows: what sources say, and no variance.
Variances come from the laws of sampling here.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache

from sympy import Expr, Integer, Max

from varlaw.symbolic.language import read
from varlaw.symbolic.names import suggestion

SHAPE = {  # what the names in a recipe mean
    "m": "the fan-in, or the width of a model",
    "n": "the fan-out, or the output channels",
    "c": "the input channels that an output sees, those of its group",
    "k": "the taps of a kernel, such as 9 for 3 x 3",
    "s": "the product of the strides",
    "h": "the number of heads, or of hidden units",
    "d": "the width of a head, or of an embedding",
    "L": "the number of blocks",
}


class UnknownRecipe(LookupError):
    """No recipe has the name."""


@dataclass(frozen=True)
class Distribution(ABC):
    """The law of one weight; its parameters are texts in the names of SHAPE."""

    @property
    @abstractmethod
    def variance(self) -> Expr:
        """The variance of one weight, by the laws of sampling."""

    @property
    def parameters(self) -> Mapping[str, Expr]:
        """The parameters by name."""
        return {field.name: read(getattr(self, field.name)) for field in fields(self)}


@dataclass(frozen=True)
class Normal(Distribution):
    """N(0, std^2)."""

    std: str

    @property
    def variance(self) -> Expr:
        return self.parameters["std"] ** 2


@dataclass(frozen=True)
class Uniform(Distribution):
    """U(-bound, bound)."""

    bound: str

    @property
    def variance(self) -> Expr:
        from varlaw.derivations.sampling import a, uniform_variance

        return uniform_variance.derivation.end.subs(a, self.parameters["bound"])


@dataclass(frozen=True)
class Truncated(Distribution):
    """N(0, std^2), drawn again outside +-bound; the bound is an absolute number."""

    std: str
    bound: str

    @property
    def variance(self) -> Expr:
        from varlaw.derivations.truncation import c, truncated_normal

        scale, bound = self.parameters["std"], self.parameters["bound"]
        return scale**2 * truncated_normal.derivation.end.subs(c, bound / scale)


@dataclass(frozen=True)
class Orthogonal(Distribution):
    """A (semi-)orthogonal matrix of some gain, between widths `rows` and `columns`."""

    gain: str
    rows: str
    columns: str

    @property
    def variance(self) -> Expr:
        from varlaw.derivations.orthogonal import g, orthogonal_variance, p

        given = self.parameters
        larger = Max(given["rows"], given["columns"])
        return orthogonal_variance.derivation.end.subs({g: given["gain"], p: larger})


@dataclass(frozen=True)
class Standardised(Distribution):
    """The weights of each output shifted and scaled to mean 0 and mean square std^2."""

    std: str

    @property
    def variance(self) -> Expr:
        return self.parameters["std"] ** 2


@dataclass(frozen=True)
class Constant(Distribution):
    """The same number everywhere."""

    value: str

    @property
    def variance(self) -> Expr:
        return Integer(0)


@dataclass(frozen=True)
class Recipe:
    """One parameter of a layer, as a library or a model initialises it.

    `fan` is how many terms an output truly sums, empty where nothing is summed; `laws` are the laws
    of the catalogue that the recipe implements, or misses, as the `note` says.
    """

    name: str
    parameter: str
    distribution: Distribution
    source: str
    fan: str = ""
    laws: tuple[str, ...] = ()
    note: str = ""

    @property
    def variance(self) -> Expr:
        return self.distribution.variance

    @property
    def forward(self) -> Expr | None:
        """The factor E[y^2]/E[x^2] of a linear layer with these weights; None without a fan."""
        if not self.fan:
            return None
        number, rest = self.variance.as_independent(*self.variance.free_symbols, as_Add=False)
        factor = read(self.fan) * rest
        return number * (factor.cancel() if factor.is_rational_function() else factor)

    @property
    def names(self) -> set[str]:
        """The names of SHAPE that it depends on."""
        parts = [*self.distribution.parameters.values(), *([read(self.fan)] if self.fan else [])]
        return {symbol.name for part in parts for symbol in part.free_symbols}


def at(expression: Expr, shape: Mapping[str, Expr]) -> Expr:
    """An expression with the numbers of a shape put in; further names stay."""
    return expression.subs({s: shape[s.name] for s in expression.free_symbols if s.name in shape})


@cache
def recipes() -> tuple[Recipe, ...]:
    """All recipes, in the order of the table."""
    from varlaw.derivations.recipe_models import MODELS
    from varlaw.derivations.recipe_table import LIBRARIES

    return LIBRARIES + MODELS


def chosen(name: str | None) -> tuple[Recipe, ...]:
    """The recipes of a name such as "pytorch-linear", or of a library, or all of them.

    Raises UnknownRecipe, with the nearest name.
    """
    if name is None:
        return recipes()
    found = tuple(r for r in recipes() if r.name == name or r.name.partition("-")[0] == name)
    if not found:
        known = dict.fromkeys(r.name for r in recipes())
        raise UnknownRecipe(f"unknown recipe {name!r}{suggestion(name, known)}")
    return found
