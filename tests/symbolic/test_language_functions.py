"""The language of functions: precedence, calls, primes, LaTeX, conditions, and refusals."""

import pytest
from sympy import (
    Abs,
    E,
    Expr,
    Integer,
    Max,
    Min,
    Pow,
    Rational,
    Symbol,
    asin,
    atan,
    cos,
    cosh,
    erf,
    exp,
    log,
    pi,
    sign,
    sin,
    sqrt,
    tanh,
)

from varlaw.symbolic.activations import ACTIVATIONS, elu, gelu, leaky_relu, relu, silu, step
from varlaw.symbolic.gates import GATES
from varlaw.symbolic.language import ReadingError, free_names, read, read_condition, read_function
from varlaw.symbolic.language_text import chains
from varlaw.symbolic.terms import indicator

x, a, b = (Symbol(name, real=True) for name in "xab")
half = Rational(1, 2)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-x^2", -(x**2)),
        ("(-x)^2", x**2),
        ("-x^2^3", -(x**8)),
        ("2^-1", half),
        ("2^-x^2", Pow(2, -(x**2), evaluate=False)),
        ("x^-2*a", a / x**2),
        ("a/x/b", a / (x * b)),
        ("a/x*b", a * b / x),
        ("a - x - b", a - x - b),
        ("a - (x - b)", a - x + b),
        ("-x*-a", x * a),
        ("1 + 2*x^2/4", 1 + x**2 / 2),
        ("2x", 2 * x),
        ("2x^2", 2 * x**2),
        ("-2x", -2 * x),
        ("2x/3", Rational(2, 3) * x),
        ("2 sin(x)", 2 * sin(x)),
        ("3pi x", None),
        ("(x + 1)(x - 1)", (x + 1) * (x - 1)),
        ("x sin(x)cos(x)", x * sin(x) * cos(x)),
        ("x^(2)(a + 1)", x**2 * (a + 1)),
        ("2e", 2 * E),
        ("2e3x", 2000 * x),
        (".5x", x / 2),
        ("gelu(x)^2", gelu(x) ** 2),
        ("gelu^2(x)", gelu(x) ** 2),
        ("|x|", Abs(x)),
        ("||x| - 1|", Abs(Abs(x) - 1)),
        ("|x||x - a|", Abs(x) * Abs(x - a)),
        ("2|x|", 2 * Abs(x)),
        ("|(|x|-1)*2|", Abs((Abs(x) - 1) * 2)),
        ("|x|^3/|a|", Abs(x) ** 3 / Abs(a)),
        ("1[x > 0]", indicator(x, ">")),
        ("1[x > 0]1[x < a]", indicator(x, ">") * indicator(x - a, "<")),
        ("11[0 < x < 1]", None),
        ("3*1[0 < x < 1]", 3 * indicator(x, ">") * indicator(1 - x, ">")),
        ("1[x >= 0]", 1 - indicator(x, "<")),
        ("e^(-x^2/2)", exp(-(x**2) / 2)),
        ("exp(x) + pi", exp(x) + pi),
        ("x*Phi(x)", x * (half + erf(x / sqrt(2)) / 2)),
        ("phi(x)", exp(-(x**2) / 2) / sqrt(2 * pi)),
        ("erf(x/sqrt(2))", erf(x / sqrt(2))),
        ("max(x, 0, a) - min(x, 1)", Max(x, 0, a) - Min(x, 1)),
        ("ln(2) + log(3)", log(2) + log(3)),
        ("arctan(x) + asin(1/2)", atan(x) + asin(half)),
        ("leaky_relu(x, a)", leaky_relu(x, a)),
        ("leaky_relu(x)", leaky_relu(x, Rational(1, 100))),
        ("LeakyReLU(x, 0.2)", leaky_relu(x, Rational(1, 5))),
        ("elu(x, 3/2)", elu(x, Rational(3, 2))),
        ("swish(x)", silu(x, 1)),
        ("ReLU(x) + RELU(x)", 2 * relu(x)),
        ("sign(x)*step(x)", sign(x) * step(x)),
    ],
)
def test_reads(text: str, value: Expr | None) -> None:
    if value is None:
        with pytest.raises(ReadingError):
            read_function(text)
    else:
        assert read_function(text)[0] == value


