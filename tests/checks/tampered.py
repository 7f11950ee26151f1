"""Laws of the catalogue whose statement is wrong, for experiments to refute."""

from typing import Any

from sympy import Expr, S

from varlaw.derivations import catalogue
from varlaw.symbolic.derivation import relation, sign_of


class Tampered(catalogue.Law):
    """A law of the catalogue whose statement is wrong by a factor or a summand."""

    def __init__(self, name: str, factor: Expr, summand: Expr = S.Zero) -> None:
        law = catalogue.find(name)
        super().__init__(law.entry, law.build)
        object.__setattr__(self, "factor", factor)
        object.__setattr__(self, "summand", summand)

    @property
    def statement(self) -> Any:
        true = self.derivation.statement
        wrong = true.rhs * self.factor + self.summand  # type: ignore[attr-defined]
        return relation(true.lhs, wrong, sign_of(true))
