"""Experiments compiled from derivations, against those written by hand and against wrong claims."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from sympy import Expr, Function, Integer, Rational, cosh, exp, log, sqrt, tanh

from varlaw.checks.compiled.backends import Backend
from varlaw.checks.compiled.claims import claim_of, copy, unbiased
from varlaw.checks.compiled.functions import function_of_means
from varlaw.checks.compiled.models import Unmeasurable
from varlaw.checks.compiled.trials import compiled, experiment_on, measure_claim, prepare
from varlaw.checks.experiments import Settings, measure, plan
from varlaw.checks.experiments.run import attempt
from varlaw.checks.sampling import stream
from varlaw.checks.statistics import Interval, Verdict
from varlaw.derivations import catalogue
from varlaw.symbolic.activations import relu
from varlaw.symbolic.activations import step as heaviside
from varlaw.symbolic.arrays import arrays_in
from varlaw.symbolic.declarations import (
    dimensions,
    indices,
    positive,
    random_array,
    random_variable,
)
from varlaw.symbolic.derivation import relation, sign_of
from varlaw.symbolic.terms import Covariance, Expectation, Slope, Sum, Variance, indicator

m = dimensions("m")
i, j = indices("i j")

QUICK: dict[str, Any] = {"tolerance": 0.02, "error_rate": 1e-4}
BOTH = (
    "lecun",
    "he",
    "he-leaky",
    "linear-fourth",
    "backward",
    "he-backward",
    "xavier-geometric",
    "attention-qk",
    "attention-qk-fourth",
    "residual-sum",
    "residual-branch",
    "residual-drop-path",
    "post-norm-gradient",
)
OTHERS = ("gain-relu", "gelu-second-moment", "gain-relu-variance", "rms-norm-backward")
TASKS = plan((*BOTH, *OTHERS), Settings(**QUICK, backend=Backend()))
COMPILED = [task for task in TASKS if task.backend]


class Tampered(catalogue.Law):
    """A law of the catalogue whose statement is wrong by a factor."""

    def __init__(self, name: str, factor: Expr) -> None:
        law = catalogue.find(name)
        super().__init__(law.entry, law.build)
        object.__setattr__(self, "factor", factor)

    @property
    def statement(self) -> Any:
        true = self.derivation.statement
        return relation(true.lhs, true.rhs * self.factor, sign_of(true))  # type: ignore[attr-defined]


def drawn(trial: Any, count: int = 20_000) -> Any:
    return trial.draw(stream(1, "test"), count)


@pytest.mark.parametrize("law", BOTH)
def test_the_compiled_and_the_written_experiment_agree(law: str) -> None:
    found = {t.backend: measure(t) for t in TASKS if t.law == law and t.weights != "normal"}
    assert found.keys() == {None, Backend()}
    for measured in found.values():
        assert measured.verdict is Verdict.VERIFIED and measured.interval == "proved", measured
        assert {verdict for *_, verdict in measured.neighbours} == {Verdict.REFUTED}


@pytest.mark.slow
def test_no_compiled_experiment_refutes_its_law_and_most_verify_it() -> None:
    """Undecided are those over the budget at the widths of real models."""
    tasks = plan(catalogue.entries(), Settings(tolerance=0.04, error_rate=1e-3, backend=Backend()))
    compiled_ones = [t for t in tasks if t.backend]
    verified = set()
    for task in compiled_ones:
        found = measure(task)
        assert found.verdict in (Verdict.VERIFIED, Verdict.UNDECIDED), (task, found)
        if found.verdict is Verdict.VERIFIED:
            verified.add(task.law)
    assert len(verified) > 100


def test_they_run_with_two_laws_that_are_not_gaussian_where_there_are_two() -> None:
    found = {t.law: {u.weights for u in COMPILED if u.law == t.law} for t in COMPILED}
    assert found.keys() == {*BOTH, *OTHERS}
    assert found["lecun"] == {"uniform", "leaning"}
    assert found["he"] == {"uniform", "rademacher"}  # symmetric
    assert found["he-backward"] == {"uniform"}  # symmetric, with no probability at zero
    assert found["gain-relu"] == {"normal"}  # Gaussian


@pytest.mark.parametrize("law", ["lecun", "he", "he-backward", "linear-fourth"])
def test_a_wrong_law_is_refuted(law: str) -> None:
    for factor in (Rational(19, 20), Integer(2)):
        found = measure_claim(Tampered(law, factor), **QUICK)
        assert found.verdict is Verdict.REFUTED, found


@pytest.mark.parametrize(
    ("law", "claimed"),
    [("attention-qk", "d + 1"), ("residual-sum", "v + 2*s2"), ("pre-norm-growth", "2*v + s2")],
)
def test_a_wrong_claim_is_refuted(law: str, claimed: str) -> None:
    assert measure_claim(law, claimed=claimed, **QUICK).verdict is Verdict.REFUTED


def test_weights_that_break_an_assumption_are_refused() -> None:
    with pytest.raises(Unmeasurable, match="w is declared symmetric, and the law 'skewed' is not"):
        compiled("he", weights="skewed")


def test_a_law_without_its_assumption_is_refuted() -> None:
    """LeCun's claim for weights of mean 1/2, which its derivation does not cover."""
    x = random_array("x", second_moment="q", independent=False)
    w = random_array("w", mean="1/2", second_moment="s2")
    start = Expectation(Sum(x[i] * w[i, j], (i, 1, m)) ** 2)
    found = measure_claim(start, claimed="m*q*s2", values={"m": 4, "s2": 1}, **QUICK)
    assert found.verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    "law", ["truncated-normal-factor", "adam-ratio", "relu-std", "gelu-instability", "rezero"]
)
def test_quotients_roots_and_slopes_are_measured(law: str) -> None:
    found = measure_claim(law, weights="normal", **QUICK)
    assert (found.verdict, found.interval) == (Verdict.VERIFIED, "proved")
    wrong = measure_claim(law, weights="normal", claimed=f"{1.05 * found.claimed:.6f}", **QUICK)
    assert wrong.verdict is Verdict.REFUTED


