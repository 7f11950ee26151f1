r"""Subscripts, superscripts and marks: which are part of a name, and which are operations."""

from dataclasses import dataclass, replace

from varlaw.symbolic.formulas.builder import Content, Factor, operand
from varlaw.symbolic.formulas.evaluated import evaluated
from varlaw.symbolic.formulas.limits import NotRead
from varlaw.symbolic.formulas.tree import Head, Node
from varlaw.symbolic.formulas.vocabulary import GREEK

NAMES = ("name", "variable", "seen")
OPERATORS = ("function", "moment", "one", "big")
JOINED = (Head.ADD, Head.NEGATIVE, Head.MULTIPLY, Head.DIVIDE, Head.POWER)
UNSEEN = "braces that nobody sees"
MARKS = {"BANG": Head.FACTORIAL, "PERCENT": Head.PERCENT, "TRANSPOSE": Head.TRANSPOSE}


@dataclass(frozen=True, slots=True)
class Script:
    """A sign behind a factor, with its content if it has one."""

    kind: str  # SUB, SUP, LABEL (a superscript in brackets), PRIME, MARK, BANG, PERCENT, TRANSPOSE
    content: Content | None
    start: int
    end: int


def scripted(base: Factor, scripts: list[Script]) -> Factor:
    """The factor with its scripts. Raises NotRead for double ones, and where they mean nothing."""
    below = [script for script in scripts if script.kind == "SUB"]
    if len(below) > 1:
        raise NotRead("a double subscript", below[1].start, below[1].end)
    if base.kind == "at":
        return Factor("value", evaluated(base.node, scripts))
    for script in scripts:
        if script.content is None:
            base = _marked(base, script)
        elif script.kind == "SUB":
            base = _lowered(base, script, script.content)
        else:
            base = _raised(base, script, script.content)
    return base


def _marked(base: Factor, script: Script) -> Factor:
    """A prime or star goes into the name; ! and % apply to what stands before them."""
    if script.kind in MARKS:
        if script.kind == "BANG" and base.after and base.after[-1][0] is Head.FACTORIAL:
            raise NotRead("a double factorial", script.start, script.end)
        return replace(base, after=(*base.after, (MARKS[script.kind], None, script.end)))
    if base.kind not in (*NAMES, "function") or base.after:
        raise NotRead("a mark on something that is not a name", script.start, script.end)
    name = base.node.text
    text = f"{name}'" if script.kind == "PRIME" else f"star_{name}"
    return replace(base, node=replace(base.node, text=text, end=script.end))


def _lowered(base: Factor, script: Script, content: Content) -> Factor:
    node, end = base.node, script.end
    if any(head is not Head.POWER for head, *_ in base.after):
        raise NotRead("a subscript of something that is not a name", script.start, end)
    if base.kind in NAMES:
        return replace(base, node=replace(node, parts=(*node.parts, *_parts(content)), end=end))
    if base.kind == "norm":
        return replace(base, node=replace(node, parts=(*node.parts, content.one()), end=end))
    if base.kind == "number" and node.text == "1" and _conditional(content):
        base = replace(base, kind="one")
    if base.kind not in OPERATORS:
        raise NotRead("a subscript of something that is not a name", script.start, end)
    return replace(base, below=content)


def _raised(base: Factor, script: Script, content: Content) -> Factor:
    node, start, end = base.node, script.start, script.end
    labelled = base.kind in NAMES and any(part.head is Head.TUPLE for part in node.parts)
    if labelled or any(head is Head.POWER for head, *_ in base.after):
        raise NotRead("a double superscript", start, end)
    exponent = content.one()
    if script.kind == "LABEL" and base.kind in NAMES and node.text != "e":
        if exponent.head not in (Head.NAME, Head.NUMBER):
            raise NotRead("a label or a power in brackets?", start, end)
        label = Node(Head.TUPLE, (exponent,), "()", content.start, end)
        return replace(base, node=replace(node, parts=(*node.parts, label), end=end))
    word = exponent.head is Head.NAME and len(exponent.text) > 1 and exponent.text.isalpha()
    if base.kind in NAMES and node.text != "e" and word and exponent.text not in GREEK:
        raise NotRead("a word as a superscript", start, end)
    if base.kind == "braces" and node.head in JOINED:
        raise NotRead(UNSEEN, node.start, end)
    if node.text == "e" and _imaginary(exponent):
        raise NotRead("the imaginary unit or an index?", start, end)
    return replace(base, after=(*base.after, (Head.POWER, exponent, end)))


def ends(scripts: list[Script], start: int, end: int) -> tuple[Node, ...]:
    """The ends of an integral, none or two."""
    found = {script.kind.replace("LABEL", "SUP"): script.content for script in scripts}
    lower, upper = found.get("SUB"), found.get("SUP")
    if len(found) == len(scripts) == 2 and lower is not None and upper is not None:
        return operand(lower.one()), operand(upper.one())
    if scripts:
        raise NotRead("an integral with one end", start, end)
    return ()


def _parts(content: Content) -> tuple[Node, ...]:
    if content.related:
        raise NotRead("a relation in a subscript", content.start, content.end)
    return tuple(line.sides[0] for line in content.lines)


def _conditional(content: Content) -> bool:
    """Whether there is a relation, perhaps in braces of its own."""
    sides = [side for line in content.lines for side in line.sides]
    return content.related or (sides[0].head is Head.TUPLE and sides[0].text == "{}")


def _imaginary(node: Node) -> bool:
    """Whether there is a factor i, which is no subscript."""
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        if inner.head is not Head.NAME:
            waiting += inner.parts
        elif inner.text == "i" and not inner.parts:
            return True
    return False
