"""Every law of the catalogue is measured, and experiments on wrong laws do not verify them."""

import math
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from fractions import Fraction
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest
from sympy import Expr, Rational, S

from varlaw.checks.experiments import (
    LimitTrial,
    Settings,
    Task,
    Trial,
    experiment,
    experiments,
    measure,
    measure_trial,
    plan,
)
from varlaw.checks.experiments.moments import exact
from varlaw.checks.experiments.registry import Experiment
from varlaw.checks.experiments.run import attempt
from varlaw.checks.methods import Asymptotic, Bounded, ByVariance, Method, Quantile
from varlaw.checks.report import Measurement
from varlaw.checks.sampling import LAWS, stream
from varlaw.checks.statistics import Verdict
from varlaw.derivations import catalogue
from varlaw.symbolic.derivation import relation, sign_of

ONE_LAW_OF_WEIGHTS = {
    "attention-qk-kurtosis": "assumes Gaussian entries",
    "post-norm-layernorm": "stated for normalised Gaussian branches",
    "xavier-uniform": "is about uniform weights",
    "pytorch-linear-bound": "is about uniform weights",
    "pytorch-linear-variance": "is about uniform weights",
    "fused-qkv-variance": "is about uniform weights",
    "orthogonal-variance": "is about Haar matrices",
    "adam-coherent": "assumes Gaussian inputs",
    "adam-noise": "signs keep the average of squared gradients at its mean",
    "adam-noise-default": "signs keep the average of squared gradients at its mean",
    "bert-attention": "is about BERT's truncated weights",
    "bert-feed-forward": "speaks of normal pre-activations",
    "bert-identity-path-least": "is about BERT's truncated weights",
    "bert-identity-path-most": "is about BERT's truncated weights",
    "head-bert": "is about BERT's truncated weights",
    "attention-bert": "is about BERT's truncated weights",
    "softmax-jacobian": "is about weights on a simplex",
    "unnormalised-scaled": "with weights of any direction alike, layers are independent",
    "softmax-jacobian-uniform": "is about equal weights",
    "largest-weight": "is about normal weights",
    "loss-prior-bias": "draws labels alone",
    "means-inequality": "nothing is drawn",
    "overflow-float16": "nothing is drawn",
    "overflow-float32": "nothing is drawn",
}
GAUSSIAN = {
    "depth-he-drift",
    "depth-he-fourth",
    "depth-he-spread",
    "depth-linear-fourth",
    "iid-edge",
    "iid-gram-moments",
    "relu-fourth",
    "relu-square",
    "relu-std",
    "sigmoid-backward",
    "sigmoid-backward-bound",
    "tanh-backward",
    "tanh-backward-bound",
    "tanh-decay",
    "tanh-small",
}
CONTINUOUS = {  # with division by what is 0 for some discrete weights, as the std of a few units
    "he-backward-chain",
    "norm-correlation",
    "norm-input-gradient",
    "norm-radial-gradient",
    "norm-scale-invariance",
    "norm-unbiased-divisor",
    "norm-weight-gradient",
    "ntk-adam-rate",
    "ntk-sgd-rate",
    "peri-norm",
    "pre-norm-share",
    "rezero-ramp",
    "scale-invariant-decay",
    "scale-invariant-equilibrium",
}
NORMAL_LOGITS = {
    "attention-correlated",
    "attention-correlated-growth",
    "attention-correlated-mean",
    "attention-correlated-second",
    "attention-mup",
    "logits-outside",
    "loss-gpt2",
    "loss-he-head",
    "loss-lower",
    "loss-small-head",
    "loss-delta",
    "loss-one-nat",
    "loss-saturated",
    "loss-upper",
    "softmax-entropy",
    "softmax-largest",
    "softmax-largest-512",
    "softmax-participation",
}
EXPONENTS = ("abc-sgd-", "abc-adam-", "sp-", "ntp-", "mup-", "mean-field-sgd-")
for entry in catalogue.entries().values():
    if entry.family == "activation":
        ONE_LAW_OF_WEIGHTS[entry.name] = "speaks of normal pre-activations"
    if entry.family == "truncation" or entry.name.startswith(("uniform-", "haar-", "gaussian-")):
        ONE_LAW_OF_WEIGHTS[entry.name] = "is about one law of the weights"
    if entry.name in GAUSSIAN or entry.name in CONTINUOUS:
        ONE_LAW_OF_WEIGHTS[entry.name] = "assumes Gaussian weights, or weights without atoms"
    if entry.name in NORMAL_LOGITS:
        ONE_LAW_OF_WEIGHTS[entry.name] = "assumes normal logits, or normal queries and keys"
    if entry.family == "kernels":
        ONE_LAW_OF_WEIGHTS[entry.name] = "speaks of jointly normal pre-activations"
    if entry.name.startswith(EXPONENTS):
        ONE_LAW_OF_WEIGHTS[entry.name] = "with signs every size is a power of the width exactly"
