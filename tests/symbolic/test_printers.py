"""Documents: the textbook's order, names and renames, sentences, sources, and the formats."""

import json
import re

import pytest
from sympy import Integer, Rational, cbrt, pi, sqrt

from varlaw.derivations.catalogue import entries, find
from varlaw.derivations.sources import bibliography, source
from varlaw.symbolic.assumptions import Assumption, Kind
from varlaw.symbolic.declarations import dimensions, indices, positive, random_array
from varlaw.symbolic.derivation import derive
from varlaw.symbolic.notation import NotationError, default_label, read_label
from varlaw.symbolic.printers import FORMATS, Account, render
from varlaw.symbolic.printers.account import phrases
from varlaw.symbolic.printers.bibliography import BibliographyError, plain, read_bibliography
from varlaw.symbolic.printers.mathematics import latex
from varlaw.symbolic.printers.plain import explicit, plain_text
from varlaw.symbolic.printers.prose import prose
from varlaw.symbolic.printers.widths import width
from varlaw.symbolic.terms import Expectation, Sum

m, n, d = dimensions("m n d")
i, j = indices("i j")
q, s2, v, t_in = positive("q s2 v t_in")
x, w = random_array("x"), random_array("w")


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (s2 * q * m, r"m q \sigma^2"),
        (m * (m - 1) * q**2 * s2**2 * 3, r"3 m \left(m - 1\right) q^2 \sigma^4"),
        (
            Expectation(w[i, j] ** 2) * Expectation(x[i] ** 2) * m,
            r"m \operatorname{E}\left[x_i^2\right] \operatorname{E}\left[w_{i j}^2\right]",
        ),
        (Sum(x[i], (i, 1, m)) * q, r"q \sum_{i=1}^m x_i"),
        (
            Expectation(x[i] ** 2) - Expectation(x[i]) ** 2,
            r"\operatorname{E}\left[x_i^2\right] - \operatorname{E}\left[x_i\right]^2",
        ),
        (1 + s2, r"1 + \sigma^2"),
        (d - 1, "d - 1"),
        (3 + 6 / d, r"3 + \frac{6}{d}"),
        (1 / sqrt(m * n), r"\frac{1}{\sqrt{m n}}"),
        (sqrt(6) / sqrt(m + n), r"\sqrt{\frac{6}{m + n}}"),
        (2 ** (-Rational(1, 2) * m) * q, "2^{-m/2} q"),
        (t_in**2, r"t_{\mathrm{in}}^2"),
    ],
    ids=str,
)
def test_latex_reads_like_the_textbook(expression, text):
    assert latex(expression) == text


def test_text_for_people_and_for_programs():
    expression = Expectation(Sum(x[i] * w[i, j], (i, 1, m)) ** 2) / (2 * m) + 1
    assert plain_text(expression) == "1 + E[Σ[i = 1..m](x[i] w[i, j])^2]/(2 m)"
    assert explicit(expression) == "1 + E[Sum[i = 1..m](x[i]*w[i, j])^2]/(2*m)"


