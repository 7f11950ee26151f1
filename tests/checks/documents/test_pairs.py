"""Formulas copied together with their rendering: read once, from the source."""

import pytest

from varlaw.checks.documents.reading import read_document

PROOF = "\n\nγ\\gamma"  # that the document has such pairs


def sources(text: str, suffix: str = ".txt") -> list[str]:
    (document,) = read_document("x", text.encode(), suffix=suffix)
    for span in document.spans:
        assert [document.text[spot] for spot in span.offsets[:-1]] == list(span.text)
    return [span.text for span in document.spans]


@pytest.mark.parametrize("suffix", [".txt", ".md"])
@pytest.mark.parametrize(
    ("text", "found"),
    [
        (r"bias β\beta, then", [r"\beta"]),
        (r"has N(0,1)\mathcal{N}(0, 1) as", [r"\mathcal{N}(0, 1)"]),
        (r"here σ=2/n≈0.1\sigma = \sqrt{2/n} \approx 0.1.", [r"\sigma = \sqrt{2/n} \approx 0.1"]),
        (r"the xi+1x_{i+1} of σ2\sigma^2", ["x_{i+1}", r"\sigma^2"]),
        (r"log⁡K−1\log K - 1", [r"\log K - 1"]),
        (
            r"𝔼[x]=∑i=1n pi\mathbb{E}[x] = \sum_{i=1}^{n} p_i",
            [r"\mathbb{E}[x] = \sum_{i=1}^{n} p_i"],
        ),
        (r"mean xˉ\bar{x} of", [r"\bar{x}"]),
        ("1\nn\n\\frac{1}{n}", [r"\frac{1}{n}"]),
        (r"其中σ\sigma是", [r"\sigma"]),
        (r"γ\gamma and $\gamma$", [r"\gamma", r"\gamma"]),
        (r"σ=1\sigma = 1σ=1 thrice", [r"\sigma = 1"]),
        (r"σ=2/n≈0.11\sigma = \sqrt{2/n} \approx 0.13.", [r"\sigma = \sqrt{2/n} \approx 0.13"]),
        ("the σ 2 {\\displaystyle \\sigma ^{2}} of", [r"{\displaystyle \sigma ^{2}}"]),
    ],
)
def test_pairs(text: str, found: list[str], suffix: str) -> None:
    assert sources(text, suffix) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x1x_1 and a=ba = b", ["x_1", "a = b"]),
        ("so 2/4=0.52/4 = 0.5.", ["2/4 = 0.5"]),
        (r"with γ\gamma, LL and 0.020.02", [r"\gamma", "L", "0.02"]),
    ],
)
def test_pairs_without_commands_in_a_document_that_has_pairs(text: str, found: list[str]) -> None:
    assert sources(text + PROOF) == [*found, r"\gamma"]


@pytest.mark.parametrize(
    "text",
    [
        "x1x_1 and LL and a=ba = b",  # nothing proves them
        r"the command \sigma alone, or α\beta",
        r"a path C:\alpha\beta",
        r"σ\sigma_w",  # a formula cut short
        r"a\sqrt{a",
        "`σ\\sigma`",
        r"twice \sigma\sigma",
        r"x1\alpha x2\alpha",
    ],
)
def test_no_pairs(text: str) -> None:
    assert sources(text, ".md") == []


@pytest.mark.parametrize("text", ["=====\nnn aa", "x = y, x = y", "0.02 0.02", "haha"])
def test_repetitions_that_are_no_pairs(text: str) -> None:
    assert sources(text + PROOF) == [r"\gamma"]
