"""Parametrisations as text and LaTeX, for `varlaw parametrisation`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sympy import Expr, oo

from varlaw.parametrisations import Answer, at_sizes, numbers, of_adam
from varlaw.symbolic.language_text import typed
from varlaw.symbolic.parametrisation.layers import Exponents, Kind, Optimizer
from varlaw.symbolic.parametrisation.parametrisation import FORMS, Parametrisation
from varlaw.symbolic.parametrisation.sizes import DEPTH
from varlaw.symbolic.parametrisation.table import branch, table
from varlaw.symbolic.printers.mathematics import latex
from varlaw.table import Cell, Table

if TYPE_CHECKING:
    from varlaw.checks.training.coordinates import Measured


def list_text(known: Sequence[Parametrisation], width: int | None) -> str:
    """A line for each."""
    titles = ("name", "in the wide limit", "r", "in the deep limit", "source")
    rows = [
        tuple(map(Cell, (p.name, _regime(p), _number(p.analysis.r), _deep(p), p.source)))
        for p in known
    ]
    return Table(titles, rows, movable=("source",)).text(width)


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
            cells += [f"{value:.6g}" for value in numbers(row, found)]
        r = _number(p.analysis.updates.get(row.kind))
        rows.append(tuple(map(Cell, (*cells, typed(largest[row.kind].rate), r))))
    titles += ["largest stable rate", "r"]
    return Table(tuple(titles), rows).text(width) + where + _of_adam(found, width)


def _of_adam(found: Answer, width: int | None) -> str:
    """The factors of epsilon and weight decay, where the rule is Adam's."""
    p, rows = found.found, []
    if p.optimizer is not Optimizer.ADAM:
        return ""
    for kind in p.layers:
        factors = of_adam(found, kind).values()
        cells = [str(kind), *map(typed, factors)]
        if found.numeric:
            cells += [f"{at_sizes(factor, found):.6g}" for factor in factors]
        rows.append(tuple(map(Cell, cells)))
    titles = ["layer", "Adam's epsilon", "weight decay"]
    titles += [f"({name})" for name in titles[1:]] * found.numeric
    shrink = "weight decay of AdamW: weights shrink by rate times decay in a step"
    return f"\n\n{Table(tuple(titles), rows).text(width)}\n{shrink}"


def _branch(found: Answer) -> str:
    scale = branch(found.found)
    at = scale.xreplace({DEPTH: found.depth.ratio})
    return typed(scale) + (f" ({float(at):.6g})" if found.depth.size is not None else "")


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
    adam = found.found.optimizer is Optimizer.ADAM
    heads += ["Adam's epsilon", "weight decay"] * adam
    lines = [rf"\begin{{tabular}}{{{'l' * len(heads)}}}", " & ".join(heads) + r" \\ \hline"]
    for row in table(found.found):
        cells = [f"${latex(factor)}$" for factor in (row.multiplier, row.std, row.rate)]
        if found.numeric:
            cells += [f"${value:.6g}$" for value in numbers(row, found)]
        cells += [f"${latex(factor)}$" for factor in of_adam(found, row.kind).values()]
        lines.append(" & ".join([str(row.kind), *cells]) + r" \\")
    if found.found.residual:
        lines.append(rf"branch & ${latex(branch(found.found))}$ \\")
    return "\n".join([*lines, r"\end{tabular}"])


def _number(value: Expr | None) -> str:
    return "" if value is None else "none" if not value.is_finite else typed(value)


def _regime(p: Parametrisation) -> str:
    return str(p.analysis.regime)


def _deep(p: Parametrisation) -> str:
    return "" if p.analysis.depth is None else str(p.analysis.depth.regime)
