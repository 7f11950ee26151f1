"""Steps on a circle, and maps carried over layers: the right ones pass, forged ones do not."""

from dataclasses import replace

import mpmath
import pytest
from sympy import Integer, Rational, Symbol, cos, sin

from varlaw.checks.report import Proof
from varlaw.checks.steps.proofs import prove_step
from varlaw.derivations.activation_outputs import gelu_layers
from varlaw.derivations.catalogue import find
from varlaw.symbolic.arrays import arrays_in
from varlaw.symbolic.derivation import RuleError, derive, relation
from varlaw.symbolic.digits import Digits
from varlaw.symbolic.sequences import Term

x, y = (Symbol(name, real=True) for name in "xy")
t = Symbol("t", integer=True, nonnegative=True)
Q = Term("q", t)


def step_of(law, rule):
    return next(s for s in find(law).derivation.steps if s.rule == rule)


def verdict(step):
    return prove_step(step, arrays_in(step.before))[0]


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (sin(x) ** 2 + cos(x) ** 2, Integer(1)),
        (sin(x) ** 4 - cos(x) ** 4, 1 - 2 * cos(x) ** 2),
        (2 * sin(x) ** 2 + sin(y) ** 2 + cos(y) ** 2, 3 - 2 * cos(x) ** 2),
    ],
)
def test_sines_and_cosines(start, end):
    step = derive(start).by("circle").steps[-1]
    assert step.after == end and verdict(step) is Proof.PROVED
    for wrong in (end + 1, end * Rational(21, 20), end + cos(x) * sin(x)):
        assert verdict(replace(step, after=wrong)) is Proof.REFUTED


def doubled(q):
    """2 E[gelu(z)^2] for z ~ N(0, q), by quadrature."""
    root = mpmath.sqrt(q)
    density = lambda u: mpmath.npdf(u) * (root * u * mpmath.ncdf(root * u)) ** 2  # noqa: E731
    return 2 * mpmath.quad(density, [-12, -4, 0, 4, 12])


def carried(layers):
    """The variance after some layers, from 1."""
    with mpmath.workdps(25):
        q = mpmath.mpf(1)
        for _ in range(layers):
            q = doubled(q)
        return float(q)


def test_the_variance_after_some_layers_of_gelu():
    assert float(find("gelu-sqrt2-layer").derivation.end) == pytest.approx(carried(1), rel=1e-14)
    assert float(gelu_layers(8).end) == pytest.approx(carried(8), rel=1e-13)
    assert float(find("gelu-sqrt2-depth").derivation.end) == pytest.approx(7.789e-9, rel=1e-4)


def test_forged_maps():
    step = step_of("gelu-sqrt2-depth", "march")
    head = step.after.lhs
    assert verdict(step) is Proof.PROVED
    forged = [
        replace(step, after=relation(head, Digits("0.0000000077890315"), "=")),
        replace(step, after=relation(head, Rational(7, 10**9), "=")),
        replace(step, after=relation(Q.xreplace({t: Integer(31)}), step.after.rhs, "=")),
        replace(step, certificate={**step.certificate, "steps": 31}),
        replace(step, certificate={**step.certificate, "initial": Rational(99, 100)}),
        replace(step, before=relation(step.before.lhs, step.before.rhs * Rational(21, 20), "=")),
    ]
    assert {verdict(wrong) for wrong in forged} == {Proof.REFUTED}


def test_a_map_with_parameters_is_refused():
    chain = derive(Q / 2 + x).by("equal", to=Term("q", t + 1))
    with pytest.raises(RuleError, match="holds more than"):
        chain.by("march", previous=Q, index=t, steps=2, initial=Integer(1))