@pytest.mark.parametrize(
    ("latex", "plain"),
    [
        (r"\max(x,0)^2", "max(x, 0)^2"),
        (r"\max\{0, x\}", "max(x, 0)"),
        (r"\frac{1}{2} x", "x/2"),
        (r"\frac12 x^{2}", "x^2/2"),
        (r"\tfrac{x}{1 + e^{-x}}", "x/(1 + e^(-x))"),
        (r"\operatorname{gelu}(x)", "gelu(x)"),
        (r"\operatorname{gelu}'\left(x\right)^2", "gelu'(x)^2"),
        (r"\operatorname{leaky-relu}(x, a)", "leaky_relu(x, a)"),
        (r"\mathrm{ReLU}(x)", "relu(x)"),
        (r"\text{GELU}\big(x\big)", "gelu(x)"),
        (r"\left|x\right|", "|x|"),
        (r"\left|x \left|x - 1\right|\right|", "|x*|x - 1||"),
        (r"\lvert x \rvert^{3}", "|x|^3"),
        (r"\sqrt{2} x \cdot \sqrt2", "2x"),
        (r"x^{2} \times a", "x^2*a"),
        (r"\Phi(x)\, x", "x*Phi(x)"),
        (r"a x^2 \sin(x)", "a*x^2*sin(x)"),
        (r"2\pi(1 + x^2)", "2*pi*(1 + x^2)"),
        (r"e^{-x^2/2}", "exp(-x^2/2)"),
        (r"\mathrm{e}^{x}", "exp(x)"),
        (r"\exp\left(-\frac{x^2}{2}\right)", "exp(-x^2/2)"),
        (r"\tanh^2(x)", "tanh(x)^2"),
        (r"\tanh^{10}(x)", "tanh(x)^10"),
        (r"\mathbf{1}[x>0]", "1[x > 0]"),
        (r"\mathbf{1}_{x>0}", "1[x > 0]"),
        (r"\mathbb{1}\{-1 \le x \leq 1\}", "1[-1 <= x <= 1]"),
        (r"\alpha \operatorname{relu}(x)", "alpha*relu(x)"),
        (r"x_{1} + \sigma_{in} x", "x_1 + sigma_in*x"),
    ],
)
def test_latex_is_the_same_as_plain(latex: str, plain: str) -> None:
    assert read_function(latex) == read_function(plain)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rleu(x)", r"unknown function 'rleu'; did you mean 'relu'\? \(column 1 of 'rleu\(x\)'\)"),
        ("x + GELUU(x)", "did you mean 'GELU'.*column 5"),
        ("relu(x, 1)", "relu takes 1 argument, not 2 at column 1"),
        ("leaky_relu(x, 1, 2)", r"takes 1 to 2 arguments \(leaky_relu\(x, a\)\), not 3"),
        ("Phi2(x, 1)", "takes 3 arguments, not 2"),
        ("max'(x, 0)", "no primes"),
        ("gelu" + "'" * 9 + "(x)", "primes"),
        ("x + relu", r"'relu' is a function: write relu\(x\) at column 5"),
        ("x + ", "ends too early"),
        ("x + )", r"unexpected '\)' at column 5"),
        ("x $ 2", r"unexpected '\$' at column 3"),
        ("x(x + 1)", "'x' is not a function"),
        ("x^2(x + 1)", "'x' is not a function"),
        ("a x", "unexpected 'x' at column 3"),
        ("x 2", "unexpected '2' at column 3"),
        ("1/2x", "needs brackets.*column 3"),
        ("x/-2x", "needs brackets"),
        ("e^2x", r"needs a \* at column 4"),
        ("gelu(x)^2 x", r"needs a \*"),
        (r"\frac{x^10}{2}", r"write the exponent as \^\{10\}"),
        (r"\frac{ax}{2}", "'ax' is a product"),
        (r"\foo x", r"unknown command \\foo at column 1"),
        (r"\input{x}", r"unknown command \\input at column 1"),
        ("x + y*z", None),
        ("a*b", "the names a and b: say which is the variable"),
        ("sqrt(-1)*x", "not real at column 1"),
        ("x + log(-2)", "not real at column 5"),
        ("(-2)^(1/3)", "not real"),
        ("log(0)", "infinite"),
        ("(-1)^x", "negative number"),
        ("1/(x - x)", "division by zero at column"),
        (r"\frac{x}{0}", "division by zero"),
        (r"\frac10", "division by zero"),
        ("max(x, sqrt(-x^2))", "not real"),
        ("1[sqrt(2)]", "unexpected"),
        ("hardshrink(x, -1)", "out of order"),
        ("elu(x, x)", "parameter of elu may not depend on x"),
        ("|x", "ends too early"),
        ("x > 0", "unexpected '>'"),
        ("x = 0", "unexpected '='"),
        ("x; a", "unexpected ';'"),
        ("x\nx", "unexpected"),
        ("٣x", "unexpected"),
    ],
)
def test_refuses(text: str, message: str | None) -> None:
    if message is None:
        assert read_function(text)[1] == x  # x comes before other names
        return
    with pytest.raises(ReadingError, match=message) as refused:
        read_function(text)
    assert "\n" not in str(refused.value)


