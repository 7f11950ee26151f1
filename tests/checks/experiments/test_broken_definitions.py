"""A factor of 21/20 deep inside the definition of a law turns its verdict."""

import sys
from collections.abc import Sequence

import pytest
from planned import task
from sympy import Basic, Rational

from varlaw.checks.experiments.run import measure
from varlaw.checks.statistics.verdicts import Verdict
from varlaw.derivations import catalogue
from varlaw.symbolic.derivation import Derivation, derive

BROKEN = {  # where in the definition, and what is measured there
    ("post-norm-identity-path", "weight of F_1"): (2, 1, 0),
    ("tat-orthogonal", "C(0)"): (1,),
    ("normformer-heads", "E[y^2]"): (0, 0, 2),
    ("nngp-relu", "E[relu(z) relu(z_2)], near"): (0, 1, 0, 2, 0, 0, 1),  # t^2 in what norms z_2
    ("nngp-relu-slope", "P(z > 0, z_2 > 0), opposite"): (0, 0, 0, 1, 0),  # the part along z
    ("sigmoid-backward", "E[sigmoid'(z)^2] to 0.1 %"): (0, 1, 0),  # the exponent above the line
    ("edm-skip", "E[x y]/E[y^2]"): (0, 0, 0, 2, 0),  # the noise
    ("alpha-dropout", "Var(x b + k (1 - b))"): (0, 0, 0),
    ("maxout", "E[max(z_1, z_2, z_3)^2]"): (1, 0, 1, 0, 1),  # in the chance to be the largest
    ("nngp-erf", "E[erf(z) erf(z_2)], near"): (0, 1, 0, 2, 0, 0, 1),
    ("random-fourier-features", "E[cos cos + sin sin] to 0.1 %"): (0, 0, 1, 0, 2, 0, 0, 1),
    ("glu-init", "E[(sigmoid(z) b)^2]"): (0, 1, 0, 0),  # the gate's pre-activation
    ("uniform-interval", "Var(w)"): (0, 1, 0, 1),  # a in the centre
    ("admin-recursion", "weight of F_1"): (2, 1, 1),  # the branch in the sum
    ("head-bert", "by quadrature"): (2, 0, 2, 1, 3, 0, 0, 0),  # the 2 in erf(sqrt(2))
    ("gain-sigmoid", "g^2 (E[sigmoid(z)^2] - 1/4)"): (1, 0, 0, 0),
    ("nngp-erf", "E[erf(z) erf(z_2)], saturated"): (0, 1, 0, 2, 1, 1),
    ("xavier", "mean of forward and backward gain, narrowing"): (0, 0),
    ("ntk-two-layer", "E[Theta(x, y)]"): (0, 1),  # the hidden layer's part
    ("adam-first-step", "step sign(g)"): (1, 0, 0, 0, 1),  # b_2 in the correction
    ("norm-biased-variance", "E[S]"): (0, 0),  # the squared mean
    ("norm-epsilon-outside", "mean of y^2"): (0, 0, 2, 1, 0),  # the mean taken off
    ("norm-moment", "mean of y^2"): (0, 0, 2, 1, 2, 0),
    ("norm-unbiased-divisor", "mean of y^2"): (1, 0, 0, 2, 1, 0),
    ("scale-invariant-rate", "slope at c w over slope at w"): (2, 0),
    ("truncated-normal", "by quadrature, to 10^-6"): (0, 0, 0, 0, 0, 1),  # z in the event
    ("truncated-normal-bert", "by quadrature, to 10^-6"): (1, 0, 2, 1, 3, 0, 0, 0),
    ("truncated-normal-bounds", "by quadrature, to 10^-6"): (0, 1, 0, 2, 2, 0, 1, 0, 2, 0),
    ("truncated-normal-pytorch", "by quadrature, to 10^-6"): (0, 0, 0, 0, 0, 0),
    ("nngp-erf-slope", "E[erf'(z) erf'(z_2)], near"): (0, 3, 0, 1, 0, 2, 0, 1),
}


def with_factor(e: Basic, path: Sequence[int]) -> Basic:
    """The expression with a factor at one of its parts."""
    if not path:
        return Rational(21, 20) * e
    parts = list(e.args)
    parts[path[0]] = with_factor(parts[path[0]], path[1:])
    return e.func(*parts)


@pytest.mark.parametrize(("name", "quantity"), BROKEN)
def test_a_factor_in_the_definition_is_refuted(
    name: str, quantity: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    law = catalogue.find(name)
    planned = task(name, quantity=quantity, tolerance=0.01)
    assert measure(planned).verdict is Verdict.VERIFIED

    def broken(start: Basic) -> Derivation:
        return derive(with_factor(start, BROKEN[name, quantity]))

    monkeypatch.setattr(sys.modules[law.build.__module__], "derive", broken)
    found = measure(planned, catalogue.Law(law.entry, law.build))
    assert found.verdict is Verdict.REFUTED
