"""Variants of blocks side by side: `varlaw explore --compare`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from varlaw.explored import Exploration
from varlaw.explored_forms import shown, solution
from varlaw.table import Cell, Table

TITLES = ("variant", "growth", "forward", "backward", "growth back", "solved", "measured")


@dataclass(frozen=True, repr=False)
class Comparison:
    """What was found of some variants, by name."""

    variants: Mapping[str, Exploration]

    def rows(self) -> list[tuple[str, ...]]:
        """A row of text for each variant, under `TITLES`."""
        return [
            (
                name,
                *_growth(found, "forward"),
                shown(found.forward.second_moment),
                shown(found.backward.second_moment) if found.backward else f"({found.why})",
                *(_growth(found, "backward") if found.backward else ("",)),
                "; ".join(
                    f"{keep}: {solution(found.unknown, value)}"
                    for keep, value in found.answers.items()
                    if not isinstance(value, str)
                ),
                "; ".join(f"{side}: {one.verdict}" for side, one in found.measured.items()),
            )
            for name, found in self.variants.items()
        ]

    def text(self, width: int | None = None) -> str:
        """A table with a line for each variant; columns without content are left out."""
        rows = [tuple(map(Cell, row)) for row in self.rows()]
        return Table(TITLES, rows, ("solved", "backward", "forward")).text(width)

    def markdown(self) -> str:
        """A table in Markdown."""
        cells = [["`" + cell + "`" if cell else "" for cell in row] for row in self.rows()]
        kept = [k for k in range(len(TITLES)) if any(row[k] for row in cells)]
        lines = [[TITLES[k] for k in kept], ["---"] * len(kept)]
        lines += [[row[k].replace("|", r"\|") for k in kept] for row in cells]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def latex(self) -> str:
        """A document with a list of what was found of each variant."""
        from varlaw.symbolic.printers.blocks import listing

        parts = [
            (name, [(title, text) for title, text in zip(TITLES[1:], rest, strict=True) if text])
            for name, *rest in self.rows()
        ]
        return listing(parts)

    def to_json(self) -> Mapping[str, Any]:
        """All variants in one record, each as `varlaw explore --json` has it."""
        hidden = ("schema", "version")
        return {
            "schema": "varlaw.explore-comparison",
            "version": 1,
            "variants": [
                {"name": name, **{k: v for k, v in found.to_json().items() if k not in hidden}}
                for name, found in self.variants.items()
            ],
        }

    def document(self, form: str, width: int | None = None) -> str:
        """The comparison as text, LaTeX or Markdown."""
        if form == "latex":
            return self.latex().rstrip("\n")
        return self.markdown() if form == "markdown" else self.text(width)

    def __repr__(self) -> str:
        return self.text()

    _repr_markdown_ = markdown


def _growth(found: Exploration, side: str) -> tuple[str]:
    """How a side goes with depth; nothing where no block is repeated."""
    return ("" if found.depth is None else str(getattr(found.depth, side)),)
