"""abc-parametrisations against the theorems of Tensor Programs IV and published tables."""

import itertools
import random
import re

import pytest
from sympy import Integer, Rational, oo

from varlaw.symbolic.parametrisation.layers import Exponents, Kind, ParametrisationError
from varlaw.symbolic.parametrisation.named import NAMED, parametrisation
from varlaw.symbolic.parametrisation.regime import DepthRegime, Regime
from varlaw.symbolic.parametrisation.sizes import DEPTH, WIDTH
from varlaw.symbolic.parametrisation.table import table

HALF = Rational(1, 2)
NAMES = [
    (name, optimizer)
    for name, optimizer in itertools.product(NAMED, ("sgd", "adam", "sign"))
    if optimizer in NAMED[name].optimizers
]


def abc(p, *kinds):
    return [(p.layers[k].width.a, p.layers[k].width.b, p.layers[k].width.c) for k in kinds]


def theorem(layers, c):
    """Yang and Hu 2021, definition 3.2 and theorems 3.3, 3.4, for one rate n^-c, as printed."""
    (a1, b1), (a2, b2), (a3, b3) = layers
    if a1 + b1 != 0 or a2 + b2 != HALF or a3 + b3 < HALF:
        return None, Regime.UNSTABLE
    r = min(a3 + b3, 2 * a3 + c) + c - 1 + min(2 * a1 + 1, 2 * a2)
    if r < 0 or 2 * a3 + c < 1 or a3 + b3 + r < 1:
        return r, Regime.UNSTABLE
    if 2 * a3 + c > 1 and a3 + b3 + r > 1:
        return r, Regime.TRIVIAL
    return r, Regime.FEATURES if r == 0 else Regime.LAZY


def drawn(rng):
    """Exponents on the grid of halves, stable at the start in three cases of four."""
    a = [Rational(rng.randint(-2, 3), 2) for _ in range(3)]
    b = [-a[0], HALF - a[1], rng.choice((HALF, 1, Rational(3, 2))) - a[2]]
    if rng.random() < 0.25:
        b[rng.randrange(3)] += rng.choice((-HALF, HALF))
    return list(zip(a, b, strict=True)), Rational(rng.randint(-3, 4), 2)


def test_the_regime_is_that_of_the_theorem():
    rng, seen = random.Random(0), set()
    for _ in range(150):
        layers, c = drawn(rng)
        given = dict(zip(("input", "hidden", "output"), layers, strict=True))
        p = parametrisation(optimizer="sgd", **{k: (*ab, c) for k, ab in given.items()})
        r, regime = theorem(layers, c)
        assert p.analysis.regime is regime, (layers, c, p.analysis.reasons)
        if r is not None:
            assert p.analysis.r == r
        seen.add(regime)
    assert seen == set(Regime)


@pytest.mark.parametrize(
    ("name", "optimizer", "regime", "r"),
    [
        ("sp", "sgd", Regime.UNSTABLE, -1),
        ("sp", "adam", Regime.UNSTABLE, -1),
        ("sp-stable", "sgd", Regime.LAZY, HALF),
        ("sp-stable", "adam", Regime.LAZY, HALF),
        ("ntp", "sgd", Regime.LAZY, HALF),
        ("ntp", "adam", Regime.LAZY, HALF),
        ("mean-field", "sgd", Regime.FEATURES, 0),
        ("mup", "sgd", Regime.FEATURES, 0),
        ("mup", "adam", Regime.FEATURES, 0),
        ("u-mup", "adam", Regime.FEATURES, 0),
    ],
)
def test_what_is_known_of_named_ones(name, optimizer, regime, r):
    """Yang and Hu 2021, table 1 and section 3."""
    found = parametrisation(name, optimizer).analysis
    assert (found.regime, found.r) == (regime, r)


def test_standard_outputs_blow_up():
    found = parametrisation("sp", "sgd").analysis
    assert found.logits == 0 and found.logits_move > 0
    assert any(reason.startswith("output") for reason in found.reasons)


