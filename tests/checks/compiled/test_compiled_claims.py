"""What a derivation claims, as compiled experiments read it, and what they refuse."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from sympy import Function, exp, sqrt

from varlaw.checks.compiled.claims import claim_of, copy, unbiased
from varlaw.checks.compiled.coverage import experiment_on
from varlaw.checks.compiled.functions import function_of_means
from varlaw.checks.compiled.models import Unmeasurable
from varlaw.checks.compiled.trials import compiled, measure_claim, prepare
from varlaw.checks.experiments.run import Settings, not_compiled
from varlaw.checks.statistics.verdicts import Interval, Verdict
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
from varlaw.symbolic.terms import Covariance, Expectation, Slope, Sum, Variance, indicator

m = dimensions("m")
i, j = indices("i j")

QUICK: dict[str, Any] = {"tolerance": 0.02, "error_rate": 1e-4}


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


@pytest.mark.parametrize(
    ("law", "why"),
    [
        ("means-inequality", "does not start from an expectation"),
        ("post-norm-decay", "it equates what is random"),
        ("tanh-no-variance", r"an inequality \(<\)"),
        ("depth-he-drift", "it claims a limit"),
        ("tanh-decay", r"no step says what E\[tanh\(z\)\^2\] is"),
        ("post-norm-divisor", "it declares E.F.x"),
        ("haar-fourth", "has not the moment of order 4 declared of r"),
        ("normal-std", "is declared: samples would only repeat it"),
        ("zero-gamma-before", "every draw is exactly 0"),
        ("attention-qk-eighth", "no bound on the variance"),
        ("largest-weight", "no bound on the variance"),  # (1/2 + erf(..)/2)^65535
        ("orthogonal-isometry", "no model of w with orthonormal rows"),
        ("attention-output-correlated", "weights that sum to 1 are not drawn"),
        ("muon-update", "it requires something of a value that it has just found"),
    ],
)
def test_a_law_without_a_compiled_experiment_says_why(law: str, why: str) -> None:
    """Independent weights in place of some that sum to 1 would have another second moment."""
    with pytest.raises(Unmeasurable, match=why):
        experiment_on(law, {})
    told = not_compiled([law, "he"], Settings())
    assert told.keys() == {law} and "\n" not in told[law]


@pytest.mark.parametrize(
    ("law", "value"),
    [
        ("tanh-fixed-point", 1.178480490385907),  # the root itself
        ("loss-one-nat", 1.0),  # at the root s = 1.41643
        ("depth-product", 5 * 2 / 3 * 5 / 6 / 2),  # one layer: n q s/2
        ("conv-grouped", 2 / 3),  # the q of the input
    ],
)
def test_roots_sequences_and_groups_are_measured(law: str, value: float) -> None:
    made = experiment_on(law, {})
    weights = made.weights[0]
    found = measure_claim(law, weights=weights, **QUICK)
    assert found.verdict is Verdict.VERIFIED and found.claimed == pytest.approx(value)
    wrong = measure_claim(law, weights=weights, claimed=f"{1.05 * value:.9f}", **QUICK)
    assert wrong.verdict is Verdict.REFUTED


def test_a_sum_of_equal_terms_is_counted() -> None:
    """Equal weights p of mean 1/2 and variance 2/3: E[n p^2 + n^2 p^4 - 2 n p^3] at n = 5."""
    found = measure_claim("softmax-jacobian", **QUICK)
    x = Fraction(1, 2)
    moments = {2: x**2 + Fraction(2, 3), 3: x**3 + 3 * x * Fraction(2, 3)}
    fourth = x**4 + 6 * x**2 * Fraction(2, 3) + Fraction(9, 5) * Fraction(4, 9)
    value = 5 * moments[2] + 25 * fourth - 10 * moments[3]
    assert found.verdict is Verdict.VERIFIED and found.claimed == pytest.approx(float(value))


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
