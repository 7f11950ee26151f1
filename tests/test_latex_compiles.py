"""What is written as LaTeX compiles as it stands, and nothing runs off the page."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from varlaw.derivations.catalogue import entries, find
from varlaw.exploration import explore
from varlaw.symbolic.gains.gain import gain
from varlaw.symbolic.gains.shown import latex
from varlaw.symbolic.printers import render

pytestmark = pytest.mark.skipif(not shutil.which("pdflatex"), reason="pdflatex is not installed")

MOST_OVERFULL = 20.0  # points
AUTHOR = r"""\documentclass{article}
\usepackage{amsmath,amssymb}
\begin{document}
%s
\end{document}
"""


def problems(text: str, folder: Path) -> list[str]:
    """Compile a document; what went wrong, or ran off the page, in TeX's words."""
    (folder / "document.tex").write_text(text, encoding="utf-8")
    command = [
        "pdflatex",
        "-halt-on-error",
        "-interaction=nonstopmode",
        "-no-shell-escape",
        "document.tex",
    ]
    run = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=120
    )
    if run.returncode:
        return [line for line in run.stdout.splitlines() if line.startswith("!")] or [
            run.stdout[-500:]
        ]
    found = re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide\).*", run.stdout)
    return [f"{size}pt too wide" for size in found if float(size) > MOST_OVERFULL]


FAMILIES = {entry.family: name for name, entry in entries().items()}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_law_of_each_family_compiles_by_itself(family, tmp_path):
    assert not problems(find(FAMILIES[family]).to_latex(), tmp_path)


def test_all_laws_in_one_document(tmp_path):
    accounts = [find(name).account() for name in entries()]
    assert len(accounts) > 20
    assert not problems(render(accounts, "latex"), tmp_path)


def test_all_fragments_with_labels_in_an_authors_document(tmp_path):
    fragments = [find(name).to_latex(standalone=False, label=f"eq:{name}") for name in entries()]
    references = " ".join(rf"\eqref{{eq:{name}}}" for name in entries())
    assert not problems(AUTHOR % ("\n".join(fragments) + references), tmp_path)


def test_renamed(tmp_path):
    rename = {
        "m": r"d_{\mathrm{model}}",
        "w": "W",
        "x": r"\hat{x}",
        "s2": r"\sigma_w^2",
        "q": r"\nu",
    }
    assert not problems(find("he").to_latex(rename=rename), tmp_path)


@pytest.mark.parametrize("name", ["tanh", "gelu", "elu", "step", "hardshrink", "selu"])
def test_gains_in_an_authors_document(name, tmp_path):
    formulas = latex(gain(name))
    assert not problems(AUTHOR % rf"\[ {formulas} \]", tmp_path)


BLOCKS = [
    "repeat(prenorm(linear(d,4*d,var=2/d) >> relu >> linear(4*d,d,var=2/(4*d))), L)",
    "linear(m_in, n, var=v, bias=b_0) >> gelu >> attention(n, T, value=1/n, out=1/n)",
    "repeat(residual(rmsnorm >> glu(linear(d,f,var=1/d), linear(d,f,var=1/d) >> silu)"
    " >> linear(f,d,var=q/f), 1/2, 1/sqrt(L)), L) >> layernorm >> linear(d, c, var=1/d)",
    "repeat(residual(linear(d, d, var=v, bias=b) >> gelu >> linear(d, d, var=v)), 3)",
]


@pytest.mark.parametrize("blocks", BLOCKS)
def test_blocks(blocks, tmp_path):
    found = explore(blocks, correlation="1/2" if "attention" in blocks else None)
    assert not problems(found.latex(), tmp_path)
    assert not problems(AUTHOR % found.latex(standalone=False), tmp_path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (AUTHOR % r"\undefinedcommand", "Undefined control sequence"),
        (AUTHOR % r"$x_{i}_{j}$", "Double subscript"),
        (AUTHOR % (r"\begin{align*} a &= " + "b + " * 60 + r"c \end{align*}"), "too wide"),
    ],
)
def test_problems_are_noticed(text, problem, tmp_path):
    assert problem in " ".join(problems(text, tmp_path))
