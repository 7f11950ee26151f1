"""The notation of blocks: repeat(prenorm(linear(d, 4*d, var=2/d) >> relu >> ...), L).

Brackets, commas and `>>` are read here; every expression goes to the language's reader.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import Parameter, signature
from typing import Any

from sympy import Expr

from varlaw.symbolic.blocks.activation import Activation
from varlaw.symbolic.blocks.alibi import Alibi
from varlaw.symbolic.blocks.attention import Attention
from varlaw.symbolic.blocks.block import Block
from varlaw.symbolic.blocks.convolution import Conv, ConvTransposed
from varlaw.symbolic.blocks.cross import CrossAttention, Targets
from varlaw.symbolic.blocks.experts import Experts
from varlaw.symbolic.blocks.glu import UNITS, gated
from varlaw.symbolic.blocks.linear import Dropout, Embedding, Linear, unembedding
from varlaw.symbolic.blocks.models import bert, gpt2, llama, mlp
from varlaw.symbolic.blocks.norm import BatchNorm, GroupNorm, InstanceNorm, LayerNorm, RMSNorm
from varlaw.symbolic.blocks.pooling import AveragePool, GlobalAveragePool, MaxPool
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.residual import (
    Gate,
    Parallel,
    Residual,
    post_norm,
    pre_norm,
    sandwich,
)
from varlaw.symbolic.blocks.resnet import resnet
from varlaw.symbolic.blocks.scaled import deep_norm, fixup, re_zero, skip_init
from varlaw.symbolic.blocks.shift import Shift
from varlaw.symbolic.blocks.softmax import Softmax
from varlaw.symbolic.blocks.state import BlockError
from varlaw.symbolic.blocks.t5 import t5, t5v11
from varlaw.symbolic.blocks.vision import ClassToken, FirstToken, Patches, Places
from varlaw.symbolic.blocks.vit import vit
from varlaw.symbolic.language import ReadingError, read
from varlaw.symbolic.language_functions import function_named
from varlaw.symbolic.names import suggestion

MAX_CHARACTERS = 10_000
MAX_DEPTH = 40
OPEN, CLOSED = "([{", ")]}"
MAKERS: dict[str, Callable[..., Block]] = {
    "linear": Linear,
    "embedding": Embedding,
    "unembedding": unembedding,
    "dropout": Dropout,
    "layernorm": LayerNorm,
    "rmsnorm": RMSNorm,
    "activation": Activation,
    "attention": Attention,
    "alibi": Alibi,
    "crossattention": CrossAttention,
    "targets": Targets,
    "residual": Residual,
    "prenorm": pre_norm,
    "postnorm": post_norm,
    "sandwich": sandwich,
    "parallel": Parallel,
    "glu": Gate,
    "softmax": Softmax,
    "moe": Experts,
    "conv": Conv,
    "convtransposed": ConvTransposed,
    "averagepool": AveragePool,
    "globalaveragepool": GlobalAveragePool,
    "maxpool": MaxPool,
    "batchnorm": BatchNorm,
    "instancenorm": InstanceNorm,
    "groupnorm": GroupNorm,
    "deepnorm": deep_norm,
    "rezero": re_zero,
    "skipinit": skip_init,
    "fixup": fixup,
    **{name: gated(function) for name, function in UNITS.items()},
    "repeat": Repeat,
    "shift": Shift,
    "patches": Patches,
    "classtoken": ClassToken,
    "places": Places,
    "firsttoken": FirstToken,
    "mlp": mlp,
    "resnet": resnet,
    "gpt2": gpt2,
    "bert": bert,
    "t5": t5,
    "t5v11": t5v11,
    "llama": llama,
    "vit": vit,
}
TEXTS = {"function", "law", "size"}  # arguments that are taken as they stand
BLOCKS = {"branch", "norm", "block", "left", "right", "branches"}  # arguments that are blocks


def read_block(text: str, names: Mapping[str, Expr] | None = None) -> Block:
    """The block that a text stands for; `#` starts a comment, and lines are joined.

    A name in `names` stands for its value, any other for a positive symbol. Raises BlockError, and
    ReadingError for an expression that cannot be read; both are ValueErrors.
    """
    if len(text) > MAX_CHARACTERS:
        raise BlockError(f"{len(text)} characters; at most {MAX_CHARACTERS}")
    joined = " ".join(line.partition("#")[0].strip() for line in text.splitlines())
    return _Reader(names or {}).chain(joined, 0)


@dataclass(frozen=True)
class _Reader:
    names: Mapping[str, Expr]

    def chain(self, text: str, depth: int) -> Block:
        """Blocks with >> between them."""
        if depth > MAX_DEPTH:
            raise BlockError(f"brackets nested more than {MAX_DEPTH} deep")
        first, *rest = (self.one(part.strip(), depth) for part in _split(text, ">>"))
        for block in rest:
            first = first >> block
        return first

    def one(self, text: str, depth: int) -> Block:
        """A call, an activation, or blocks in brackets."""
        if not text:
            raise BlockError("a block is missing")
        if text[0] == "(" and _closing(text, 0) == len(text) - 1:
            return self.chain(text[1:-1], depth + 1)
        before, bracket, _ = text.partition("(")
        name, maker = before.strip(), MAKERS.get(before.strip().lower())
        if maker is None:
            if name.isidentifier() and not _is_function(name):
                raise BlockError(f"unknown block {name!r}{suggestion(name, MAKERS)}")
            return Activation(text)
        if bracket and _closing(text, len(before)) != len(text) - 1:
            raise BlockError(f"{_shown(text)} goes on after its bracket: >> joins blocks")
        given = _Arguments.read(text[len(before) + 1 : -1] if bracket else "")
        return self.call(name, maker, given, depth)

    def call(
        self, name: str, maker: Callable[..., Block], given: "_Arguments", depth: int
    ) -> Block:
        """The block that a maker makes of texts."""
        taken = signature(maker).parameters
        places = [p.name for p in taken.values() if p.kind is Parameter.POSITIONAL_OR_KEYWORD]
        many = [p.name for p in taken.values() if p.kind is Parameter.VAR_POSITIONAL]
        if len(given.plain) > len(places) and not many:
            listed = f"{name}({', '.join(taken)})"
            noun = "argument" if len(places) == 1 else "arguments"
            raise BlockError(f"{name} takes {len(places)} {noun} without a name: {listed}")
        filled = places[: len(given.plain)]
        for key in given.named:
            if key not in taken or key in many:
                raise BlockError(f"{name} has no {key!r}{suggestion(key, taken)}")
            if key in filled:
                raise BlockError(f"{key} is given twice")
        for p in taken.values():
            if p.default is Parameter.empty and p.name not in (*filled, *given.named, *many):
                raise BlockError(f"{name} needs {p.name}: {name}({', '.join(taken)})")
        positions = many * len(given.plain) or places
        plain = [
            self.value(key, text, depth) for key, text in zip(positions, given.plain, strict=False)
        ]
        named = {key: self.value(key, text, depth) for key, text in given.named.items()}
        return maker(*plain, **named)

    def value(self, key: str, text: str, depth: int) -> Any:
        """An argument: a block, a function as it stands, or an expression."""
        if key in BLOCKS:
            return self.chain(text, depth + 1)
        return text if key in TEXTS else read(text, names=self.names)


@dataclass
class _Arguments:
    plain: list[str] = field(default_factory=list)
    named: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> "_Arguments":
        found = cls()
        for part in _split(text, ",") if text.strip() else []:
            name, sign, value = (piece.strip() for piece in _equals(part))
            if not (value if sign else part.strip()):
                raise BlockError(f"an argument is missing in {_shown(text)}")
            if not sign:
                if found.named:
                    raise BlockError(f"{_shown(part)} stands after named arguments")
                found.plain.append(part.strip())
            elif name in found.named:
                raise BlockError(f"{name} is given twice")
            else:
                found.named[name] = value
        return found


def _split(text: str, separator: str) -> list[str]:
    """The parts of a text between separators outside brackets."""
    parts, start, level, place = [], 0, 0, 0
    while place < len(text):
        if text[place] in OPEN:
            level += 1
        elif text[place] in CLOSED:
            level -= 1
            if level < 0:
                raise BlockError(f"{text[place]} without its bracket in {_shown(text)}")
        elif level == 0 and text.startswith(separator, place):
            parts.append(text[start:place])
            place = start = place + len(separator)
            continue
        place += 1
    if level:
        raise BlockError(f"a bracket is not closed in {_shown(text)}")
    return [*parts, text[start:]]


def _closing(text: str, start: int) -> int:
    """Where the bracket that opens at `start` closes."""
    level = 0
    for place in range(start, len(text)):
        level += (text[place] in OPEN) - (text[place] in CLOSED)
        if level == 0:
            return place
    raise BlockError(f"a bracket is not closed in {_shown(text)}")


def _equals(part: str) -> tuple[str, str, str]:
    """name, =, value; without a name the whole is not split."""
    name, sign, value = part.partition("=")
    return (name, sign, value) if name.strip().isidentifier() and sign else ("", "", part)


def _is_function(name: str) -> bool:
    try:
        function_named(name)
    except ReadingError:
        return False
    return True


def _shown(text: str) -> str:
    return repr(text.strip() if len(text.strip()) <= 40 else text.strip()[:37] + "...")
