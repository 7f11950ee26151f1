"""Spans of mathematics in each format: what is found, what is not, and where."""

import pytest

from varlaw.checks.documents.reading import read_document
from varlaw.checks.documents.span import Document, Kind


def read(text: str, suffix: str = ".md") -> Document:
    (document,) = read_document("x", text.encode(), suffix=suffix)
    for span in document.spans:
        assert [document.text[spot] for spot in span.offsets[:-1]] == list(span.text)
        assert span.start <= span.offsets[0] <= span.offsets[-1] <= span.end
    return document


def texts(text: str, suffix: str = ".md") -> list[str]:
    return [span.text for span in read(text, suffix).spans]


@pytest.mark.parametrize("suffix", [".md", ".txt", ".tex"])
@pytest.mark.parametrize(
    ("text", "found"),
    [
        (r"so $x=1$ and \(y=2\).", ["x=1", "y=2"]),
        (r"\[ x = 1 \]", [" x = 1 "]),
        ("$$x$$$$y$$", ["x", "y"]),
        ("$x$$y$", ["x", "y"]),
        (r"a $\alpha_t $ with a blank", [r"\alpha_t "]),
        ("$a\n= b$", ["a\n= b"]),
        (r"\begin{equation}y\end{equation}where $b_j$ is", ["y", "b_j"]),
        (r"\begin{align*}a &= b \\ &= c\end{align*}", [r"a &= b \\ &= c"]),
        (r"\begin{alignat}{2}a &= b\end{alignat}", ["a &= b"]),
        (
            r"\begin{equation}\begin{aligned}a\end{aligned}\end{equation}",
            [r"\begin{aligned}a\end{aligned}"],
        ),
        (r"\$5 and $x$ and \\$y$", ["x", "y"]),
        (r"$a \$ b$", [r"a \$ b"]),
        (r"$a \text{ if $b$ or $c$}$, $d$", [r"a \text{ if $b$ or $c$}", "d"]),
        (r"$a \text{ if$ unclosed", [r"a \text{ if"]),
        (r"\[ a \\[2pt] b \]", [r" a \\[2pt] b "]),
        ("$$$$ and $$ $$ and \\(\\)", []),
        (r"\newcommand{\R}{$x$} $y$", ["y"]),
        (r"$\def\E{\mathbb E}\E[x]$", [r"\E[x]"]),
    ],
)
def test_delimiters_are_the_same_in_every_format(text: str, found: list[str], suffix: str) -> None:
    assert texts(text, suffix) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # money, variables, prices
        ("It costs $5 and later $10, or $x$.", ["x"]),
        ("$10, and Bob gives Eve $ back", []),
        ("from $5 to $x_1$", ["x_1"]),
        ("$5-$10 and US$3", []),
        ("价格是$5，不是$6。若$x＞0$，则$x+1＞1$。", ["x＞0", "x+1＞1"]),
        ('[a $x$](b/$c$ \'d $e$\') ![$y$](f "$g$") ("$z$")', ["x", "y", "z"]),
        # what dialects of Markdown do not show
        ("{/* $a$ */} $b$ and {`$c$`} {/* $d$", ["b", "d"]),
        ('$a$\n+++ {"k": "$b$"}\n$c$ +++ $d$', ["a", "c", "d"]),
        ('+++\ntitle = "$a$"\n+++\n$b$', ["b"]),
        ("+++\n\n$a$\n\n+++\n$b$", ["a", "b"]),
        ("a $$ restaurant, not a $$$ one", []),
        ("I have $ and you have $ too", []),
        ("$ x = 1 $ has blanks", [" x = 1 "]),
        ("$2 \\times 3 = 6$", ["2 \\times 3 = 6"]),
        ("$0.02/1.13 = 1$", ["0.02/1.13 = 1"]),
        ("$2x$ and $3 \\text{ if } y$", ["2x", "3 \\text{ if } y"]),
        ("$2mn = 2 ab$ and $3dx$", ["2mn = 2 ab", "3dx"]),
        ("$relu$, $x dx$ and $sin x$", ["relu", "x dx", "sin x"]),
        ("https://a/$metadata and https://b/$batch", []),
        ("要$5，后来$6 或 $5，后来$", []),
        ("$x < y and z$ is a condition", ["x < y and z"]),
        ("-$5 to -$3, $.50 and $.75", []),
        # code and comments
        ("`$x$` and ``a ` $y$`` and $z$", ["z"]),
        ("```\n$x$\n```\n$z$", ["z"]),
        ("~~~python\n$x$\n~~~", []),
        ("a\n\n    $x$ indented\n\n$z$", ["z"]),
        ("- item\n\n  $x$\n\n      $y$ code", ["x"]),
        ("<!-- $x$ --> $y$", ["y"]),
        ("<!--\n\n$x$\n\n--> \n\n$y$", ["y"]),
        ("<pre>$x$</pre>\n\n<div>$y$</div>", ["y"]),
        ("<code>$x$</code> <img src=a alt=\"$y$\"> <b title='$u$'>$z$</b>", ["z"]),
        ("<div>\n<pre>\n$x$</pre> <td>$y$</td>\n</div>", ["y"]),
        ("<code> never closed $x$, $a <b and c> d$", ["x", "a <b and c> d"]),
        ("% of MyST: $x$\n$y$ at 5% of $z$\n% $u$", ["y", "z"]),
        ("a lone ` and $x$", ["x"]),
        # fences of maths and directives
        ("```math\nx = 1\n```", ["x = 1"]),
        ("```{math}\n:label: one\n\nx = 1\n```", ["\nx = 1"]),
        (":::{math}\nx = 1\n:::", ["x = 1"]),
        ("````{note}\nso $x$\n```python\n$y$\n```\n````", ["x"]),
        ("```{code-block} python\n$x$\n```", []),
        ("$$\nx = 1\n$$ (label)", ["\nx = 1\n"]),
        ("```varlaw\nE[x] = 1\n```", ["E[x] = 1"]),
        ("$`x = 1`$ as on GitHub", ["x = 1"]),
        # quotes, lists, tables, headings, footnotes, front matter
        ("> $$\n> a\n> = b\n> $$", ["\na\n= b\n"]),
        ("> - $a\n>   = b$", ["a\n= b"]),
        ("1. x\n   $$\n   a\n   $$", ["\na\n"]),
        ("$$\na\n- b\n+ c\n> 0\n= d\n$$", ["\na\n- b\n+ c\n> 0\n= d\n"]),
        ("so that $$\n- a\n# b\n$$ and $x$", ["\n- a\n# b\n", "x"]),
        ("\\begin{align}\n- a\n\\end{align}where\n- $x$", ["\n- a\n", "x"]),
        ("| $a$ | $5 |\n|---|---|\n| $b$ | $6 |\n| $|x|$ | y |", ["a", "b", "|x|"]),
        ("# On $x$ #\n\nOn $y$\n---\n", ["x", "y"]),
        ("a[^1]\n\n[^1]: $x$\n\n    and $y$", ["x", "y"]),
        ("!!! note\n\n    so $x$", ["x"]),
        ("---\ntitle: $x$\n---\n$y$", ["y"]),
        # where Markdown eats a backslash, and roles of MyST
        (r"so \\(x = 1\\) and \\[ y \\]", ["x = 1", " y "]),
        ("\\\\[\n- a\n\\\\]", ["\n- a\n"]),
        (r"a line\\[2pt] break \\(", []),
        ("so {math}`x = 1` and {code}`$y$`", ["x = 1"]),
        # brackets that Markdown escapes
        (r"see \[1\](a) and \[x] and \[Lambda]*2", ["1"]),
    ],
)
def test_markdown(text: str, found: list[str]) -> None:
    assert texts(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("$5 and later $", ["5 and later "]),  # a dollar is no money in LaTeX
        ("% $x$\n$y$ \\% $z$", ["y", "z"]),
        ("$a % no $ here\n= b$", ["a \n= b"]),
        ("$a\n% no\n= b$", ["a\n= b"]),
        ("\\\\% $x$", []),
        ("\\begin{verbatim}$x$\\end{verbatim}$y$", ["y"]),
        ("\\begin{lstlisting}% \\end{x}\n$x$\\end{lstlisting}$y$", ["y"]),
        ("\\begin{minted}{python}$x$\\end{minted}$y$", ["y"]),
        ("\\verb|$x$| and \\lstinline{$x$} and $y$", ["y"]),
        ("\\iffalse $x$ \\fi $y$", ["y"]),
        ("\\url{a/$b} $x$ \\href{a/%20$b}{$y$} $z$", ["x", "y", "z"]),
        ("a \\\\[2pt] $y$ \\\\(b)", ["y"]),
        ("\\title{$x$}\\begin{document}$y$\\end{document}$z$", ["y"]),
        ("``quoted'' $x$ `single'", ["x"]),
        ("\\[\n\\text{if $x$}\n\\]", ["\n\\text{if $x$}\n"]),
    ],
)
def test_latex(text: str, found: list[str]) -> None:
    assert texts(text, ".tex") == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("    $x$ indented", ["x"]),
        ("``quoted'' $x$ and ``again''", ["x"]),
        ("``$a$`` and ``b'' $x$ and ``c``", ["x"]),
        ("`$x$` and $y$", ["y"]),
        ("```\n$x$\n\n$y$\n```\n$z$", ["z"]),
        (r"\[Lambda]*x is \[ y \]", [" y "]),
        ("N[Solve[{\\[Lambda], \\[Alpha]}], 20] and $x$", ["x"]),
    ],
)
def test_plain_text(text: str, found: list[str]) -> None:
    assert texts(text, ".txt") == found


