"""Which laws of the catalogue have a compiled experiment, and why the others have none."""

from collections.abc import Mapping
from fractions import Fraction

from sympy import Expr

from varlaw.checks.compiled.backends import Backend
from varlaw.checks.compiled.claims import claim_of
from varlaw.checks.compiled.functions import FunctionOfMeans, function_of_means
from varlaw.checks.compiled.models import Unmeasurable
from varlaw.checks.compiled.program import Program
from varlaw.checks.compiled.spreads import in_reach
from varlaw.checks.compiled.trials import (
    aim_of,
    composed,
    model_for,
    pilot,
    prepare,
    values_for,
)
from varlaw.checks.experiments.registry import Case, ComposedTrial, Experiment, Trial
from varlaw.checks.statistics.sampling import LAWS, Discrete
from varlaw.derivations import catalogue
from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.assumptions import Kind
from varlaw.symbolic.language import Text
from varlaw.symbolic.terms import Expectation, Variance, factors, is_random

WEIGHTS = ("uniform", "leaning", "rademacher")  # in the order of preference


def experiment_on(
    name: str, overrides: Mapping[str, Text], backend: Backend | None = None
) -> Experiment:
    """The compiled experiment on a law of the catalogue.

    It runs with two laws of the weights that are not Gaussian, unless only one meets the
    declarations. Raises Unmeasurable, with the reason, where there is none: also for moments so
    high that no variance bound is derived, and for a moment that is declared, which samples would
    only repeat.
    """
    law = catalogue.find(name)
    claim = claim_of(law, frozenset(overrides))
    if claim.start == claim.end:
        raise Unmeasurable(f"no step says what {claim.text} is")
    if _declared(claim.start):
        raise Unmeasurable(f"{claim.text} is declared: samples would only repeat it")
    means, values = function_of_means(claim.start), values_for(claim, {})
    weights = tuple(w for w in WEIGHTS if _fits(law, means, w, values))[:2] or ("normal",)
    try:
        model = model_for(means, values, weights[0])
        aim = aim_of(claim, model, values)
        if not all(map(in_reach, means.statistics.values())):
            raise Unmeasurable("its moments are so high that no bound on the variance is derived")
        if not means.function.is_Dummy:
            composed(means, aim, model, values, Backend())
        for statistic in means.statistics.values():
            program = Program(model.put_in(statistic), model.drawn, values, Backend())
            if aim == 0 and not any(pilot(program)):
                raise Unmeasurable("every draw is exactly 0: there is nothing to measure")
    except LookupError as error:
        raise Unmeasurable(str(error.args[0])) from error
    defaults = {k: _plain(v) for k, v in values.items() if k not in claim.settled}

    def build(case: Case) -> Trial | ComposedTrial:
        return prepare(case.law, case.weights.name, case.values, backend).trial

    quantity = f"{claim.text}, compiled"
    return Experiment(name, quantity, weights, defaults, {}, {}, build)


def _declared(start: Expr) -> bool:
    """Whether an expression is the mean, the second moment or the variance of one entry."""
    if not isinstance(start, (Expectation, Variance)):
        return False
    random = [f.as_base_exp() for f in factors(start.args[0]) if is_random(f)]
    return len(random) == 1 and isinstance(random[0][0], Entry) and random[0][1] in (1, 2)


def _fits(
    law: catalogue.Law, means: FunctionOfMeans, weights: str, values: Mapping[str, Expr]
) -> bool:
    """Whether a law of weights meets the declarations, and is followed by an array at least.

    Where a step rests on there being no probability at zero, that is a continuous one.
    """
    atoms = any(a.kind is Kind.NO_ATOM for a in law.derivation.assumptions)
    if atoms and isinstance(LAWS[weights], Discrete):
        return False
    try:
        model = model_for(means, values, weights)
    except Unmeasurable:
        return False
    return any(affine.base == LAWS[weights] for affine in model.drawn.values())


def _plain(value: Expr) -> int | Fraction:
    return int(value) if value.is_Integer else Fraction(int(value.p), int(value.q))
