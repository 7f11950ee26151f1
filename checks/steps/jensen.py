"""Proofs of steps by Jensen's inequality and of what bounds are made of."""

from collections.abc import Mapping

from sympy import Add, Dummy, Expr, Pow, Symbol, diff, erf, exp, log, oo, sqrt, symbols

from varlaw.checks.report import Proof
from varlaw.checks.steps.algebra import is_zero
from varlaw.checks.steps.averages import is_positive
from varlaw.checks.steps.moment_proof import recorded
from varlaw.symbolic.arrays import Entry, RandomArray
from varlaw.symbolic.assumptions import Kind
from varlaw.symbolic.derivation import Step
from varlaw.symbolic.gaussian.integrand import variable_of
from varlaw.symbolic.terms import Expectation, IndexSum

Finding = tuple[Proof, str]
Arrays = Mapping[str, RandomArray]


def prove_jensen(step: Step, arrays: Arrays) -> Finding:
    """E[log X] went to log E[X] for a positive X; the state rises with it; log is concave."""
    head = step.certificate["head"]
    if not isinstance(head, Expectation) or not isinstance(head.args[0], log):
        return Proof.REFUTED, f"{head} is not the expectation of a logarithm"
    inside = head.args[0].args[0]
    if not is_positive(inside):
        return Proof.REFUTED, f"{inside} is not known to be positive"
    if not is_zero(step.before.xreplace({head: log(Expectation(inside))}) - step.after):
        return Proof.REFUTED, f"{step.after} is not the state with log E for E log"
    if why := _not_rising(step.before, head):
        return Proof.REFUTED, why
    x = Symbol("x", positive=True)
    if not diff(log(x), x, 2).is_negative:
        return Proof.REFUTED, "the function is not concave"
    return Proof.PROVED, "the second derivative of the logarithm is negative"


def _not_rising(state: Expr, head: Expr) -> str:
    value = Dummy("value", real=True)
    slope = diff(state.xreplace({head: value}), value)
    return "" if slope.is_positive else f"the state does not rise with {head}"


def prove_jensen_convex(step: Step, arrays: Arrays) -> Finding:
    """log Sum exp is convex: u^T H u S^2 = Sum_{k<l} w_k w_l (u_k - u_l)^2 for its Hessian H.

    Both sides are sums over pairs of indices of functions of these pairs alone, so that two and
    three of them show it for any number.
    """
    head = step.certificate["head"]
    total = head.args[0].args[0] if isinstance(head, Expectation) else None
    if not isinstance(total, IndexSum) or not isinstance(total.summand, exp):
        return Proof.REFUTED, f"{head} is not E[log Sum exp]"
    if not isinstance(total.summand.args[0], Entry):
        return Proof.REFUTED, f"{total.summand.args[0]} is not one variable"
    lower = log(IndexSum(exp(Expectation(total.summand.args[0])), *total.ranges))
    if not is_zero(step.before.xreplace({head: lower}) - step.after):
        return Proof.REFUTED, f"{step.after} is not the state at the means"
    if why := _not_rising(step.before, head):
        return Proof.REFUTED, why
    if all(map(_convex, (2, 3))):
        return Proof.PROVED, "the Hessian is a sum of squares"
    return Proof.REFUTED, "the Hessian is not a sum of squares"


def _convex(count: int) -> bool:
    z = symbols(f"z1:{count + 1}", real=True)
    u = symbols(f"u1:{count + 1}", real=True)
    weights = [Dummy(f"w{k}", positive=True) for k in range(count)]
    total = Add(*map(exp, z))
    form = Add(
        *(a * b * diff(log(total), x, y) for a, x in zip(u, z, strict=True)
          for b, y in zip(u, z, strict=True))
    )  # fmt: skip
    squares = Add(*(exp(z[k] + z[m]) * (u[k] - u[m]) ** 2 for k in range(count) for m in range(k)))
    gap = (form * total**2 - squares).expand()
    named = dict(zip(map(exp, z), weights, strict=True))
    return is_zero(gap.expand(power_exp=True).xreplace(named).subs(named))


