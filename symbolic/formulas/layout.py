"""What stands between formulas in the tokens of one text, and which names are variables in it."""

from collections.abc import Collection

from lark import Token

from varlaw.symbolic.formulas.limits import NotRead, begin
from varlaw.symbolic.formulas.vocabulary import GREEK, LETTERS_OF_FUNCTIONS

STRENGTH = {"&": -1, ".": 0, ",": 1, "quad": 2, "text": 3, "words": 3, "row": 4}
BLANK = {"&", "quad"}
SCRIPTS = ("SUB", "SUP", "LABEL", "PRIME", "MARK", "TRANSPOSE")
OPERATORS = frozenset({"PLUS", "MINUS", "PLUS_MINUS", "TIMES", "SLASH", "RELATION"})


def arranged(tokens: list[Token]) -> list[Token]:
    """The tokens with one separator between formulas, none at the ends; rows that go on joined."""
    done: list[Token] = []
    run: list[Token] = []  # separators side by side
    for token in tokens:
        if token.type == "SEPARATOR":
            run.append(token)
            continue
        if run and run[-1] == ".":
            raise NotRead("a full stop inside a formula", begin(run[-1]))
        if run and done and not _is_blank(run, done[-1].type, token.type):
            done.append(_strongest(run))
        done.append(token)
        run = []
    return _rows(done)


def _is_blank(run: list[Token], before: str, after: str) -> bool:
    r"""Whether only columns and gaps beside a sign are meant: a &= b and a \quad = \quad b."""
    if not BLANK.issuperset(run):
        return False
    if before in OPERATORS:
        return True
    if after not in OPERATORS or (after == "MINUS" and "quad" in run):
        return False
    if run.count("&") > 1:  # type: ignore[arg-type]
        raise NotRead("a column that begins with a sign", begin(run[0]))
    return True


def _strongest(run: list[Token]) -> Token:
    """The separator to keep; words in a column of their own are an aside."""
    found = max(run, key=lambda token: STRENGTH[token])
    return found.update(value="aside") if STRENGTH[found] == 3 and "&" in run else found


def _rows(tokens: list[Token]) -> list[Token]:
    """The tokens with rows joined that go on: behind an aside, with what stands before it."""
    done: list[Token] = []
    asides: list[Token] = []  # of the formula that goes on
    first = 0  # where its last row begins
    for place, token in enumerate(tokens):
        if token.type == "SEPARATOR" and token == "row":
            before, after = tokens[place - 1].type, tokens[place + 1].type
            minus = after == "MINUS"
            if minus and before not in OPERATORS and _has_relation(tokens, place + 1):
                raise NotRead("a row that begins with minus", begin(tokens[place + 1]))
            if before in OPERATORS or minus or after in ("RELATION", "PLUS", "TIMES", "SLASH"):
                asides += _aside(done, first)
                first = len(done)
                continue
            done += asides
            asides, first = [], len(done) + 1
        done.append(token)
    return done + asides


def _aside(done: list[Token], first: int) -> list[Token]:
    """Take off what a row says in a column of words. Raises NotRead for several formulas."""
    for place in range(first, len(done)):
        if done[place].type != "SEPARATOR":
            continue
        if done[place] != "aside":
            raise NotRead("a row that goes on behind several formulas", begin(done[place]))
        taken = done[place:]
        del done[place:]
        return taken
    return []


def _has_relation(tokens: list[Token], place: int) -> bool:
    for token in tokens[place:]:
        if token.type == "SEPARATOR":
            return False
        if token.type == "RELATION":
            return True
    return False


def with_variables(tokens: list[Token], variables: Collection[str]) -> list[Token]:
    """The tokens with the names marked that stand for numbers before a bracket: n in n(n + 1).

    A name is a variable if the caller says so, or if the same name stands elsewhere in the text
    without a bracket behind it.
    """
    callees, seen = [], {"pi", "e"}
    for place, token in enumerate(tokens):
        if token.type == "NAME":
            name, after = _name(tokens, place)
            if after < len(tokens) and tokens[after].type == "OPEN":
                callees.append((place, name))
            else:
                seen.add(name)
    for place, name in callees:
        if name in variables:
            tokens[place] = tokens[place].update(type="VARIABLE")
        elif (
            name in seen and tokens[place] not in LETTERS_OF_FUNCTIONS and is_letter(tokens[place])
        ):
            tokens[place] = tokens[place].update(type="SEEN")
    return tokens


def is_letter(name: str) -> bool:
    """Whether a name is one letter, and none that is an activation as often as a number."""
    core = name.split("_")[-1]
    return (len(core) == 1 or core in GREEK) and core != "sigma"


def _name(tokens: list[Token], place: int) -> tuple[str, int]:
    """A name with its subscripts as one word, and the place after its scripts."""
    words, place = [str(tokens[place])], place + 1
    while place < len(tokens) and tokens[place].type in SCRIPTS:
        kind, place = tokens[place].type, place + 1
        if kind == "TRANSPOSE":
            continue
        if kind == "PRIME" or kind == "MARK":
            words[0] += "'"
            continue
        first, depth = place, 0
        while place < len(tokens):
            depth += (tokens[place].type == "LBRACE") - (tokens[place].type == "RBRACE")
            place += 1
            if depth == 0:
                break
        if kind == "SUB":
            inside = tokens[first:place]
            words += [str(token) for token in inside if token.type in ("NAME", "WORD", "NUMBER")]
    return "_".join(words), place
