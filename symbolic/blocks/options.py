"""Options that kinds of blocks and models take over, so that each is listed once."""

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeVar

from varlaw.symbolic.blocks.block import Block
from varlaw.symbolic.blocks.sizes import Sizes, sized
from varlaw.symbolic.language import Text

Kind = TypeVar("Kind", bound=type[Block])
ALL = ("depth", "width", "heads", "inner")


def less(*left_out: str, **fixed: Text) -> Callable[[Kind], Kind]:
    """Build a kind of block as its parent, less some options, of which the `fixed` have values."""

    def narrowed(kind: Any) -> Any:
        parent = kind.__mro__[1]
        whole = signature(parent)
        taken = [p for name, p in whole.parameters.items() if name not in {*left_out, *fixed}]
        narrow = whole.replace(parameters=taken)

        def init(self: Any, *plain: Text, **named: Text) -> None:
            narrow.bind(*plain, **named)
            parent.__init__(self, *plain, **named, **fixed)

        kind.__init__, kind.__signature__ = init, narrow
        return kind

    return narrowed


def sizes_of(
    table: Mapping[str, Sizes], model: str, default: str, *options: str
) -> Callable[[Callable[..., Block]], Callable[..., Block]]:
    """Build a model of a size by its name, with options for parts of it.

    What is decorated takes the `Sizes` in place of these.
    """
    many = (*ALL, *options)

    def built(build: Callable[..., Block]) -> Callable[..., Block]:
        own = list(signature(build).parameters.values())[1:]
        given = [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in many]
        name = Parameter("size", Parameter.POSITIONAL_OR_KEYWORD, default=default)
        whole = signature(build).replace(parameters=[name, *given, *own])

        @wraps(build)
        def made(*plain: Any, **named: Any) -> Block:
            bound = whole.bind(*plain, **named)
            bound.apply_defaults()
            values = bound.arguments
            size = sized(table, values.pop("size"), model, **{key: values.pop(key) for key in many})
            return build(size, **values)

        shown: Any = made
        shown.__signature__ = whole
        return made

    return built