ROOTS = [  # as the papers and the titles of the laws have them
    ((8 * m) ** Rational(-1, 4), "1/(8 m)^(1/4)", r"\frac{1}{\left(8 m\right)^{1/4}}"),
    ((9 * m) ** Rational(-1, 4), "1/(sqrt(3) m^(1/4))", r"\frac{1}{\sqrt{3} m^{1/4}}"),
    (sqrt(v / (2 * pi)), "sqrt(v/(2 pi))", r"\sqrt{\frac{v}{2 \pi}}"),
    (-sqrt(6 / (m + n)), "-sqrt(6/(m + n))", r"-\sqrt{\frac{6}{m + n}}"),
    (v / sqrt(2 * pi * (1 + v)), "v/sqrt(2 pi (1 + v))", None),
    (sqrt(6 * v) / 2, "sqrt(3 v/2)", r"\sqrt{\frac{3 v}{2}}"),
    (sqrt(3 * m) / 36, "sqrt(m)/(12 sqrt(3))", None),
    (sqrt(2) * v**2 / 2, "v^2/sqrt(2)", r"\frac{v^2}{\sqrt{2}}"),
    (cbrt(m / 4) * sqrt(n), "m^(1/3) sqrt(n)/2^(2/3)", None),
    (sqrt(2) / (16 * v ** Rational(3, 2)), "1/(8 sqrt(2) v^(3/2))", None),
    (sqrt(2) * v / 3, "sqrt(2) v/3", r"\frac{\sqrt{2} v}{3}"),
    (sqrt(3) / (6 * pi), "sqrt(3)/(6 pi)", r"\frac{\sqrt{3}}{6 \pi}"),
    (sqrt(2) / 2, "sqrt(2)/2", r"\frac{\sqrt{2}}{2}"),
    (sqrt(x[i]) * sqrt(x[j]), "sqrt(x[i]) sqrt(x[j])", None),  # of any sign
]


@pytest.mark.parametrize(("expression", "text", "tex"), ROOTS, ids=[row[1] for row in ROOTS])
def test_roots_cancel_and_are_joined(expression, text, tex):
    assert plain_text(expression) == text
    assert tex is None or latex(expression) == tex


# Names


@pytest.mark.parametrize(
    ("name", "indexed", "text"),
    [
        ("i1", False, "i_1"),
        ("t_in", False, r"t_{\mathrm{in}}"),
        ("c_0", False, "c_0"),
        ("s2", False, r"\sigma^2"),
        ("w1", True, "w^{(1)}"),
        ("gamma", False, r"\gamma"),
        ("gain", False, r"\mathrm{gain}"),
    ],
)
def test_default_labels(name, indexed, text):
    assert default_label(name, indexed).written() == text


def test_labels_with_indices_and_powers():
    assert read_label("n_{in}").written(power="2") == "n_{in}^2"
    assert read_label("w_{a}").written("i j") == "w_{a, i j}"
    assert read_label("W^{(1)}").written("i", "2") == r"\left(W^{(1)}_i\right)^2"
    assert read_label(r"\sigma_w^2").square and read_label(r"\sigma_w^2").written() == r"\sigma_w^2"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "n_in",
        "n_{in",
        "n}",
        "$n$",
        "fan",
        r"\input{x}",
        r"\def",
        "n%",
        "n_{a_b}",
        "n^3",
        "n^{-1}",
        "n_{(}",
        "a b",
        r"\operatorname{E}",
        "n\\",
        "n_{i}_{j}",
        "#1",
        r"\mathrm{a}\mathrm{b}",
        "n^^41",
    ],
)
def test_unsafe_labels_are_refused(text):
    with pytest.raises(NotationError):
        read_label(text)


@pytest.mark.parametrize(
    ("renames", "message"),
    [
        ({"m": "q"}, "both be written q"),
        ({"w": "x"}, "both be written x"),
        ({"q": r"\delta"}, "Kronecker"),
        ({"m": r"\sigma"}, r"both be written \\sigma"),
        ({"m": "x_i"}, "both be written x_i"),
        ({"mm": "n"}, "no symbol 'mm' here; did you mean 'm'"),
        ({"x": "y^2"}, "square"),
        ({"m": r"\write18{ls}"}, "not a name"),
        ({"m": "w_{ij}"}, "looks like an entry of 'w'"),
        ({"m": "w_1"}, "looks like an entry of 'w'"),
        ({"m": r"\mathbf{1}"}, "an indicator"),
        ({"w": r"\mathrm{E}"}, "the expectation"),
        ({"m": "E"}, "the expectation"),
        ({"s2": r"\mathrm{Var}"}, "the variance"),
        ({"w": "W^T"}, "transposed"),
    ],
)
@pytest.mark.parametrize("form", [form for form in FORMATS if form != "bib"])
def test_renames_that_mislead_are_refused(form, renames, message):
    with pytest.raises(NotationError, match=message):
        render(find("he").account(), form, rename=renames)


