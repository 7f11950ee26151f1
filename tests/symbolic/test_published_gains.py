"""Published constants against independent values: how many digits are right, and of what.

The values are mpmath quadratures of the definitions, split at the kinks, at 40 digits.
"""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from sympy import Symbol

from varlaw.symbolic.activations import celu, elu, sigmoid
from varlaw.symbolic.gains.gain import gain
from varlaw.symbolic.gains.published import (
    Published,
    compared,
    published,
    published_for,
    quantity,
    right_digits,
)

VALUES = {
    ("1/sqrt(E[f'^2])", "gelu(4*x)/4"): "1.399288346890446868332255",
    ("1/sqrt(E[f'^2])", "gelu(x)"): "1.481114412708348196612847",
    ("1/sqrt(E[f'^2])", "silu(x)"): "1.623320257952497316979902",
    ("1/sqrt(E[f'^2])", "silu(x, 4)"): "1.40819028277833453051458",
    ("1/sqrt(E[f^2])", "elu(x)"): "1.245198300700706550286952",
    ("1/sqrt(E[f^2])", "gelu(x)"): "1.533530441195535233767746",
    ("1/sqrt(E[f^2])", "leaky_relu(x, 0.6291800290346146)"): "1.196996549778801982816476",
    ("1/sqrt(E[f^2])", "leaky_relu(x, 1/100)"): "1.414142856997835349876536",
    ("1/sqrt(E[f^2])", "mish(x)"): "1.486847581273208102007613",
    ("1/sqrt(E[f^2])", "relu(x)"): "1.414213562373095048801689",
    ("1/sqrt(E[f^2])", "relu_k(x, 2)"): "0.816496580927726032732428",
    ("1/sqrt(E[f^2])", "relu_k(x, 3)"): "0.3651483716701107423046465",
    ("1/sqrt(E[f^2])", "selu(x)"): "1.0",
    ("1/sqrt(E[f^2])", "sigmoid(x)"): "1.846228545338605412960881",
    ("1/sqrt(E[f^2])", "silu(x)"): "1.676532470331091158604258",
    ("1/sqrt(E[f^2])", "silu(x, 4)"): "1.43508375900424065354824",
    ("1/sqrt(E[f^2])", "softplus(x)"): "1.041866835535301708043961",
    ("1/sqrt(E[f^2])", "tanh(x)"): "1.592537419722831427770439",
    ("1/sqrt(E[f^2])", "x"): "1.0",
    ("1/sqrt(Var[f])", "-softplus(-x)"): "1.91912598010765640353012",
    ("1/sqrt(Var[f])", "4*gelu(x/4)"): "1.932899809664116485757123",
    ("1/sqrt(Var[f])", "celu(x)"): "1.270843417850196476148518",
    ("1/sqrt(Var[f])", "elu(x)"): "1.270843417850196476148518",
    ("1/sqrt(Var[f])", "gelu(x)"): "1.700926243363333119468658",
    ("1/sqrt(Var[f])", "gelu_tanh(x)"): "1.700916561695450384507855",
    ("1/sqrt(Var[f])", "leaky_relu(x, 1/100)"): "1.704831627177336651514335",
    ("1/sqrt(Var[f])", "leaky_relu(x, 1/5)"): "1.546460060360872506556916",
    ("1/sqrt(Var[f])", "relu(x)"): "1.712858550449662705587859",
    ("1/sqrt(Var[f])", "relu6(x)"): "1.712858554972395263611029",
    ("1/sqrt(Var[f])", "selu(x)"): "1.0",
    ("1/sqrt(Var[f])", "sigmoid(x)"): "4.801313372039962181518641",
    ("1/sqrt(Var[f])", "silu(x)"): "1.787187222100441982034138",
    ("1/sqrt(Var[f])", "softplus(x)"): "1.91912598010765640353012",
    ("1/sqrt(Var[f])", "softsign(x)"): "2.337533363108539659856224",
    ("1/sqrt(Var[f])", "tanh(x)"): "1.592537419722831427770439",
    ("1/sqrt(Var[f])", "x"): "1.0",
    ("E[f]", "elu(x)"): "0.1605205722665560496217899",
    ("E[f]", "gelu(sqrt(10)*x)"): "1.202856233727551634029043",
    ("E[f]", "gelu(x)"): "0.2820947917738781434740397",
    ("E[f]", "mish(x)"): "0.2404038883747914437131221",
    ("E[f]", "relu(x)"): "0.3989422804014326779399461",
    ("E[f]", "relu_k(x, 2)"): "0.5",
    ("E[f]", "relu_k(x, 3)"): "0.7978845608028653558798921",
    ("E[f]", "selu(x)"): "0",
    ("E[f]", "sigmoid(x)"): "0.5",
    ("E[f]", "silu(x)"): "0.2066209641419070372623508",
    ("E[f]", "softplus(x)"): "0.8060591833474397845282288",
    ("E[f]", "tanh(x)"): "0",
    ("E[f^2]", "elu(x)"): "0.6449454174929238630634614",
    ("E[f^2]", "gelu(x)"): "0.4252214825702986749185544",
    ("E[f^2]", "mish(x)"): "0.45234219237588277068204",
    ("E[f^2]", "relu(x)"): "0.5",
    ("E[f^2]", "relu_k(x, 2)"): "1.5",
    ("E[f^2]", "relu_k(x, 3)"): "7.5",
    ("E[f^2]", "selu(x)"): "1.0",
    ("E[f^2]", "sigmoid(x)"): "0.2933790358580929627376492",
    ("E[f^2]", "silu(x)"): "0.3557755198173521562307943",
    ("E[f^2]", "softplus(x)"): "0.9212459088593002786772487",
    ("E[f^2]", "tanh(x)"): "0.3942944903978411744164598",
    ("Var[f]", "gelu(x)"): "0.3456440110243510070341125",
    ("chi, E[f^2]=1", "elu(x)"): "0.8981495165946680903274983",
    ("chi, E[f^2]=1", "gelu(x)"): "1.083592644236668817323834",
    ("chi, E[f^2]=1", "mish(x)"): "1.05161024017684795013783",
    ("chi, E[f^2]=1", "relu(x)"): "1.0",
    ("chi, E[f^2]=1", "relu_k(x, 2)"): "2.0",
    ("chi, E[f^2]=1", "relu_k(x, 3)"): "3.0",
    ("chi, E[f^2]=1", "selu(x)"): "0.7826478831968128472282627",
    ("chi, E[f^2]=1", "silu(x)"): "1.14680731386471013668707",
    ("chi, E[f^2]=1", "softplus(x)"): "0.5352897507823295673947151",
    ("chi, Var[f]=1/2", "tanh(x)"): "0.3585277335082945775952601",
    ("chi, Var[f]=1/8", "sigmoid(x)"): "0.3585277335082945775952601",
    ("sigma, E[f^2]=1", "elu(x)"): "1.277960075404714763939606",
    ("sigma, E[f^2]=1", "gelu(x)"): "1.46801126054679324287773",
    ("sigma, E[f^2]=1", "mish(x)"): "1.451491239960346601674014",
    ("sigma, E[f^2]=1", "relu(x)"): "1.414213562373095048801689",
    ("sigma, E[f^2]=1", "relu_k(x, 2)"): "0.9036020036098448319622181",
    ("sigma, E[f^2]=1", "relu_k(x, 3)"): "0.7147537722384089694193631",
    ("sigma, E[f^2]=1", "selu(x)"): "1.0",
    ("sigma, E[f^2]=1", "silu(x)"): "1.558759930069491827493184",
    ("sigma, E[f^2]=1", "softplus(x)"): "1.083121881507613281285008",
    ("sqrt(E[f^2])", "silu(x)"): "0.5964692111227134884047986",
}  # Klambauer et al. (2017), appendix: the constants of SELU, to 32 digits.
SELU = {
    "alpha": "1.6732632423543772848170429916717",
    "lambda": "1.0507009873554804934193349852946",
}

