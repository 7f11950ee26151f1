"""The derivation of a Gaussian moment, step by step."""

from varlaw.symbolic.declarations import random_variable
from varlaw.symbolic.derivation import Derivation, RuleError
from varlaw.symbolic.gaussian.functions import NoMoment
from varlaw.symbolic.gaussian.moment import Moment
from varlaw.symbolic.strategy import gaussian_form
from varlaw.symbolic.terms import Expectation


def steps_of(moment: Moment) -> Derivation:
    """The derivation that ends in the closed form of a moment: parts, squares, Stein's lemma.

    A conditional moment is E[f 1[condition]] / P(condition). Raises NoMoment where the moment has
    no closed form, or its variable does not vary.

    >>> from varlaw.symbolic.gaussian.moment import moment
    >>> [step.rule for step in steps_of(moment("relu(x)^2")).steps]
    ['parts', 'stein', 'normal']
    """
    if moment.exact is None:
        raise NoMoment(f"{moment.text} has no closed form that is known, and so no steps")
    if moment.variance.is_zero:
        raise NoMoment("at variance 0 there is nothing to derive")
    z = random_variable(
        moment.variable.name, mean=moment.mean, variance=moment.variance, gaussian=True
    )
    at = {moment.variable: z}
    start = Expectation(moment.function.xreplace(at))
    if moment.given is not None:
        event = moment.given.xreplace(at)
        start = Expectation(moment.function.xreplace(at) * event) / Expectation(event)
    try:
        return gaussian_form(start)
    except RuleError as error:
        raise NoMoment(f"no steps: {error}") from error