ZERO = {  # no factor changes a claim of 0, nor an exponent of 0
    "mean-field-sgd-hidden",
    "mup-adam-hidden",
    "mup-sgd-hidden",
    "mup-sgd-input",
    "norm-radial-gradient",
    "residual-branch",
    "scale-invariant-gradient",
    "zero-first-layer-relu",
    "zero-gamma-before",
    "zero-last-layer-before",
}
LOOSE = {"loss-he-head", "loss-one-nat"}  # bounded by way of the mean of e^z
QUICK = Settings(tolerance=0.02, error_rate=1e-3)
TASKS = plan(catalogue.entries(), QUICK)
FAMILY = {name: entry.family for name, entry in catalogue.entries().items()}
ONE_OF_A_FAMILY = list({(FAMILY[t.law], t.weights): t for t in TASKS}.values())
ONE_EACH = list({(t.law, t.quantity): t for t in TASKS}.values())  # with the last law of weights


def task_id(task: Task) -> str:
    return f"{task.law}, {task.quantity}, {task.weights}"


def task(law: str, weights: str | None = None, quantity: str = "", **more: Any) -> Task:
    """The first planned measurement of a law."""
    found = next(
        t
        for t in TASKS
        if t.law == law and weights in (None, t.weights) and t.quantity.startswith(quantity)
    )
    return replace(found, **more)


def prepared(planned: Task) -> list[Trial]:
    trial = one(planned).prepare(planned.weights, dict(planned.values))
    return list(trial.trials) if isinstance(trial, LimitTrial) else [trial]


def one(planned: Task) -> Experiment:
    return next(e for e in experiments() if (e.law, e.quantity) == (planned.law, planned.quantity))


def test_every_law_has_an_experiment() -> None:
    assert {e.law for e in experiments()} == set(catalogue.entries())


@pytest.mark.parametrize("e", experiments(), ids=lambda e: f"{e.law}, {e.quantity}")
def test_laws_of_weights_and_parameters(e: Experiment) -> None:
    others = [w for w in e.weights if not LAWS[w].gaussian]
    assert len(others) >= 2 or e.law in ONE_LAW_OF_WEIGHTS
    assert e.defaults.get("m") != e.defaults.get("n") or "m" not in e.defaults
    assert all(value != 1 for value in e.defaults.values())


@pytest.mark.parametrize("planned", TASKS, ids=task_id)
def test_neighbours_are_more_than_four_tolerances_away(planned: Task) -> None:
    trial = one(planned).prepare(planned.weights, dict(planned.values))
    claimed = float(trial.claimed)
    unit = abs(claimed) or trial.scale  # type: ignore[union-attr]
    assert len(trial.neighbours) >= 3
    for name, value in trial.neighbours.items():
        assert abs(float(value) - claimed) > 4 * 0.01 * unit, name


@pytest.mark.parametrize("planned", ONE_OF_A_FAMILY, ids=task_id)
def test_laws_are_verified_and_its_neighbours_are_refuted(planned: Task) -> None:
    found = measure(planned)
    assert found.verdict is Verdict.VERIFIED, found.why
    assert found.low is not None and found.high is not None and found.estimate is not None
    assert found.interval == "proved" and found.low < found.estimate < found.high
    assert len(found.neighbours) >= 3
    assert {verdict for _, _, verdict in found.neighbours} == {Verdict.REFUTED}


def test_no_law_rests_on_conditional_sampling_alone() -> None:
    drawn: dict[str, set[str]] = {}
    for planned in TASKS:
        drawn.setdefault(planned.law, set()).update(t.sampler for t in prepared(planned))
    assert all("direct" in samplers for samplers in drawn.values())


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