@pytest.mark.parametrize(
    ("text", "kind", "environment"),
    [
        ("$x$", Kind.INLINE, ""),
        (r"\[x\]", Kind.DISPLAY, ""),
        (r"\begin{gather*}x\end{gather*}", Kind.ENVIRONMENT, "gather*"),
        ("```varlaw\nx = 1\n```", Kind.BLOCK, ""),
    ],
)
def test_kinds(text: str, kind: Kind, environment: str) -> None:
    (span,) = read(text).spans
    assert (span.kind, span.environment) == (kind, environment)


def test_a_claim_file_is_one_block() -> None:
    assert texts("x ~ N(0, 1)\r\nE[x] = 0\n", ".varlaw") == ["x ~ N(0, 1)\nE[x] = 0\n"]


@pytest.mark.parametrize("suffix", [".md", ".txt", ".tex"])
@pytest.mark.parametrize(
    ("text", "opener", "found"),
    [
        ("\\[ x = 1\n\n$y$", r"\[", ["y"]),
        ("\\( x = 1 \\( y \\)", r"\(", [" y "]),
        ("$$ x = 1\n\n$y$", "$$", ["y"]),
        ("$\\alpha = 1\n\n$y$", "$", ["y"]),
        ("\\begin{align} x\n\n\\end{align} $y$", r"\begin{align}", ["y"]),
    ],
)
def test_unclosed_openers_are_reported_and_end_at_the_blank_line(
    text: str, opener: str, found: list[str], suffix: str
) -> None:
    document = read(text, suffix)
    assert [span.text for span in document.spans] == found
    (problem,) = document.problems
    assert problem.message.startswith(f"{opener} is not closed")
    assert problem.start == text.index(opener)


