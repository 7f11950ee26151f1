"""Code that draws the weights of blocks at initialisation: `varlaw explore --emit`.

Nothing of a user's text gets into the code but numbers and names that were looked at: each formula
is printed from its expression, and each name is an identifier of letters, digits and underscores.
"""

import builtins
import keyword
import re
from dataclasses import dataclass, field
from functools import singledispatchmethod

from sympy import Expr, Float, Function, Integer, Symbol, cos, erf, exp, log, sin, sqrt, tanh
from sympy.printing.pycode import PythonCodePrinter

from varlaw.code_libraries import LIBRARIES, TEMPLATE, Library
from varlaw.symbolic.blocks.attention import Attention
from varlaw.symbolic.blocks.block import Block, Sequential
from varlaw.symbolic.blocks.convolution import Conv, ConvTransposed
from varlaw.symbolic.blocks.cross import Targets
from varlaw.symbolic.blocks.experts import Experts
from varlaw.symbolic.blocks.linear import Embedding, Linear
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.residual import Gate, Parallel, Residual
from varlaw.symbolic.blocks.shift import Shift
from varlaw.symbolic.blocks.state import ONE, BlockError
from varlaw.symbolic.blocks.vision import ClassToken, Places
from varlaw.symbolic.blocks.walk import has_parts
from varlaw.symbolic.blocks.weights import in_layer
from varlaw.symbolic.language_text import typed

OURS = {"math", "np", "torch", "jax", "weights", "scales", "normal", "seed", "key", "generator"}
NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)
FUNCTIONS = (exp, log, erf, sin, cos, tanh)
VOCABULARY = Symbol("vocabulary", positive=True)
POSITIONS = Symbol("positions", positive=True)
COLUMNS = 88  # of a line of code
PLACES = 17  # of a mean without a closed form
LONGEST = 20_000  # characters of code


class _Code(PythonCodePrinter):
    """Formulas in Python with math, whole numbers as they are."""

    def _print_Float(self, expr: Float) -> str:
        return repr(float(expr))


