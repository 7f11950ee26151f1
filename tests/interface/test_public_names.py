"""The public names: all there, imported late, visible to type checkers, and fit for a notebook."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import varlaw as vl
from varlaw.derivations.catalogue import Entry, Law, UnknownLaw

FILE = vl.__file__
EXPECTED = {
    "Cov", "E", "Sum", "Var", "__version__", "blocks", "derive", "dimensions", "explore", "gain",
    "indices", "kernel", "law", "laws", "leaky_relu", "moment", "named", "normal_form",
    "parametrisation", "positive", "random_array", "relu", "verify",
}  # fmt: skip


def names_for_type_checkers() -> dict[str, str]:
    """Public name -> "module:name", from the imports under TYPE_CHECKING."""
    tree = ast.parse(Path(FILE).read_text(encoding="utf-8"))
    (guarded,) = (node for node in tree.body if isinstance(node, ast.If))
    return {
        alias.asname or alias.name: f"{node.module}:{alias.name}"
        for node in guarded.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_the_public_names():
    assert set(vl.__all__) == EXPECTED
    assert set(vl.__all__) <= set(dir(vl))


def test_type_checkers_see_what_is_imported():
    found = names_for_type_checkers()
    assert found.pop("blocks") == "varlaw:blocks"  # a module
    assert found == vl._HOMES


@pytest.mark.parametrize("name", sorted(EXPECTED - {"__version__"}))
def test_a_name_is_what_it_says(name):
    module, _, inside = names_for_type_checkers()[name].partition(":")
    assert getattr(vl, name) is getattr(importlib.import_module(module), inside)


def test_an_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'lawz'"):
        vl.lawz  # noqa: B018


def test_star_import_gives_the_public_names():
    code = "from varlaw import *; print(*sorted(n for n in globals() if n in {!r}))"
    run = [sys.executable, "-c", code.format(sorted(EXPECTED))]
    printed = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert set(printed.split()) == EXPECTED


def test_version():
    from importlib.metadata import version

    assert vl.__version__ == version("varlaw")


def test_law():
    assert isinstance(vl.law("he"), Law)
    with pytest.raises(UnknownLaw, match="did you mean 'he'"):
        vl.law("hee")


def test_laws_are_a_table():
    laws = vl.laws()
    assert all(isinstance(entry, Entry) for entry in laws)
    assert len(laws) == len(set(laws))
    assert isinstance(laws[:2], type(laws))
    assert laws[0] == next(iter(laws[:2]))
    html = laws._repr_html_()
    for entry in laws:
        assert entry.name in repr(laws)
        assert f"<td>{entry.name}</td>" in html
    assert html.count("<tr>") == len(laws) + 1


def test_titles_are_escaped_in_html():
    from varlaw.listing import Catalogue

    entry = Entry("a", "f", "x < y & z", "exact", ())
    assert "x &lt; y &amp; z" in Catalogue([entry])._repr_html_()


def test_an_expectation_derives_itself():
    """The readme's example: E[y^2] of a linear layer, whatever the mean of the input."""
    m, _ = vl.dimensions("m n")
    i, j = vl.indices("i j")
    x = vl.random_array("x", second_moment="q")
    w = vl.random_array("w", mean=0, variance="s2")
    y = vl.Sum(x[i] * w[i, j], (i, 1, m))
    q, s2 = vl.positive("q s2")
    derivation = vl.E(y**2).derive()
    assert derivation.end == m * q * s2
    assert all(step.reason for step in derivation.steps)


def test_variances_and_covariances_derive_themselves():
    (i,) = (vl.indices("i"),)
    x, f = vl.random_array("x", variance="v"), vl.random_array("f", variance="s2")
    v, s2 = vl.positive("v s2")
    assert vl.Var(x[i] + f[i]).derive().end == v + s2
    assert vl.Cov(x[i], f[i]).derive().end == 0
    assert vl.Cov(x[i], x[i] + f[i]).derive().end == v


def test_a_wrong_variance_is_not_derived():
    i = vl.indices("i")
    x = vl.random_array("x", variance="v")
    f = vl.random_array("f", variance="s2", depends_on=[x])
    v, s2 = vl.positive("v s2")
    assert vl.Var(x[i] + f[i]).derive().end != v + s2