@pytest.mark.parametrize(
    ("text", "message", "suffix"),
    [
        ("```\n$x$", "fence is not closed", ".md"),
        ("<!-- $x$", "comment is not closed", ".md"),
        ("> " * 60 + "$x$", "nested more than", ".md"),
        ("\\begin{verbatim}\n$x$", "is not closed by", ".tex"),
    ],
)
def test_what_would_swallow_the_rest_is_reported(text: str, message: str, suffix: str) -> None:
    (problem,) = read(text, suffix).problems
    assert message in problem.message


@pytest.mark.parametrize(
    "text", ["costs $5.", "> ```\n> a\n> ```\n", "```\na\n```", r"\[x] a", r"f(a\[, b\[, c]])"]
)
def test_nothing_to_report(text: str) -> None:
    assert not read(text).problems


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a $x$", "x:1:4"),
        ("a\n\n> - b $x$", "x:3:8"),
        ("α 𝒩 $x$", "x:1:6"),
        ("a\r\nb $x$", "x:2:4"),
        ("a\rb $x$", "x:2:4"),
        ("\ufeffa $x$", "x:1:4"),
        ("a\0 $x$", "x:1:5"),
        ("\t- \t$x$", "x:1:6"),
        ("- a\n\n\t> $x$", "x:3:5"),
    ],
)
def test_places(text: str, place: str) -> None:
    document = read(text, ".txt" if text.startswith("\t") else ".md")
    (span,) = document.spans
    assert str(document.place(span.offsets[0], span.offsets[-1])) == place


def test_the_place_of_a_part_in_a_quote() -> None:
    document = read("> $$\n> a\n> = b\n> $$")
    (span,) = document.spans
    at = span.text.index("b")
    place = document.place(span.offsets[at], span.offsets[at + 1])
    assert (place.line, place.column, place.end_line, place.end_column) == (3, 5, 3, 6)


def test_macros_as_written() -> None:
    text = r"""
\newcommand{\E}{\mathbb{E}} \renewcommand\var[1]{\mathrm{Var}(#1)} \DeclareMathOperator*{\std}{std}
\def\half{\frac12} and in $\def\x{y} \x = 1$ and unclosed \def\z{

\newcommandx{\no}{a} \let\eps=\varepsilon \letter \DeclarePairedDelimiter{\abs}{\lvert}{\rvert}
"""
    assert read(text).macros == (
        r"\newcommand{\E}{\mathbb{E}}",
        r"\renewcommand\var[1]{\mathrm{Var}(#1)}",
        r"\DeclareMathOperator*{\std}{std}",
        r"\def\half{\frac12}",
        r"\def\x{y}",
        r"\let\eps=\varepsilon",
        r"\DeclarePairedDelimiter{\abs}{\lvert}{\rvert}",
    )


def test_macros_of_a_preamble() -> None:
    text = r"\def\a{$b$}\usepackage{x}\begin{document}$\a$\end{document}"
    document = read(text, ".tex")
    assert document.macros == (r"\def\a{$b$}",)
    assert [span.text for span in document.spans] == [r"\a"]


def test_addresses_of_links_are_no_mathematics() -> None:
    text = "[a](http://a.b/$x$) [b](c_(d)$y) http://e.f/$z$ [$u$](g) and $1/2 = 0.5$"
    assert [span.text for span in read(text).spans] == ["u", "1/2 = 0.5"]