@pytest.mark.parametrize("name", sorted({e.law for e in experiments()} - ZERO))
def test_a_factor_of_five_percent_is_refuted(name: str) -> None:
    fine = {"tolerance": 0.01} if name == "depth-he-drift" else {}  # its unit is larger than it
    found = measure(task(name, budget=1 << 32, **fine), Tampered(name, Rational(21, 20)))
    assert found.verdict is Verdict.REFUTED, found


@pytest.mark.parametrize("name", sorted(ZERO))
def test_something_else_than_zero_is_refuted(name: str) -> None:
    assert catalogue.find(name).statement.rhs == 0
    found = measure(task(name), Tampered(name, S.One, Rational(1, 4)))
    assert found.verdict is Verdict.REFUTED, found


def test_weights_that_break_an_assumption_are_refuted() -> None:
    """He's law needs symmetric weights; skewed ones with mean 0 and the same variance break it."""
    found = measure(replace(task("he"), weights="skewed", values=(("m", 2), ("n", 3))))
    assert found.verdict is Verdict.REFUTED


def test_covariance_of_a_branch_without_a_centred_last_layer() -> None:
    """Zero is told from what the neighbours claim, in units of the stds."""
    found = measure(task("residual-branch"))
    assert found.claimed == 0 and found.low is not None and found.high is not None
    assert -0.02 < found.low < 0 < found.high < 0.02