def test_the_interval_of_a_function_holds_its_values_at_all_corners() -> None:
    x = random_variable("x", mean="2/3", variance=1)
    means = function_of_means(Variance(x) / sqrt(Expectation(x**2)) - Expectation(x))
    boxes = [Interval(low, low + 0.01, "proved", 7) for low in (0.9, 1.4, 0.6)]
    found = means.interval(boxes)
    values = [
        means.at(dict(zip(means.statistics, corner, strict=True)))
        for corner in product(*((box.low, box.high) for box in boxes))
    ]
    near = {"abs": 1e-4}  # balls are symmetric: wider by the square of their radius
    assert found.low == pytest.approx(min(values), **near)
    assert found.high == pytest.approx(max(values), **near)
    assert found.low <= min(values) and max(values) <= found.high
    assert (found.kind, found.replicates) == ("proved", 7)


def test_a_quotient_by_what_may_be_zero_has_no_interval() -> None:
    x = random_variable("x", mean=0, variance=1)
    means = function_of_means(1 / Expectation(x))
    assert means.interval([Interval(-0.1, 0.1, "proved", 7)]).width == math.inf
    assert means.interval([Interval(0.1, math.inf, "proved", 7)]).width == math.inf


@pytest.mark.parametrize(
    ("f", "slope"),
    [
        (lambda z: relu(z) ** 2, 1 / 2),
        (lambda z: z**4, 6 * 2 / 3),
        (lambda z: exp(z), exp(1 / 3) / 2),
    ],
)
def test_slopes_by_the_variance(f: Any, slope: Any) -> None:
    """d/dv of v/2, 3 v^2 and e^(v/2), at v = 2/3."""
    v = positive("v")
    z = random_variable("z", mean=0, variance=v, gaussian=True)
    start = Slope(Expectation(f(z)), v)
    found = measure_claim(start, claimed=f"{float(slope):.12f}", **QUICK)
    assert found.verdict is Verdict.VERIFIED
    assert measure_claim(start, claimed=f"{1.06 * slope:.9f}", **QUICK).verdict is Verdict.REFUTED