TABLES = [
    # Yang and Hu 2021, table 1: one rate for all layers.
    ("mup", "sgd", "rate", [(-HALF, HALF, 0), (0, HALF, 0), (HALF, HALF, 0)]),
    ("ntp", "sgd", "rate", [(0, 0, 0), (HALF, 0, 0), (HALF, 0, 0)]),
    ("sp-stable", "sgd", "multiplier", [(0, 0, 1), (0, HALF, 1), (0, HALF, 1)]),
    # Yang et al. 2022, table 8 (output multiplier) and table 3 (no multipliers).
    ("mup", "adam", "std", [(0, 0, 0), (HALF, 0, HALF), (1, 0, 0)]),
    ("mup", "adam", "multiplier", [(0, 0, 0), (0, HALF, 1), (0, 1, 1)]),
    ("mup", "sgd", "multiplier", [(0, 0, -1), (0, HALF, 0), (0, 1, 1)]),
    # Blake et al. 2024, table 2.
    ("u-mup", "adam", "std", [(0, 0, HALF), (HALF, 0, HALF), (1, 0, 0)]),
]


@pytest.mark.parametrize(("name", "optimizer", "form", "expected"), TABLES)
def test_published_tables(name, optimizer, form, expected):
    assert abc(parametrisation(name, optimizer).form(form), "input", "hidden", "output") == expected


def test_table_9_of_tensor_programs_v():
    """The form with SGD's rates equal has under Adam the rates 1/sqrt(n), 1/n, 1/sqrt(n)."""
    weights = parametrisation("mup", "sgd").form("rate").layers
    adam = parametrisation("mup", "adam")
    for kind, c in (("input", HALF), ("hidden", 1), ("output", HALF)):
        theta = weights[kind].width.a - adam.layers[kind].width.a
        assert adam.shift(kind, theta).layers[kind].width == Exponents(
            weights[kind].width.a, weights[kind].width.b, Rational(c)
        )


def test_mean_field_is_mup_without_hidden_matrices():
    two = {k: v for k, v in parametrisation("mup", "sgd").layers.items() if k != "hidden"}
    assert parametrisation("mean-field", "sgd").layers == two


@pytest.mark.parametrize(("name", "optimizer"), NAMES)
@pytest.mark.parametrize("form", ["multiplier", "std", "rate"])
def test_forms_are_the_same_parametrisation(name, optimizer, form):
    p = parametrisation(name, optimizer)
    found = p.form(form)
    assert p.thetas(found) is not None
    for layer in found.layers.values():
        for at in (layer.width, layer.depth):
            value = {"multiplier": at.a, "std": at.b, "rate": at.c}[form]
            assert value == 0 or (form == "std" and value is oo)
    ours, theirs = p.analysis, found.analysis
    assert (ours.first, ours.updates, ours.regime) == (theirs.first, theirs.updates, theirs.regime)
    assert (ours.logits, ours.logits_move) == (theirs.logits, theirs.logits_move)
    if ours.depth is not None:
        deep = [(s.quantity, s.exponent) for s in ours.depth.sizes]
        assert deep == [(s.quantity, s.exponent) for s in theirs.depth.sizes]


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_any_shift_leaves_what_is_derived(optimizer):
    rng = random.Random(1)
    given = {"input": (0, 0, 0), "hidden": (0, "1/2", "1/3", 0, "1/4", 1), "output": ("1/3", 1, 1)}
    p = found = parametrisation(optimizer=optimizer, branch="1/2", **given)
    for kind in given:
        width, depth = (Rational(rng.randint(-9, 9), 7) for _ in range(2))
        found = found.shift(kind, width, depth if kind == "hidden" else Integer(0))
    assert found.layers != p.layers and p.thetas(found) is not None
    ours, theirs = p.analysis, found.analysis
    assert (ours.updates, ours.reasons) == (theirs.updates, theirs.reasons)
    assert ours.depth.reasons == theirs.depth.reasons


def test_another_shift_is_another_parametrisation():
    sgd = parametrisation("mup", "sgd")
    a, b, c = abc(sgd, "hidden")[0]
    as_if_adam = (a + HALF, b - HALF, c - HALF)
    assert sgd.thetas(parametrisation("mup", "sgd", hidden=as_if_adam)) is None
    assert sgd.thetas(sgd.shift("hidden", HALF))[Kind.HIDDEN] == (HALF, 0)
    assert sgd.thetas(parametrisation("mup", "adam")) is None