def test_renames_reach_every_formula():
    text = find("he").to_latex(rename={"m": "n_{in}", "w": "W", "i": r"\alpha"})
    assert "n_{in}" in text and r"W_{\alpha, j}" in text and r"W_{\alpha_1, j}" in text
    formulas = re.sub(
        r"\\(?:begin|end|documentclass|usepackage|section|bibitem)\S*|\\[a-z]+", "", text
    )
    assert "^m" not in formulas and "w_" not in formulas


def test_swapped_names_do_not_clash():
    text = find("he").to_latex(rename={"m": "q", "q": "m"})
    assert r"\frac{q m \sigma^2}{2}" in text


# Sentences and sources


@pytest.mark.parametrize(
    ("text", "tex"),
    [
        ("the input is kept: E[y_j^2] = q", r"the input is kept: $\operatorname{E}[y_j^2] = q$"),
        ("bound sqrt(6/(m + n))", r"bound $\sqrt{6/(m + n)}$"),
        ("100% of s2 & more_or less", r"100\% of $\sigma^2$ \& more\_or less"),
        ("a layer of slope a", "a layer of slope a"),
        ("variance 1/fan-in", "variance 1/fan-in"),
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("as d -> oo, an error of order 1/d", r"as $d \to \infty$, an error of order $1/d$"),
    ],
)
def test_sentences(text, tex):
    assert re.sub(r" +", " ", prose(text)) == tex


@pytest.mark.parametrize("name", entries())
def test_sources_exist_and_are_whole(name):
    for key in entries()[name].sources:
        found = source(key)
        assert found.fields["author"] and found.fields["title"] and int(found.fields["year"]) > 1900
        assert "{" not in found.text and "\\" not in found.text


def test_every_source_is_used():
    assert set(bibliography()) == {key for entry in entries().values() for key in entry.sources}


def test_unknown_source():
    with pytest.raises(BibliographyError, match="did you mean 'he2015'"):
        source("he2016")


@pytest.mark.parametrize(
    "text",
    [
        "@misc{a,\n  title = {T},\n  year = {2000},\n}",
        "@misc{a,\n  author = {A, B},",
        "@misc{a,\n author={A},\n title={T},\n year={1},\n}\n" * 2,
    ],
)
def test_bad_bibliographies_are_refused(text):
    with pytest.raises(BibliographyError):
        read_bibliography(text)


def test_accents():
    assert plain(r"L{\'e}on M{\"u}ller {\L}ukasz 9--50") == "Léon Müller Łukasz 9–50"


# Formats


@pytest.mark.parametrize("name", entries())
def test_every_law_in_every_format(name):
    law = find(name)
    account = law.account()
    steps = len(law.derivation.steps)
    record = json.loads(json.dumps(law.to_json()))
    assert record["schema"] == "varlaw.derivation" and record["version"] == 1
    assert len(record["steps"]) == steps and record["statement"] == explicit(law.statement)
    assert record["sources"] == list(law.entry.sources)
    rows = [row for block in account.blocks for row in block.rows]
    assert len(rows) == steps
    whole, fragment, markdown = law.to_latex(), law.to_latex(standalone=False), law.to_markdown()
    texts = {columns: law.to_text(width=columns) for columns in (60, 100)}
    for text in (whole, fragment, markdown, *texts.values()):
        assert text.strip()
        assert not re.search(r"Eq\(|Str\(|<[a-z_.]+ object", text)
    for columns, text in texts.items():
        assert max(map(len, text.splitlines())) <= columns
    assert_whole_blocks(markdown)
    assert all(f"{{{key}," in law.to_bib() for key in law.entry.sources)


