"""From text to means of Gaussians and to what goes through depth, as blocks of networks have them.

E[f(x) | x ~ N(m, v)], E[f(x) f(y) | x, y ~ N(m, v), correlation r], iterate(q -> step, first, L),
product(q -> factor, iterate(...)), and several values together with the number of one of them:
iterate((q, c) -> (f, g), (q0, c0), L)[1], backward((g, h) -> (f, f'), (g0, h0), iterate(...))[1].
"""

from typing import Any

from sympy import Dummy, Expr, Integer, Lambda, Symbol, Tuple

from varlaw.symbolic.blocks.activation import GaussianMean
from varlaw.symbolic.blocks.coupled import Coupled, CoupledBack
from varlaw.symbolic.blocks.iteration import Iterated, IteratedProduct
from varlaw.symbolic.blocks.pairs import GaussianPair
from varlaw.symbolic.language_builder import Builder, meaning

Node = Any
Function = tuple[Tuple, Tuple]  # variables, values
FORMS = {
    "iterate": "iterate(q -> step, first, L)",
    "product": "product(q -> factor, iterate(q -> step, first, L))",
    "backward": "backward(g -> step, last, iterate((q, c) -> (step, step), (first, first), L))[1]",
}


def built(builder: Builder, node: Node, depth: int) -> Expr:
    """The expression of a mean or an iteration. Raises ReadingError for what is none."""
    if node.data == "mean":
        return _mean(builder, node, depth)
    if node.data == "pair":
        return _pair(builder, node, depth)
    head, *rest = node.children
    name, number = meaning(str(head)), None
    if node.data == "indexed":
        *rest, number = rest
    found = _iteration(builder, name, rest, number, depth)
    if found is None:
        builder.refuse(f"it is written {FORMS.get(name, 'without a number')}", node)
    return found


def _iteration(
    builder: Builder, name: str, rest: list[Node], number: Any, depth: int
) -> Expr | None:
    """None where the arguments are not those of the function."""
    if not rest or rest[0].data != "bound":
        return None
    if name == "product" and len(rest) == 2 and number is None:
        path = builder.value(rest[1], depth + 1)
        if not isinstance(path, Iterated):
            return None
        (variable,), (factor,) = _function(builder, rest[0], depth)
        step, along, first, count = path.args
        return IteratedProduct(factor.xreplace({variable: along}), step, along, first, count)
    if name == "iterate" and len(rest) == 3:
        variables, steps, firsts, count = _path(builder, rest, depth)
        if len(firsts) != len(variables) or (number is None) != (len(variables) == 1):
            return None
        if number is None:
            return Iterated(steps[0], variables[0], firsts[0], count)
        at = _place(number, len(variables))
        return None if at is None else Coupled(steps, variables, firsts, count, at)
    if name == "backward" and len(rest) == 3 and number is not None:
        return _backward(builder, rest, number, depth)
    return None


def _path(builder: Builder, rest: list[Node], depth: int) -> tuple[Tuple, Tuple, Tuple, Expr]:
    """Variables, steps, first values and their number."""
    variables, steps = _function(builder, rest[0], depth)
    return variables, steps, _row(builder, rest[1], depth), builder.value(rest[2], depth + 1)


def _backward(builder: Builder, rest: list[Node], number: Any, depth: int) -> Expr | None:
    inner = rest[2]
    if inner.data != "call" or meaning(str(inner.children[0])) != "iterate":
        return None
    path = inner.children[1:]
    if len(path) != 3 or path[0].data != "bound":
        return None
    variables, steps, firsts, count = _path(builder, path, depth)
    outer = {v.name: v for v in variables}
    gradients, backs = _function(builder, rest[0], depth, outer)
    ends, at = _row(builder, rest[1], depth), _place(number, len(gradients))
    if at is None or len(ends) != len(gradients) or len(firsts) != len(variables):
        return None
    return CoupledBack(backs, gradients, ends, steps, variables, firsts, count, at)


def _function(
    builder: Builder, node: Node, depth: int, outer: dict[str, Symbol] | None = None
) -> Function:
    """The variables of q -> step, and the values; the first variable is positive."""
    first, inner = node.children
    names = [first] if not hasattr(first, "data") else [_name(builder, n) for n in first.children]
    plain = [meaning(str(name)) for name in names]
    variables = [
        Dummy(name, positive=True) if k == 0 else Dummy(name, real=True)
        for k, name in enumerate(plain)
    ]
    bound = {**(outer or {}), **dict(zip(plain, variables, strict=True))}
    parts = inner.children if inner.data == "group" else [inner]
    if len(bound) != len(variables) + len(outer or {}) or len(parts) != len(variables):
        builder.refuse("as many values as different names", node)
    return Tuple(*variables), Tuple(*(builder.under(bound, part, depth + 1) for part in parts))


def _name(builder: Builder, node: Node) -> Any:
    if node.data != "name":
        builder.refuse("expected a name before the arrow", node)
    return node.children[0]


def _row(builder: Builder, node: Node, depth: int) -> Tuple:
    parts = node.children if node.data == "group" else [node]
    return Tuple(*(builder.value(part, depth + 1) for part in parts))


def _place(number: Any, most: int) -> Integer | None:
    """The number of a value, from 1."""
    return Integer(str(number)) if str(number) in map(str, range(1, most + 1)) else None


def _mean(builder: Builder, node: Node, depth: int) -> Expr:
    f, name, *law = node.children
    x = Symbol(meaning(str(name)), real=True)
    inner = Lambda(x, builder.under({x.name: x}, f, depth))
    return GaussianMean(inner, *(builder.value(part, depth + 1) for part in law))


def _pair(builder: Builder, node: Node, depth: int) -> Expr:
    """A product f(x) f(y) of one function at both places."""
    whole, *names, mean, variance, correlation = node.children
    x, y = (Symbol(meaning(str(name)), real=True) for name in names)
    product = builder.under({x.name: x, y.name: y}, whole, depth)
    f, other = product.as_independent(y, as_Add=False)
    scale, f = f.as_independent(x, as_Add=False)
    if x == y or (other.subs(y, x) - f) != 0:
        builder.refuse("a mean of two Gaussians is that of f(x) f(y)", node)
    law = (builder.value(part, depth + 1) for part in (mean, variance, correlation))
    return scale * GaussianPair(Lambda(x, f), *law)