def test_slopes_that_samples_do_not_show_are_refused() -> None:
    v = positive("v")
    z = random_variable("z", mean=0, variance=v, gaussian=True)
    for inside in (indicator(z - 1, ">"), z**2 * v, heaviside(z)):
        with pytest.raises(Unmeasurable):
            compiled(Slope(Expectation(inside), v), claimed=1)


def test_an_expression_claims_its_normal_form() -> None:
    x = random_array("x", mean=0, variance="s2")
    mean = Sum(x[i], (i, 1, m)) / m
    found = measure_claim(Variance(mean), values={"m": 7}, weights="skewed", **QUICK)
    assert found.verdict is Verdict.VERIFIED
    assert found.claimed == pytest.approx(2 / 3 / 7)  # s2 is 2/3 unless given


def test_a_solved_symbol_that_is_given_is_measured_as_found() -> None:
    trial = compiled("lecun", m=4, s2="1/3", q=2)
    assert float(trial.claimed) == pytest.approx(4 * 2 / 3)
    assert float(compiled("lecun", m=4, q=2).claimed) == 2


@pytest.mark.parametrize("task", COMPILED, ids=lambda t: f"{t.law}, {t.weights}")
def test_variance_bounds_hold_and_are_tight(task: Any) -> None:
    """Against the spread of 20 groups of replicates, which the bounds never see."""
    made = prepare(task.law, task.weights)
    assert made.bounded
    groups = np.asarray([g.var() for g in np.split(drawn(made.trial, 40_000), 20)])
    error = groups.std(ddof=1) / math.sqrt(20)
    assert groups.mean() - 5 * error <= made.trial.spread <= 2 * (groups.mean() + 5 * error)


def test_what_is_dependent_is_sampled_dependent() -> None:
    made = prepare("residual-sum")
    assert "F is a random factor times x" in made.notes
    x = random_variable("x", mean=0, variance=1)
    f = random_variable("F", mean=0, variance=1, uncorrelated_with=[x.array])
    values = drawn(compiled(Expectation(x * f), claimed=0))
    assert abs(values.mean()) < 5 * values.std() / math.sqrt(values.size)
    squares = drawn(compiled(Expectation(x**2 * f**2), claimed=1))
    assert squares.mean() > 1.5  # E[x^2] E[F^2] = 1, were they independent; here E[x^4] = 9/5
    g = random_variable("g", mean=0, variance=4, depends_on=[x.array])
    assert drawn(compiled(Expectation(x * g), claimed=2)).mean() == pytest.approx(2, abs=0.1)


def test_dependence_that_no_model_meets_is_refused() -> None:
    x = random_variable("x", mean=0, variance=1)
    h = random_array("h", mean=0, variance=1, depends_on=[x.array])
    with pytest.raises(Unmeasurable, match="h, with independent entries that all depend on x"):
        compiled(Expectation(x * Sum(h[i], (i, 1, m))), claimed=0)
    g = random_variable("g", mean=0, variance=1, gaussian=True, depends_on=[x.array])
    with pytest.raises(Unmeasurable, match="Gaussian g"):
        compiled(Expectation(x * g), claimed=0)


def test_declarations_are_met_or_refused() -> None:
    x = random_variable("x", mean=0, variance=1, moments={4: "9/5"})
    assert compiled(Expectation(x**4)).claimed == Rational(9, 5)
    with pytest.raises(Unmeasurable, match="has not the moment of order 4 declared of x"):
        compiled(Expectation(x**4), weights="skewed")
    y = random_variable("y", mean=2, second_moment="q")
    with pytest.raises(Unmeasurable, match="second moment 1 and the mean 2, which cannot be"):
        compiled(Expectation(y**2), q=1)


