"""What is printed reads back as the same expression, and what is wrong reads as another one."""

import pytest
from sympy import Integer, Integral, Mul, Rational, Symbol, sqrt

from varlaw.derivations.catalogue import entries, find
from varlaw.symbolic.activations import leaky_relu, relu
from varlaw.symbolic.declarations import (
    dimensions,
    indices,
    positive,
    random_array,
    random_variable,
)
from varlaw.symbolic.latex_reader import ReadingError, context_of, read_chain, read_latex
from varlaw.symbolic.notation import notation
from varlaw.symbolic.printers.lines import broken
from varlaw.symbolic.printers.mathematics import LatexMath, latex
from varlaw.symbolic.sequences import Branch, IndexProduct, Term, named
from varlaw.symbolic.terms import (
    Covariance,
    Delta,
    Expectation,
    Sum,
    Variance,
    indicator,
)

a, b, c, q, s2 = positive("a b c q s2")
m, n, l = dimensions("m n l")  # noqa: E741  (the depth)
i, j, k = indices("i j k")
i1, i2 = indices("i1 i2")
x, w, w1 = (random_array(name) for name in ("x", "w", "w1"))
u = Symbol("u", real=True)
total = Sum(x[i], (i, 1, m))
y = named("y", Sum(x[i] * w[i, j], (i, 1, m)), j)

EVERYTHING = context_of(
    a,
    b,
    c,
    q,
    s2,
    m,
    n,
    l,
    i,
    j,
    k,
    i1,
    i2,
    u,
    x[i],
    w[i, j],
    w1[i, j],
    y,
    Branch(k, x[k]),
    Term("v", k),
)

# An expression, its LaTeX, and LaTeX that a bracket or precedence fault would give.
GOLDEN = [
    (c - (a + b), "c - (a + b)", "c - a + b"),
    (c - (a - b), "c - (a - b)", "c - a - b"),
    (-(a**2), "-a^2", "(-a)^2"),
    ((-a) ** 2, "(-a)^2", "-a^2"),
    (total**2, r"\left(\sum_{i=1}^m x_i\right)^2", r"\sum_{i=1}^m x_i^2"),
    (Sum(x[i] + 1, (i, 1, m)), r"\sum_{i=1}^m \left(x_i + 1\right)", r"\sum_{i=1}^m x_i + 1"),
    (total + 1, r"\sum_{i=1}^m x_i + 1", r"\sum_{i=1}^m (x_i + 1)"),
    (total * w[1, 1], r"\left(\sum_{i=1}^m x_i\right) w_{1 1}", r"\sum_{i=1}^m x_i + w_{1 1}"),
    ((a / b) ** 2, r"\left(\frac{a}{b}\right)^2", r"\frac{a}{b^2}"),
    (a / (b / c), r"\frac{a}{\frac{b}{c}}", r"\frac{\frac{a}{b}}{c}"),
    (a / (b * c), r"\frac{a}{b c}", r"\frac{a}{b} c"),
    (1 / (a + b), r"\frac{1}{a + b}", r"\frac{1}{a} + b"),
    (2 ** (-l / 2), "2^{-l/2}", "2^{-l}/2"),
    (2 ** ((k - l) / 2), "2^{(k - l)/2}", "2^{k - l/2}"),
    (2 ** (-l), "2^{-l}", "-2^l"),
    (sqrt(a) * b, r"\sqrt{a} b", r"\sqrt{a b}"),
    (sqrt(a + b), r"\sqrt{a + b}", r"\sqrt{a} + b"),
    (a ** Rational(3, 2), "a^{3/2}", "a^3/2"),
    ((a + b) * (a - b), r"(a + b) (a - b)", "a + b (a - b)"),
    (a * (b + c), "a (b + c)", "a b + c"),
    (Expectation(x[i] ** 2), r"\operatorname{E}\left[x_i^2\right]", r"\operatorname{E}[x_i]^2"),
    (Expectation(x[i]) ** 2, r"\operatorname{E}\left[x_i\right]^2", r"\operatorname{E}[x_i^2]"),
    (s2**2, r"\sigma^4", r"\sigma^2"),
    (sqrt(s2), r"\sigma", r"\sigma^2"),
    (w1[i, j] ** 2, r"\left(w^{(1)}_{i j}\right)^2", "w_{i j}^2"),
    (
        IndexProduct(1 + a * Term("v", k), k, Integer(0), l - 1),
        r"\prod_{k=0}^{l-1} (1 + a v_k)",
        r"\prod_{k=0}^{l-1} 1 + a v_k",
    ),
    (
        Integral(u**2 / (2 * a), (u, -a, a)),
        r"\int_{-a}^a \frac{u^2}{2 a} \, \mathrm{d}u",
        r"\int_{-a}^a \frac{u^2}{2} a \, \mathrm{d}u",
    ),
]


@pytest.mark.parametrize(("expression", "right", "wrong"), GOLDEN, ids=str)
def test_golden(expression, right, wrong):
    assert read_latex(right, EVERYTHING) == expression
    assert read_latex(wrong, EVERYTHING) != expression
    assert read_latex(latex(expression), EVERYTHING) == expression


