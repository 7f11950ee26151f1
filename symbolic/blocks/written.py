"""Blocks as text of their notation, and blocks with values in place of names."""

from collections.abc import Mapping
from functools import cache, singledispatch
from inspect import Parameter, signature
from typing import Any

from sympy import Expr

from varlaw.symbolic.blocks.activation import Activation
from varlaw.symbolic.blocks.block import Block, Sequential
from varlaw.symbolic.blocks.state import BlockError
from varlaw.symbolic.language import Text, read
from varlaw.symbolic.language_text import typed


@singledispatch
def written(block: Block) -> str:
    """The text that `read_block` reads as the block."""
    name = _names().get(type(block))
    if name is None:
        raise BlockError(f"{type(block).__name__} has no notation")
    parts = []
    for parameter in signature(type(block)).parameters.values():
        value = _value(block, parameter.name)
        if parameter.kind is Parameter.VAR_POSITIONAL:
            parts += [_argument(one) for one in value]
        elif parameter.default is Parameter.empty or value != parameter.default:
            keyword = parameter.kind is Parameter.KEYWORD_ONLY
            parts.append(f"{parameter.name}={_argument(value)}" if keyword else _argument(value))
    return f"{name}({', '.join(parts)})" if parts else name


@written.register
def _(block: Sequential) -> str:
    return " >> ".join(map(written, block.parts))


@written.register
def _(block: Activation) -> str:
    plain = type(block.function).__name__
    bare = Activation(plain).function if plain.islower() and block.function.args else None
    return plain if bare == block.function else typed(block.function)


def with_values(block: Block, values: Mapping[str, Text]) -> Block:
    """The block with values in place of names.

    Raises ReadingError for a text that is no expression, BlockError for a value that does not fit.
    """
    put = {name: read(value) for name, value in values.items()}
    return _with(block, put) if put else block


def _with(part: Any, values: Mapping[str, Expr]) -> Any:
    if isinstance(part, tuple):
        return tuple(_with(one, values) for one in part)
    if isinstance(part, Expr):
        return part.subs({s: values[s.name] for s in part.free_symbols if s.name in values})
    if isinstance(part, Activation) or not isinstance(part, Block):
        return part
    plain, named = [], {}
    for parameter in signature(type(part)).parameters.values():
        value = _with(_value(part, parameter.name), values)
        if parameter.kind is Parameter.VAR_POSITIONAL:
            plain += value
        else:
            named[parameter.name] = value
    return type(part)(*plain, **named)


def _value(block: Block, name: str) -> Any:
    """An argument that a block was made with; those of a window are kept together."""
    for holder in (block, getattr(block, "window", None)):
        if hasattr(holder, name):
            return getattr(holder, name)
    raise BlockError(f"{type(block).__name__} has no notation")


def _argument(value: Any) -> str:
    return written(value) if isinstance(value, Block) else typed(value)


@cache
def _names() -> dict[Any, str]:
    from varlaw.symbolic.blocks.reader import MAKERS

    return {maker: name for name, maker in MAKERS.items()}
