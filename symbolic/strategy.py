"""The automatic strategy: any expectation of a polynomial in sums and products to normal form."""

from sympy import Expr

from varlaw.symbolic.arrays import Entry, arrays_in
from varlaw.symbolic.assumptions import Kind
from varlaw.symbolic.derivation import Derivation, RuleError, derive
from varlaw.symbolic.terms import Expectation, factors

PREPARE = (
    "moments",
    "activation",
    "linearity",
    "constants",
    "symmetry",
    "indicators",
    "no-atom",
    "unfold",
    "expand",
    "linearity",
    "constants",
    "uncorrelated",
    "independence",
)
FINISH = ("collapse", "independence", "uncorrelated", "identical", "count", "constants")
MAX_ROUNDS = 12
GAUSSIAN = (
    "parts",
    "parity",
    "complete-square",
    "parts",
    "parity",
    "identical",
    "stein",
    "parity",
    "normal",
    "normal-pair",
)
GAUSSIAN_ROUNDS = 70


def normal_form(start: Expr) -> Derivation:
    """The derivation that brings every expectation in `start` to normal form.

    The normal form is a polynomial in the dimensions and in the declared moments; joint moments of
    entries that are not independent stay as expectations under sums over distinct indices. Raises
    RuleError, with the sub-expression, where the rules do not cover it or the budget is too small.
    """
    arrays_in(start)
    chain = derive(start)
    for _ in range(MAX_ROUNDS):
        before = chain.end
        for name in PREPARE:
            chain = chain.by_if(name)
        paired = chain.by_if("kronecker")
        chain = chain.by_if("coincidence") if paired is chain else paired
        for name in FINISH:
            chain = chain.by_if(name)
        if chain.end == before or not chain.end.has(Expectation):
            break
    for left in sorted(chain.end.atoms(Expectation), key=str):
        _settled(left)
    return chain.by_if("algebra")


def gaussian_form(start: Expr) -> Derivation:
    """The derivation of E[f(z)] for a Gaussian z, by parts, squares completed, Stein's lemma.

    What these do not reach is done at once by the closed form. Raises RuleError where none is
    known, Divergent where the expectation does not converge.
    """
    chain = derive(start)
    for _ in range(GAUSSIAN_ROUNDS):
        before = chain.end
        for name in GAUSSIAN:
            chain = chain.by_if(name)
        if chain.end == before or not chain.end.has(Expectation):
            break
    if chain.end.has(Expectation):
        chain = chain.by_if("gaussian")
    return chain.by_if("algebra")


def _settled(left: Expectation) -> None:
    """A joint moment of dependent entries may stay. Raises RuleError for anything else."""
    bases = [factor.as_base_exp()[0] for factor in factors(left.args[0])]
    if not all(isinstance(base, Entry) for base in bases):
        raise RuleError(f"not covered: {left}")
    independent = [b.array.name for b in bases if b.array.has(Kind.INDEPENDENT_ENTRIES)]
    if len(set(independent)) < len(independent):
        raise RuleError(f"not covered: in {left} the indices may coincide")
