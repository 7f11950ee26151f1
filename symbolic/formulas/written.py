"""Trees as plain text with every product and bracket written; `read_plain` gives them back."""

from collections.abc import Sequence

from varlaw.symbolic.formulas.tree import Chain, Head, Node
from varlaw.symbolic.formulas.vocabulary import MAX_OVER, STYLES, function

SUM, PRODUCT, POWER, ATOM = range(4)  # how tightly a text holds together
SIGNS = {"eqq": "===", "in": "in", "prop": "prop"}
BIG = {Head.SUM: "sum", Head.PRODUCT: "prod"}


def show(formula: Node | Chain) -> str:
    r"""The plain text of a formula: \frac12 x_i^2 as 1/2*x_{i}^(2)."""
    if isinstance(formula, Node):
        return _text(formula)[0]
    sides = [show(side) for side in formula.sides]
    signs = [SIGNS.get(sign, sign) for sign in formula.signs]
    if formula.dangling:
        return " ".join(part for pair in zip(signs, sides, strict=True) for part in pair)
    first, *rest = sides
    return " ".join([first, *(f"{sign} {side}" for sign, side in zip(signs, rest, strict=True))])


def _bound(node: Node, least: int) -> str:
    """The text in brackets if it holds together less than `least`."""
    text, strength = _text(node)
    return text if strength >= least else f"({text})"


def _text(node: Node) -> tuple[str, int]:
    match node.head:
        case Head.NUMBER | Head.WORD:
            return node.text, ATOM
        case Head.DIGITS:
            return f"{node.text}...", ATOM
        case Head.INFINITY:
            return "oo", ATOM
        case Head.NAME:
            return _name(node), ATOM
        case Head.PERCENT:
            return f"{show(node.parts[0])}%", POWER
        case Head.ADD:
            return _sum(node), SUM
        case Head.NEGATIVE:
            return f"-{_bound(node.parts[0], PRODUCT)}", SUM
        case Head.MULTIPLY:
            first, *rest = node.parts
            return "*".join([_bound(first, PRODUCT), *(_bound(p, POWER) for p in rest)]), PRODUCT
        case Head.DIVIDE:
            above, below = node.parts
            return f"{_bound(above, PRODUCT)}/{_bound(below, POWER)}", PRODUCT
        case Head.POWER:
            base, exponent = node.parts
            raised = show(exponent)
            bare = exponent.head is Head.NUMBER or _is_word(exponent, raised)
            lower = f"({show(base)})" if base.text in ("log", "ln") else _bound(base, ATOM)
            return f"{lower}^{raised if bare else f'({raised})'}", POWER
        case Head.FACTORIAL:
            return f"{_bound(node.parts[0], ATOM)}!", POWER
        case Head.TRANSPOSE:
            return f"{_bound(node.parts[0], ATOM)}ᵀ", POWER
        case Head.RELATION:
            left, right = node.parts
            return f"{show(left)} {SIGNS.get(node.text, node.text)} {show(right)}", SUM
        case Head.TUPLE:
            return _tuple(node)
        case _:
            return _applied(node), ATOM


def _is_word(node: Node, text: str) -> bool:
    """Whether a text is a name that needs no brackets in an exponent."""
    return node.head is Head.NAME and text.replace("_", "").isalnum() and not function(text)


def _applied(node: Node) -> str:
    """What carries its own brackets."""
    inside = ", ".join(map(show, node.parts))
    match node.head:
        case Head.ROOT:
            return f"{'root' if len(node.parts) > 1 else 'sqrt'}({inside})"
        case Head.ABSOLUTE:
            return f"abs({inside})"
        case Head.NORM:
            order = f"_{{{show(node.parts[1])}}}" if len(node.parts) > 1 else ""
            return f"||({show(node.parts[0])})||{order}"
        case Head.CALL if node.text == MAX_OVER:
            return f"max_{show(node.parts[1])}({show(node.parts[0])})"
        case Head.CALL:
            return f"{node.text}({_with_given(node.parts)})"
        case Head.EXPECTATION:
            return _expectation(node)
        case Head.INDICATOR:
            return f"1[{inside}]"
        case Head.CASES:
            return f"cases({', '.join(_cases(node))})"
        case Head.INTEGRAL:
            body, variable, *ends = node.parts
            bounds = f"_{{{show(ends[0])}}}^{{{show(ends[1])}}}" if ends else ""
            return f"(int{bounds} ({show(body)}) d{variable.text})"
        case Head.LIMIT:
            body, variable, where = node.parts
            return f"(lim_{{{show(variable)} -> {show(where)}{node.text}}} ({show(body)}))"
        case Head.SUM | Head.PRODUCT:
            body, index, *ends = node.parts
            below = f"{show(index)} = {show(ends[0])}" if ends else show(index)
            above = f"^{{{show(ends[1])}}}" if ends else ""
            return f"({BIG[node.head]}_{{{below}}}{above} ({show(body)}))"
    return inside


def _sum(node: Node) -> str:
    first, *rest = node.parts
    text = _bound(first, PRODUCT) if first.head is Head.ADD else show(first)
    for part in rest:
        if part.head is Head.NEGATIVE:
            text += f" - {_bound(part.parts[0], PRODUCT)}"
        else:
            text += f" + {_bound(part, PRODUCT)}"
    return text


def _tuple(node: Node) -> tuple[str, int]:
    if node.text == "+-":
        middle, width = node.parts[1].parts
        return f"{show(middle)} ± {_bound(width, PRODUCT)}", SUM
    if node.text == "..":
        first, last = node.parts
        return f"{show(first)}..{show(last)}", SUM
    return f"{node.text[0]}{', '.join(map(show, node.parts))}{node.text[1]}", ATOM


def _name(node: Node) -> str:
    text = node.text
    below = [part for part in node.parts if part.head is not Head.TUPLE]
    label = [part for part in node.parts if part.head is Head.TUPLE]
    scripts = [_below(node.text, below)] if below else []
    if label:
        scripts.insert(0 if node.parts[0] is label[0] else 1, f"^{{{show(label[0])}}}")
    return text + "".join(scripts)


def _below(core: str, parts: list[Node]) -> str:
    text = ", ".join(map(show, parts))
    return (
        f"_{text}" if len(parts) == 1 and text.isalnum() and core not in STYLES else f"_{{{text}}}"
    )


def _expectation(node: Node) -> str:
    first, *rest = node.parts
    if node.text == "P" and first.head is Head.INDICATOR:
        rest = [*first.parts, *rest]
    else:
        rest = [first, *rest]
    return f"{'Pr' if node.text == 'P' else node.text}[{_with_given(rest)}]"


def _with_given(parts: Sequence[Node]) -> str:
    """What stands in brackets, with what is given behind a bar."""
    of = [show(part) for part in parts if part.head is not Head.GIVEN]
    given = [", ".join(map(show, part.parts)) for part in parts if part.head is Head.GIVEN]
    return " | ".join([", ".join(of), *given])


def _cases(node: Node) -> list[str]:
    pairs = zip(node.parts[::2], node.parts[1::2], strict=False)
    texts = []
    for value, condition in pairs:
        several = condition.head is Head.INDICATOR
        holds = " and ".join(map(show, condition.parts)) if several else show(condition)
        texts.append(f"{show(value)} if {holds}")
    return [*texts, f"{show(node.parts[-1])} otherwise"] if len(node.parts) % 2 else texts
