"""Documents as a whole: places, comments, macros, context that holds from where it stands."""

import json
from pathlib import Path

import pytest

from varlaw.checks.claims.checking import check
from varlaw.checks.claims.findings import Findings, findings_of
from varlaw.checks.documents.configuration import Configuration
from varlaw.checks.documents.reading import read_document

MARKDOWN = r"""
\newcommand{\half}{\frac12}
True: $\half = 0.5$, false: $1/\sqrt{768} \approx 0.0371$, prose: $x_t$, a macro $\unknown{x} = 2$.

$E[z^2] = 4$
<!-- varlaw: z ~ N(0, 4) -->
> $E[z^2] = 4$ and
> $$ E[z^2]
> = 2 $$

<!-- varlaw: z ~ N(0, 2) -->
$E[z^2] = 4$

$1 + 1 = 3$ <!-- varlaw: ignore as an example -->
nothing <!-- varlaw: ignore -->
an opener \( that is never closed

```varlaw
claim E[relu(u)^2] = v/2 where u ~ N(0, v)
claim E[relu(u)^2] = v where u ~ N(0, v)
claim E[
```
"""
TEX = r"""
\begin{align}
\sigma &= \sqrt{2/512} \\ &= 0.0625 \\ &\approx 0.0635
\end{align}
% varlaw: n = 768
$\sqrt{2/n} \approx 0.051$
"""
NOTEBOOK = json.dumps(
    {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {},
        "cells": [
            {"cell_type": "code", "source": ["'$1 = 2$'"], "outputs": [], "metadata": {}},
            {"cell_type": "markdown", "source": ["A\n", "$1.1^{50} \\approx 119$"], "metadata": {}},
        ],
    }
)


@pytest.fixture(scope="module")
def found() -> dict[str, Findings]:
    texts = {"a.md": MARKDOWN, "b.tex": TEX, "c.ipynb": NOTEBOOK}
    documents = [read_document(name, text.encode()) for name, text in texts.items()]
    return dict(zip(texts, check(documents, jobs=2), strict=True))


def lines(findings: Findings) -> list[tuple[int, int, str]]:
    return [(link.spot.line, link.spot.column, link.verdict) for link in findings.links]


def test_markdown(found: dict[str, Findings]) -> None:
    assert lines(found["a.md"]) == [
        (3, 8, "verified"),
        (3, 30, "refuted"),
        (5, 2, "undecided"),
        (7, 4, "verified"),
        (8, 6, "refuted"),
        (12, 2, "refuted"),
        (19, 7, "verified"),
        (20, 7, "refuted"),
    ]
    assert found["a.md"].ignored == 1
    (unread,) = found["a.md"].unread
    assert (unread.spot.line, "unknown" in unread.message) == (3, True)


def test_problems(found: dict[str, Findings]) -> None:
    told = {(note.spot.line, note.message.split(":")[0]) for note in found["a.md"].problems}
    assert {line for line, _ in told} == {15, 16, 21}
    assert (15, "ignores nothing") in told


def test_the_text_of_a_link_is_the_authors(found: dict[str, Findings]) -> None:
    texts = [link.text for link in found["a.md"].links]
    assert texts[1] == r"1/\sqrt{768} \approx 0.0371"
    assert texts[4] == "E[z^2] = 2"


def test_latex(found: dict[str, Findings]) -> None:
    assert lines(found["b.tex"]) == [(3, 11, "verified"), (3, 30, "refuted"), (6, 2, "verified")]


def test_cells(found: dict[str, Findings]) -> None:
    (link,) = found["c.ipynb"].links
    assert (link.spot.cell, link.spot.line, link.verdict) == (2, 2, "refuted")
    assert link.value.startswith("117.39")


def test_findings_survive_as_json(found: dict[str, Findings]) -> None:
    for findings in found.values():
        assert findings_of(json.loads(json.dumps(findings.record()))) == findings


def test_the_configuration_declares() -> None:
    settings = Configuration(
        context="n = 768", macros={"width": "n"}, log_base="2", source=Path("varlaw.toml")
    )
    document = read_document("a.md", rb"$\sqrt{2/\width} = 0.051$, $\log 8 = 3$")
    (findings,) = check([document], settings)
    assert [link.verdict for link in findings.links] == ["verified", "verified"]