def prove_jensen_weighted(step: Step, arrays: Arrays) -> Finding:
    """The weight is not negative and has mean 1: its primitive rises from 0 to 1."""
    weight, rate, primitive = (step.certificate[key] for key in ("weight", "rate", "primitive"))
    variable = variable_of(step.before)
    if variable is None:
        return Proof.REFUTED, "not the expectation of a function of one Gaussian variable"
    entry, x = variable.entry, variable.symbol
    array = recorded(arrays, step.assumptions)[entry.array.name]
    if not array.has(Kind.GAUSSIAN) or array.zero_mean != variable.array.zero_mean:
        return Proof.REFUTED, f"the step does not record the law of {array.name}"
    density = variable.density(x)
    w, whole = weight.xreplace({entry: x}), primitive.xreplace({entry: x})
    if not is_zero(diff(whole, x) / density - w) and not is_zero(
        (diff(whole, x) / (density * w) - 1).powsimp()
    ):
        return Proof.REFUTED, f"the derivative of {primitive} is not the weight times the density"
    if (_at(whole, x, -oo), _at(whole, x, oo)) != (0, 1):
        return Proof.REFUTED, f"{primitive} does not rise from 0 to 1"
    if not all(f.is_positive or _is_chance(f, x) for f in w.as_ordered_factors()):
        return Proof.REFUTED, f"{weight} may be negative"
    if not rate.is_positive or rate in step.before.free_symbols:
        return Proof.REFUTED, f"{rate} is not a positive number of its own"
    after = log(Expectation(weight * exp(rate * entry))) / rate
    if step.before != Expectation(weight * entry) or not is_zero(after - step.after):
        return Proof.REFUTED, f"{step.after} is not {after}"
    return Proof.PROVED, "the weight has mean 1, its primitive differentiated back; exp is convex"


def _at(e: Expr, x: Symbol, end: Expr) -> Expr:
    """The value at an end, where error functions are -1 or 1, of a power with positive exponent."""
    bare = e.xreplace({wave: wave.func(end) for wave in e.atoms(erf) if _rises(wave, x)})
    return bare


def _rises(wave: Expr, x: Symbol) -> bool:
    return bool(diff(wave.args[0], x).is_positive)


def _is_chance(e: Expr, x: Symbol) -> bool:
    """Whether a factor is a natural power of (1 + erf(..))/2."""
    base, power = e.as_base_exp()
    waves = list(base.atoms(erf))
    return (
        len(waves) == 1
        and is_zero(base - (1 + waves[0]) / 2)
        and waves[0].args[0].is_real is True
        and power.is_integer is True
        and power.is_nonnegative is True
    )


def prove_at_most_one(step: Step, arrays: Arrays) -> Finding:
    """What went is a natural power of a distribution function; the rest under E is positive."""
    of = step.certificate["of"]
    (head,) = step.before.atoms(Expectation)
    if not any(_is_chance(of, e) for e in of.atoms(Entry)):
        return Proof.REFUTED, f"{of} is not a power of a probability"
    rest = (head.args[0] / of).powsimp()
    if rest.has(erf) or not is_positive(rest):
        return Proof.REFUTED, f"{rest} is not known to be positive"
    if not is_zero(step.before.xreplace({head: Expectation(rest)}) - step.after):
        return Proof.REFUTED, f"{step.after} is not the state without {of}"
    value = Dummy("value", positive=True)
    if not diff(step.before.xreplace({head: value}), value).is_positive:
        return Proof.REFUTED, "the state does not rise with the expectation"
    return Proof.PROVED, "a distribution function lies between 0 and 1"


def prove_best_rate(step: Step, arrays: Arrays) -> Finding:
    """A/c + B c = (sqrt(A/c) - sqrt(B c))^2 + 2 sqrt(A B), and the square can be made to vanish."""
    over, times, rate = (step.certificate[key] for key in ("over", "times", "rate"))
    if not rate.is_positive or rate in (over.free_symbols | times.free_symbols):
        return Proof.REFUTED, f"{rate} is not a positive number of its own"
    if not times.is_positive or not _not_negative(over):
        return Proof.REFUTED, "A and B are not known to be positive"
    a, b = (Dummy(name, positive=True) for name in "ab")
    if not is_zero(((sqrt(a / rate) - sqrt(b * rate)) ** 2).expand() + 2 * sqrt(a * b)
                   - a / rate - b * rate):  # fmt: skip
        return Proof.REFUTED, "no square"
    if not is_zero(step.before - over / rate - times * rate):
        return Proof.REFUTED, f"the bound is not {over}/{rate} + {times} {rate}"
    if not is_zero((step.after**2 - 4 * over * times).expand()) or step.after.is_negative:
        return Proof.REFUTED, f"{step.after} is not 2 sqrt(A B)"
    return Proof.PROVED, "the least value, where the square vanishes"


def _not_negative(e: Expr) -> bool:
    """Whether e >= 0; the logarithm of a positive whole number is not negative."""
    if isinstance(e, log):
        return bool(e.args[0].is_integer and e.args[0].is_positive)
    if isinstance(e, Pow):
        return _not_negative(e.base) and e.exp.is_real is True
    return bool(e.is_nonnegative)
