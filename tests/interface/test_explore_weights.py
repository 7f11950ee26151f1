"""`varlaw explore --weight-gradients`: formulas, depth, a simulation, documents, refusals."""

import json

import numpy as np
import pytest

from varlaw.symbolic.language import read

PRE_NORM = "repeat(prenorm(linear(d,4*d,var=2/d) >> relu >> linear(4*d,d,var=2/(4*d))), L)"
ATTENTION = "attention(8, 4, value=1/8, out=1/8, query=1/8, key=1/8, {})"
ERRORS = 6  # standard errors: below 1e-8 each


def found(varlaw, *arguments):
    result = varlaw("explore", *arguments, "--json")
    assert result.code == 0, result
    return json.loads(result.out)["weight_gradients"]


def by_name(record, key="second_moment"):
    return {f"{one['layer']} {one['weight']}": one[key] for one in record["layers"]}


def test_layers_in_a_row(varlaw):
    """He et al. 2015, section 2.2: dL/dW = sum over tokens of g x."""
    text = "linear(m, n, var=v) >> relu >> linear(n, k, var=w)"
    record = found(varlaw, text, "--weight-gradients", "T")
    assert record["tokens"] == "T"
    expected = {
        "linear1 weight": "T*k*w*q0/2",
        "linear1 bias": "T*k*w/2",
        "linear2 weight": "T*m*v*q0/2",
        "linear2 bias": "T",
    }
    moments = by_name(record)
    assert list(moments) == list(expected)
    for name, value in expected.items():
        assert read(moments[name]).equals(read(value)), name
    assert set(by_name(record, "value").values()) == {None}
    assert found(varlaw, text) is None


def test_a_formula_in_depth_is_that_of_each_layer(varlaw):
    """Of 5 layers, found one by one; the formula of another layer is another number."""
    asked = ("--second-moment", "3", "--weight-gradients", "T", "--set", "T=7")
    formulas = by_name(found(varlaw, PRE_NORM, *asked))
    values = by_name(found(varlaw, PRE_NORM, *asked, "--set", "L=5", "--set", "d=16"), "value")
    for name, formula in formulas.items():
        for layer in (1, 2, 3):
            here = float(read(formula, names={"l": read(str(layer)), "L": read("5")}))
            assert here == pytest.approx(values[name.replace("l.", f"{layer}.", 1)], rel=1e-12)
            assert here != pytest.approx(values[name.replace("l.", "0.", 1)], rel=1e-3)


def test_a_network_sent_back_by_hand(varlaw):
    """Residual blocks of width 64, 3 of them, 4 tokens; a share of 5 % for order 1/width."""
    d, layers, tokens, share = 64, 3, 4, 0.05
    text = "repeat(residual(linear(d,d,var=2/d) >> relu >> linear(d,d,var=1/d), 1, 1/2), 3)"
    asked = ("--second-moment", "1", "--weight-gradients", f"{tokens}", "--set", f"d={d}")
    claims = by_name(found(varlaw, text, *asked), "value")
    rng, seen = np.random.default_rng(7), {}
    for _ in range(250):
        first = rng.standard_normal((layers, d, d)) * np.sqrt(2 / d)
        second = rng.standard_normal((layers, d, d)) / np.sqrt(d)
        x, before = rng.standard_normal((tokens, d)), []
        for one, two in zip(first, second, strict=True):
            hidden = x @ one
            before.append((x, hidden))
            x = x + np.maximum(hidden, 0) @ two / 2
        g = rng.standard_normal((tokens, d))
        for n in reversed(range(layers)):
            x, hidden = before[n]
            inner = (g @ second[n].T / 2) * (hidden > 0)
            squares = {
                "linear1 weight": (x.T @ inner) ** 2,
                "linear1 bias": inner.sum(0) ** 2,
                "linear2 weight": (np.maximum(hidden, 0).T @ g / 2) ** 2,
                "linear2 bias": (g.sum(0) / 2) ** 2,
            }
            for name, square in squares.items():
                seen.setdefault(f"{n}.residual.{name}", []).append(square.mean())
            g = g + inner @ first[n].T
    assert set(seen) == set(claims)
    for name, values in seen.items():
        mean, error = np.mean(values), np.std(values, ddof=1) / np.sqrt(len(values))
        bound = ERRORS * error + share * claims[name]
        assert abs(mean - claims[name]) < bound, name
        assert abs(mean - 1.5 * claims[name]) > bound, name


def test_gradients_that_correlate(varlaw):
    given = ("--correlation", "r", "--gradient-correlation", "c", "--weight-gradients", "4")
    moments = by_name(found(varlaw, "linear(m, n, var=v)", *given))
    assert read(moments["linear weight"]).equals(read("4*q0 + 12*c*r*q0"))


def test_documents(varlaw):
    asked = ("explore", PRE_NORM, "--weight-gradients", "T")
    text = varlaw(*asked).out
    assert "of a loss summed over tokens or inputs: T\n" in text
    assert "  l.prenorm.linear2 bias  T*(2*L + q0)/(2*l + q0 + 2)\n" in text
    latex = varlaw(*asked, "--format", "latex").out
    assert r"A_4 & = \frac{T \left(2 L + q_0\right)}{2 + 2 l + q_0}" in latex
    assert "- `l.prenorm.linear2 bias`: $A_4 = " in varlaw(*asked, "--format", "markdown").out
    none = varlaw("explore", "relu", "--weight-gradients", "1")
    assert none.code == 0 and "there are no weights" in none.out
    assert (
        "align*}\n\n"
        not in varlaw("explore", "relu", "--weight-gradients", "1", "--format", "latex").out
    )


def test_names_get_their_values_in_the_exploration_too():
    import varlaw as vl

    whole = vl.explore("linear(m, n, var=v)", weight_gradients="T")
    (weight, _) = whole.at({"T": 5, "q0": 2}).weights
    assert weight.second_moment == 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        *(
            ((ATTENTION.format(option), "--correlation", "0", "--weight-gradients", "4"), why)
            for option, why in (
                ("qk_norm=1", "attention's weights are covered without qk_norm"),
                ("relative=1/9", "attention's weights are covered without qk_norm"),
                ("dropout=1/9", "attention's weights are covered without qk_norm"),
                ("causal=1, position=2", "position"),
                ("causal=1", "summed over the 4 tokens of attention"),
            )
        ),
        (("linear(m, n, var=v)", "--weight-gradients", "5/2"), "5/2 is not a whole number"),
        (("linear(m, n, var=v)", "--weight-gradients", "2 +"), "2 +"),
        (("gpt2(small, tokens=8)", "--layers", "--weight-gradients", "8"), "--layers does not go"),
    ],
)
def test_refused(varlaw, arguments, message):
    if "causal=1)" in arguments[0]:
        arguments = (*arguments[:-1], "3")
    assert message in varlaw("explore", *arguments).refused()