# Significant digits that are right, where these are not all that is printed.
FEWER = {
    ("NFNet, timm", "celu"): 4,
    ("NFNet, timm", "elu"): 3,
    ("NFNet, timm", "gelu"): 3,
    ("NFNet, timm", "leaky_relu"): 3,
    ("NFNet, timm", "log_sigmoid"): 4,
    ("NFNet, timm", "relu"): 3,
    ("NFNet, timm", "relu6"): 4,
    ("NFNet, timm", "selu"): 3,
    ("NFNet, timm", "sigmoid"): 3,
    ("NFNet, timm", "silu"): 3,
    ("NFNet, timm", "soft_sign"): 3,
    ("NFNet, timm", "softplus"): 3,
    ("NFNet, timm", "tanh"): 3,
    ("NFNet, timm", "glu"): 3,
    ("unit scaling", "gelu, mult 1/4"): 2,
    ("unit scaling", "gelu"): 1,
    ("unit scaling", "gelu gradient"): 2,
    ("unit scaling", "gelu gradient, mult 4"): 2,
    ("unit scaling", "silu gradient"): 1,
    ("unit scaling", "silu gradient, mult 4"): 2,
    ("unit scaling", "silu_glu"): 2,
    ("unit scaling", "silu_glu, mult 4"): 2,
    ("PyTorch #24991", "sigmoid"): 2,
    ("PyTorch #24991", "tanh"): 2,
    ("PyTorch #24991", "relu"): 2,
    ("PyTorch #24991", "leaky_relu(0.2)"): 3,
    ("PyTorch #24991", "selu"): 4,
    ("PyTorch #24991", "elu"): 3,
}
CLAIMED = [entry for entry in published() if entry.claims]


