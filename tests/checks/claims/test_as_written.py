"""Links as blogs, papers, chats and notebooks write them: what each document's links are judged."""

import pytest

from varlaw.checks.claims.checking import check
from varlaw.checks.documents.configuration import Configuration
from varlaw.checks.documents.reading import read_document

V, R, L, U = "verified", "refuted", "loose", "undecided"
NORMAL = "<!-- varlaw: z ~ N(0, 1) -->\n"
ROWS: list[tuple[str, str, list[str]]] = [
    # numbers of networks, in each delimiter and flavour
    (
        ".md",
        r"$12d^2 + 13d$, so $12 \times 7{,}087{,}872 = 85{,}054{,}464$ and $2^{5}=31$.",
        [V, R],
    ),
    (
        ".md",
        r"**$0.02\sqrt{768} \approx 0.554$**, _$0.02^2\cdot3072=1.2288$_, ~~$2=3$~~",
        [V, V, R],
    ),
    (".md", "| a | b |\n|--|--|\n| $2^4 = 16$ | $\\lvert-1\\rvert = 2$ |\n", [V, R]),
    (".md", "| `a|b` $2+3=5$ | x |\n|--|--|\n| $|-1| = 1$ | $4+4=9$ |\n", [V, V, R]),
    (".md", "> [!NOTE]\n> ```math\n> 70 \\cdot 20 = 1300\n> ```\n", [R]),
    (
        ".md",
        "- a\n  - b\n    > q $1/8 = 0.125$\n    >\n    > $$\n    > 1/16\n    > = 0.06\n    > $$",
        [V, V],
    ),
    (".md", "1. x\n   ```math\n   \\frac{24}{80} = 0.3\n   ```\n2. $`2 \\cdot 3 = 6`$", [V, V]),
    (".md", "$$ 3^3 = 27 $$ {#eq:one}\n\n$$\n3^4 = 80\n$$ {#eq-two}", [V, R]),
    (".md", "::: {.callout-tip}\n## T $2\\cdot4 = 8$\n\\\\(2\\cdot4=9\\\\)\n:::", [V, R]),
    (
        ".md",
        ":::{admonition} A\n:class: b\n{math}`\\sqrt{64} = 8` and $\\ln 10 \\approx 2.3026$\n:::",
        [V, V],
    ),
    (
        ".md",
        "<details><summary>$2+2=5$</summary>\n\n$\\frac{2}{768} = \\frac1{384}$\n\n</details>",
        [R, V],
    ),
    (".md", "<img alt=\"$1=2$\"> <code>$1=2$</code> <b>$1=2$</b> ``$1=2$``", [R]),
    (".md", "% $1=2$\n\n`r x$y` $5^4 = 625$, costs $5 or $6; \\$2+2=5\\$", [V]),
    (".md", "[^1]: note $1/3 \\approx 0.3333$\n\n[^2]:\n    later $1/6 \\approx 0.166$", [V, L]),
    (".md", "\ufeff# T\r\n\r\n\t- x\r\n\r\n$2^3 = 8$ 🎉 $2^3 = 9$\r\n", [V, R]),
    (".txt", "x=\\$5, \\(2\\cdot3=6\\) and :math:`1/4 = 0.25`; df$x = df$y", [V, V]),
    # chats
    (".md", "\\[\n\\sigma = \\sqrt{\\frac{2}{512}} = \\sqrt{0.00390625} = 0.0625\n\\]", [V, V]),
    (
        ".md",
        "- \\[ \\boxed{ 512 \\cdot \\frac{2}{512} = 2 } \\]\n- **\\( 2 \\times 3 = 7 \\)**",
        [V, R],
    ),
    (
        ".md",
        "So σ² = 2/n with n = 512, 2 × 3 = 7; $√2/2 ≈ 0.7071$, $2⁻¹⁰ ≈ 0.00098$, $3 ≤ 2$",
        [V, V, R],
    ),
    (
        ".md",
        r"$3\mathrm{e}{-4} = 0.0003$, $1\text{e-}3 = 0.001$, $1\text{e}-8 = 10^{-7}$",
        [V, V, R],
    ),
    (
        ".md",
        r"$6.74 \cdot 10^9 \cdot 2 \approx 13.5$ GB, \( 7\cdot10^9\cdot2 \approx 14 \text{ GB} \)",
        [],
    ),
    (
        ".md",
        r"$-0.9\log_2 0.9 - 0.1\log_2 0.1 \approx 0.469$ bits, $\ln 2 \approx 0.693$ nats",
        [V, V],
    ),
    (
        ".md",
        r"$\mathrm{KL}(p \| q) = 0.5\log\frac{0.5}{0.9} + 0.5\log\frac{0.5}{0.1} \approx 0.5108$",
        [V],
    ),
    (
        ".md",
        r"$\color{red}{1+1=3}$, $\textcolor{blue}{2+2} = 4$, $1 &lt; 2$, $3 &lt; 2$",
        [R, V, V, R],
    ),
    # papers
    (".tex", r"\newcommand{\half}[1][1]{\frac{#1}{2}}$\half[2] = 1$, $\half + \half = 2$", [V, R]),
    (
        ".tex",
        r"\DeclarePairedDelimiter{\abs}{\lvert}{\rvert}$\abs*{-2} = 2$, $\abs[\big]{-2} = 3$",
        [V, R],
    ),
    (".tex", r"\let\eps\varepsilon \newcommand{\q}{2} $\q + 1 = 3$ \renewcommand{\q}{3}", []),
    (".tex", r"\newcommand{\.}{3}\newcommand{\1}{x} $2 + 2 = 5$", [R]),
    (".tex", r"\begin{align}2^3 &= 8 \\ \intertext{and} 2^4 &= 15\end{align}", [V, R]),
    (
        ".tex",
        r"\begin{align}4 \cdot 2 &= 8 && \text{since } 2^2 = 4 \\ &= 2^3 \\ &= 9\end{align}",
        [V, V, R, V],
    ),
    (".tex", r"\begin{align}2^3 &= 8 & 2^4 &= 16 \\ &= 8 & &= 16\end{align}", []),
    (".tex", r"\begin{align}2^3 &= 8 & 2^4 &= 15\end{align}", [V, R]),
    (".tex", r"\begin{eqnarray}2^3 & = & 8 \nonumber\\ & < & 7\end{eqnarray}", [V, R]),
    (".tex", r"\begin{multline}1 + 2 \\ + 3 = 6\end{multline}", [V]),
    (
        ".tex",
        r"\[ \tfrac12\cdot\tfrac12 = \tfrac14, \; \tfrac13\cdot\tfrac13 = \tfrac16. \]",
        [V, R],
    ),
    (
        ".tex",
        r"$2^3 \overset{(a)}{=} 8 \stackrel{\text{(b)}}{\le} 7$, $2 \overset{?}{=} 3$",
        [V, R],
    ),
    (
        ".tex",
        r"$\left.\tfrac12 x^2\right|_0^1 = \tfrac12$ and $\int_0^1 x\,\mathrm dx = \tfrac13$",
        [V, R],
    ),
    (".tex", "$5\\% = 0.05$ % $1 = 2$\n$0.5\\,\\% = 0.05$ \\verb|$1=2$|", [V, R]),
    # German and French decimals
    (
        ".md",
        r"$0{,}02/\sqrt{24} \approx 0{,}0041$, $\frac23 = 0{,}\overline{6}$, $\frac17 < 0{,}14$",
        [V, V, R],
    ),
    (
        ".md",
        r"$1{,}5 \cdot 2 = 3$, $12 \cdot 768^2 = 7\,077\,888$, $1{,}5\times10^{-3} = 0{,}001\,5$",
        [V, V, V],
    ),
    # expectations
    (
        ".md",
        NORMAL + r"$\mathbb{E}_z[z^4]=3$, $\mathbf{E}[z^2] = 2$, $\operatorname{\mathbb{E}}[z]=0$",
        [V, R, V],
    ),
    (
        ".md",
        NORMAL + r"$\mathbb{E}[\max(0,z)] = \frac{1}{\sqrt{2\pi}}$, $\mathrm{Var}(z)=2$",
        [V, R],
    ),
    (".md", NORMAL + r"$\mathbb{E}_z[a z^2] = a$, $\mathbb{E}_{z}[w^2] = 1$", []),
    (".md", r"$\mathrm{Var}(w) = 1/n$", [U]),
    (
        ".tex",
        "% varlaw: u ~ U(-1, 1)\n$\\mathrm{Var}(u) = \\frac13$, $\\mathrm{Var}(u) = \\frac1{12}$",
        [V, R],
    ),
    # formulas of libraries
    (".md", r"$\lfloor (224 + 2\cdot3 - 7)/2 \rfloor + 1 = 112$, $\lceil 3.2 \rceil = 3$", [V, R]),
    (".md", r"$\mathrm{GELU}(1) \approx 0.8413$, $\tanh(1) \approx 0.7161$", [V, R]),
    (".md", r"$\frac{e^3}{e^1+e^2+e^3} \approx 0.6652$, $1-0.999^{1000} \approx 0.632$", [V, V]),
    # numbers in brackets, thousands, remarks; a side that is not read
    (".md", r"$(36)(8)(6)(4) = 6912$, $(0.9)(0.1) = 0.09$, $10(1)^9(0.25) = 2.6$", [V, V, R]),
    (".md", r"$768^2 + 768 = 590,592$, $12 \times 590,592 = 7,087,103$", [V, R]),
    (".md", r"$\hat{p}(1 - \hat{p}) = \hat{p} - \hat{p}^2$", [V]),
    (".md", r"$1 - 0.25 = 0.75 \quad (75\%)$", [V]),
    (".md", r"$5/12 \approx \mathbf{0.417}$, $\boldsymbol{2 + 2 = 5}$", [V, R]),
    (".md", r"$P(A \cap B) = 0.3 \cdot 0.4 = 0.13$", [R]),
]  # fmt: skip


@pytest.fixture(scope="module")
def judged() -> list[list[str]]:
    documents = [read_document(f"x{suffix}", text.encode()) for suffix, text, _ in ROWS]
    found = check(documents, Configuration(seconds=30), jobs=2)
    return [[link.verdict for link in one.links] for one in found]


@pytest.mark.parametrize("place", range(len(ROWS)), ids=[text for _, text, _ in ROWS])
def test_links_as_they_are_written(judged: list[list[str]], place: int) -> None:
    assert judged[place] == ROWS[place][2]


UNREAD = [r"$x = 3 (2)$", r"$1.38(6) = 8.28$", r"$x = 100,200$"]


@pytest.mark.parametrize("text", UNREAD)
def test_what_may_be_a_label_an_accuracy_or_a_list_is_not_read(text: str) -> None:
    (findings,) = check([read_document("a.md", text.encode())])
    assert len(findings.unread) == 1
