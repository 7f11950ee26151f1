r"""Units as factors of both sides: 12\,\mathrm{ms} = 0.012\,\mathrm{s}, by the prefixes of the SI.

Prefixes of bytes and bits are powers of 1000 (kB, MB) and of 1024 (KiB, MiB), as in IEC 80000-13;
what is right only with MB as 1024^2 bytes is left open. A document or a context may give units
other values: then they are names as any others.
"""

from fractions import Fraction

from varlaw.checks.claims.values.exact import as_node
from varlaw.symbolic.formulas.tree import Head, Node, plain

LARGE = {prefix: Fraction(1000) ** k for k, prefix in enumerate(("", "k", "M", "G", "T", "P", "E"))}
SMALL = {prefix: Fraction(1, 1000**k) for k, prefix in enumerate(("", "m", "u", "n", "p"))}
BITS = {"B": 8, "byte": 8, "bytes": 8, "bit": 1, "bits": 1}
SECONDS = {"min": 60, "minutes": 60, "h": 3600, "hour": 3600, "hours": 3600, "seconds": 1}
TIMES = {unit: Fraction(seconds) for unit, seconds in SECONDS.items()}


def _data(thousand: int) -> dict[str, Fraction]:
    """Units of data in bits, kB, MB, .. being powers of a thousand, or of 1024."""
    found = {}
    for unit, bits in BITS.items():
        for power, prefix in enumerate(LARGE):
            found[prefix + unit] = Fraction(bits) * thousand**power
            if prefix:
                found[f"{prefix.upper()}i{unit}"] = Fraction(bits) * 1024**power
    return {**found, "KB": found["kB"]}


def _scaled(unit: str, prefixes: dict[str, Fraction]) -> dict[str, Fraction]:
    return {prefix + unit: scale for prefix, scale in prefixes.items()}


BY_1024 = _data(1024)
DIMENSIONS = (
    _data(1000),
    {**_scaled("s", SMALL), **TIMES},
    _scaled("Hz", LARGE),
    {**_scaled("W", LARGE), "mW": Fraction(1, 1000)},
    {**_scaled("FLOPs", LARGE), **_scaled("FLOP", LARGE)},
)

Sides = tuple[Node, Node]


def units_in(left: Node, right: Node) -> tuple[str, str] | None:
    """The unit of either side; None where one has none, or where letters may be names."""
    found = tuple(_quantity(side)[1] for side in (left, right))
    one, other = found
    together = any(one in units and other in units for units in DIMENSIONS)
    return (one, other) if together and max(len(one), len(other)) > 1 else None


def in_one_unit(left: Node, right: Node, by_1024: bool = False) -> Sides:
    """The numbers of both sides, in the unit of the right one."""
    (number, one), (rest, other) = _quantity(left), _quantity(right)
    kinds = (BY_1024,) if by_1024 else DIMENSIONS
    scale = next(units[one] / units[other] for units in kinds if one in units and other in units)
    return (number if scale == 1 else Node(Head.MULTIPLY, (number, as_node(scale)))), rest


def may_go_by_1024(*units: str) -> bool:
    """Whether units are those of bytes and bits whose prefixes some take as powers of 1024."""
    return all(unit in BY_1024 and unit[1:2] != "i" for unit in units)


def _quantity(side: Node) -> tuple[Node, str]:
    """A product without the last factor, and that as a unit; the side itself and "" for others."""
    known = set().union(*DIMENSIONS)
    if side.head is not Head.MULTIPLY or side.parts[-1].head is not Head.NAME:
        return side, ""
    unit = plain(side.parts[-1])
    rest = side.parts[:-1]
    inside = {plain(n) for part in rest for n in part.walk() if n.head is Head.NAME}
    if unit not in known or inside & known:
        return side, ""
    return (rest[0] if len(rest) == 1 else Node(Head.MULTIPLY, rest)), unit