def label(entry: Published) -> str:
    return f"{entry.publisher} {entry.name} {entry.function}"


def find(library: str, name: str) -> Published:
    return next(e for e in published() if (e.publisher, e.name) == (library, name))


@pytest.mark.parametrize("entry", CLAIMED, ids=label)
def test_every_constant_with_a_claim(entry: Published) -> None:
    found = compared(entry)
    known = SELU.get(entry.claims) or VALUES[entry.claims, entry.function]
    shown = Decimal(found.value or "nan")
    assert abs(shown - Decimal(known)) <= Decimal("1e-14") * abs(shown)
    fewer = FEWER.get((entry.publisher, entry.name))
    assert (found.right == fewer) if fewer else (found.exact or found.right == entry.figures)


def test_the_wrong_ones_are_all_in_the_table() -> None:
    assert set(FEWER) <= {(entry.publisher, entry.name) for entry in CLAIMED}


@pytest.mark.parametrize("name", ["tanh", "sigmoid", "selu"])
def test_some_recommended_gains_meet_none_of_the_definitions(name: str) -> None:
    """5/3 is none of 1.5925, 1.5925 and 1.4674; 3/4 none of 1, 1 and 0.966."""
    found = compared(find("PyTorch", name))
    assert (found.agrees, found.right, found.exact) == ((), None, False)
    assert found.verdict == "none of the three"


@pytest.mark.parametrize("name", ["linear", "relu", "leaky_relu"])
def test_some_recommended_gains_are_exact(name: str) -> None:
    found = compared(find("PyTorch", name))
    assert (found.exact, found.verdict, found.difference) == (True, "exact", 0)
    assert "1/sqrt(E[f^2])" in found.agrees


