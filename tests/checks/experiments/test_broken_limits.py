"""Limit laws with a wrong constant, and with a wrong order, are refuted."""

import sys
from collections.abc import Callable

import pytest
from sympy import Expr, Rational, Symbol, log, sqrt
from tampered import Tampered

from varlaw.checks.experiments.run import Settings, measure, plan
from varlaw.checks.report import Proof
from varlaw.checks.statistics.limits import recedes
from varlaw.checks.statistics.verdicts import Interval, Verdict
from varlaw.checks.steps.proofs import prove_law
from varlaw.derivations import catalogue
from varlaw.symbolic.derivation import Derivation, derive, sign_of

VARIABLES = {  # what tends to infinity, or to 0
    "attention-correlated-growth": "d",
    "depth-he-drift": "n",
    "iid-edge": "n",
    "loss-delta": "K",
    "post-norm-layernorm": "d",
    "pre-norm-std": "l",
    "rotation-rate": "lambda",
    "scale-invariant-equilibrium": "lambda",
    "softmax-entropy": "n",
    "softmax-participation": "n",
    "sub-ln": "N",
    "tanh-decay": "l",
    "tanh-small": "q",
    "unnormalised-scaled": "L",
}
LATER = {"iid-edge", "rotation-rate", "unnormalised-scaled"}  # begin where another law ends
EQUIVALENT = [
    "attention-correlated-growth",
    "pre-norm-std",
    "rotation-rate",
    "scale-invariant-equilibrium",
    "sub-ln",
    "tanh-decay",
]
HALF = Rational(1, 2)
FINE = Settings(tolerance=0.01, error_rate=1e-3)


def test_these_are_the_limit_laws() -> None:
    limits = {n for n in catalogue.names() if sign_of(catalogue.find(n).statement) in ("->", "~")}
    assert limits == set(VARIABLES)


def variable(name: str) -> Symbol:
    derivation = catalogue.find(name).derivation
    states = [derivation.start, *(part for s in derivation.steps for part in (s.before, s.after))]
    known = {symbol for state in states for symbol in state.free_symbols}
    return next(symbol for symbol in known if symbol.name == VARIABLES[name])


def refuted(name: str, law: catalogue.Law) -> bool:
    """Whether some measurement of the law refutes it."""
    return any(measure(task, law).verdict is Verdict.REFUTED for task in plan([name], FINE))


@pytest.mark.parametrize("name", VARIABLES)
def test_a_wrong_constant_is_measured(name: str) -> None:
    assert refuted(name, Tampered(name, Rational(21, 20)))


@pytest.mark.parametrize("power", [HALF, -HALF])
@pytest.mark.parametrize("name", EQUIVALENT)
def test_a_wrong_order_is_measured(name: str, power: Rational) -> None:
    assert refuted(name, Tampered(name, variable(name) ** power))


@pytest.mark.parametrize(
    ("name", "factor"),
    [
        ("attention-correlated-growth", log),
        ("loss-delta", lambda K: 1 / K),
        ("scale-invariant-equilibrium", log),
    ],
)
def test_orders_that_are_far_off(name: str, factor: Callable[[Symbol], Expr]) -> None:
    """A logarithm; and a limit so small that to measure it finely is over the budget."""
    assert refuted(name, Tampered(name, factor(variable(name))))


def with_factor(name: str, factor: Expr, patch: pytest.MonkeyPatch) -> catalogue.Law:
    """The law with a factor in front of its definition."""
    law = catalogue.find(name)

    def build() -> Derivation:
        with patch.context() as within:
            within.setattr(
                sys.modules[law.build.__module__], "derive", lambda start: derive(factor * start)
            )
            return law.build()

    return catalogue.Law(law.entry, build)


@pytest.mark.parametrize("factor", ["constant", "faster", "slower"])
@pytest.mark.parametrize("name", sorted(VARIABLES.keys() - LATER))
def test_a_factor_in_the_definition(
    name: str, factor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The constant and the order: the chain is refuted, or what it then ends in."""
    root = sqrt(variable(name))
    factors = {"constant": Rational(21, 20), "faster": root, "slower": 1 / root}
    law = with_factor(name, factors[factor], monkeypatch)
    steps, stopped = prove_law(law.build)
    if stopped:
        assert steps[-1].outcome is Proof.REFUTED, stopped
    else:
        assert refuted(name, law)


def test_values_that_go_away_from_their_limit() -> None:
    def at(*centres: float) -> list[Interval]:
        return [Interval(c - 0.1, c + 0.1, "proved", 9) for c in centres]

    assert recedes(at(2, 3, 4), 1.0) and recedes(at(0, -1, -2), 1.0)
    assert not recedes(at(4, 3, 2), 1.0)
    assert not recedes(at(2, 3, 2.9), 1.0)
    assert not recedes(at(1.0, 1.05, 1.1), 1.0)