def test_standard_and_ntk_are_one_class_with_their_largest_rates():
    """Everett et al. 2024, section 2: two classes of the four, by a + b of the readout."""
    for optimizer in ("sgd", "adam"):
        standard = parametrisation("sp", optimizer).stable_rates()
        assert standard.thetas(parametrisation("ntp", optimizer)) is not None
        assert standard.thetas(parametrisation("mup", optimizer)) is None


@pytest.mark.parametrize(("name", "optimizer"), NAMES)
def test_largest_rates_are_stable_and_larger_ones_are_not(name, optimizer):
    p = parametrisation(name, optimizer).stable_rates()
    assert p.analysis.regime in (Regime.FEATURES, Regime.LAZY)
    for kind in p.layers:
        a, b, c = abc(p, kind)[0]
        others = {k: abc(p, k)[0] for k in p.layers if k != kind}
        faster = parametrisation(name, optimizer, **others, **{kind: (a, b, c - Rational(1, 4))})
        assert faster.analysis.regime is Regime.UNSTABLE


def test_depth():
    """Yang et al. 2023, table 1 (branches 1/sqrt(L), Adam's rate 1/sqrt(L)); Dey et al. 2025."""
    for optimizer, rate in (("adam", HALF), ("sgd", 0)):
        p = parametrisation("depth-mup", optimizer)
        assert (p.branch, p.layers["hidden"].depth.c) == (HALF, rate)
        assert p.analysis.depth.regime is DepthRegime.LINEAR
    p = parametrisation("completep")
    assert (p.branch, p.layers["hidden"].depth.c) == (1, 0)
    assert p.analysis.depth.regime is DepthRegime.BLOCKS
    assert parametrisation("sp", residual=True).analysis.depth.regime is DepthRegime.UNSTABLE


@pytest.mark.parametrize("optimizer", ["adam", "sign"])
def test_unit_scaled_is_depth_mup_shifted_but_for_the_input(optimizer):
    """Derived: a shift by 1/2 of hidden matrices, none of the readout; no shift of the input."""
    unit, deep = (parametrisation(name, optimizer) for name in ("u-mup", "depth-mup"))
    shifted = deep.shift("hidden", HALF)
    for kind in ("hidden", "output", "bias", "gain"):
        assert unit.layers[kind] == shifted.layers[kind]
    assert unit.branch == deep.branch and unit.thetas(deep) is None
    own = Exponents(unit.layers["input"].width.a, unit.layers["input"].width.b)
    assert own == deep.layers["input"].width  # all but the rate, which is below the largest
    assert unit.analysis.updates[Kind.INPUT] == HALF and deep.analysis.updates[Kind.INPUT] == 0


def published_rate(kind, fan_in, depth):
    """unit_scaling/optim.py, lr_scale_func_adam: the "fan-in" of an embedding is its width."""
    scale = {"bias": 1, "gain": 1, "output": 1}.get(kind, fan_in**-HALF)
    return scale * depth**-HALF if kind in ("hidden", "bias", "gain") else scale


def test_rates_of_the_unit_scaled_code():
    n, depth = Integer(1024), Integer(9)
    for row in table(parametrisation("u-mup")):
        if row.kind is not Kind.INPUT:  # its fan-in, the number of inputs, is fixed in the code
            rate = row.rate.xreplace({WIDTH: n, DEPTH: depth})
            assert rate == published_rate(str(row.kind), n, depth)


@pytest.mark.parametrize("optimizer", ["adam", "sign"])
def test_the_branch_at_which_every_block_learns(optimizer):
    """Of branches L^-s with the largest stable rates s = 1 alone (Dey et al. 2025, CompleteP)."""
    found = {}
    for s in (HALF, Rational(3, 4), Integer(1), Rational(5, 4), Rational(3, 2)):
        deep = parametrisation("mup", optimizer, branch=s)
        found[s] = deep.analysis.depth.regime
        assert deep.layers["hidden"].depth.c == 1 - s  # table 1: m_L^(alpha - 1)
    assert [s for s, regime in found.items() if regime is DepthRegime.BLOCKS] == [1]
    assert {found[HALF], found[Rational(3, 4)]} == {DepthRegime.LINEAR}
    assert {found[Rational(5, 4)], found[Rational(3, 2)]} == {DepthRegime.UNSTABLE}