def assert_whole_blocks(markdown):
    begun, ended = (markdown.count(rf"\{word}{{aligned}}") for word in ("begin", "end"))
    assert markdown.count("$$") % 2 == 0 and begun == ended
    assert r"\operatorname" not in markdown  # GitHub refuses it
    prose_only = re.sub(r"\$\$.*?\$\$", "", markdown, flags=re.DOTALL)
    assert prose_only.count("$") % 2 == 0


def test_labels_of_a_fragment():
    text = find("he").to_latex(standalone=False, label="eq:he")
    assert text.count(r"\label{") == 2 and r"\label{eq:he}" in text and r"\label{eq:he-1}" in text
    assert r"\documentclass" not in text and r"\cite{he2015}" in text
    with pytest.raises(NotationError):
        find("he").to_latex(label="a}b")


def test_several_laws_in_one_document():
    accounts = [find(name).account() for name in ("he", "lecun", "xavier")]
    text = render(accounts, "latex")
    assert text.count(r"\section*") == 3 and text.count(r"\begin{document}") == 1
    assert len(render(accounts, "json")["laws"]) == 3
    assert render(accounts, "bib").count("@") == 3


def test_a_bare_derivation():
    chain = derive(Expectation(Sum(x[i], (i, 1, m)) ** 2)).by("expand linearity")
    assert chain.to_text().count("\n    =") == 2
    assert r"\begin{align*}" in chain.to_latex(standalone=False)
    assert "aligned" in chain._repr_latex_()
    assert "bibliography" not in chain.to_latex()
    start = derive(Expectation(x[i]))
    assert "E[x[i]]" in start.to_text() and r"\begin{align*}" in start.to_latex()


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("attention-qk", ("Var[k[i]] = 1", "E[q[i]^2] = 1")),
        ("residual-drop-path", ("E[b^2] = 1/p", "b independent of (F, x)")),
        ("he-backward", ("g, w, x independent (jointly)", "w and -w have the same law")),
        ("xavier", ("uses lecun, Var[w[i, j]] = 1/m (assumes", "by the laws lecun and backward")),
        ("xavier-uniform", ("w: a weight, uniform", "E[x[i]^2] = q")),
        ("xavier-quadratic", ("J''(t) = 2 (m^2 + n^2) > 0",)),
        ("means-inequality", (">= (m + n)/2 >= sqrt", "(m - n)^2/(2 (m + n))", "only at m = n")),
        ("pre-norm-expansion", ("[by definition]", "[by the law pre-norm-growth]")),
        ("pre-norm-growth", ("Var[F] = s2", "v[0] = 1 source")),
        ("lecun", ("[since s2 is the second moment of w, of mean 0", "m: the fan-in")),
    ],
)
def test_what_is_told(name, texts):
    told = re.sub(r"\s+", " ", find(name).to_text())
    assert [text for text in texts if text not in told] == []


def test_what_does_not_occur_is_not_told():
    assert "= q" not in find("he-backward").to_text()
    assert "by the law derived before" not in "".join(find(n).to_text() for n in entries())


@pytest.mark.parametrize("pairs", ["ab", "ab bc", "ab bc ac", "ab ac bd cd", "ab bc cd"])
def test_independence_is_told_exactly(pairs):
    told = phrases([Assumption(Kind.INDEPENDENT, tuple(pair)) for pair in pairs.split()], str)
    expected = {
        "ab": ["a independent of b"],
        "ab bc": ["b independent of (a, c)"],
        "ab bc ac": ["a, b, c independent (jointly)"],
        "ab ac bd cd": ["(a, d) independent of (b, c)"],
        "ab bc cd": ["a independent of b", "b independent of c", "c independent of d"],
    }
    assert told == expected[pairs]


def test_unknown_format():
    with pytest.raises(ValueError, match="did you mean 'latex'"):
        render(Account(derive(Integer(1))), "latx")


def test_widths_grow_with_what_is_there():
    assert width("a") < width("a + b") < width(r"a + b + \frac{c}{d}")
    assert width(r"\frac{a + b + c}{d}") < width("a + b + c + d")
    assert width(r"x_{i_1}") < width(r"x i_1")
