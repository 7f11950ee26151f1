r"""LaTeX is read as authors mean it; each expected tree is written by hand, with every product."""

import pytest

from varlaw.symbolic.formulas import NotRead, read_formula
from varlaw.symbolic.formulas.written import show

NUMBERS = [
    (r"1/\sqrt{768}\approx 0.0361", "1/sqrt(768) ~= 0.0361"),
    (r"0.2933790\dots", "0.2933790..."),
    (r"1.5\ldots\sigma", "1.5...*sigma"),
    ("0.5...", "0.5..."),
    ("1{,}356", "1356"),
    (r"\approx 16,384", "~= 16384"),
    (r"10\,000", "10000"),
    ("3\u00a0072 + 7\u202f077\u202f888", "3072 + 7077888"),
    (r"7.077.888 + 1.234{,}5 + 1.234.567{,}891", "7077888 + 1234.5 + 1234567.891"),
    ("f(1,356)", "f(1, 356)"),
    (r"3.141\,592\,65 + 0{,}001\,5 + 2.500\,x", "3.14159265 + 0.0015 + 2.500*x"),
    (r"0{,}\overline{6} + 0{,}1\overline{6}", "6/9 + 15/90"),
    (r"3\times10^{-4}", "3*10^(-4)"),
    ("1e-6", "1e-6"),
    (r"3\mathrm{e}{-4} + 1\text{e-}3 + 1\text{e}-8 + 2\text{E5}", "3e-4 + 1e-3 + 1e-8 + 2e5"),
    (r"2\mathrm{e}^{x} - 3 + 2\mathrm{e}x", "2*e^x - 3 + 2*e*x"),
    (r"1\%", "1%"),
    (r"\tfrac12 + \frac1{12} + \dfrac{1}2", "1/2 + 1/12 + 1/2"),
    (r"\sqrt2 + \sqrt N + \sqrt[3]{x}", "sqrt(2) + sqrt(N) + root(x, 3)"),
    ("σ² = √2", "sigma^2 = sqrt(2)"),
    (r"\begin{array}{rcl} a & = & 1 + 1 \\ & = & 2 \end{array}", "a = 1 + 1 = 2"),
    (r"{-}1{+}1 \mathbin{\cdot} n{=}512", "-1 + 1*n = 512"),
    (
        r"2\times\mathbf{v} + \|\mathbf{v}\|\cdot\|\mathbf{w}\|",
        "2*bold_v + ||(bold_v)||*||(bold_w)||",
    ),
    (
        "2√2 + √16 + √(a + b) + ∛27 + √0.5",
        "2*sqrt(2) + sqrt(16) + sqrt(a + b) + root(27, 3) + sqrt(0.5)",
    ),
    ("3‐1 + 1⁄2 + f″(x)", "3 - 1 + 1/2 + f''(x)"),
    (r"\alert{3.14} + \mathcolor{red}{x} = 1 (\#eq:a)", "3.14 + x = 1"),
    (r"½mv² + x^½ + \nicefrac{1}{3}", "1/2*m*v^2 + x^(1/2) + 1/3"),
    ("f（1，356）＝2。", "f(1, 356) = 2"),
]
NAMES = [
    ("n_{in} + n_{\\text{layers}}", "n_in + n_layers"),
    (r"\sigma_w^2 = \sigma^2_w", "sigma_w^2 = sigma_w^2"),
    ("w_{i,j} + W_{ik} + x_{t+1}", "w_{i, j} + W_{i, k} + x_{t + 1}"),
    ("x_ix_j", "x_i*x_j"),
    ("xW_1 mn", "x*W_1*m*n"),
    (r"\bar x_i \hat{\sigma} x' \mathbf{W}_1", "bar_x_i*hat_sigma*x'*bold_W_1"),
    (
        r"W^\top W_1^T x_1^{\mathsf T} + \sum_{t=1}^T t + 2^T",
        "Wᵀ*W_1ᵀ*x_1ᵀ + (sum_{t = 1}^{T} (t)) + 2^T",
    ),
    (r"\theta^* + \theta^{\star}", "star_theta + star_theta"),
    ("W^{(l)}_i", "W^{(l)}_i"),
    (r"\mathrm{gain}^2/n_\ell", "gain^2/n_ell"),
    (r"\mathrm{fan\_in}", "fan_in"),
    (r"x + \Delta x", "x + Delta_x"),
    (r"e^{-x^2/2} + \pi", "e^(-x^2/2) + pi"),
]
FUNCTIONS = [
    (r"2\cdot 38\log_2 10", "2*38*log(10, 2)"),
    (r"\log 1000 + 1", "log(1000) + 1"),
    (r"n\log\log n", "n*log(log(n))"),
    (r"\sin 2\pi x\cos y", "sin(2*pi*x)*cos(y)"),
    (r"\sin^2 x", "sin(x)^2"),
    (r"\ln 2/\ln 3", "ln(2)/ln(3)"),
    (
        r"\tg x + \operatorname{sh} x + \operatorname{arctg}\frac{x}{2}",
        "tan(x) + sinh(x) + arctan(x/2)",
    ),
    (r"\lg 2 + n_{\operatorname{ch}} + \mathrm{ch}", "lg(2) + n_ch + ch"),
    (r"16:9", "16/9"),
    (r"\lim_{x\to 0^{+}} x", "(lim_{x -> 0+} (x))"),
    (r"\exp\left(-\frac{x^2}{2}\right)", "exp(-x^2/2)"),
    (r"\max\{a, b\} + \max(a,b)", "max(a, b) + max(a, b)"),
    (r"\text{sigmoid}(x)^2 + \mathrm{ReLU}(x)", "sigmoid(x)^2 + relu(x)"),
    (r"F_t(x_t) + \text{Norm}(x + y)", "F_t(x_t) + Norm(x + y)"),
    ("f(x + 1) + g(f(x))", "f(x + 1) + g(f(x))"),
    (r"f = \mathrm{relu}", "f = relu"),
    ("||x||^2 |a||b|", "||(x)||^2*abs(a)*abs(b)"),
    (r"\log{\left(x \right)} y", "log(x)*y"),
    (r"\mathrm{relu}'(z)^2 + f''(x)", "relu'(z)^2 + f''(x)"),
    (r"p(x)\log p(x)", "p(x)*log(p(x))"),
    (r"2\pi(1+x)", "2*pi*(1 + x)"),
    ("2(m+n) + (a+b)(a-b)", "2*(m + n) + (a + b)*(a - b)"),
    ("n(n+1)/2", "n*(n + 1)/2"),
    ("n! = n (n-1)!", "n! = n*(n - 1)!"),
    (r"|x|^2 + 2\left|y\right| + \|x\|_2", "abs(x)^2 + 2*abs(y) + ||(x)||_{2}"),
]
OPERATORS = [
    (r"2\,\mathbb{E}|z|^2", "2*E[abs(z)^2]"),
    (r"\int_{-2}^2 e^{-x}x^2 dx", "(int_{-2}^{2} (e^(-x)*x^2) dx)"),
    (r"\int \! x + 1 \, \mathrm{d}x", "(int (x + 1) dx)"),
    (r"\int_0^1 \frac{dx}{1+x}", "(int_{0}^{1} (1/(1 + x)) dx)"),
    (r"\int_0^1\int_0^1 xy\,dx\,d\theta", "(int_{0}^{1} ((int_{0}^{1} (x*y) dx)) dtheta)"),
    (r"\sum_{i=1}^{n_{in}} w_i x_i + b", "(sum_{i = 1}^{n_in} (w_i*x_i)) + b"),
    (r"\frac1n\sum_i \sum_j a_{ij}", "1/n*(sum_{i} ((sum_{j} (a_{i, j}))))"),
    (r"\sum_i x_i + \sum_i y_i", "(sum_{i} (x_i)) + (sum_{i} (y_i))"),
    (r"\sum_{i,j} a_i", "(sum_{i} ((sum_{j} (a_i))))"),
    (r"\prod_{\ell=1}^{L} \tfrac12 n_\ell", "(prod_{ell = 1}^{L} (1/2*n_ell))"),
    (r"\prod_{l=1}^{L} \frac{l}{2}", "(prod_{l = 1}^{L} (l/2))"),
    (r"\lim_{n\to\infty} (1+1/n)^n = e", "(lim_{n -> oo} ((1 + 1/n)^n)) = e"),
    (r"\E[z^2\,1[z>0]]", "E[z^2*1[z > 0]]"),
    (r"\mathbb{E}\left[x \mid y\right] + E[X]^2", "E[x | y] + E[X]^2"),
    (r"\mathbb{E}_{z\sim \mathcal N(0,1)}[z^2]", "E[z^2 | z ~ N(0, 1)]"),
    (r"\mathrm{Var}(x) + \operatorname{Cov}(x, y)", "Var[x] + Cov[x, y]"),
    (r"P(z>0) = \Pr[|z| < 1]", "Pr[z > 0] = Pr[abs(z) < 1]"),
    (r"\mathbf 1_{\{z>0\}} + \mathbb{1}(0<z<1)", "1[z > 0] + 1[0 < z, z < 1]"),
    (
        r"\begin{cases} x, & x > 0, \\ 0 & \text{otherwise.} \end{cases}",
        "cases(x if x > 0, 0 otherwise)",
    ),
    (
        r"\lambda\left\{\begin{aligned} &x,& (x > 0) \\ &y, &(x\leq 0) \end{aligned}\right.",
        "lambda*cases(x if x > 0, y if x <= 0)",
    ),
]  # fmt: skip
CHAINS = [
    (r"a \le b < c \approx d", "a <= b < c ~= d"),
    (r"a \Rightarrow b \iff c", "a => b <=> c"),
    (r"a \equiv b, c := d, e \not= f", "a === b; c := d; e != f"),
    (r"\approx \log K", "~= log(K)"),
    (r"a = b,\quad c = d.", "a = b; c = d"),
    (r"\boxed{a = b}\qquad \text{and } c = d.", "a = b; c = d"),
    (r"a &= b \\ &\le c, \\ d &= e \label{x}", "a = b <= c; d = e"),
    (r"a &= b & c &= d", "a = b; c = d"),
    (r"\begin{aligned} a =&\, b \\ &\quad + c \\ =& d \end{aligned}", "a = b + c = d"),
    (r"W_{ij} \sim \mathcal{N}(0, 2/n)", "W_{i, j} ~ N(0, 2/n)"),
    (r"w \sim U\!\left(-a,\ a\right)", "w ~ U(-a, a)"),
    (r"x \in [0,1), d\to4d", "x in [0, 1); d -> 4*d"),
    (r"\underbrace{a+b}_{c} = d", "a + b = d"),
    (r"\text{elu}, \tanh", "elu; tanh"),
    (
        r"a \overset{(a)}{=} b \stackrel{\text{(ii)}}{\le} c \overset{\eqref{eq:m-1}}= d",
        "a = b <= c = d",
    ),
    (r"a \overset{\text{def}}{=} b", "a := b"),
    (r"1 + 1 &= 2 \\ \intertext{and so} 3 &\lt 4", "1 + 1 = 2; 3 < 4"),
    (r"a &{}= b \\ &{}+ c \IEEEyesnumber", "a = b + c"),
    (r"\color{red}{a = b}", "a = b"),
    (r"a = b \quad\Rightarrow\quad c \quad = \qquad d", "a = b => c = d"),
    (
        r"a &= 5 && \text{since } b = 4 \\ &= c \\ &< d && \text{by (1)} \\ e &= f",
        "a = 5 = c < d; b = 4; e = f",
    ),
    (r"a, b > 0, \quad x_1, x_2 \sim N(0, 1)", "a > 0; b > 0; x_1 ~ N(0, 1); x_2 ~ N(0, 1)"),
    (r"a &= b \\ &\quad + c \\ &\qquad - d \addtocounter{equation}{1}", "a = b + c - d"),
    (r"a &= 5 & b &= 4 \\ c & = & 3", "a = 5; b = 4; c = 3"),
    (r"\textcolor{blue}{x}^2 = \vphantom{x} c", "x^2 = c"),
    ("1 &lt; 2 &gt; x", "1 < 2 > x"),
    (r"\mathrm{KL}(P \,\|\, Q) = D(P \middle\| Q)", "KL(P | Q) = D(P | Q)"),
    (r"f(\|x\| \| y) = p(x|y=1, z)", "f(||(x)|| | y) = p(x | y = 1, z)"),
    (r"\mathbb{E}_x[x^2] = \mathbf{E}_{x,y}[xy]", "E[x^2] = E[x*y]"),
    (
        r"\operatorname*{\mathbb{E}}_{z \sim N(0,1)}[z] + \mathbf{E} z",
        "E[z | z ~ N(0, 1)] + bold_E*z",
    ),
]