def test_a_scaled_initialisation_keeps_the_stream_but_not_the_steps():
    """GPT-2's std/sqrt(L): the stream starts well, and Adam's rate has to fall like 1/L."""
    scaled = (0, HALF, 1, 0, HALF, 0)
    found = parametrisation("mup", "adam", hidden=scaled).analysis.depth
    assert found.sizes[0].exponent == 0
    assert found.regime is DepthRegime.UNSTABLE
    assert parametrisation("mup", hidden=scaled).stable_rates().layers["hidden"].depth.c == 1


def test_a_readout_that_starts_at_zero():
    """Its gradient is 0 at first, and that of its own step later: the features learn as before."""
    found = parametrisation("mup", "sgd", output=(1, "zero", -1)).analysis
    assert found.first[Kind.HIDDEN] is oo and found.updates[Kind.HIDDEN] == 0
    assert found.regime is Regime.FEATURES and found.logits == -oo


@pytest.mark.parametrize(
    ("law", "name", "optimizer", "kind"),
    [
        ("sp-sgd-hidden", "sp", "sgd", "hidden"),
        ("sp-sgd-lazy", "sp-stable", "sgd", "hidden"),
        ("sp-adam-hidden", "sp", "adam", "hidden"),
        ("ntp-sgd-hidden", "ntp", "sgd", "hidden"),
        ("mean-field-sgd-hidden", "mean-field", "sgd", "input"),
        ("mup-sgd-hidden", "mup", "sgd", "hidden"),
        ("mup-sgd-input", "mup", "sgd", "input"),
        ("mup-adam-hidden", "mup", "adam", "hidden"),
    ],
)
def test_the_catalogue_says_the_same(law, name, optimizer, kind):
    """The laws of the catalogue, proved step by step, on the first step of a layer."""
    from varlaw.derivations.catalogue import find

    assert find(law).statement.rhs == -parametrisation(name, optimizer).analysis.first[kind]


def test_a_broken_parametrisation_says_why():
    found = parametrisation("mup", hidden=(0, 0, 1)).analysis
    assert found.regime is Regime.UNSTABLE
    assert found.reasons == ("hidden: pre-activations at the start grow, n^(1/2)",)
    slow = parametrisation("mup", output=(1, 0, 1), hidden=(0, HALF, 2), input=(0, 0, 1))
    assert slow.analysis.updates[Kind.HIDDEN] == Integer(1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "mupp"}, "unknown parametrisation 'mupp'; did you mean 'mup'?"),
        ({"name": "mup", "optimizer": "adan"}, "unknown optimizer 'adan'; did you mean 'adam'?"),
        ({"name": "mup", "hiden": (0, 0, 0)}, "unknown layer 'hiden'; did you mean 'hidden'?"),
        ({"name": "u-mup", "optimizer": "sgd"}, "stated for adam and sign only"),
        ({"input": (0, 0, 0)}, "needs the layer output"),
        ({"name": "mup", "hidden": (0, 0)}, "three exponents or six, not 2"),
        ({"name": "mup", "hidden": ("x", 0, 0)}, "a rational number, not x"),
        ({"name": "mup", "hidden": ("zero", 0, 0)}, "the exponent a = oo"),
        ({"name": "mup", "hidden": ("1/", 0, 0)}, "an exponent is a rational number: "),
        ({"name": "mup", "output": (0, 0, 0, 0, 1, 0)}, "output is in no residual block"),
        ({"name": "mean-field", "branch": "1/2"}, "no hidden layer"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(ParametrisationError, match=re.escape(message)):
        parametrisation(**arguments)


def test_a_notebook_shows_the_table():
    shown = parametrisation("depth-mup")._repr_latex_()
    assert shown.startswith(r"$\begin{array}{llll}")
    assert r"\text{hidden} & 1 & \frac{1}{\sqrt{n}} & \frac{1}{\sqrt{L} n} \\" in shown
    assert r"\text{branch} & \frac{1}{\sqrt{L}}" in shown