def test_which_definition_a_constant_agrees_with() -> None:
    assert compared(find("NFNet, timm", "relu")).agrees == ("1/sqrt(Var[f])",)
    assert compared(find("AnyInit", "gelu")).agrees == ("1/sqrt(E[f^2])",)
    assert compared(find("PyTorch", "relu")).agrees == ("1/sqrt(E[f^2])", "1/sqrt(E[f'^2])")


def test_the_errors_of_the_variance_gains_have_one_sign() -> None:
    """All are high, by 0.007 to 0.12 per cent: the same literal cannot be right twice."""
    entries = [e for e in CLAIMED if e.publisher == "NFNet, timm" and e.literal != "1.0"]
    errors = [
        (found.difference or 0) / float(found.value or "nan") for found in map(compared, entries)
    ]
    assert len(errors) == 15
    assert all(6e-5 < error < 1.2e-3 for error in errors)


@pytest.mark.parametrize(
    ("literal", "right", "agrees"),
    [
        ("1.4142136", 8, True),
        ("1.4142135", 7, True),  # truncated: half a unit too far
        ("1.41", 3, True),
        ("1.42", 2, False),
        ("1.7128586", 1, False),  # the variance gain, called the other one
        ("sqrt(2)", 50, True),
        ("sqrt(5)", 0, False),
    ],
)
def test_wrong_literals_are_noticed(literal: str, right: int, agrees: bool) -> None:
    entry = replace(find("AnyInit", "relu"), literal=literal)
    found = compared(entry)
    assert (found.right, "1/sqrt(E[f^2])" in found.agrees) == (right, agrees)
    assert found.exact is (literal == "sqrt(2)")


def test_a_literal_without_a_claim_that_is_right() -> None:
    found = compared(replace(find("PyTorch", "tanh"), literal="1.59253741972283"))
    assert found.agrees == ("1/sqrt(E[f^2])", "1/sqrt(Var[f])")
    assert found.verdict == "= 1/sqrt(E[f^2])"


def test_units_of_the_last_place() -> None:
    found = compared(find("EDM2", "mp_silu"))
    assert found.units == pytest.approx(-0.4692111, rel=1e-6)
    assert found.difference == pytest.approx(-0.0004692111, rel=1e-6)
    assert compared(find("PyTorch", "relu")).units is None


def test_one_function_by_two_names_has_one_value_and_two_literals() -> None:
    x = Symbol("x", real=True)
    for function in (elu(x), celu(x)):
        names = {e.name for e in published_for(function, x) if e.publisher == "NFNet, timm"}
        assert names == {"elu", "celu"}
    values = [quantity("Var[f]", gain(text)) for text in ("softplus(x)", "-softplus(-x)")]
    first, second = (value.digits(40) for value in values)
    assert first and second and first.digits == second.digits
    assert find("NFNet, timm", "softplus").literal != find("NFNet, timm", "log_sigmoid").literal


def test_a_function_that_nobody_publishes() -> None:
    t = Symbol("t", real=True)
    assert published_for(t**5, t) == ()
    assert len(published_for(sigmoid(t), t)) == 8


@pytest.mark.parametrize(
    ("literal", "number", "right"),
    [
        ("1.67", Fraction(5, 3), 3),
        ("1.66", Fraction(5, 3), 2),
        ("1.667", Fraction(5, 3), 4),
        ("2", Fraction(5, 3), 1),
        ("0.02", Fraction("0.0257"), 0),
        ("0.001", Fraction("0.0004"), 0),
        ("1", Fraction(0), 0),
        ("1.00085", Fraction(1), 3),
        ("0.9996", Fraction(1), 4),
    ],
)
def test_right_digits(literal: str, number: Fraction, right: int) -> None:
    figures = len(literal.replace(".", "").lstrip("0"))
    assert right_digits(Fraction(literal), number, figures) == right


def test_a_source_for_every_constant() -> None:
    assert all(entry.source.startswith("https://") for entry in published())
    assert len({(e.publisher, e.name, e.function) for e in published()}) == len(published())
