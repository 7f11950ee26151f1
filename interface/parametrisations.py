"""Parametrisations on the command line: `varlaw parametrisation`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
from sympy import Expr, Rational

from varlaw.symbolic.language_text import typed
from varlaw.symbolic.parametrisation.adam import epsilon, weight_decay
from varlaw.symbolic.parametrisation.layers import Kind, Optimizer, ParametrisationError
from varlaw.symbolic.parametrisation.named import NAMED, parametrisation
from varlaw.symbolic.parametrisation.parametrisation import FORMS, Parametrisation
from varlaw.symbolic.parametrisation.regime import Analysis, Size
from varlaw.symbolic.parametrisation.sizes import DEPTH, WIDTH
from varlaw.symbolic.parametrisation.table import Row, branch, table

if TYPE_CHECKING:
    from varlaw.checks.training.coordinates import Measured

ADAM = ("epsilon", "weight_decay")


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
    from varlaw.checks.training.coordinates import measure

    return measure(p, backend=backend, seed=seed)


def everything(optimizer: str) -> list[Parametrisation]:
    """The known parametrisations under an optimiser."""
    rule = Optimizer(optimizer)
    return [parametrisation(name, rule) for name, one in NAMED.items() if rule in one.optimizers]


def numbers(row: Row, found: Answer) -> tuple[float, float, float]:
    """The factors of a kind of layer at the width and depth asked for."""
    return row.at(found.width.ratio, found.depth.ratio)


def of_adam(found: Answer, kind: Kind) -> Mapping[str, Expr]:
    """The factors of Adam's epsilon and of AdamW's weight decay; none under another rule."""
    p = found.found
    if p.optimizer is not Optimizer.ADAM:
        return {}
    return dict(zip(ADAM, (epsilon(p, kind), weight_decay(p, kind)), strict=True))


def at_sizes(factor: Expr, found: Answer) -> float:
    """A factor at the width and depth asked for."""
    return float(factor.xreplace({WIDTH: found.width.ratio, DEPTH: found.depth.ratio}))


def list_record(known: Sequence[Parametrisation]) -> Mapping[str, Any]:
    """The list as a record."""
    listed = [{"name": p.name, **_classes(p.analysis), "source": p.source} for p in known]
    return {"schema": "varlaw.parametrisations", "version": 1, "parametrisations": listed}


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
                **_adam_texts(row, found),
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
    values = numbers(row, found) if found.numeric else (None, None, None)
    adam = of_adam(found, row.kind)
    return {
        **dict(zip(("multiplier", "init_std", "learning_rate"), values, strict=True)),
        **{name: at_sizes(adam[name], found) if adam and found.numeric else None for name in ADAM},
    }


def _adam_texts(row: Row, found: Answer) -> Mapping[str, str | None]:
    adam = of_adam(found, row.kind)
    return {name: typed(adam[name]) if adam else None for name in ADAM}


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