@dataclass
class _Writer:
    """The lines of code for a block: for each array a comment with its formula, and its draw."""

    target: Library
    lines: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    sizes: set[str] = field(default_factory=set)
    shared: dict[Attention, str] = field(default_factory=dict)
    depth: int = 0
    width: Expr | None = None
    words: Expr = VOCABULARY
    rows: Embedding | None = None
    rows_path: str = ""

    @singledispatchmethod
    def add(self, block: Block, path: str) -> None:
        """The code of a block; none without weights. Raises BlockError where it is not known."""
        if has_parts(block) or in_layer.dispatch(type(block)) is not in_layer.dispatch(Block):
            raise BlockError(f"no initialisation is written for {type(block).__name__}")

    @add.register
    def _(self, block: Sequential, path: str) -> None:
        for number, part in enumerate(block.parts):
            self.add(part, _joined(path, str(number)))

    @add.register
    def _(self, block: Linear, path: str) -> None:
        if block.tied == 1:
            self.tied(block, path)
        else:
            self.matrix(_joined(path, "weight"), block.var, block.fan_in, block.fan_out)
        self.scaled(path, "scale", block.scale)
        if block.bias != 0:
            self.array(_joined(path, "bias"), block.bias, block.fan_out)
        self.width = block.fan_out

    @add.register
    def _(self, block: Conv, path: str) -> None:
        if not isinstance(block.dims, Integer):
            raise BlockError("code for a convolution needs the number of its directions")
        channels = [block.channels_out, block.channels_in]
        if isinstance(block, ConvTransposed):
            channels.reverse()
        shape = channels[0], channels[1] / block.groups
        window = [block.window.kernel] * int(block.dims)
        self.array(_joined(path, "weight"), block.var, *shape, *window)
        if block.bias != 0:
            self.array(_joined(path, "bias"), block.bias, block.channels_out)

    @add.register
    def _(self, block: Experts, path: str) -> None:
        if block.router != 0:
            if (width := block.width(self.width)) is None:
                raise BlockError("code for a router needs a layer before it, to know the width")
            self.matrix(_joined(path, "router"), block.router, width, block.experts)
        self.several("expert", block.experts, block.branch, path)

    @add.register
    def _(self, block: Embedding, path: str) -> None:
        if isinstance(block, Targets) and block.tied == 1:
            self.tied(block, path)
        else:
            self.array(_joined(path, "weight"), block.var, self.words, block.width)
        if not isinstance(block, Targets):
            self.rows, self.rows_path = block, path
        if block.positions != 0:
            self.array(_joined(path, "positions"), block.positions, POSITIONS, block.width)
        self.scaled(path, "scale", block.scale)
        self.width = block.width

    @add.register(Shift)
    @add.register(ClassToken)
    @add.register(Places)
    def _(self, block: Shift | ClassToken | Places, path: str) -> None:
        if self.width is None:
            raise BlockError("code for a shift needs a layer before it, to know the width")
        rows = POSITIONS if isinstance(block, Places) else ONE
        self.array(_joined(path, "weight"), block.var, rows, self.width)

    @add.register
    def _(self, block: Attention, path: str) -> None:
        width, queries = block.width, block.heads * block.head_width
        keys = block.kv_heads * block.head_width
        shapes = {
            "query": (width, queries),
            "key": (width, keys),
            "value": (width, keys),
            "out": (queries, width),
        }
        for name, (fan_in, fan_out) in shapes.items():
            self.matrix(_joined(path, name), getattr(block, name), fan_in, fan_out)
            if (bias := getattr(block, f"{name}_bias")) != 0:
                self.array(_joined(path, f"{name}_bias"), bias, fan_out)
        if block.relative != 0:
            self.shared[block] = re.sub(r"\{\w+\}\.?", "", _joined(path, "distance_bias"))
        self.width = width

    @add.register
    def _(self, block: Residual, path: str) -> None:
        self.scaled(path, "a", block.a)
        self.scaled(path, "b", block.b)
        self.add(block.branch, _joined(path, "branch"))

    @add.register
    def _(self, block: Parallel, path: str) -> None:
        for number, branch in enumerate(block.branches):
            self.add(branch, _joined(path, f"branch{number}"))

    @add.register
    def _(self, block: Gate, path: str) -> None:
        self.add(block.left, _joined(path, "left"))
        self.add(block.right, _joined(path, "right"))

    @add.register
    def _(self, block: Repeat, path: str) -> None:
        self.several("layer", block.depth, block.block, path)

    def several(self, kind: str, count: Expr, block: Block, path: str) -> None:
        """Layers or experts that are alike, in a loop."""
        index, before = f"{kind}{self.depth or ''}", len(self.lines)
        label = f"{{{index}}}" if kind == "layer" else f"{kind}{{{index}}}"
        self._line(f"for {index} in range({self._size(count)}):")
        self.depth += 1
        self.add(block, _joined(path, label))
        self.depth -= 1
        if len(self.lines) == before + 1:
            del self.lines[before]

    def tied(self, block: Linear | Targets, path: str) -> None:
        """A head, or a decoder's rows, that are the embedding. Raises BlockError without one."""
        if head := isinstance(block, Linear):
            size = block.fan_in, block.fan_out
        else:
            size = block.width, self.words
        rows = self.rows
        if rows is None or (*size, block.var) != (rows.width, self.words, rows.var):
            raise BlockError("a tied layer needs an embedding of its size and variance before it")
        turned = head and not self.target.transposed
        self._line("# tied: the rows of the embedding")
        mine, its = _key(_joined(path, "weight")), _key(_joined(self.rows_path, "weight"))
        self._line(f"weights[{mine}] = weights[{its}]{'.T' if turned else ''}")

    def biases(self) -> None:
        """Biases by distance, which all layers of one attention share."""
        for block, name in self.shared.items():
            rows = block.buckets or Symbol("distances", positive=True)
            self.array(name, block.relative, rows, block.heads)

    def scaled(self, path: str, name: str, scale: Expr) -> None:
        """A multiplier, unless it is 1."""
        if scale != ONE:
            self._line(f"scales[{_key(_joined(path, name))}] = {self._code(scale)}")

    def matrix(self, name: str, variance: Expr, fan_in: Expr, fan_out: Expr) -> None:
        """A matrix of weights, whose shape is as the library has it."""
        shape = (fan_out, fan_in) if self.target.transposed else (fan_in, fan_out)
        self.array(name, variance, *shape)

    def array(self, name: str, variance: Expr, *shape: Expr) -> None:
        """One array; its formula is printed from an expression whose names were looked at."""
        root = sqrt(variance)
        plain = root.is_Rational
        std = self._code(root) if plain else f"math.sqrt({self._code(variance)})"
        given = ", ".join([std, *map(self._size, shape)])
        self._line(f"# std {typed(root) if plain else f'sqrt({typed(variance)})'}")
        line = f"weights[{_key(name)}] = normal({given})"
        if 4 * (self.depth + 1) + len(line) <= COLUMNS:
            self._line(line)
            return
        self._line(line.partition("(")[0] + "(")
        self._line(f"    {given}")
        self._line(")")

    def _line(self, text: str) -> None:
        self.lines.append("    " * (self.depth + 1) + text)

    def _size(self, value: Expr) -> str:
        """A whole number as Python; an expression with a division is rounded."""
        printed = self._code(value)
        self.sizes |= {self.names[str(s.name)] for s in value.free_symbols}
        return f"round({printed})" if "/" in printed or "." in printed else printed

    def _code(self, value: Expr) -> str:
        """A formula as Python. Raises BlockError for a name or a function that it cannot have."""
        calls = {call for call in value.atoms(Function) if not isinstance(call, FUNCTIONS)}
        value = value.xreplace({call: call.evalf(PLACES) for call in calls})
        if any(not isinstance(call, FUNCTIONS) for call in value.atoms(Function)):
            raise BlockError(f"no code is written for {typed(value)}: give its names values")
        for symbol in sorted(value.free_symbols, key=str):
            self._identifier(str(symbol.name))
        renamed = {s: Symbol(self.names[str(s.name)], positive=True) for s in value.free_symbols}
        printed = str(_Code().doprint(value.xreplace(renamed)))
        return re.sub(r"(?<!\*)\*(?!\*)|/", lambda sign: f" {sign[0]} ", printed)

    def _identifier(self, name: str) -> None:
        """Give a name an identifier that means nothing else in the code."""
        if not NAME.fullmatch(name):
            raise BlockError(f"{name!r} is not a name for code")
        found = name
        ours = keyword.iskeyword(name) or name in OURS or hasattr(builtins, name)
        if name not in self.names:
            if ours or name.startswith(("layer", "expert")):
                found += "_"
            while found in self.names.values():
                found += "_"
            self.names[name] = found


