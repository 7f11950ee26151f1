"""What stands between formulas in the tokens of one text, and which names are variables in it."""

from collections.abc import Collection

from lark import Token

from varlaw.symbolic.formulas.limits import NotRead
from varlaw.symbolic.formulas.vocabulary import GREEK, LETTERS_OF_FUNCTIONS

STRENGTH = {"&": -1, ".": 0, ",": 1, "quad": 2, "text": 3, "row": 4}
SCRIPTS = ("SUB", "SUP", "LABEL", "PRIME", "MARK", "TRANSPOSE")
OPERATORS = frozenset({"PLUS", "MINUS", "TIMES", "SLASH", "RELATION"})


def arranged(tokens: list[Token]) -> list[Token]:
    """The tokens with one separator between formulas, none at the ends; rows that go on joined."""
    done: list[Token] = []
    for place, token in enumerate(tokens):
        if token.type != "SEPARATOR":
            if done and done[-1] == "&" and token.type in OPERATORS:
                done.pop()
            done.append(token)
            continue
        if token == "&" and done and done[-1].type in OPERATORS:
            continue
        if token == "." and place + 1 < len(tokens) and tokens[place + 1].type != "SEPARATOR":
            raise NotRead("a full stop inside a formula", token.start_pos or 0)
        if done and done[-1].type == "SEPARATOR":
            if STRENGTH[token] > STRENGTH[done[-1]]:
                done[-1] = token
        elif done:
            done.append(token)
    while done and done[-1].type == "SEPARATOR":
        done.pop()
    return _rows(done)


def _rows(tokens: list[Token]) -> list[Token]:
    done: list[Token] = []
    for place, token in enumerate(tokens):
        if token.type == "SEPARATOR" and token == "row":
            before, after = tokens[place - 1].type, tokens[place + 1].type
            if before in OPERATORS or after in ("RELATION", "PLUS", "TIMES", "SLASH"):
                continue
            if after == "MINUS":
                if _has_relation(tokens, place + 1):
                    raise NotRead("a row that begins with minus", tokens[place + 1].start_pos or 0)
                continue
        done.append(token)
    return done


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