def test_the_variable() -> None:
    t, z = Symbol("t", real=True), Symbol("z", real=True)
    assert read_function("t^2") == (t**2, t)
    assert read_function("a*z") == (a * z, z)
    assert read_function("a*t", "t") == (a * t, t)
    assert read_function("a*x", "a") == (a * x, a)
    with pytest.raises(ReadingError, match="'a \\+ 1' is not a function of x"):
        read_function("a + 1", "x")
    with pytest.raises(ReadingError, match="'e' has a meaning"):
        read_function("e", "e")
    with pytest.raises(ReadingError, match="not a name"):
        read_function("x", "x y")
    constant, dummy = read_function("3 + pi")
    assert constant == 3 + pi and dummy not in constant.free_symbols


def test_parameters_are_real_or_declared_positive() -> None:
    (f, _) = read_function("sqrt(a^2)*x")
    assert f == Abs(a) * x
    (f, _) = read_function("sqrt(a^2)*x", positive=["a"])
    assert f == Symbol("a", positive=True) * x
    (f, _) = read_function("a*x", names={"a": Integer(2)})
    assert f == 2 * x
    assert free_names("a*gelu(b) + pi") == ("a", "b")


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_primes_are_derivatives(name: str) -> None:
    """Away from kinks a prime agrees with a difference quotient of the parts."""
    f, _ = read_function(f"{name}'(x)", "x") if "x" in name else read_function(f"{name}'(x) + 0*x")
    kind, defaults = ACTIVATIONS[name], ACTIVATIONS[name].defaults
    parts = kind.parts(x, *defaults)
    for point in (Rational(-37, 10), Rational(-3, 10), Rational(3, 10), Rational(37, 10)):
        (value,) = [v for s, v in parts if (s < point) == True][-1:]  # noqa: E712
        h = Rational(1, 10**6)
        slope = (value.subs(x, point + h) - value.subs(x, point - h)).evalf(40) / (2 * h)
        assert abs(f.subs(x, point).evalf(30) - slope) < 1e-9


def test_primes_of_functions_with_kinks() -> None:
    assert read_function("relu'(x)") == (indicator(x, ">"), x)
    assert read_function("leaky_relu'(x, a)")[0] == a * indicator(x, "<") + indicator(x, ">")
    assert read_function("abs'(x)")[0] == sign(x)
    for jump in ("step'(x)", "sign'(x)", "abs''(x)", "hardshrink''(x)"):
        assert read_function(jump + " + x")[0] == x  # almost everywhere
    assert read_function("tanh'(2x)")[0] == 1 - tanh(2 * x) ** 2
    assert read_function("cosh''(x)")[0] == cosh(x)


def test_activations_of_numbers_are_written_out() -> None:
    assert read("relu(3) + relu(-2) + relu(0)") == 3
    assert read("gelu(1)") == (1 + erf(1 / sqrt(2))) / 2
    assert read("leaky_relu(-2, a)", real=True) == -2 * a
    assert read("max(gelu(2), 1)") == 1 + erf(sqrt(2))
    with pytest.raises(ReadingError, match="jump"):
        read("step(0)")


def test_conditions() -> None:
    condition = read_condition("a < x <= 2")
    assert condition == indicator(a - x, "<") * (1 - indicator(x - 2, ">"))
    assert chains(condition, x) == [[a, "<", x, "<=", Integer(2)]]
    assert chains(read_condition("2x > 1"), x) == [[2 * x, ">", Integer(1)]]
    assert chains(read_condition("-x > 1"), x) == [[x, "<", Integer(-1)]]
    for text in ("x", "x >", "x > 0 > ", "> 0", "x != 0", "sqrt(-1) < x", "x < 1/0"):
        with pytest.raises(ReadingError):
            read_condition(text)


@pytest.mark.parametrize("name", ["maxout", "dropout", *GATES])
def test_what_has_several_inputs_says_what_its_moments_are(name: str) -> None:
    with pytest.raises(ReadingError, match=f"{name} is no function of one variable.*column 3"):
        read_function(f"1+{name}(x, 2)")
