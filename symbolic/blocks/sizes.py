"""Published sizes of models, by their names."""

from collections.abc import Mapping
from typing import NamedTuple

from sympy import Rational

from varlaw.symbolic.blocks.state import BlockError
from varlaw.symbolic.language import Text, read
from varlaw.symbolic.names import suggestion


class Sizes(NamedTuple):
    """What a size stands for; `inner` is the width in the MLP, `words` are those known."""

    depth: Text
    width: Text
    heads: Text
    inner: Text
    kv_heads: Text
    head_width: Text
    words: Text
    tokens: Text
    base: Text = 10000  # of rotary positions, where there are any


def _plain(depth: int, width: int, heads: int, words: int, tokens: int) -> Sizes:
    return Sizes(depth, width, heads, 4 * width, heads, width // heads, words, tokens)


def _t5(depth: int, width: int, heads: int, inner: int, head_width: int = 64) -> Sizes:
    return Sizes(depth, width, heads, inner, heads, head_width, 32128, 512)


GPT2 = {
    "small": _plain(12, 768, 12, 50257, 1024),
    "medium": _plain(24, 1024, 16, 50257, 1024),
    "large": _plain(36, 1280, 20, 50257, 1024),
    "xl": _plain(48, 1600, 25, 50257, 1024),
}
BERT = {"base": _plain(12, 768, 12, 30522, 512), "large": _plain(24, 1024, 16, 30522, 512)}
T5 = {
    "small": _t5(6, 512, 8, 2048),
    "base": _t5(12, 768, 12, 3072),
    "large": _t5(24, 1024, 16, 4096),
    "3b": _t5(24, 1024, 32, 16384, 128),
    "11b": _t5(24, 1024, 128, 65536, 128),
}
T5V11 = {
    "small": _t5(8, 512, 6, 1024),
    "base": _t5(12, 768, 12, 2048),
    "large": _t5(24, 1024, 16, 2816),
    "xl": _t5(24, 2048, 32, 5120),
    "xxl": _t5(24, 4096, 64, 10240),
}
LLAMA = {
    "7b": Sizes(32, 4096, 32, 11008, 32, 128, 32000, 2048),
    "13b": Sizes(40, 5120, 40, 13824, 40, 128, 32000, 2048),
    "70b": Sizes(80, 8192, 64, 28672, 8, 128, 32000, 4096),
    "8b": Sizes(32, 4096, 32, 14336, 8, 128, 128256, 8192, 500000),
}
VIT = {
    "tiny": _plain(12, 192, 3, 1000, 197),
    "small": _plain(12, 384, 6, 1000, 197),
    "base": _plain(12, 768, 12, 1000, 197),
    "large": _plain(24, 1024, 16, 1000, 197),
    "huge": _plain(32, 1280, 16, 1000, 197),
}


def sized(table: Mapping[str, Sizes], name: str, model: str, **given: Text | None) -> Sizes:
    """The sizes of a name, those given in their place; an MLP, heads go with a given width.

    Raises BlockError for a name that is not in the table.
    """
    if name not in table:
        raise BlockError(f"{model} has no size {name!r}{suggestion(name, table)}")
    found = table[name]
    put = {key: text for key, text in given.items() if text is not None}
    if "width" in put or "heads" in put:
        d, h = (read(put.get(key, getattr(found, key))) for key in ("width", "heads"))
        ratio = Rational(read(found.inner), read(found.width))
        put = {"inner": ratio * d, "kv_heads": h, "head_width": d / h} | put
    return found._replace(**put)