def shown(text: str, **options: object) -> str:
    reading = read_formula(text, **options)  # type: ignore[arg-type]
    return "; ".join([*map(show, reading.chains), *map(show, reading.expressions)])


@pytest.mark.parametrize(("text", "expected"), [*NUMBERS, *NAMES, *FUNCTIONS, *OPERATORS, *CHAINS])
def test_what_authors_write_is_read(text: str, expected: str) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1/2L", "below the slash"),
        ("a/b c", "below the slash"),
        ("m(n+1)", "a call or a product"),
        (r"\sigma(x+1)", "a call or a product"),
        ("f^2(x)", "a power of a function"),
        (r"\log n m", "how far"),
        (r"\log n / m", "how far"),
        (r"\log(x)^2", "logarithm"),
        (r"\sin^{-1} x", "inverse"),
        (r"\sum_i x_i + y_i", "does the sum go on"),
        (r"\prod_i a_i c", "how far"),
        (r"\sum_i x_i \sum_i y_i", "an index that a sum inside has"),
        (r"\ln 2 x", "how far"),
        (r"3\frac12", "mixed number"),
        ("n!!", "double factorial"),
        (r"e^{i\pi} + 1 = 0", "imaginary"),
        (r"W^{(l+1)}", "a label or a power"),
        ("x_{(1)}", "subscript in brackets"),
        ("x^{in}", "a word or a product"),
        (r"x^{\text{out}}", "a word as a superscript"),
        ("{a+b}c", "braces that nobody sees"),
        ("x/{yz}", "braces that nobody sees"),
        (r"\int_0^1 dx\int_0^x dy", "behind the differential"),
        ("|||x|||", "three bars"),
        (r"\mathrm{Var} X", "expectation without brackets"),
        ("p = 5%", "% without its backslash"),
        (r"a = b \\ c", "only some members"),
        (r"\begin{aligned} a &= b \\ -c &= d \end{aligned}", "begins with minus"),
        (r"\sum x_i", "without its index"),
        (r"\sum_{i\ne j} x_i", "over a condition"),
        (r"\sum_i n_{in} x_i", "index inside a word"),
        (r"\int_0^1 x", "without its differential"),
        (r"\int_0^1 dx\, x", "behind the differential"),
        ("x^10", "without braces"),
        (r"\sqrt12", "without braces"),
        ("9^9^9", "double superscript"),
        ("x_1_2", "double subscript"),
        ("2e-3", "scientific or e"),
        ("128,256", "a number or a list"),
        ("1{,}5.2", "a comma and a point"),
        (r"3\overline{6}", "a bar over digits"),
        (r"\num{1.0(2)}", "no plain number"),
        (r"\SI{1.5}{\giga\byte}", "with its unit"),
        (r"\sum_{\substack{i=1\\ i\ne j}} x_i", "conditions in rows"),
        (r"\left. x y\right|_0^1", "of which name"),
        (r"\left. x\right|", "does not say where"),
        (r"\left. x\right|_{x>0}", "not given as x = a"),
        (r"\left.\sum_{i=1}^n x_i\right|_{x=1}", "at a place"),
        (r"\lfloor 5/2 \rceil", "closes nothing"),
        ("2 3", "number behind a factor"),
        ("gain = 2", "a word or a product"),
        (r"\frac{dy}{dx}", "derivative"),
        (r"\partial f", "partial derivative"),
        (r"\nabla f", "gradient"),
        (r"W^{-\top}", "transpose"),
        (r"\begin{pmatrix} a \end{pmatrix}", "matrix"),
        (r"A = \begin{array}{c} 1 \end{array}", "matrix"),
        (r"\begin{array}{cc} 1 & 2 \\ 3 & 4 \end{array} = A", "only some members"),
        (r"\left(\begin{array}{c} a = 1 \end{array}\right)", "matrix"),
        (r"1 + \cdots + n", "ellipsis"),
        (r"\mathbb{E}_x[x y]", "over some of its names"),
        (r"\mathbb{E}_{x+y}[x]", "expectation with a subscript"),
        (r"a \overset{d}{=} b", "a text above"),
        (r"a \stackrel{?}{=} b", "a text above"),
        (r"a \overset{(a)}{+} b", "a text above"),
        (r"2\mathrm{e}-3", "scientific or e"),
        (r"a = 5 && 2 + 2 = 4 \\ &= 4", "behind several formulas"),
        (r"a = 5, \quad b = 4 \\ &= 4", "behind several formulas"),
        (r"a = 5 \text{ and } b = 4 \\ &= 4", "behind several formulas"),
        (r"a &= 5 & b &= 4 \\ &= 5 & &= 4", "a column that begins with a sign"),
        ("3.14\\,159", "a number behind"),
        (r"\log(x|y)", "not closed|closes nothing"),
        ("f(x|y|)", r"\| cannot stand behind y"),
        ("|x = 2|", "= cannot stand in these brackets"),
        (r"\frac{1} = 2", "an argument is missing before ="),
        (r"\sqrt[3]{}", "nothing stands between { and }"),
        ("1 = = 2", "nothing stands between = and ="),
        (r"\times 2", r"nothing stands before \\times"),
        (r"\approx", r"nothing stands behind \\approx"),
        ("2½ = 2.5", "a mixed number"),
        (r"\mathbf{u} \times \mathbf{v} = -\mathbf{v} \times \mathbf{u}", "vectors"),
        (r"(\vec{a} \cdot \vec{b}) \vec{c}", "vectors"),
        (r"(\mathbf{a} + \mathbf{b}) \times \mathbf{b}_1", "vectors"),
        (r"\mathbb{R}^2 = \mathbb{R} \times \mathbb{R}", "sets"),
        (r"3 \text{ of } 4 = 75\%", "words inside"),
        (r"6 = 2 \text{ times } 3", "words inside"),
        ("12:30 < 13:00", "a time or a ratio"),
        ("√16\\dots", "an ellipsis"),
        ("30°", "degrees"),
        (r"(\#eq:a", "not closed"),
        (r"a \intertext{if} b = 1", "condition in words"),
        (r"\mathbb{E} x", "expectation without brackets"),
        (r"\mathbb{E}|x||y|", "expectation without brackets"),
        (r"\mathbb{E}^2|x|", "expectation without brackets"),
        ("a, b = 0", "only some members"),
        ("2, b > 0", "only some members"),
        (r"a = b \text{ if } c > 0", "condition in words"),
        (r"a \text{ is not } b", "condition in words"),
        (r"(a \text{ and } b)", "words inside"),
        (r"\foo x", "unknown command"),
        ("{x", "not closed"),
        ("x)", "closes nothing"),
        ("a +", r"nothing stands behind \+"),
        (r"\quad", "nothing but layout"),
    ],
)
def test_what_could_be_meant_otherwise_is_not_read(text: str, reason: str) -> None:
    with pytest.raises(NotRead, match=reason) as caught:
        read_formula(text)
    assert 0 <= caught.value.start <= caught.value.end <= len(text)


def test_variables_of_the_caller_are_no_functions() -> None:
    assert shown("m(n+1)", variables={"m"}) == "m*(n + 1)"
    assert shown("n_{in}(n+1)", variables={"n_in"}) == "n_in*(n + 1)"
    assert shown("c^T", variables={"T"}) == "c^T"
    assert shown("2lr + abc", variables={"lr", "a", "b", "c"}) == "2*lr + a*b*c"


def test_the_rows_of_a_multline_are_one_formula() -> None:
    assert shown(r"a = b \\ + c", environment="multline") == "a = b + c"


def test_nodes_know_their_place() -> None:
    text = r"a = \frac{b}{c_i} + \bar{d}"
    (chain,) = read_formula(text).chains
    places = [text[node.start : node.end] for node in chain.sides[1].walk()]
    assert places == [text[4:], r"\frac{b}{c_i}", "b", "c_i", "i", r"\bar{d}"]
