"""Verdicts on chains of relations as they stand in a document, and on whole documents."""

from varlaw.checks.claims.checking import check
from varlaw.checks.claims.declarations.context import Context
from varlaw.checks.claims.declarations.definitions import gathered
from varlaw.checks.claims.links.decide import judge_chain
from varlaw.checks.claims.links.verdict import Judgement
from varlaw.checks.documents.reading import read_document
from varlaw.symbolic.formulas.reader import read_formula

GAMMA = r"\gamma = \frac{\int_{-2}^2 e^{-x^2/2}x^2 dx}{\int_{-2}^2 e^{-x^2/2} dx}"
XAVIER = r"a = \sqrt{6/(n_{in}+n_{out})}"
HE = r"a = \mathrm{gain}\sqrt{3/n_{in}}"


def judged(*texts: str, context: Context | None = None) -> list[Judgement]:
    """The judgements on the last text; those before it are earlier in the document."""
    chains = [chain for text in texts for chain in read_formula(text).chains]
    known = gathered(chains)
    return judge_chain(chains[-1], context or Context(), known.at(len(chains) - 1))


def verdict(*texts: str, context: Context | None = None) -> str:
    """The verdict on the last link of the last text."""
    return str(judged(*texts, context=context)[-1].verdict)


def in_document(text: str) -> list[str]:
    """The verdicts on the links of a Markdown document."""
    (findings,) = check([read_document("a.md", text.encode())])
    return [link.verdict for link in findings.links]