OTHERS = [
    Delta(i1, i2),
    Mul(2, a + b, evaluate=False),
    Mul(Rational(1, 2), a + b, evaluate=False),
    indicator(y, ">") * indicator(y, "<"),
    relu(y) ** 2 + leaky_relu(y, a),
    Branch(k, x[k] / sqrt(a)) ** 2,
    Covariance(x[i], w[i, j]),
    Variance(x[i] + w[i, j]),
    Sum(x[i] * w[i, k], (i, 1, m), (k, 1, n)),
    Sum(x[i1] * x[i2] * w[k, k], (i1, 1, m), (k, 1, n), (i2, 1, m)),
    total * Sum(w[1, k], (k, 1, n)),
    q * total * Sum(w[1, k], (k, 1, n)) ** 2,
    Expectation(Sum(x[i] ** 2, (i, 1, m)) / m) / (1 + s2),
    (1 + s2) ** (-Rational(1, 2) * l) * Term("v", 0) / sqrt(m * n),
    3 * 2**l,
    Rational(2, 3) ** l,
    a**2 * (1 - b) / (-c),
]


@pytest.mark.parametrize("expression", OTHERS, ids=str)
def test_what_is_printed_reads_back(expression):
    assert read_latex(latex(expression), context_of(expression)) == expression


@pytest.mark.parametrize("name", entries())
def test_every_step_of_the_catalogue_reads_back(name):
    account = find(name).account()
    seen = 0
    for expression in (account.derivation.statement, *account.expressions):
        assert read_latex(latex(expression), context_of(expression)) == expression
        seen += 1
    assert seen > len(account.derivation.steps)


@pytest.mark.parametrize("most", [12.0])
@pytest.mark.parametrize("name", entries())
def test_broken_lines_read_back(name, most):
    printer = LatexMath()
    for step in find(name).derivation.steps:
        expression = step.after.rhs if step.on_equations else step.after
        lines = broken(expression, printer, most)
        assert read_latex(" \\\\ & ".join(lines), context_of(expression)) == expression


def test_a_sum_does_not_take_in_a_factor_on_the_next_line():
    wide = (
        (a + b) * Sum((a * x[i] + b) * x[i], (i, 1, m)) / Sum(x[i] ** 2 + b * x[i], (i, 1, m)) ** 2
    )
    lines = broken(wide, LatexMath(), 7.0)
    assert read_latex(" \\\\ & ".join(lines), context_of(wide)) == wide


@pytest.mark.parametrize("name", ["he", "xavier-geometric", "post-norm-decay"])
def test_renamed_expressions_read_back(name):
    account = find(name).account()
    wanted = {
        "m": r"d_{\mathrm{in}}",
        "w": "W",
        "w1": "U^{(a)}",
        "x": r"\hat{x}_{0}",
        "s2": r"\sigma_w^2",
        "i": r"\alpha",
        "t": r"\tau",
    }
    known = {str(atom) for part in account.expressions for atom in part.free_symbols}
    known |= {array for part in account.expressions for array in _arrays(part)}
    chosen = notation({name: text for name, text in wanted.items() if name in known})
    assert chosen.renames
    for expression in account.expressions:
        context = context_of(expression, notation=chosen)
        assert read_latex(latex(expression, chosen), context) == expression


def _arrays(expression):
    from varlaw.symbolic.arrays import arrays_in

    return arrays_in(expression)


def test_people_write_it_otherwise():
    assert (
        read_latex(r"\tfrac12 \mathbb{E}\bigl[x_i^2\bigr]", EVERYTHING)
        == Expectation(x[i] ** 2) / 2
    )
    assert read_latex(r"\mathrm{Var}(w_{ij})", EVERYTHING) == Variance(w[i, j])
    assert read_latex(r"\dfrac{a}{b}\,\cdot c", EVERYTHING) == a * c / b
    assert read_latex(r"a \times \sqrt2", EVERYTHING) == sqrt(2) * a
    assert read_latex("0.25 a", EVERYTHING) == a / 4


def test_chains_and_relations():
    assert read_chain(r"a = b \geq c", EVERYTHING) == [a, "=", b, ">=", c]
    assert read_latex(r"a \to b", EVERYTHING).sign == "->"
    with pytest.raises(ReadingError, match="chain"):
        read_latex("a = b = c", EVERYTHING)


def test_new_bound_indices_need_no_context():
    read = read_latex(r"\sum_{r=1}^m \sum_{t=1}^n w_{r t}", EVERYTHING)
    assert len(read.bound) == 2
    with pytest.raises(ReadingError, match="unknown name 'r'"):
        read_latex(r"\sum_{r=1}^m x_r + r", EVERYTHING)


def test_single_variables_have_no_indices():
    z = random_variable("z")
    assert read_latex(latex(Variance(z + a)), context_of(z, a)) == Variance(z + a)


WRONG = [
    ("", "ends too early"),
    ("a +", "ends too early"),
    ("a b)", "cannot read"),
    ("1/2 m", "cannot read"),
    ("a / b / c", "cannot read"),
    ("h + 1", "unknown name 'h'"),
    (r"\frac{1}{0}", "division by zero"),
    ("0^{-1}", "division by zero"),
    ("9^{999999999}", "too large"),
    ("9^{9^{9}}", "too large"),
    ("1" * 500, "digits"),
    ("(" * 100 + "a" + ")" * 100, "deeper"),
    ("a" * 30_000, "characters"),
    (r"\input{secret}", "cannot read"),
    (r"\operatorname{Cov}[x_i]", "takes 2 arguments"),
    (r"\operatorname{system}(a)", "unknown function"),
    ("x + 1", "without indices"),
    ("x_{i j}", "unknown name"),
    ("(a, b)", "a list in brackets"),
    ("F_k", "without its argument"),
    ("a > b", "not read here"),
    (r"\mathbf{1}[x_i \ge 0]", "not read in an indicator"),
    (r"w_\prime", "unknown name"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_what_cannot_be_read_says_so(text, message):
    with pytest.raises(ReadingError, match=message):
        read_latex(text, EVERYTHING)