def initialisation(block: Block, library: str) -> str:
    """Code of a library ("numpy", "torch", "jax") that draws the weights of a block.

    It is one function, of the names that have no values, which returns arrays by name (matrices as
    (fan_in, fan_out), for torch as (fan_out, fan_in)) with normal entries of mean 0 and the
    standard deviations of the block, and the multipliers of layers and residual blocks. Raises
    BlockError for a block, or a formula, that no code is written for.
    """
    writer = _Writer(LIBRARIES[library])
    last = block.parts[-1] if isinstance(block, Sequential) else block
    if isinstance(last, Linear) and last.tied == 1:
        writer.words = last.fan_out
    writer.add(block, "")
    writer.biases()
    if not any("normal(" in line for line in writer.lines):
        raise BlockError("there are no weights to draw")
    kinds = {name: "int" if name in writer.sizes else "float" for name in writer.names.values()}
    arguments = [f"{name}: {kind}" for name, kind in sorted(kinds.items())]
    target = writer.target
    layout = "(fan_in, fan_out): y = x @ weight + bias"
    code = TEMPLATE.format(
        layout=f"Matrices are {'(fan_out, fan_in)' if target.transposed else layout}.",
        imports=target.imports,
        array=target.array,
        arguments="\n".join(f"    {one}," for one in [*arguments, "seed: int = 0"]),
        prelude=target.prelude,
        body="\n".join(writer.lines),
    )
    if len(code) > LONGEST:
        raise BlockError(f"the code has {len(code)} characters; at most {LONGEST}")
    return code if "math." in code else code.replace("import math\n\n", "")


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _key(name: str) -> str:
    return f'f"{name}"' if "{" in name else f'"{name}"'