@pytest.mark.parametrize(
    ("law", "why"),
    [
        ("means-inequality", "does not start from an expectation"),
        ("post-norm-decay", "is no number"),
        ("tanh-no-variance", "no equality"),
        ("post-norm-divisor", "it declares E.F.x"),
        ("haar-fourth", "has not the moment of order 4 declared of r"),
    ],
)
def test_what_cannot_be_compiled_says_why(law: str, why: str) -> None:
    with pytest.raises(Unmeasurable, match=why):
        compiled(law)
    assert experiment_on(law, {}) is None


def test_what_has_no_array_code_is_refused() -> None:
    x = random_variable("x", mean=0, variance=1)
    with pytest.raises(Unmeasurable, match="mystery has no array code"):
        compiled(Expectation(Function("mystery")(x)), claimed=0)
    with pytest.raises(LookupError):
        compiled("no-such-law")
    with pytest.raises(ValueError, match="m is a real number, not k"):
        compiled("lecun", m="k")


def test_unbiased_statistics_of_variances_and_products() -> None:
    """E of the statistic, worked out by the calculus, is the expression it stands for."""
    x = random_variable("x", mean="a", second_moment="q")
    f = random_variable("F", mean="b", second_moment="r")
    a, b, q, r = positive("a b q r")
    for start, value in {
        Variance(x): q - a**2,
        Covariance(x, x + f): q - a**2,
        Expectation(x) * Expectation(f): a * b,
        Expectation(x) ** 2: a**2,
        3 * Variance(x + f) - Expectation(x): 3 * (q - a**2 + r - b**2) - a,
    }.items():
        found = Expectation(unbiased(start)).derive().end
        declared = {s: {"a": a, "b": b, "q": q, "r": r}[s.name] for s in found.free_symbols}
        assert (found.xreplace(declared) - value).expand() == 0
    assert set(arrays_in(unbiased(Variance(x)))) == {"x", "x'"}
    assert copy(x, 2) != x
    assert claim_of(Variance(x)).start == Variance(x)


# What the data may hold


def measured(function: Any, claimed: Any, weights: str = "uniform", **more: Any) -> Any:
    x = random_variable("x", mean=0, variance=1)
    return measure_claim(Expectation(function(x)), claimed=claimed, weights=weights, **more)


def test_no_bound_on_the_variance_means_an_asymptotic_interval() -> None:
    """E[cosh(x)] = sinh(sqrt(3))/sqrt(3) for x uniform on +-sqrt(3); no rule knows it."""
    value = math.sinh(math.sqrt(3)) / math.sqrt(3)
    found = measured(cosh, value, **QUICK)
    assert found.interval == "asymptotic" and found.verdict is Verdict.VERIFIED
    assert measured(cosh, 1.1 * value, **QUICK).verdict is Verdict.REFUTED


def test_nan_is_undecided() -> None:
    for function in (log, sqrt, lambda x: relu(sqrt(x)), lambda x: indicator(log(x), ">")):
        found = measured(function, 1)
        assert found.verdict is Verdict.UNDECIDED and found.why


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_overflow_is_undecided(dtype: str) -> None:
    found = measured(lambda x: exp(1000 * x), 1, backend=Backend(dtype=dtype))
    assert found.verdict is Verdict.UNDECIDED and "usable number" in found.why


def test_overflow_in_half_precision_is_undecided() -> None:
    """(300 x)^2 reaches 270,000; the largest number in half precision is 65,504."""
    half = Backend(dtype="float16")
    found = measured(lambda x: (300 * x) ** 2, 90_000, backend=half, tolerance=0.1)
    assert found.verdict is Verdict.UNDECIDED and "usable number" in found.why
    found = measured(lambda x: (3 * x) ** 2, 9, backend=half, tolerance=0.1)
    assert found.verdict is Verdict.VERIFIED and found.backend == "numpy, float16"


def test_numbers_too_coarse_for_the_tolerance_are_undecided() -> None:
    found = measured(lambda x: x**2, 1, backend=Backend(dtype="float16"))
    assert found.verdict is Verdict.UNDECIDED
    assert found.why == "float16 is too coarse for a tolerance of 0.01"


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_constant_samples(dtype: str) -> None:
    """x^2 = 1 for a sign x: no spread at all, and the bound on it says so."""
    backend = Backend(dtype=dtype)
    assert measured(lambda x: x**2 / 3, "1/3", "rademacher", backend=backend).verdict == "verified"
    assert measured(lambda x: x**2 / 3, "0.34", "rademacher", backend=backend).verdict == "refuted"


