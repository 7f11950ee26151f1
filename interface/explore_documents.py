"""What was found of blocks as documents and code, and what the command exits with."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING

import click
from sympy import Expr, Symbol

from varlaw.console import Exit
from varlaw.exploration import is_file
from varlaw.explored import Exploration
from varlaw.explored_forms import solved_lines, text
from varlaw.symbolic.blocks.block import names
from varlaw.symbolic.blocks.state import BlockError, joint
from varlaw.symbolic.language_text import typed

if TYPE_CHECKING:
    from varlaw.symbolic.blocks.derivation import Chapter
    from varlaw.symbolic.printers.blocks import Told


def named(blocks: Sequence[str], variants: Mapping[str, str]) -> dict[str, str]:
    """Texts or files by name: files by their stem, texts by themselves. Raises usage errors."""
    found: dict[str, str] = {}
    for one in blocks:
        name = Path(one).stem if is_file(one) else one
        if name in found:
            raise click.UsageError(f"two variants are called {name!r}: name them by --compare")
        found[name] = one
    if clash := found.keys() & variants.keys():
        raise click.UsageError(f"two variants are called {min(clash)!r}")
    return found | dict(variants)


def exit_code(*found: Exploration) -> Exit:
    """What the command exits with: by the worst verdict, if anything was measured."""
    verdicts = {str(one.verdict) for each in found for one in each.measured.values()}
    if "refuted" in verdicts:
        return Exit.REFUTED
    return Exit.UNDECIDED if "undecided" in verdicts else Exit.WELL


def document(found: Exploration, form: str) -> str:
    """The answer as text, LaTeX or Markdown, without a line break at its end."""
    try:
        if form == "latex":
            return found.latex().rstrip("\n")
        return found.markdown().rstrip("\n") if form == "markdown" else text(found)
    except BlockError as error:
        raise click.UsageError(str(error)) from error


def code(found: Exploration, library: str, keep: str) -> str:
    """The initialisation as code, without a line break at its end, or a usage error."""
    try:
        return found.initialisation(library, keep).rstrip("\n")
    except BlockError as error:
        raise click.UsageError(str(error)) from error


def told(found: Exploration) -> "Told":
    """The derivation block by block, with growth and regime."""
    from varlaw.symbolic.blocks.derivation import Derivation  # printers load with them
    from varlaw.symbolic.blocks.written import written
    from varlaw.symbolic.printers.blocks import Told

    facts: dict[str, list[tuple[str, str]]] = {"forward": [], "backward": []}
    if found.depth is not None:
        for side, growth in (("forward", found.depth.forward), ("backward", found.depth.backward)):
            if side == "forward" or found.backward is not None:
                facts[side].append(("Growth", str(growth)))
    facts["forward"].append(("Regime", str(found.forward.regime)))
    known = found.backward is not None
    last = ("Regime", str(found.backward.regime)) if found.backward else ("Not known", found.why)
    facts["backward"].append(last)
    for keep, title, line in solved_lines(found):
        side = keep if keep in facts else "backward" if known else "forward"
        facts[side].append((title.capitalize(), line))
    for name, one in found.measured.items():
        facts[name if name in facts else "forward"].append((f"Measured, {name}", str(one)))
    derivation = Derivation(found.block, found.state, found.probe)
    if found.tokens is not None and found.weights:
        derivation.backward.append(_of_weights(found, found.tokens))
        regime = joint([one.regime for one in found.weights])
        facts["backward"].append(("Regime of gradients of weights", str(regime)))
    return Told(written(found.block), derivation, facts)


def _of_weights(found: Exploration, tokens: Expr) -> "Chapter":
    """A line for the weights of each layer, named by the first letter that no formula has."""
    from varlaw.symbolic.blocks.derivation import Chapter, Line

    values = [one.second_moment for one in found.weights]
    taken = {symbol.name[0] for symbol in names(*values)}
    letter = next(one for one in ascii_uppercase if one not in {*taken, *"EM"})
    lead = "second moments of the gradient in one weight, of a loss summed over tokens or inputs"
    lines = [
        Line(Symbol(f"{letter}{k}", positive=True), value, value, f"{one.path} {one.name}")
        for k, (one, value) in enumerate(zip(found.weights, values, strict=True), 1)
    ]
    return Chapter(f"{lead}, {typed(tokens)} of them", lines)