@pytest.mark.parametrize(
    ("context", "message"),
    [("z ~ N(0,\n\n", "line 1"), ("n = 3\nclaim 1 = 1", "a claim"), ("n = 3\n3 4", "line 2")],
)
def test_a_context_that_is_not_understood(context: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check([], Configuration(context=context))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"$12 \times 768^2 \approx 7.08$M", []),
        (r"$12 \times 768^2 \approx 7.08$ million", []),
        (r"$2/3 \approx 67$%", []),
        (r"$2/3 = 0.68$, and $1/2 = 0.6, 2/3 \approx 67$%", ["refuted", "refuted"]),
        (r"$2/3 \approx 67$ more", ["refuted"]),
        (r"$2/3 = 0.67$ %, $2/3 = 0.67$ percent", []),
        (r"$2^{31} \approx 2.1$ GB, $2^{31} \approx 2.1 \text{ GB}$", []),
        (r"\( \boxed{24 \cdot 3600 = 1 \text{ day}} \), $\ln 2 = 1 \text{ bit}$", []),
        (r"$12 \cdot 768^2 \approx 7.08~\text{million}$, $2/3 = 0.67 \text{ percent}$", []),
        (r"$2^{30} = 1073741824 \text{ bytes}$", ["verified"]),
        (r"$2 + 2 = 5 \text{ so it is said}$, $2 + 2 = 5$ so", ["refuted", "refuted"]),
        (r"$2/3 \approx 0.67$ B", ["verified"]),
        (r"$n = 100$, $a = 0.2$: $\frac{2}{n(1+a^2)} = 0.01923$", ["verified"]),
        (r"$n = 100$, $a = 0.2$: $\frac{2}{n(1+a^2)} = 0.01925$", ["refuted"]),
        (r"$\frac{2}{n(1+a^2)} = 0.01923$", []),
    ],
)
def test_what_stands_around_a_formula(text: str, expected: list[str]) -> None:
    """Units behind the last number, and letters that were numbers before."""
    (findings,) = check([read_document("a.md", text.encode())])
    assert [link.verdict for link in findings.links] == expected


STATED = """
```varlaw
claim 2/(m+n) = (1/m + 1/n)/2
claim m = 5
claim n = 5
claim n = n + 1
claim sin(x)^2 + cos(x)^2 = 1
claim P[1 < z < 5] = 0.6827 where z ~ N(3, 4)
```
$2/(m+n) = (1/m + 1/n)/2$
"""


FAR = r"$x_1 = y_1 + z$ and $x_2 = y_2 + z$, $x_3 = y_3 + z$, $x_4 = y_4 + z$, $x_5 = y_5 + z$, "
XAVIER = r"$a = \sqrt{6/(m+n)}$"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"This is so when $m = n$. {FAR} {XAVIER}, so $a^2/3 = 1/n$.", ["refuted"]),
        (f"We assume $m = n$. {FAR} {XAVIER}, so $a^2/3 = 1/n$.", ["undecided"]),
        (f"{XAVIER}; when $m = n$ it is $a^2/3 = 1/n$.", ["verified"]),
        (f"This is so for $m = 4n$. {FAR} {XAVIER}, so $a^2/3 = 2/(5n)$.", ["refuted"]),
        (f"{XAVIER}; for $m = 4n$ it is $a^2/3 = 2/(5n)$.", ["verified"]),
    ],
)
def test_conditions_hold_nearby_only(text: str, expected: list[str]) -> None:
    (found,) = check([read_document(Path("a.md"), text.encode())])
    assert [link.verdict for link in found.links] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"$1{,}024 = 2^{10}$", ["verified"]),
        (r"$1{,}024 = 2^{10}$, $0{,}5 = 1/2$", ["undecided", "verified"]),
        (r"$1{,}024 = 2^{11}$, $0{,}5 = 1/2$", ["refuted", "verified"]),
        (r"$1{,}025 = 41/40$", ["undecided"]),
        (r"$1{,}025 = 41/40$, $3{,}14 \approx \pi$", ["verified", "verified"]),
        ("$4 \\cdot 768 = 3\u00a0072$, $0{,}5 = 1/2$", ["verified", "verified"]),
        (r"$1{,}026 = 41/40$, $3{,}14 \approx \pi$", ["refuted", "verified"]),
    ],
)
def test_a_document_has_decimal_commas_or_none(text: str, expected: list[str]) -> None:
    (found,) = check([read_document(Path("a.md"), text.encode())])
    assert [link.verdict for link in found.links] == expected


def test_what_is_said_to_be_a_claim_is_judged_and_defines_nothing() -> None:
    (findings,) = check([read_document("a.md", STATED.encode())])
    undecided = "undecided"
    assert [link.verdict for link in findings.links] == [
        "refuted", undecided, undecided, undecided, "verified", "verified"
    ]  # fmt: skip
    assert findings.no_claims == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"$1 - \frac{4\phi(2)}{2\Phi(2)-1} = 0.773741303549923$", ["verified"]),
        (r"$1 - \frac{4\varphi(2)}{2\Phi(2)-1} = 0.7737415$", ["refuted"]),
        (r"$\phi(2) = 0.054$", ["undecided"]),
        (r"$\phi(x) = x^2$. $\phi(2) > \Phi(2)$", ["undecided"]),
    ],
)
def test_the_normal_density_beside_the_distribution(text: str, expected: list[str]) -> None:
    """The variance of a normal law cut at two deviations (Johnson et al. 1994, 13.10)."""
    (findings,) = check([read_document("a.md", text.encode())])
    assert [link.verdict for link in findings.links] == expected


def test_cells_know_what_those_before_them_say() -> None:
    sources = [
        r"$n = 512$ \newcommand{\half}{\frac12}",
        r"$1/\sqrt{n} = 0.0444$ and $\half = 0.5$",
        "<!-- varlaw: z ~ N(0, 4) -->",
        "$E[z^2] = 4$",
    ]
    cells = [{"cell_type": "markdown", "source": source} for source in sources]
    document = read_document("a.ipynb", json.dumps({"cells": cells}).encode())
    (findings,) = check([document])
    assert [(link.spot.cell, link.verdict) for link in findings.links] == [
        (2, "refuted"), (2, "verified"), (4, "verified")
    ]  # fmt: skip
