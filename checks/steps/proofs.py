"""The checkers of steps, by kind: each proves a step without the rule that made it."""

from collections.abc import Callable, Mapping

from varlaw.checks.report import Proof, StepReport
from varlaw.checks.steps import (
    algebra,
    averages,
    bounds,
    compounding,
    depth,
    derivatives,
    gaussian,
    gradients,
    harmonic,
    induction,
    jensen,
    log_sums,
    numbers,
    orders,
    orthogonality,
    pointwise,
    radicals,
    spectra,
)
from varlaw.checks.steps.moment_proof import prove_moments
from varlaw.symbolic.arrays import RandomArray, arrays_in
from varlaw.symbolic.derivation import UNFORESEEN, Derivation, RuleError, Step, WrongLimit, sign_of

Checker = Callable[[Step, Mapping[str, RandomArray]], tuple[Proof, str]]

CHECKERS: dict[str, Checker] = {
    "moments": prove_moments,
    "below": gaussian.prove_below,
    "digits": numbers.prove_digits,
    "root": numbers.prove_root,
    "march": numbers.prove_march,
    "gaussian": gaussian.prove_gaussian,
    "orthonormal": orthogonality.prove_orthonormal,
    "pointwise": pointwise.prove_pointwise,
    "signs": pointwise.prove_signs,
    "assumption": pointwise.prove_no_atom,
    "algebra": algebra.prove_algebra,
    "requirement": algebra.prove_requirement,
    "choice": algebra.prove_choice,
    "solution": algebra.prove_solution,
    "naming": algebra.prove_naming,
    "substitution": algebra.prove_substitution,
    "antiderivative": algebra.prove_antiderivative,
    "minimum": algebra.prove_minimum,
    "inequality": algebra.prove_inequality,
    "concentration": algebra.prove_concentration,
    "asymptotic": algebra.prove_asymptotic,
    "exponent": orders.prove_exponent,
    "stable": orders.prove_stable,
    "radicals": radicals.prove_radicals,
    "correlation": radicals.prove_correlation,
    "circle": radicals.prove_circle,
    "upper-bound": bounds.prove_upper_bound,
    "small": bounds.prove_small,
    "change-of-variable": bounds.prove_change_of_variable,
    "compounding": compounding.prove_compounding,
    "integral-test": harmonic.prove_integral_test,
    "gradient": gradients.prove_gradient,
    "vanishing": gradients.prove_vanishing,
    "recurrence": induction.prove_recurrence,
    "telescoping-sum": induction.prove_telescoping_sum,
    "telescoping-product": induction.prove_telescoping_product,
    "averages": averages.prove_averages,
    "sums-to-one": averages.prove_sums_to_one,
    "out-of-sums": averages.prove_out_of_sums,
    "logarithms": averages.prove_logarithms,
    "large-numbers": averages.prove_large_numbers,
    "delta-method": averages.prove_delta_method,
    "log-sum": log_sums.prove_log_sum,
    "log-sum-root": log_sums.prove_log_sum_root,
    "first-integer": log_sums.prove_first_integer,
    "jensen": jensen.prove_jensen,
    "jensen-convex": jensen.prove_jensen_convex,
    "jensen-weighted": jensen.prove_jensen_weighted,
    "at-most-one": jensen.prove_at_most_one,
    "best-rate": jensen.prove_best_rate,
    "scale-out": derivatives.prove_scale_out,
    "first-below": depth.prove_first_below,
    "small-variance": depth.prove_small_variance,
    "slow-decay": depth.prove_slow_decay,
    "log-of-mean": depth.prove_log_of_mean,
    "loop": spectra.prove_loop,
    "trace-limits": spectra.prove_trace_limits,
    "generating-function": spectra.prove_generating_function,
    "branch-point": spectra.prove_branch_point,
    "spectral-edge": spectra.prove_spectral_edge,
}


RELATIONS = {
    "asymptotic": "~",
    "at-most-one": "<=",
    "below": "<",
    "best-rate": "<=",
    "compounding": "->",
    "concentration": "->",
    "delta-method": "->",
    "inequality": ">=",
    "integral-test": "~",
    "jensen": "<=",
    "jensen-convex": ">=",
    "jensen-weighted": "<=",
    "large-numbers": "->",
    "log-of-mean": "->",
    "slow-decay": "~",
    "small": "~",
    "small-variance": "->",
    "spectral-edge": "->",
    "stable": ">=",
    "upper-bound": "<=",
}


def prove_step(step: Step, arrays: Mapping[str, RandomArray]) -> tuple[Proof, str]:
    """The outcome of the checker for this kind of step, and why."""
    wanted = RELATIONS.get(step.checker, "=")
    if step.relation != wanted:
        return Proof.REFUTED, f"a step of this kind shows {wanted!r}, not {step.relation!r}"
    if step.on_equations:
        kept = sign_of(step.before) if step.checker == "substitution" else wanted
        if sign_of(step.after) != kept:
            return Proof.REFUTED, f"the relation becomes {sign_of(step.after)!r}"
    return CHECKERS[step.checker](step, arrays)


def prove(derivation: Derivation) -> tuple[StepReport, ...]:
    """The outcomes for all steps of a derivation, in their order."""
    arrays = arrays_in(derivation.start)
    return tuple(
        StepReport(step.rule, *prove_step(step, arrays | _arrays(step)))
        for step in derivation.steps
    )


def prove_law(build: Callable[[], Derivation]) -> tuple[tuple[StepReport, ...], str]:
    """The outcomes for a law's steps, and what stopped its chain short (nothing if it is whole).

    A chain that a rule refuses to continue is proved as far as it goes, so that the step that led
    it astray is found.
    """
    try:
        return prove(build()), ""
    except RuleError as error:
        so_far = error.so_far
        steps = prove(so_far) if so_far else ()
        if isinstance(error, WrongLimit):
            steps += (StepReport(error.rule, Proof.REFUTED, str(error)),)
        place = f" at step {len(so_far.steps) + 1} ({error.rule})" if so_far else ""
        return steps, f"the derivation stops{place}: {error}"
    except (*UNFORESEEN, LookupError, ValueError) as error:
        return (), f"the definition cannot be derived from: {error}"


def _arrays(step: Step) -> dict[str, RandomArray]:
    return arrays_in(step.before) | arrays_in(step.after)
