r"""LaTeX is read as authors mean it; each expected tree is written by hand, with every product."""

import pytest

from varlaw.symbolic.formulas import NotRead, read_formula
from varlaw.symbolic.formulas.written import show


def shown(text: str, **options: object) -> str:
    reading = read_formula(text, **options)  # type: ignore[arg-type]
    return "; ".join([*map(show, reading.chains), *map(show, reading.expressions)])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"1/\sqrt{768}\approx 0.0361", "1/sqrt(768) ~= 0.0361"),
        (r"0.2933790\dots", "0.2933790..."),
        (r"\frac{\sigma}{\sqrt\gamma}=1.13\dots\sigma", "sigma/sqrt(gamma) = 1.13...*sigma"),
        (r"\tfrac12\mathrm{Var}(z)", "1/2*Var[z]"),
        (r"\sqrt2 \sqrt N \sqrt[3]{x}", "sqrt(2)*sqrt(N)*root(x, 3)"),
        (
            r"n_{in} + n_{\text{layers}} + w_{i,j} + x_{t+1}",
            "n_in + n_layers + w_{i, j} + x_{t + 1}",
        ),
        (r"\sigma_w^2 = \sigma^2_w", "sigma_w^2 = sigma_w^2"),
        (r"x_ix_j W_{ik}", "x_i*x_j*W_{i, k}"),
        (r"\bar x_i \hat{\sigma} x' \mathbf{W}_1", "bar_x_i*hat_sigma*x'*bold_W_1"),
        (r"2\cdot 38\log_2 10", "2*38*log(10, 2)"),
        (r"\log 1000 + 1", "log(1000) + 1"),
        (r"\text{sigmoid}(x)^2", "sigmoid(x)^2"),
        (r"\sin^2 x", "sin(x)^2"),
        (r"\max\{a, b\}", "max(a, b)"),
        (r"3\times10^{-4} + 1{,}356 + 1\%", "3*10^(-4) + 1356 + 1%"),
        (r"\int_{-2}^2 e^{-x^2/2}x^2 dx", "(int_{-2}^{2} (e^(-x^2/2)*x^2) dx)"),
        (r"\int \frac{dx}{x}", "(int (1/x) dx)"),
        (r"\sum_{i=1}^{n_{in}} w_i x_i + b", "(sum_{i = 1}^{n_in} (w_i*x_i)) + b"),
        (r"\E[z^2\,1[z>0]]", "E[z^2*1[z > 0]]"),
        (r"\mathbb{E}\left[x \mid y > 0\right]", "E[x | y > 0]"),
        (r"P(z>0) = \Pr[z > 0]", "Pr[z > 0] = Pr[z > 0]"),
        (r"a &= b \\ &\le c, \\ d &= e", "a = b <= c; d = e"),
        (r"\boxed{a = b}\qquad \text{and } c = d.", "a = b; c = d"),
        (r"W_{ij} \sim \mathcal{N}(0, 2/n)", "W_{i, j} ~ N(0, 2/n)"),
        (
            r"\begin{cases} x, & x>0 \\ 0 & \text{otherwise} \end{cases}",
            "cases(x if x > 0, 0 otherwise)",
        ),
        (r"|x|^2 + \|x\|_2", "abs(x)^2 + ||(x)||_{2}"),
        (r"n(n+1)/2", "n*(n + 1)/2"),
    ],
)
def test_what_authors_write_is_read(text: str, expected: str) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1/2L", "slash"),
        ("m(n+1)", "a call or a product"),
        (r"\log n m", "how far"),
        ("x^10", "without braces"),
        ("9^9^9", "double superscript"),
        (r"\partial f", "partial"),
        (r"W^\top W", "transpose"),
        (r"\foo x", "unknown command"),
        ("{x", "not closed"),
        ("x)", "closes nothing"),
    ],
)
def test_what_could_be_meant_otherwise_is_not_read(text: str, reason: str) -> None:
    with pytest.raises(NotRead, match=reason):
        read_formula(text)