def test_constant_samples_without_a_bound_are_undecided() -> None:
    found = measured(cosh, math.cosh(1), "rademacher")
    assert found.verdict is Verdict.UNDECIDED and "without any spread" in found.why


def test_one_replicate_is_undecided() -> None:
    for function in (lambda x: x**4, tanh, cosh):
        found = measured(function, 1, budget=1)
        assert found.verdict is Verdict.UNDECIDED and "over the budget" in found.why


def test_a_width_beyond_the_budget_is_undecided_before_anything_is_drawn() -> None:
    tasks = plan(["lecun"], Settings(backend=Backend(), overrides={"m": 10**12}))
    found = attempt(next(t for t in tasks if t.backend))
    assert found.verdict is Verdict.UNDECIDED and "over the budget" in found.why


def test_sums_in_single_precision_are_accumulated_in_double() -> None:
    """A plain sum of 2^24 + 2^22 ones in single precision stops at 2^24."""
    ones = np.ones(2**22 + 2**24, dtype=np.float32)
    assert float(np.cumsum(ones)[-1]) == 2**24
    assert float(Backend(dtype="float32").sum(ones, 0)[0]) == ones.size


# Planning


def test_the_plan_without_a_backend_is_as_it_was() -> None:
    assert not any(t.backend for t in plan(["he"], Settings()))
    tasks = plan(["he"], Settings(backend=Backend()))
    assert sum(t.alpha for t in tasks) == pytest.approx(1e-6)
    assert {t.quantity for t in tasks if t.backend} == {"E[relu(z[j])^2], compiled"}


def test_overrides_reach_compiled_experiments() -> None:
    tasks = plan(["gelu-second-moment"], Settings(backend=Backend(), overrides={"v": "2"}))
    assert {dict(t.values)["v"] for t in tasks if t.backend} == {2}
    with pytest.raises(ValueError, match="no selected law has a parameter 'k'"):
        plan(["he"], Settings(backend=Backend(), overrides={"k": 3}))


def test_the_seed_changes_the_numbers_and_nothing_else_does() -> None:
    found = [measure_claim("lecun", seed=seed, **QUICK) for seed in (0, 0, 1)]
    assert found[0] == found[1] and found[0].estimate != found[2].estimate


# What a derivation claims


def test_a_substitution_holds_for_the_start_as_well() -> None:
    claim = claim_of(catalogue.find("conv-depthwise"))
    assert {s.name for s in claim.start.free_symbols} == {"k", "o"}  # one channel: no c is left
    found = measure_claim("conv-grouped", values={"C": 4, "G": 2, "k": 3}, **QUICK)
    assert found.verdict is Verdict.VERIFIED


def test_a_width_of_a_real_model_is_left_open() -> None:
    assert prepare("bert-feed-forward").trial.numbers < 100


def test_what_is_said_of_many_layers_is_measured_for_one() -> None:
    """c = 1/sqrt(N) keeps the sum of N branches; the start is about one of them."""
    claim = claim_of(catalogue.find("residual-scaling"))
    assert not claim.settled and {s.name for s in claim.end.free_symbols} == {"c", "s2", "v"}


def test_a_declared_moment_is_not_measured() -> None:
    assert experiment_on("normal-std", {}) is None


def test_arrays_with_properties_that_no_model_knows_are_refused() -> None:
    with pytest.raises(Unmeasurable, match="no model of w with orthonormal rows"):
        compiled("orthogonal-isometry")


def test_weights_that_sum_to_one_are_not_drawn() -> None:
    """Independent weights would not do: they give another second moment of attention's output."""
    with pytest.raises(Unmeasurable, match="sum to 1"):
        compiled("attention-output-correlated")
    assert experiment_on("attention-output-correlated", {}) is None
