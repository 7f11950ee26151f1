"""Derivatives written out: by an entry inside an expectation, by the variance of a Gaussian."""

from sympy import Dummy, Expr

from varlaw.checks.compiled.models import Unmeasurable
from varlaw.symbolic.activation import Activation
from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.gradients import NoGradient, gradient
from varlaw.symbolic.terms import Expectation, Indicator, Slope


def with_slopes(e: Expr) -> Expr:
    """The expression without derivatives.

    For z ~ N(m, v) as z = m + sqrt(v) u: d/dv E[f(z)] = E[f'(z) (z - m)]/(2 v), for a continuous f
    with a derivative almost everywhere. (The rule `slope` differentiates the density instead.)

    Raises Unmeasurable for what is not covered.
    """

    def written(part: Expr) -> Expr:
        of, by = part.args
        try:
            if isinstance(by, Entry):
                return gradient(with_slopes(of), by)
            return _by_variance(of, by)
        except NoGradient as error:
            raise Unmeasurable(str(error)) from error

    return e.replace(lambda part: isinstance(part, Slope), written)


def _by_variance(of: Expr, by: Expr) -> Expr:
    """d/dv E[f(z)], where v is the variance of z and stands nowhere else."""
    entries = of.atoms(Entry)
    if not isinstance(of, Expectation) or len(entries) != 1:
        raise Unmeasurable(f"no statistic has the expectation d/d{by} {of}")
    (z,) = entries
    array, inside = z.array, of.args[0]
    declared = array.scale == "variance" and array.args[2].args[1] == by
    mean, rest = array.mean, inside.xreplace({z: Dummy()})
    if not declared or mean is None or (mean + rest).has(by):
        raise Unmeasurable(f"{by} is not the variance of {z} alone")
    if any(f.jumps() for f in inside.atoms(Activation)) or inside.has(Indicator):
        raise Unmeasurable(f"{inside} jumps")
    return Expectation(gradient(inside, z) * (z - mean)) / (2 * by)
