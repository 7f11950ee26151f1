"""The gains of an activation as lines of text and as LaTeX."""

from sympy import oo

from varlaw.symbolic.gains.gain import DIGITS, KINDS, Gain, Gains
from varlaw.symbolic.language_text import typed
from varlaw.symbolic.printers.mathematics import latex as written
from varlaw.symbolic.printers.widths import width

LONG = 200  # characters of a closed form from which it is left out beside its digits
WIDE = 20  # the same for its width in LaTeX, in em
BASES = {
    "E[f^2]": r"\operatorname{E}\left[f^2\right]",
    "Var[f]": r"\operatorname{Var}\left[f\right]",
    "E[f'^2]": r"\operatorname{E}\left[f'^2\right]",
}


def text(gains: Gains, digits: int = DIGITS) -> list[str]:
    """A line for each gain."""
    wide = max(len(gain.kind) for gain in gains.gains)
    lines = []
    for gain in gains.gains:
        told = filter(None, (number(gain, digits), gain.note))
        lines.append(f"{gain.kind:{wide}}  {gain.definition:15}  {'  '.join(told)}")
    return lines


def number(gain: Gain, digits: int = DIGITS) -> str:
    """The digits of a gain, or its closed form where it has none; nothing if it is infinite."""
    if gain.exact is oo:
        return ""
    found = gain.digits(digits)
    if found is None:
        return typed(gain.exact) if gain.exact is not None else ""
    return typed(gain.exact) if gain.exact is not None and gain.exact.is_Integer else found.digits


def closed_form(gain: Gain) -> str:
    """The closed form of a gain, if there is one that says more than its digits."""
    if gain.exact is None or gain.exact.is_Integer or gain.value.enclosure is None:
        return ""
    return typed(gain.exact)


def latex(gains: Gains, digits: int = DIGITS) -> str:
    """The gains as lines of an `aligned` environment, which needs the package amsmath."""
    x, mean, variance = map(written, (gains.variable, gains.mean, gains.variance))
    lines = [
        rf"f\left({x}\right) &= {written(gains.function)},"
        rf" \quad {x} \sim \mathcal{{N}}\left({mean}, {variance}\right)"
    ]
    for gain in gains.gains:
        kind, _, where = gain.kind.partition(", ")
        base, said = BASES[KINDS[kind][0]], ", ".join(filter(None, (where, gain.note)))
        line = rf"\frac{{1}}{{\sqrt{{{base}}}}} &{_numbers(gain, digits)}"
        lines.append(line + (rf" \quad \text{{({_prose(said)})}}" if said else ""))
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def _numbers(gain: Gain, digits: int) -> str:
    if gain.exact is oo:
        return r"= \infty"
    found, parts = gain.digits(digits), []
    exact = "" if gain.exact is None else written(gain.exact)
    if exact and (found is None or width(exact) < WIDE):
        parts.append(f"= {exact}")
    if found is not None and not (gain.exact is not None and gain.exact.is_Integer):
        parts.append(rf"\approx {found.digits}")
    return " ".join(parts)


def _prose(note: str) -> str:
    for name, base in BASES.items():
        note = note.replace(name, f"${base}$")
    return note
