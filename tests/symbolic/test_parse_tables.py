"""The shipped tables of parsers are those of the grammars. Run as a script, this writes them."""

import json
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lark.exceptions import UnexpectedInput

from varlaw.symbolic import language, latex_reader
from varlaw.symbolic.formulas import reader
from varlaw.symbolic.parsers import Grammar

GRAMMARS = (language.GRAMMAR, latex_reader.GRAMMAR, reader.GRAMMAR)
TEXTS = ("2*gelu(x)^2", r"\frac{1}{2} \max(x, 0)", "|x| + ||y| - 1|", "a b", "1 +", "E[x^2 | x")


def rows(table: dict[str, Any]) -> dict[str, list[Any]]:
    """The automaton by state, where states are numbered as a walk from the start meets them.

    How Lark numbers states and rules differs from run to run.
    """
    automaton, memo = table["data"]["parser"]["parser"], table["memo"]
    tokens, states = automaton["tokens"], automaton["states"]
    begins = [automaton["start_states"][start] for start in sorted(automaton["start_states"])]
    met, found = {state: k for k, state in enumerate(begins)}, {}
    for state in (waiting := list(begins)):
        row = {tokens[token]: action for token, action in states[str(state)].items()}
        acts = []
        for token, (reduces, target) in sorted(row.items()):
            if not reduces and target not in met:
                met[target] = len(met)
                waiting.append(target)
            rule = memo[str(target["@"])] if reduces else None
            acts.append([token, met[target] if rule is None else plain(rule)])
        found[str(met[state])] = acts
    return found


def plain(rule: dict[str, Any]) -> dict[str, Any]:
    """A rule without its place among those of one name."""
    return {key: value for key, value in rule.items() if key != "order"}


def terminals(table: dict[str, Any]) -> list[Any]:
    """The terminals with their patterns and priorities."""
    kept = [entry for entry in table["memo"].values() if entry["__type__"] == "TerminalDef"]
    return sorted(kept, key=lambda entry: str(entry["name"]))


def content(table: dict[str, Any]) -> tuple[Any, ...]:
    """What a table says, however Lark numbered it."""
    return table["of"], rows(table), terminals(table)


@pytest.mark.parametrize("grammar", GRAMMARS, ids=lambda grammar: grammar.name)
def test_the_table_is_that_of_the_grammar(grammar: Grammar) -> None:
    shipped, made = json.loads(grammar.shipped.read_text("utf-8")), grammar.table()
    for table in (shipped, made):
        table["of"].pop("lark")  # for another version parsers are made from their grammars
    assert content(shipped) == content(made), "run this file as a script"


@pytest.mark.parametrize("grammar", GRAMMARS, ids=lambda grammar: grammar.name)
def test_another_table_is_told(grammar: Grammar) -> None:
    """A state that does something else is seen, wherever it is."""
    made = grammar.table()
    changed = deepcopy(made)
    states = changed["data"]["parser"]["parser"]["states"]
    reductions = [(s, t) for s, row in states.items() for t, act in row.items() if act[0]]
    state, token = max(reductions)
    states[state][token] = [0, 0]
    assert rows(changed) != rows(made)


@pytest.mark.parametrize("text", TEXTS)
def test_both_parsers_read_alike(text: str) -> None:
    outcomes = []
    for parser in (language.GRAMMAR.parser(), language.GRAMMAR.made()):
        try:
            outcomes.append(str(parser.parse(text, start="start")))
        except UnexpectedInput as error:
            outcomes.append(f"{type(error).__name__} {error.pos_in_stream}")
    assert outcomes[0] == outcomes[1]


def test_the_parser_of_another_grammar_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    through = Grammar.made
    monkeypatch.setattr(Grammar, "made", lambda self: made.append(self.name) or through(self))
    grammar = language.GRAMMAR
    assert str(grammar.parser().parse("a", start="start")) and not made
    other = replace(grammar, more="\n// another\n")
    assert str(other.parser().parse("a", start="start")) and made == ["language"]


if __name__ == "__main__":
    for one in GRAMMARS:
        shipped, made = Path(str(one.shipped)).resolve(), one.table()
        if shipped.is_file() and content(json.loads(shipped.read_text("utf-8"))) == content(made):
            continue
        text = json.dumps(made, separators=(",", ":")).replace('],"', '],\n"')
        shipped.write_text(f"{text}\n", encoding="utf-8")
