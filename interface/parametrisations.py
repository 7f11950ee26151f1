"""Parametrisations on the command line: `varlaw parametrisation`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
from sympy import Expr, Rational, oo

from varlaw.symbolic.language_text import typed
from varlaw.symbolic.parametrisation.layers import Exponents, Kind, Optimizer, ParametrisationError
from varlaw.symbolic.parametrisation.named import NAMED, parametrisation
from varlaw.symbolic.parametrisation.parametrisation import FORMS, Parametrisation
from varlaw.symbolic.parametrisation.regime import Analysis, Size
from varlaw.symbolic.parametrisation.sizes import DEPTH
from varlaw.symbolic.parametrisation.table import Row, branch, table
from varlaw.symbolic.printers.mathematics import latex
from varlaw.table import Cell, Table

if TYPE_CHECKING:
    from varlaw.checks.coordinates import Measured


@dataclass(frozen=True)
class Sizes:
    """A width or a depth, and what it was when the values to scale were tuned."""

    size: int | None
    base: int | None

    @property
    def ratio(self) -> Expr:
        """The size in units of its base."""
        return Rational(self.size or 1, self.base or 1)

    def record(self) -> Mapping[str, int | None]:
        """The two numbers."""
        return {"size": self.size, "base": self.base}


@dataclass(frozen=True)
class Answer:
    """A parametrisation, where its table is asked for, and what was measured."""

    found: Parametrisation
    width: Sizes
    depth: Sizes
    measured: "Sequence[Measured]"

    @property
    def numeric(self) -> bool:
        """Whether the table has numbers."""
        return self.width.size is not None


def answer(
    name: str,
    layers: Mapping[str, str],
    *,
    optimizer: str,
    branch: str | None,
    n: int | None,
    base_width: int | None,
    blocks: int | None,
    base_depth: int | None,
    shape: str | None,
    measure: bool,
    backend: str,
    seed: int,
) -> Answer:
    """The parametrisation that was asked for, or a usage error."""
    for what, size, base in (("width", n, base_width), ("depth", blocks, base_depth)):
        if base is not None and size is None:
            raise click.UsageError(f"'--base-{what}' goes with '--{what}'")
    given = {kind: tuple(part.strip() for part in at.split(",")) for kind, at in layers.items()}
    try:
        found = parametrisation(
            name, optimizer, branch=branch, residual=blocks is not None, **given
        )
        if shape is not None:
            found = found.form(shape)
        measured = _measured(found, backend, seed) if measure else ()
    except ParametrisationError as error:
        raise click.UsageError(str(error)) from error
    if found.residual and n is not None and blocks is None:
        raise click.UsageError("the table has numbers at a depth: give '--depth' as well")
    return Answer(found, Sizes(n, base_width), Sizes(blocks, base_depth), measured)


def _measured(p: Parametrisation, backend: str, seed: int) -> "Sequence[Measured]":
    from varlaw.checks.coordinates import measure

    return measure(p, backend=backend, seed=seed)


def everything(optimizer: str) -> list[Parametrisation]:
    """The known parametrisations under an optimiser."""
    rule = Optimizer(optimizer)
    return [parametrisation(name, rule) for name, one in NAMED.items() if rule in one.optimizers]


def list_text(known: Sequence[Parametrisation], width: int | None) -> str:
    """A line for each."""
    titles = ("name", "in the wide limit", "r", "in the deep limit", "source")
    rows = [
        tuple(map(Cell, (p.name, _regime(p), _number(p.analysis.r), _deep(p), p.source)))
        for p in known
    ]
    return Table(titles, rows, movable=("source",)).text(width)


def list_record(known: Sequence[Parametrisation]) -> Mapping[str, Any]:
    """The list as a record."""
    listed = [{"name": p.name, **_classes(p.analysis), "source": p.source} for p in known]
    return {"schema": "varlaw.parametrisations", "version": 1, "parametrisations": listed}


def text(found: Answer, width: int | None) -> str:
    """What it is, the table for a configuration, why, the sizes, the other forms, measurements."""
    p = found.found
    lines = [f"{p.name}, {p.optimizer}: {_regime(p)}"]
    lines += [f"  {reason}" for reason in p.analysis.reasons]
    if p.analysis.depth is not None:
        lines.append(f"in depth, L residual blocks: {_deep(p)}")
        lines += [f"  {reason}" for reason in p.analysis.depth.reasons]
    lines += ["", _table(found, width), ""]
    if p.residual:
        lines += [f"a residual branch is multiplied by {_branch(found)}", ""]
    lines += [_forms(p, width), "", _sizes(p, width)]
    if found.measured:
        lines += ["", _measurements(found.measured, width)]
    lines += [f"\n{what} {said}" for what, said in (("source", p.source), ("note", p.note)) if said]
    return "\n".join(lines)


def _table(found: Answer, width: int | None) -> str:
    p = found.found
    largest, rows = {row.kind: row for row in table(p.stable_rates())}, []
    titles = ["layer", "multiplier", "initial std", "learning rate"]
    where = ""
    if found.numeric:
        titles += [f"({name})" for name in titles[1:]]
        where = f"\n(...): at {_where(found)}"
    for row in table(p):
        cells = [row.kind, typed(row.multiplier), typed(row.std), typed(row.rate)]
        if found.numeric:
            cells += [f"{value:.6g}" for value in _at(row, found)]
        r = _number(p.analysis.updates.get(row.kind))
        rows.append(tuple(map(Cell, (*cells, typed(largest[row.kind].rate), r))))
    titles += ["largest stable rate", "r"]
    return Table(tuple(titles), rows).text(width) + where


def _branch(found: Answer) -> str:
    scale = branch(found.found)
    at = scale.xreplace({DEPTH: found.depth.ratio})
    return typed(scale) + (f" ({float(at):.6g})" if found.depth.size is not None else "")


def _at(row: Row, found: Answer) -> tuple[float, float, float]:
    return row.at(found.width.ratio, found.depth.ratio)


def _where(found: Answer) -> str:
    parts = []
    for name, sizes in (("n", found.width), ("L", found.depth)):
        if sizes.size is not None:
            at = f"{name} = {sizes.size}"
            parts.append(at if sizes.base is None else f"{at}, relative to {name} = {sizes.base}")
    return "; ".join(parts)


def _forms(p: Parametrisation, width: int | None) -> str:
    """The equivalence class, and its members with multipliers, weights or rates of one size."""
    change = "c - 2 t" if p.optimizer.power else "c - t"
    forms = [p.form(of) for of in FORMS]
    rows = [
        tuple(map(Cell, (kind, _triple(p, kind), *(_triple(form, kind) for form in forms))))
        for kind in p.layers
    ]
    titles = ("layer", "a, b, c", *FORMS.values())
    intro = f"the same training for every t of a layer: (a + t, b - t, {change})"
    return f"{intro}\n{Table(titles, rows).text(width)}"


def _triple(p: Parametrisation, kind: Kind) -> str:
    layer = p.layers[kind]
    shown = _exponents(layer.width)
    return f"{shown}; L: {_exponents(layer.depth)}" if p.residual and kind.repeated else shown


def _exponents(at: Exponents) -> str:
    return ", ".join("zero" if value is oo else typed(value) for value in (at.a, at.b, at.c))


def _sizes(p: Parametrisation, width: int | None) -> str:
    deep = p.analysis.depth.sizes if p.analysis.depth is not None else ()
    rows = [
        tuple(map(Cell, (size.layer, size.quantity, size.text, size.rule, size.reason)))
        for size in (*p.analysis.sizes, *deep)
    ]
    return Table(("layer", "quantity", "size", "exponent", "why"), rows, movable=("why",)).text(
        width
    )


def _measurements(measured: "Sequence[Measured]", width: int | None) -> str:
    rows = []
    for one in measured:
        low, high = one.interval
        cells = (
            one.layer,
            one.quantity,
            f"{one.base}^({one.derived:g})",
            f"{one.estimate:.3f}",
            f"{low:.3f} to {high:.3f}",
            one.verdict,
        )
        rows.append(tuple(map(Cell, cells)))
    return Table(("layer", "measured", "derived", "exponent", "interval", ""), rows).text(width)


def latex_table(found: Answer) -> str:
    """The table as a `tabular`, without numbers where no width is given."""
    titles = ["layer", "multiplier", "initial std", "learning rate"]
    heads = titles + [f"({name})" for name in titles[1:]] * found.numeric
    lines = [rf"\begin{{tabular}}{{{'l' * len(heads)}}}", " & ".join(heads) + r" \\ \hline"]
    for row in table(found.found):
        cells = [f"${latex(factor)}$" for factor in (row.multiplier, row.std, row.rate)]
        if found.numeric:
            cells += [f"${value:.6g}$" for value in _at(row, found)]
        lines.append(" & ".join([str(row.kind), *cells]) + r" \\")
    if found.found.residual:
        lines.append(rf"branch & ${latex(branch(found.found))}$ \\")
    return "\n".join([*lines, r"\end{tabular}"])


def record(found: Answer) -> Mapping[str, Any]:
    """The contract of `varlaw parametrisation --json`."""
    p = found.found
    analysis, deep = p.analysis, p.analysis.depth
    largest = {row.kind: row for row in table(p.stable_rates())}
    forms = {name: p.form(name) for name in FORMS}
    return {
        "schema": "varlaw.parametrisation",
        "version": 1,
        "name": p.name,
        "optimizer": str(p.optimizer),
        **_classes(analysis),
        "stable": analysis.stable,
        "logits": _exponent(analysis.logits),
        "logits_move": _exponent(analysis.logits_move),
        "reasons": [*analysis.reasons, *(deep.reasons if deep is not None else ())],
        "width": found.width.record(),
        "depth": found.depth.record(),
        "branch": typed(branch(p)) if p.residual else None,
        "layers": [
            {
                "layer": str(row.kind),
                "multiplier": typed(row.multiplier),
                "init_std": typed(row.std),
                "learning_rate": typed(row.rate),
                "largest_learning_rate": typed(largest[row.kind].rate),
                "r": _exponent(analysis.updates.get(row.kind)),
                "at": _numbers(row, found),
                "exponents": _both(p, row.kind),
                "forms": {name: _both(form, row.kind) for name, form in forms.items()},
            }
            for row in table(p)
        ],
        "sizes": [
            _size(size) for size in (*analysis.sizes, *(deep.sizes if deep is not None else ()))
        ],
        "measured": [
            {
                "layer": one.layer,
                "quantity": one.quantity,
                "base": one.base,
                "derived": one.derived,
                "estimate": one.estimate,
                "low": one.interval[0],
                "high": one.interval[1],
                "verdict": one.verdict,
            }
            for one in found.measured
        ],
        "source": p.source,
        "note": p.note,
    }


def _classes(analysis: Analysis) -> Mapping[str, Any]:
    depth = analysis.depth
    return {
        "regime": str(analysis.regime),
        "depth_regime": None if depth is None else str(depth.regime),
        "r": _exponent(analysis.r),
    }


def _numbers(row: Row, found: Answer) -> Mapping[str, float | None]:
    values = _at(row, found) if found.numeric else (None, None, None)
    return dict(zip(("multiplier", "init_std", "learning_rate"), values, strict=True))


def _both(p: Parametrisation, kind: Kind) -> Mapping[str, Any]:
    layer = p.layers[kind]
    return {
        name: [_exponent(getattr(at, letter)) for letter in "abc"]
        for name, at in (("width", layer.width), ("depth", layer.depth))
    }


def _size(size: Size) -> Mapping[str, Any]:
    return {
        "layer": str(size.layer),
        "quantity": size.quantity,
        "base": size.base,
        "exponent": _exponent(size.exponent),
        "formula": size.rule,
        "reason": size.reason,
    }


def _exponent(value: Expr | None) -> str | None:
    """An exponent as text; null where there is none, or where the size is zero."""
    return None if value is None or not value.is_finite else typed(value)


def _number(value: Expr | None) -> str:
    return "" if value is None else "none" if not value.is_finite else typed(value)


def _regime(p: Parametrisation) -> str:
    return str(p.analysis.regime)


def _deep(p: Parametrisation) -> str:
    return "" if p.analysis.depth is None else str(p.analysis.depth.regime)