@pytest.mark.parametrize("planned", ONE_EACH, ids=task_id)
def test_variance_bounds_hold_and_are_tight(planned: Task) -> None:
    """Against the spread of 20 groups of replicates; the bounds themselves never see the draws."""
    for number, trial in enumerate(prepared(planned)):
        batch = max(1, 2**16 // max(trial.numbers, trial.work))
        count = max(1, math.ceil((1500 if batch > 1 else 150) / batch))
        groups = []
        for group in range(20):
            rng = stream(3, planned.law, planned.quantity, planned.weights, number, group)
            groups.append(np.concatenate([trial.draw(rng, batch) for _ in range(count)]).var())
        error = np.std(groups, ddof=1) / math.sqrt(20)
        assert np.mean(groups) - 4.5 * error <= trial.spread
        exact = trial.spread <= 1e-6 * max(float(trial.claimed) ** 2, trial.scale**2)
        if not exact and planned.law not in LOOSE:  # else the draws differ by rounding only
            assert trial.spread <= 20 * (np.mean(groups) + 5 * error)


def test_a_bound_that_is_too_small_is_noticed() -> None:
    """The twin of the test before: half the bound fails it."""
    (trial,) = prepared(task("he", "uniform"))
    rng = stream(3, "he")
    values = np.concatenate([trial.draw(rng, 2000) for _ in range(15)])
    assert values.var() > 0.5 * trial.spread * 1.5


SMALL = ("lecun", "backward", "residual-branch", "post-norm-layernorm", "post-norm-decay")


def test_workers_do_not_change_the_numbers() -> None:
    tasks = [t for t in TASKS if t.law in SMALL]
    alone = [measure(t) for t in tasks]
    for workers in (1, 2):
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            assert list(pool.map(measure, tasks)) == alone


def test_the_seed_changes_the_numbers_and_other_laws_do_not() -> None:
    planned = task("lecun")
    assert measure(replace(planned, seed=1)).estimate != measure(planned).estimate
    (first, *_) = plan(["lecun"], QUICK)
    assert first.alpha > planned.alpha  # fewer measurements share the error rate
    assert measure(replace(first, alpha=planned.alpha)) == measure(planned)


def test_the_error_rate_is_shared() -> None:
    assert sum(t.alpha for t in TASKS) == pytest.approx(1e-3)
    assert len(TASKS) == sum(len(e.weights) for e in experiments())


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"m": -3}, "m is a dimension: a positive integer, not -3"),
        ({"m": "2.5"}, "m is a dimension: a positive integer, not 2.5"),
        ({"m": 2.5}, "m is a dimension: a positive integer, not 2.5"),
        ({"m": 0}, "m is a dimension: a positive integer, not 0"),
        ({"m": "k"}, "m is a dimension: a positive integer, not k"),
        ({"a": "-1"}, "a is a positive number, not -1"),
        ({"a": "0"}, "a is a positive number, not 0"),
        ({"z": 3}, "no selected law has a parameter 'z'; there are a, m, n"),
    ],
)
def test_overrides_out_of_range(overrides: Mapping[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        plan(["he", "he-leaky"], Settings(overrides=overrides))
    assert str(caught.value) == message


def test_overrides_where_nothing_is_drawn() -> None:
    with pytest.raises(ValueError, match="there are none"):
        plan(["overflow-float16"], Settings(overrides={"m": 3}))
    (task_,) = plan(["overflow-float16"], Settings())
    assert task_.values == ()


def test_a_least_dimension() -> None:
    with pytest.raises(ValueError, match=r"^d is at least 8, not 4$"):
        plan(["post-norm-layernorm"], Settings(overrides={"d": 4}))


@pytest.mark.parametrize("value", ["2", "1.01", "0", "-1/2"])
def test_a_keep_rate_lies_between_0_and_1(value: str) -> None:
    with pytest.raises(ValueError, match=rf"^p is (at most 1|a positive number), not {value}$"):
        plan(["residual-drop-path"], Settings(overrides={"p": value}))


@pytest.mark.parametrize(
    ("law", "overrides", "why"),
    [
        ("pre-norm-growth", {"l": 10**6}, "at most 1000 layers, not 1000000"),
        ("post-norm-decay", {"s2": "1e400"}, "not a usable number"),
        ("lecun", {"m": 10**12}, "over the budget"),
    ],
)
def test_what_cannot_be_measured_is_undecided(law: str, overrides: Any, why: str) -> None:
    (first, *_) = plan([law], Settings(overrides=overrides))
    found = attempt(first)
    assert found.verdict is Verdict.UNDECIDED and found.estimate is None
    assert why in found.why and "\n" not in found.why


@pytest.mark.parametrize("error", [ValueError("no\nfeasible size"), MemoryError(), OverflowError()])
def test_an_error_in_a_measurement_is_its_reason(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(self: Experiment, *arguments: Any) -> Trial:
        raise error

    monkeypatch.setattr(Experiment, "prepare", fail)
    found = attempt(task("lecun"))
    assert found.verdict is Verdict.UNDECIDED and math.isnan(found.claimed)
    assert found.why.startswith("not measured: ") and "\n" not in found.why


def test_advice_on_the_tolerance_is_one_that_can_be_set() -> None:
    (first, *_) = plan(["lecun"], Settings(overrides={"m": 10**9}))
    assert "a tolerance of" not in measure(first).why


@pytest.mark.parametrize(
    ("setting", "value"),
    [("tolerance", 0.0), ("tolerance", 1.0), ("error_rate", 0.0), ("seed", -1)],
)
def test_settings_out_of_range(setting: str, value: float) -> None:
    with pytest.raises(ValueError, match=setting.replace("_", " ")):
        Settings(**{setting: value})  # type: ignore[arg-type]


def test_overrides_are_used() -> None:
    settings = replace(QUICK, overrides={"m": "9", "a": "1/4"})
    planned = plan(["he-leaky", "lecun"], settings)
    assert {dict(t.values)["m"] for t in planned} == {9}
    found = measure(planned[0])
    assert found.verdict is Verdict.VERIFIED
    assert {dict(t.values).get("a") for t in planned} == {None, Fraction(1, 4)}


def test_equal_fans_make_a_neighbour_true() -> None:
    """At m = n fan-out is no wrong neighbour of fan-in; the others are still refuted."""
    found = measure(task("lecun", values=(("m", 5), ("n", 5))))
    assert found.verdict is Verdict.VERIFIED
    assert "variance 1/n" not in [name for name, _, _ in found.neighbours]


def test_over_budget_is_undecided_before_anything_is_drawn() -> None:
    (first, *_) = plan(["lecun"], Settings(overrides={"m": 10**6}))
    found = measure(first)
    assert found.verdict is Verdict.UNDECIDED and found.replicates == 0
    assert "over the budget" in found.why and "a tolerance of" in found.why
    assert found.low is None and found.estimate is None


def test_the_tolerance_that_is_advised_is_within_budget() -> None:
    planned = task("lecun", tolerance=1e-4)
    advised = float(measure(planned).why.split("a tolerance of ")[1].split()[0])
    trial = replace(prepared(planned)[0], draw=nothing)
    assert "usable number" in measure_trial(replace(planned, tolerance=advised), trial).why
    tighter = replace(planned, tolerance=0.98 * advised)
    assert "over the budget" in measure_trial(tighter, trial).why


def nothing(rng: np.random.Generator, replicates: int) -> Any:
    return np.full(replicates, math.nan)


def trial_of(values: Any, claimed: float = 1.0, variance: float = 1.0, **more: float) -> Trial:
    """A trial that draws normal values around 1, worked over by a function."""

    def draw(rng: np.random.Generator, replicates: int) -> Any:
        return values(1 + rng.standard_normal(replicates))

    return Trial(draw, 1, claimed, variance, more)  # type: ignore[arg-type]


def judged(trial: Trial, **more: Any) -> Measurement:
    return measure_trial(replace(task("lecun"), **more), trial)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_undecided_with_the_reason(bad: float) -> None:
    found = judged(trial_of(lambda x: np.where(x > 4, bad, x)))
    assert found.verdict is Verdict.UNDECIDED and "not a usable number" in found.why


def test_more_replicates_than_can_be_kept_are_averaged() -> None:
    def draw(rng: Any, replicates: int) -> Any:
        return 1 + 25 * rng.standard_normal(replicates)

    trial = Trial(draw, 1, 1, 625, {"2": 2})
    found = measure_trial(replace(task("he"), alpha=0.01, budget=1 << 28), trial)
    assert found.verdict is Verdict.VERIFIED and found.replicates < 1 << 25
    medians = replace(trial, method=Quantile())  # of which an average has another one
    assert "over the budget" in measure_trial(task("he", budget=1 << 28), medians).why


def test_a_trial_is_judged() -> None:
    assert judged(trial_of(lambda x: x)).verdict is Verdict.VERIFIED
    assert judged(trial_of(lambda x: 1.1 * x, variance=1.21)).verdict is Verdict.REFUTED
    assert judged(trial_of(lambda x: x), budget=100).verdict is Verdict.UNDECIDED


def test_a_neighbour_that_cannot_be_refuted_makes_it_undecided() -> None:
    found = judged(trial_of(lambda x: x, near=1.005), budget=1 << 20)
    assert found.verdict is Verdict.UNDECIDED and "cannot tell the claim from: near" in found.why


def test_between_the_bands_is_undecided() -> None:
    found = judged(trial_of(lambda x: 1.02 * x, variance=1.05), budget=1 << 19)
    assert found.verdict is Verdict.UNDECIDED and "neither" in found.why


def test_a_law_of_the_limit_is_refuted_as_exact_at_width_8() -> None:
    planned = task("post-norm-layernorm")
    narrow = prepared(replace(planned, values=(*planned.values, ("d", 8))))[0]
    assert float(narrow.claimed) == pytest.approx((1 + 0.5) ** -1.5)
    assert measure_trial(planned, narrow).verdict is Verdict.REFUTED


@pytest.mark.parametrize("method", [ByVariance(), Bounded(0.0, 4.0), Quantile(), Asymptotic()])
def test_any_method_refutes_what_is_3_percent_off_and_doubts_what_is_not_finite(
    method: Method,
) -> None:
    def draw(rng: Any, replicates: int) -> Any:
        return 2 * rng.random(replicates)

    right = Trial(draw, 1, 1, Fraction(1, 3), {"2": 2}, method=method)
    planned = replace(task("he"), tolerance=0.01)
    assert measure_trial(planned, right).verdict is Verdict.VERIFIED
    for wrong in (1.03, 1 / 1.03):
        found = measure_trial(planned, replace(right, claimed=exact(Fraction(wrong))))
        assert found.verdict is Verdict.REFUTED

    def overflown(rng: Any, replicates: int) -> Any:
        return np.float16(65504) * (1 + draw(rng, replicates)).astype(np.float16)

    found = measure_trial(planned, replace(right, draw=overflown))
    assert found.verdict is Verdict.UNDECIDED and found.why and found.interval == method.kind


def test_two_experiments_on_one_quantity_are_refused() -> None:
    with pytest.raises(ValueError, match="two experiments measure"):
        experiment(law="lecun", quantity="E[y^2]/E[x^2]", weights=("normal",))(lambda case: None)  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize("law", ["lecun", "he", "xavier"])
def test_a_layer_of_width_512_is_within_the_default_budget(law: str) -> None:
    for planned in plan([law], Settings(overrides={"m": 512})):
        trial = replace(prepared(planned)[0], draw=nothing)  # so that it stops at the first batch
        assert "usable number" in measure_trial(planned, trial).why


def test_layer_norm_at_other_widths() -> None:
    (planned,) = plan(["post-norm-layernorm"], replace(QUICK, overrides={"d": 32}))
    assert measure(planned).verdict is Verdict.VERIFIED
