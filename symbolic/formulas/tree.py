r"""The tree of a formula as it is written, between reading and deciding; nothing is evaluated here.

A node has a head, parts, sometimes a text, and the place of its source. What the heads hold:

| head        | text                | parts                                    | source          |
|-------------|---------------------|------------------------------------------|-----------------|
| NUMBER      | as written          |                                          | 0.0360          |
| DIGITS      | before the dots     |                                          | 1.6732\dots     |
| PERCENT     |                     | a number                                 | 1\%             |
| NAME        | core with accents   | its subscripts, one by one               | \bar w_{i,j}    |
| WORD        | letters             | (a subscript, or prose)                  | \text{in}       |
| INFINITY    |                     |                                          | \infty          |
| ADD         |                     | terms                                    | a + b - c       |
| NEGATIVE    |                     | one                                      | -a              |
| MULTIPLY    |                     | factors                                  | 2 a b           |
| DIVIDE      |                     | above, below                             | \frac{a}{b}     |
| POWER       |                     | base, exponent                           | a^b             |
| ROOT        |                     | radicand, and a degree other than 2      | \sqrt[3]{a}     |
| FACTORIAL   |                     | one                                      | n!              |
| ABSOLUTE    |                     | one                                      | \lvert a\rvert  |
| NORM        |                     | one, and the order if written            | \lVert a\rVert_2 |
| TRANSPOSE   |                     | one                                      | W^\top          |
| CALL        | name of the function | arguments                                | \log_2 n        |
| SUM         |                     | body, index, first, last                 | \sum_{i=1}^n    |
| PRODUCT     |                     | body, index, first, last                 | \prod_{i=1}^n   |
| INTEGRAL    |                     | body, variable, and the ends if any      | \int_0^1 x dx   |
| LIMIT       | + or - if one-sided | body, variable, where it goes            | \lim_{n\to a}   |
| EXPECTATION | E, Var, ..., Corr, P | of what, then the conditions (GIVEN)     | \mathbb E[x]    |
| GIVEN       |                     | relations behind a bar                   | [z \mid z>0]    |
| INDICATOR   |                     | relations, all of which hold             | 1[z>0]          |
| CASES       |                     | value, condition, value, condition...    | cases           |
| RELATION    | the sign, plain     | left, right                              | a \le b         |
| TUPLE       | (), [] or {}        | members                                  | [a, b]          |

A name keeps its subscripts as nodes: x_{t+1} has the sum t + 1, n_{in} and n_{\text{in}} the word
"in", w_{i,j} and w_{ij} two names. `plain` writes any of them as one word, such as n_in or w_i_j.
A superscript is a POWER, but for marks on names, in the core: f' is "f'", x^* is "star_x";
and for one in brackets, which is a subscript in a TUPLE: W^{(l)}. Accents and fonts stand before
the letter: bar_x, bold_W, cal_N, Delta_x. Upright letters and words are as written: gain, Var.

A CALL has the function's canonical name: relu for ReLU, F_t for F_t(x), N for \mathcal N(0, 1);
\log_2 n is log with the arguments n and 2, \ln is ln, \max_i x_i is "largest" of x_i and i, and
N(0, std = 0.02) holds a RELATION. A condition is a RELATION, or an INDICATOR of several: so in
CASES, whose last value may lack one (otherwise), and in P, which has one. Cov and Corr are of two
parts. E_{z \sim N(0,1)}[z] has its law as a RELATION in GIVEN.
A TUPLE ".." is a range, "+-" the two ends of a \pm b. A function alone is a NAME: f = relu.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum, auto


class Head(StrEnum):
    """What a node is."""

    NUMBER = auto()
    DIGITS = auto()
    PERCENT = auto()
    NAME = auto()
    WORD = auto()
    INFINITY = auto()
    ADD = auto()
    NEGATIVE = auto()
    MULTIPLY = auto()
    DIVIDE = auto()
    POWER = auto()
    ROOT = auto()
    FACTORIAL = auto()
    ABSOLUTE = auto()
    NORM = auto()
    TRANSPOSE = auto()
    CALL = auto()
    SUM = auto()
    PRODUCT = auto()
    INTEGRAL = auto()
    LIMIT = auto()
    EXPECTATION = auto()
    GIVEN = auto()
    INDICATOR = auto()
    CASES = auto()
    RELATION = auto()
    TUPLE = auto()


@dataclass(frozen=True, slots=True)
class Node:
    """A part of a formula; `start` and `end` are offsets into the text it was read from."""

    head: Head
    parts: tuple["Node", ...] = ()
    text: str = ""
    start: int = 0
    end: int = 0

    def walk(self) -> Iterator["Node"]:
        """This node and all below it, outermost first; without recursion, however deep."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.parts)


@dataclass(frozen=True, slots=True)
class Chain:
    r"""Sides and the signs between them: a = b \approx c. An aligned display is one chain.

    Signs are plain: = ~= != < > <= >= << >> ~ -> => <=> prop in := and "eqq" for identities.
    A chain that begins with its sign (`\approx \log K` in prose) has no first side: `dangling`.
    """

    sides: tuple[Node, ...]
    signs: tuple[str, ...]
    dangling: bool = False

    @property
    def between(self) -> tuple[str, ...]:
        """The signs that have a side on either hand."""
        return self.signs[1:] if self.dangling else self.signs

    @property
    def links(self) -> tuple[tuple[Node, str, Node], ...]:
        """Each relation with the sides next to it."""
        return tuple(zip(self.sides, self.between, self.sides[1:], strict=False))


def plain(name: Node) -> str:
    """A name with its subscripts as one word: n_in, sigma_w, w_i_j, x_t_plus_1."""
    if name.head is not Head.NAME:
        return name.text or name.head.value
    return "_".join([name.text, *(_inside(part) for part in name.parts)])


def _inside(part: Node) -> str:
    if part.head is Head.ADD:
        return "_plus_".join(_inside(term) for term in part.parts).replace("plus_minus", "minus")
    if part.head is Head.NEGATIVE:
        return f"minus_{_inside(part.parts[0])}"
    if part.head is Head.TUPLE:
        return "_".join(["at", *(_inside(member) for member in part.parts)])
    if part.head is Head.NAME or not part.parts:
        return plain(part)
    return "_".join([part.text or part.head.value, *(_inside(inner) for inner in part.parts)])
